"""Asymptotic rates: how fast the multiplier of a point that supports nothing dies out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings
from adatron.papers.potluru2009.factors import SOLVERS, Rates, bound, factors_in_training, measure_rates
from adatron.papers.potluru2009.settings import DASHED, DATA, Problem, problem, problems

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RATES"]

_PERTURBATION = 1e-4  # what raising all zeros together may change in a factor
_WATCHED = ("sonar", "Gaussian 1")


class _Training(NamedTuple):
    """One multiplier on its way from the start of a training."""

    factors: np.ndarray  # of each epoch
    exact: float
    bound: float


def _run(effort: Effort) -> Findings:
    n_epochs = effort.count(full=100, quick=20)
    cases = problems()
    found = {(case.data, case.kernel_name): measure_rates(case, n_epochs) for case in effort.over(cases)}
    trainings = _watch(found[_WATCHED], effort.count(full=2_000, quick=400))
    rows = [row for case in cases for row in _comparisons(case, found[case.data, case.kernel_name])]
    checks = [*_checks(list(found.values())), _training_check(trainings)]
    return Findings(rows, checks, _figure(found, trainings), [_tightness_note(rows)])


def _watch(rates: Rates, n_epochs: int) -> dict[str, _Training]:
    """A training of the point whose factor is the median one."""
    place = int(np.argsort(rates.exact["M³"])[len(rates.points) // 2])
    case, point = problem(*_WATCHED), int(rates.points[place])
    return {
        name: _Training(
            factors_in_training(case, name, point, n_epochs),
            float(rates.exact[name][place]),
            float(rates.bounds[name][place]),
        )
        for name in SOLVERS
    }


def _comparisons(case: Problem, rates: Rates) -> list[Comparison]:
    """Medians over the points of quotients of rates, a rate being −log of the factor."""
    logs = {name: np.log(rates.measured[name]).mean(axis=0) for name in SOLVERS}
    quotients = {"MUNK / M³": logs["MUNK"] / logs["M³"]}
    quotients |= {f"bound / {name}": np.log(rates.bounds[name]) / logs[name] for name in SOLVERS}
    return [
        Comparison(case.labels | {"rates of": name}, None, float(f"{np.median(values):.3g}"))
        for name, values in quotients.items()
    ]


def _tightness_note(rows: list[Comparison]) -> str:
    shares = [100.0 * row.ours for row in rows if row.labels["rates of"].startswith("bound") and row.ours]
    return (
        "The abstract calls the bounds tight; in median over the points they promise between "
        f"{min(shares):.1g} % and {max(shares):.2g} % of the rate that is measured, depending on the problem."
    )


def _checks(found: list[Rates]) -> list[Check]:
    n_points = sum(len(rates.points) for rates in found)
    off = max(float(np.abs(r.measured[name] - r.exact[name]).max()) for r in found for name in SOLVERS)
    checks = [
        Check(
            "Near the solution the factor is (1 + √(1 + 4z⁺z⁻))/(2z⁺) for M³ and (z⁻ + 1)/z⁺ for MUNK.",
            off <= _PERTURBATION,
            f"within {off:.0e} of the measured one, {n_points} points, every epoch",
        )
    ]
    for name, number in (("M³", 10), ("MUNK", 11)):
        n_held = sum(int((rates.exact[name] <= rates.bounds[name]).sum()) for rates in found)
        statement = f"Bound ({number}) on the factor of {name} holds."
        checks.append(Check(statement, n_held == n_points, f"for {n_held} of {n_points} points"))
    n_ahead = sum(int((rates.exact["MUNK"] <= rates.exact["M³"]).sum()) for rates in found)
    statement = "MUNK's factor is never above that of M³."
    return [*checks, Check(statement, n_ahead == n_points, f"for {n_ahead} of {n_points} points")]


def _training_check(trainings: dict[str, _Training]) -> Check:
    detail = "; ".join(
        f"{name}: {training.factors[-1]:.5f} after {len(training.factors) + 1:,} epochs, "
        f"exact {training.exact:.5f}, bound {training.bound:.5f}"
        for name, training in trainings.items()
    )
    return Check(
        "In a training from the start the factor of a point off the margin falls below its bound, too.",
        all(training.factors[-1] <= training.bound for training in trainings.values()),
        detail,
    )


def _figure(found: dict[tuple[str, str], Rates], trainings: dict[str, _Training]) -> Figure:
    rates = ("(dᵢ − d) d/(lᵢ l)", "lost per epoch, 1 − factor")
    titles = [*(f"{data.capitalize()}, σ = 3" for data in DATA), "Sonar, σ = 1: one multiplier"]
    figure, axes = new_figure(3, [rates, rates, ("epoch", "factor")], log_x=True, titles=titles)
    for ax, data in zip(axes, DATA, strict=False):
        _draw_rates(ax, found[data, "Gaussian 3"])
    _draw_training(axes[2], trainings)
    add_legend(axes[1], loc="upper left")
    add_legend(axes[2], loc="upper right")
    return figure


def _draw_rates(ax: Axes, rates: Rates) -> None:
    line = np.geomspace(rates.distance.min(), rates.distance.max(), 50)
    for name, colour, marker in zip(SOLVERS, COLOURS, "o^", strict=False):
        style: dict[str, Any] = {"color": colour, "marker": marker, "s": 12, "alpha": 0.7, "linewidth": 0}
        ax.scatter(rates.distance, 1.0 - rates.measured[name].mean(axis=0), label=name, **style)
        ax.plot(line, 1.0 - bound(name, line), **(DASHED | {"color": colour}), label=f"{name}, bound")
    ax.set_yscale("log")


def _draw_training(ax: Axes, trainings: dict[str, _Training]) -> None:
    for (name, training), colour in zip(trainings.items(), COLOURS, strict=False):
        ax.plot(np.arange(2, len(training.factors) + 2), training.factors, color=colour, label=name)
        ax.axhline(training.bound, **(DASHED | {"color": colour}), label=f"{name}, bound")
        ax.axhline(training.exact, color=colour, linestyle=":", linewidth=1.0, label=f"{name}, exact")
    ax.set_ylim(0.98, 1.03)


RATES = Experiment(
    name="rates",
    title="Asymptotic rates of convergence",
    claim=(
        "Near the solution the multiplier of a point off the margin shrinks by a constant factor per "
        "iteration, at most 1/(1 + ½ (dᵢ − d)d/(lᵢl)) for M³ and 1/(1 + (dᵢ − d)d/(lᵢl)) for MUNK, whose "
        "bound is the tighter one; d is the margin, dᵢ the distance to the plane, lᵢ that to the origin, l "
        "the largest of these."
    ),
    settings=(
        "All problems of Table 1; the exact solution with every zero raised to a millionth of 1/K_ii, then "
        "epochs of the algorithm. Points exactly on the margin, copies of support vectors, are left out. One "
        "point is also watched in a training from the usual start."
    ),
    run=_run,
)
