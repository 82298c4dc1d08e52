"""Rosenblatt's perceptron: its two forms, and what the rate and the kernel change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris

from adatron.datasets import make_parity
from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import KernelPerceptron
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cisc889.points import INK, draw_classes, draw_line, separable_points, weights_of
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PERCEPTRON", "mistakes_by_point", "train_both"]

_EPOCHS = 100_000
_RATES = (0.25, 1.0, 4.0)  # powers of two: no rounding of their own


def train_both(X: np.ndarray, y: np.ndarray, *, bias: bool) -> tuple[KernelPerceptron, KernelPerceptron]:
    """The perceptron on the weights (primal) and on the matrix of inner products (dual)."""
    settings: dict[str, Any] = {"fit_intercept": bias, "max_iter": _EPOCHS}
    primal = KernelPerceptron("linear", **settings).fit(X, y)
    return primal, KernelPerceptron("precomputed", **settings).fit(X @ X.T, y)


def mistakes_by_point(model: KernelPerceptron, n_points: int) -> np.ndarray:
    """The dual variables of a perceptron: how often each point was a mistake."""
    counts = np.zeros(n_points)
    counts[model.support_] = np.abs(model.dual_coef_[0])
    return counts


def _problems(rng: np.random.Generator, *, bias: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Separable problems; without a bias by a plane through the origin."""
    iris, species = load_iris(return_X_y=True)
    return {
        "plane": separable_points(rng, 120, 2, 0.03, offset=0.2 * bias),
        "20 features": separable_points(rng, 400, 20, 0.02, offset=0.05 * bias),
        "iris": (iris, np.where(species == 0, 1, -1)),
    }


class _Run(NamedTuple):
    """Both forms on one problem."""

    data: str
    bias: bool
    mistakes: tuple[int, int]
    is_same: bool  # the same mistakes on each point, in as many epochs
    separates: bool


def _compare(name: str, X: np.ndarray, y: np.ndarray, bias: bool) -> _Run:
    primal, dual = train_both(X, y, bias=bias)
    counts = [mistakes_by_point(form, len(y)) for form in (primal, dual)]
    is_same = bool((counts[0] == counts[1]).all() and primal.n_iter_[0] == dual.n_iter_[0])
    separates = bool(primal.score(X, y) == dual.score(X @ X.T, y) == 1.0)
    return _Run(name, bias, (int(primal.mistakes_[0]), int(dual.mistakes_[0])), is_same, separates)


@one_blas_thread()
def _run(effort: Effort) -> Findings:
    rng = effort.generator()
    runs = []
    for _ in effort.over(range(effort.count(full=20, quick=5))):
        for bias in (True, False):
            runs += [_compare(name, X, y, bias) for name, (X, y) in _problems(rng, bias=bias).items()]
    n_equal, n_separating = (sum(getattr(run, name) for run in runs) for name in ("is_same", "separates"))
    checks = [
        Check(
            "The primal and the dual form make the same mistakes on the same points, in every run.",
            n_equal == len(runs),
            f"{n_equal} of {len(runs)} runs agree",
        ),
        Check(
            "On separable data the algorithm ends, with a plane that separates.",
            n_separating == len(runs),
            f"{n_separating} of {len(runs)} runs",
        ),
        _rate_check(effort),
        _kernel_check(),
    ]
    return Findings(_comparisons(runs), checks, _figure(effort))


def _comparisons(runs: list[_Run]) -> list[Comparison]:
    rows = []
    for name, bias in dict.fromkeys((run.data, run.bias) for run in runs):
        pairs = np.array([run.mistakes for run in runs if (run.data, run.bias) == (name, bias)])
        for form, column in zip(("primal", "dual"), pairs.T, strict=True):
            labels = {"data": name, "bias": "yes" if bias else "no", "form": form, "quantity": "mistakes"}
            error = float(column.std(ddof=1) / np.sqrt(len(column)))
            rows.append(Comparison(labels, None, float(column.mean()), standard_error=error))
    return rows


def _rate_check(effort: Effort) -> Check:
    """A rate η multiplies w and b, and with them every output: like a kernel η⟨x, z⟩."""
    X, y = separable_points(effort.generator(), 120, 2, 0.03)
    K = X @ X.T
    made = [
        KernelPerceptron("precomputed", max_iter=_EPOCHS).fit(rate * K, y).mistakes_[0] for rate in _RATES
    ]
    detail = ", ".join(f"η = {rate:g}: {count} mistakes" for rate, count in zip(_RATES, made, strict=True))
    return Check("The rate η has no bearing on the number of mistakes.", len(set(made)) == 1, detail)


def _kernel_check() -> Check:
    """Exclusive or, the smallest problem that no line solves."""
    X, y = make_parity(2)
    line = KernelPerceptron("linear", max_iter=1000).fit(X, y)
    curve = KernelPerceptron("rbf", gamma=0.5).fit(X, y)
    detail = f"linear: no end after {line.n_iter_[0]} epochs; Gaussian: {curve.mistakes_[0]} mistakes"
    return Check(
        "Where no plane separates, as for exclusive or, it never ends; the dual form with a kernel does.",
        not line.converged_ and curve.converged_ and curve.score(X, y) == 1.0,
        detail,
    )


def _figure(effort: Effort) -> Figure:
    X, y = _problems(effort.generator(), bias=True)["plane"]
    primal, dual = train_both(X, y, bias=True)
    figure, (plane, curve) = new_figure(
        2,
        [("feature 1", "feature 2"), ("epoch", "mistakes so far")],
        titles=["Planes of both forms; size: mistakes", "Mistakes by epoch"],
    )
    alpha = mistakes_by_point(dual, len(y))
    draw_classes(plane, X, y, 12.0 + 60.0 * alpha / alpha.max())
    line: dict[str, Any] = {"color": COLOURS[2], "linewidth": 3.0, "alpha": 0.6, "label": "primal"}
    draw_line(plane, weights_of(primal, X), float(primal.intercept_[0]), **line)
    line = {"color": INK, "linewidth": 1.0, "linestyle": "--", "label": "dual"}
    draw_line(plane, weights_of(dual, X), float(dual.intercept_[0]), **line)
    add_legend(plane, loc="upper left", bbox_to_anchor=(0.0, -0.2), ncols=4, handletextpad=0.4)
    _draw_mistakes(curve, X, y, int(primal.n_iter_[0]))
    return figure


def _draw_mistakes(ax: Any, X: np.ndarray, y: np.ndarray, n_epochs: int) -> None:
    """Mistakes after each epoch: fits that end there."""
    epochs = np.unique(np.geomspace(1, n_epochs, min(n_epochs, 40)).round().astype(int))
    for kernel, data, style in (
        ("linear", X, {"linewidth": 3.0, "alpha": 0.6, "color": COLOURS[2], "label": "primal"}),
        (
            "precomputed",
            X @ X.T,
            {"linewidth": 1.0, "linestyle": "--", "color": INK, "label": "dual"},
        ),
    ):
        made = [KernelPerceptron(kernel, max_iter=int(epoch)).fit(data, y).mistakes_[0] for epoch in epochs]
        ax.plot(epochs, made, **style)
    add_legend(ax, loc="lower right")


PERCEPTRON = Experiment(
    name="perceptron",
    title="Rosenblatt's algorithm in primal and in dual form",
    claim=(
        "Changing weights after each mistake and counting the mistakes on each point are the same algorithm, "
        "since the weights are the sum of the labelled points times those counts; the dual form needs inner "
        "products only, so any kernel will do. The learning rate plays no part (slides 4, 6, 8-10)."
    ),
    settings=(
        "Points of the unit ball apart from a random plane (120 in two, 400 in twenty dimensions), and iris "
        "setosa against the other species; with and without a bias; drawn anew in each repetition."
    ),
    run=_run,
)
