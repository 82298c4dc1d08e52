"""Asymptotic rates: how fast the multiplier of a point off the margin vanishes."""

from typing import Any, NamedTuple

import numpy as np

from adatron.gram import DenseGram
from adatron.problems import classification
from adatron.solvers import M3, Munk
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, PUBLISHED, add_legend, new_figure
from reproduction.potluru2009.problems import DATA, Problem, problem, problems
from reproduction.shared import HARD, multipliers, one_blas_thread

SOLVERS: dict[str, Any] = {"M³": M3(), "MUNK": Munk()}
_OUTSIDE = 1e-6  # y f beyond 1 from which a point is off the margin; copies of support vectors are on it
_PERTURBATION = 1e-4  # what raising all zeros together may change in a factor


class Rates(NamedTuple):
    """Factors per epoch of the multipliers of all points off the margin."""

    points: np.ndarray
    distance: np.ndarray  # (d_i − d) d/(l_i l), which the bounds depend on
    measured: dict[str, np.ndarray]  # (epochs, points)
    exact: dict[str, np.ndarray]
    bounds: dict[str, np.ndarray]


def bound(algorithm: str, distance: np.ndarray) -> np.ndarray:
    """The paper's bounds (10) and (11) on the factor."""
    return 1.0 / (1.0 + {"M³": 0.5, "MUNK": 1.0}[algorithm] * distance)


@one_blas_thread()
def measure_rates(problem: Problem, n_epochs: int) -> Rates:
    """Start at the solution with all zeros raised a little, and watch them fall."""
    X, _, y, _ = problem.split
    alpha, K = multipliers(problem.optimum, len(y)), problem.kernel(X, X)
    same_class = y[:, None] == y
    above, below = (K * same_class) @ alpha, (K * ~same_class) @ alpha  # z⁺ and z⁻
    outside = (alpha == 0.0) & (above - below > 1.0 + _OUTSIDE)
    exact = {"M³": (1.0 + np.sqrt(1.0 + 4.0 * above * below)) / (2.0 * above), "MUNK": (below + 1.0) / above}
    squared_norm, lengths = alpha.sum(), np.sqrt(K.diagonal())  # at the solution ‖w‖² = Σα
    distance = ((above - below - 1.0) / squared_norm / (lengths * lengths.max()))[outside]
    dual = classification(DenseGram(K), y, np.full(len(y), HARD), bias=False)
    measured = {}
    for name, solver in SOLVERS.items():
        state = solver.init(dual, alpha[:, None])  # a warm start of these solvers has no zeros
        path = [state.alpha[:, 0].copy()]
        for _ in range(n_epochs):
            state = solver.epoch(dual, state, lambda: None)
            path.append(state.alpha[:, 0].copy())
        measured[name] = (np.array(path[1:]) / np.array(path[:-1]))[:, outside]
    exact = {name: values[outside] for name, values in exact.items()}
    bounds = {name: bound(name, distance) for name in SOLVERS}
    return Rates(np.flatnonzero(outside), distance, measured, exact, bounds)


@one_blas_thread()
def factors_in_training(problem: Problem, algorithm: str, point: int, n_epochs: int) -> np.ndarray:
    """The factors of one multiplier in a training from the usual start, epoch by epoch.

    They end where it has become so small that the machine leaves it out.
    """
    model = problem.machine(algorithm, n_epochs)
    path = [
        float(np.abs(model.dual_coef_[0][model.support_ == point]).sum())
        for _ in model.iter_fit(problem.split.X, problem.split.y)
    ]
    kept = np.array(path[: path.index(0.0)] if 0.0 in path else path)
    return kept[1:] / kept[:-1]


_Trainings = dict[str, tuple[np.ndarray, float, float]]  # of one multiplier: factors by epoch, exact, bound


@experiment(
    "Asymptotic rates of convergence",
    claim="Near the solution the multiplier of a point off the margin shrinks by a constant factor per "
    "iteration, at most 1/(1 + ½ (dᵢ − d)d/(lᵢl)) for M³ and 1/(1 + (dᵢ − d)d/(lᵢl)) for MUNK, whose bound "
    "is the tighter one; d is the margin, dᵢ the distance to the plane, lᵢ that to the origin, l the largest "
    "of these.",
    settings="All problems of Table 1; the exact solution with every zero raised to a millionth of 1/K_ii, "
    "then epochs of the algorithm. Points exactly on the margin, copies of support vectors, are left out. "
    "One point is also watched in a training from the usual start.",
)
def rates(effort: Effort) -> Findings:
    n_epochs = effort.count(full=100, quick=20)
    found, rows, shares = {}, [], []
    for case in effort.over(problems()):
        found[case.data, case.kernel_name] = own = measure_rates(case, n_epochs)
        # medians over the points of quotients of rates, a rate being −log of the factor
        logs = {name: np.log(own.measured[name]).mean(axis=0) for name in SOLVERS}
        quotients = {"MUNK / M³": logs["MUNK"] / logs["M³"]}
        quotients |= {f"bound / {name}": np.log(own.bounds[name]) / logs[name] for name in SOLVERS}
        medians = {name: float(f"{np.median(values):.3g}") for name, values in quotients.items()}
        rows += [Comparison(case.labels | {"rates of": name}, None, ours) for name, ours in medians.items()]
        shares += [100.0 * ours for name, ours in medians.items() if name.startswith("bound") and ours]
    # one training of the point whose factor is the median one
    own, case = found["sonar", "Gaussian 1"], problem("sonar", "Gaussian 1")
    place = int(np.argsort(own.exact["M³"])[len(own.points) // 2])
    point, n_epochs = int(own.points[place]), effort.count(full=2_000, quick=400)
    trainings = {}
    for name in SOLVERS:
        factors = factors_in_training(case, name, point, n_epochs)
        trainings[name] = factors, own.exact[name][place], own.bounds[name][place]
    note = (
        "The abstract calls the bounds tight; in median over the points they promise between "
        f"{min(shares):.1g} % and {max(shares):.2g} % of the rate that is measured, depending on the problem."
    )
    return Findings(rows, _checks(list(found.values()), trainings), _figure(found, trainings), [note])


def _checks(found: list[Rates], trainings: _Trainings) -> list[Check]:
    n_points = sum(len(rates.points) for rates in found)
    off = max(float(np.abs(r.measured[name] - r.exact[name]).max()) for r in found for name in SOLVERS)
    statement = "Near the solution the factor is (1 + √(1 + 4z⁺z⁻))/(2z⁺) for M³ and (z⁻ + 1)/z⁺ for MUNK."
    detail = f"within {off:.0e} of the measured one, {n_points} points, every epoch"
    checks = [Check(statement, off <= _PERTURBATION, detail)]
    limits = {
        "Bound (10) on the factor of M³ holds.": [(r.exact["M³"], r.bounds["M³"]) for r in found],
        "Bound (11) on the factor of MUNK holds.": [(r.exact["MUNK"], r.bounds["MUNK"]) for r in found],
        "MUNK's factor is never above that of M³.": [(r.exact["MUNK"], r.exact["M³"]) for r in found],
    }
    for statement, pairs in limits.items():
        n_held = sum(int((factors <= limit).sum()) for factors, limit in pairs)
        checks.append(Check(statement, n_held == n_points, f"for {n_held} of {n_points} points"))
    detail = "; ".join(
        f"{name}: {factors[-1]:.5f} after {len(factors) + 1:,} epochs, exact {exact:.5f}, bound {limit:.5f}"
        for name, (factors, exact, limit) in trainings.items()
    )
    below = "In a training from the start the factor of a point off the margin falls below its bound, too."
    falls = all(factors[-1] <= limit for factors, _, limit in trainings.values())
    return [*checks, Check(below, falls, detail)]


def _figure(found: dict[tuple[str, str], Rates], trainings: _Trainings) -> Any:
    axis_labels = ("(dᵢ − d) d/(lᵢ l)", "lost per epoch, 1 − factor")
    titles = [*(f"{data.capitalize()}, σ = 3" for data in DATA), "Sonar, σ = 1: one multiplier"]
    figure, axes = new_figure(3, [axis_labels, axis_labels, ("epoch", "factor")], log_x=True, titles=titles)
    for ax, data in zip(axes, DATA, strict=False):
        rates = found[data, "Gaussian 3"]
        line = np.geomspace(rates.distance.min(), rates.distance.max(), 50)
        for name, colour, marker in zip(SOLVERS, COLOURS, "o^", strict=False):
            style: dict[str, Any] = {"color": colour, "marker": marker, "s": 12, "alpha": 0.7, "linewidth": 0}
            ax.scatter(rates.distance, 1.0 - rates.measured[name].mean(axis=0), label=name, **style)
            ax.plot(line, 1.0 - bound(name, line), **(PUBLISHED | {"color": colour}), label=f"{name}, bound")
        ax.set_yscale("log")
    ax = axes[2]
    for (name, (factors, exact, limit)), colour in zip(trainings.items(), COLOURS, strict=False):
        ax.plot(np.arange(2, len(factors) + 2), factors, color=colour, label=name)
        ax.axhline(limit, **(PUBLISHED | {"color": colour}), label=f"{name}, bound")
        ax.axhline(exact, color=colour, linestyle=":", linewidth=1.0, label=f"{name}, exact")
    ax.set_ylim(0.98, 1.03)
    add_legend(axes[1], loc="upper left")
    add_legend(ax, loc="upper right")
    return figure
