"""Novikoff's theorem: the mistakes of a perceptron against the margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from adatron.bounds import novikoff_bound
from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import SVC, KernelPerceptron
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cisc889.points import DASHED, HARD, separable_points
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NOVIKOFF", "Run", "count_mistakes"]

_MARGINS = (0.3, 0.1, 0.03, 0.01, 0.003)
_OFFSETS = {False: 0.0, True: 0.2}  # of the separating plane, without and with a bias
_ORTHOGONAL = (4, 16, 64)


class Run(NamedTuple):
    """One training of a perceptron."""

    asked: float  # the margin that the points keep at least
    margin: float  # the largest there is
    mistakes: int
    bound: float
    bias: bool


def count_mistakes(X: np.ndarray, y: np.ndarray, *, bias: bool, asked: float = 0.0) -> Run:
    """Mistakes of the perceptron, and Novikoff's bound from the largest margin."""
    machine = SVC(HARD, "linear", fit_intercept=bias, tol=1e-6).fit(X, y)
    margin = 1.0 / float(np.linalg.norm(machine.coef_))
    radius = float(np.linalg.norm(X, axis=1).max())
    model = KernelPerceptron("linear", fit_intercept=bias, max_iter=1_000_000).fit(X, y)
    mistakes = int(model.mistakes_[0])
    return Run(asked, margin, mistakes, novikoff_bound(radius, margin, bias=bias), bias)


@one_blas_thread()
def _run(effort: Effort) -> Findings:
    rng = effort.generator()
    n_draws = effort.count(full=20, quick=5)
    runs = []
    for margin in effort.over(_MARGINS):
        for bias, offset in _OFFSETS.items():
            for _ in range(n_draws):
                X, y = separable_points(rng, 200, 3, margin, offset=offset)
                runs.append(count_mistakes(X, y, bias=bias, asked=margin))
    return Findings(
        _comparisons(runs), [_bound_check(runs), _tight_check(), _order_check(runs)], _figure(runs)
    )


def _comparisons(runs: list[Run]) -> list[Comparison]:
    rows = []
    for bias in _OFFSETS:
        for margin in _MARGINS:
            own = [run for run in runs if run.bias is bias and run.asked == margin]
            made = np.array([run.mistakes for run in own])
            bound = float(np.mean([run.bound for run in own]))
            labels = {
                "margin": f"≥ {margin:g}",
                "bias": "yes" if bias else "no",
                "mean bound": f"{bound:,.0f}",
            }
            error = float(made.std(ddof=1) / np.sqrt(len(made)))
            rows.append(
                Comparison(labels | {"quantity": "mistakes"}, None, float(made.mean()), standard_error=error)
            )
    return rows


def _bound_check(runs: list[Run]) -> Check:
    shares = [100.0 * run.mistakes / run.bound for run in runs]
    return Check(
        "No run makes more mistakes than (R/γ)², or (2R/γ)² with a bias.",
        max(shares) <= 100.0,
        f"{len(runs)} runs; at most {max(shares):.1f} % of the bound, {np.median(shares):.2g} % in median",
    )


def _tight_check() -> Check:
    """Orthogonal unit vectors: γ = 1/√n, and none helps to classify another."""
    runs = {n: count_mistakes(np.eye(n), np.resize([1, -1], n), bias=False) for n in _ORTHOGONAL}
    detail = ", ".join(
        f"{n} vectors: {run.mistakes} mistakes, bound {run.bound:.6g}" for n, run in runs.items()
    )
    attained = all(abs(run.mistakes - run.bound) <= 1e-6 * run.bound for run in runs.values())
    return Check("The bound cannot be improved: n orthogonal unit vectors attain it.", attained, detail)


def _order_check(runs: list[Run]) -> Check:
    ranks = {
        bias: spearmanr(*np.array([(r.margin, r.mistakes) for r in runs if r.bias is bias]).T).statistic
        for bias in _OFFSETS
    }
    return Check(
        "The larger the margin, the sooner it converges.",
        max(ranks.values()) < -0.5,
        f"rank correlation of margin and mistakes: {ranks[False]:.2f}, with a bias {ranks[True]:.2f}",
    )


def _figure(runs: list[Run]) -> Figure:
    figure, axes = new_figure(
        2,
        [("largest margin γ", "mistakes")],
        log_x=True,
        log_y=True,
        titles=["Without a bias", "With a bias"],
    )
    for ax, bias in zip(axes, _OFFSETS, strict=True):
        own = sorted(run for run in runs if run.bias is bias)
        margins = np.sort([run.margin for run in own])
        name = "(2R/γ)²" if bias else "(R/γ)²"
        bounds = [novikoff_bound(1.0, margin, bias=bias) for margin in margins]
        ax.plot(margins, bounds, **DASHED, label=f"bound {name}, R = 1")
        style: dict[str, Any] = {"s": 14, "color": COLOURS[0], "alpha": 0.7, "linewidth": 0}
        ax.scatter([run.margin for run in own], [run.mistakes for run in own], label="perceptron", **style)
        add_legend(ax, loc="upper right")
    return figure


NOVIKOFF = Experiment(
    name="novikoff",
    title="Novikoff's theorem",
    claim=(
        "If a unit vector separates points of norm at most R by a margin γ, the perceptron makes at most "
        "(R/γ)² mistakes before it converges, so a large margin means fast convergence (slides 5-7)."
    ),
    settings=(
        "200 points of the unit ball in three dimensions that keep a given distance to a random plane; γ is "
        "the largest margin, from the hard-margin machine; with a bias the bound is (2R/γ)²."
    ),
    run=_run,
)
