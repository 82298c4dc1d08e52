"""Sections 2 and 3.1: bounds on the test error and on convergence, and what is measured beside them."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from adatron.bounds import compression_bound as error_bound
from adatron.solvers import KernelAdatron, MultiplicativeUpdating
from reproduction.cristianini1999 import tasks
from reproduction.cristianini1999.tasks import FOUR, RATE_SHARE, Solved, Task, draws, four_tasks
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, DOTTED, add_legend, new_figure, thinning
from reproduction.shared import Split, one_blas_thread

UPDATES, ASCENT, ADATRON = "multiplicative", "gradient ascent", "Kernel-Adatron"
_GOAL = 0.01  # relative distance of the objective from its maximum


def linear_teacher(n_features: int, seed: int) -> Task:
    """Normal points, labelled by the sign of one feature; the more features, the more support vectors."""
    X = np.random.default_rng(seed).standard_normal((200, n_features))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    return Task(f"{n_features} features", Split(X, X, y, y), float(np.sqrt(n_features)))


def bound_of_ascent(solved: Solved, start: np.ndarray) -> float:
    """ε_GD after one update, R = 1: ``m |α* − α⁰| (1 + R²/γ²)``; after |S| updates divide by √|S|."""
    distance = float(np.linalg.norm(solved.alpha - start))
    return len(start) * distance * (1.0 + (1.0 / solved.margin) ** 2)


def bound_of_updates(solved: Solved, start: np.ndarray) -> float:
    """ε_MU likewise: ``(2/γ) √((1 + R²/γ²) Σ α* ln(α*/α⁰))``."""
    support = solved.alpha > 0.0
    chosen = solved.alpha[support]
    divergence = float(chosen @ np.log(chosen / start[support]))
    return 2.0 / solved.margin * float(np.sqrt((1.0 + (1.0 / solved.margin) ** 2) * divergence))


@dataclass
class Race:
    """One task solved by several methods: bounds, and objective by epoch."""

    name: str
    solved: Solved
    bounds: dict[str, float]
    curves: dict[str, np.ndarray]  # epochs, relative distance of the objective from its maximum

    def __post_init__(self) -> None:
        self.share = self.solved.share
        self.epochs = {method: int(epochs[-1]) for method, (epochs, _) in self.curves.items()}
        self.bound_ratio = self.bounds[ASCENT] / self.bounds[UPDATES]
        self.epoch_ratio = self.epochs[ASCENT] / self.epochs[UPDATES]


@one_blas_thread()
def race(task: Task) -> Race:
    """Solve without a bias by multiplicative updates, gradient ascent and Kernel-Adatron."""
    solved = task.solve(bias=False)
    problem = task.dual_problem(bias=False)
    start = MultiplicativeUpdating().init(problem).alpha[:, 0]
    # at a rate that simultaneous ascent could bear, sweeping point by point hardly differs from it
    K = task.kernel(task.split.X, task.split.X)
    ascent = RATE_SHARE * 2.0 / float(np.linalg.eigvalsh(K)[-1])
    solvers = {
        UPDATES: MultiplicativeUpdating(RATE_SHARE * task.largest_rate(solved, bias=False)),
        ASCENT: KernelAdatron(ascent),
        ADATRON: KernelAdatron(),
    }
    curves = {name: _curve(problem, solver, solved.objective) for name, solver in solvers.items()}
    bounds = {ASCENT: bound_of_ascent(solved, start), UPDATES: bound_of_updates(solved, start)}
    return Race(task.name, solved, bounds, curves)


def _curve(problem: Any, solver: Any, maximum: float) -> np.ndarray:
    """Until the distance is small; thinned."""
    points, is_shown = [], thinning(1.02)
    for epoch, state in tasks.iterates(problem, solver, 200_000):
        objective = float((state.alpha * (problem.p - 0.5 * problem.y * state.f)).sum())
        distance = 1.0 - objective / maximum
        if is_shown(epoch, distance <= _GOAL):
            points.append((epoch, distance))
        if distance <= _GOAL:
            break
    return np.array(points).T


def _mean(family: list[Race], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in family]))


@experiment(
    "Convergence for sparse and dense solutions (section 3.1)",
    claim="After as many updates the objective is closer to its maximum than with gradient ascent, by bounds "
    "ε_MU and ε_GD, when there are few support vectors; in general neither is always faster.",
    settings="200 normal points in 4 to 128 dimensions labelled by the sign of one feature, σ² = number of "
    "features; and the four problems. Hard margin without a bias, so that all methods have the same "
    "constraints. ε from the exact solution with R = 1, γ = 1/‖w‖, and α* under the sum; epochs until the "
    "objective is within 1 % of its maximum. Gradient ascent: Kernel-Adatron at a fixed rate that "
    "simultaneous ascent could bear; both rates are three quarters of the largest stable.",
)
def bounds(effort: Effort) -> Findings:
    seeds = draws(effort, effort.count(full=5, quick=1))
    features = (4, 16, 64, 128) if effort.quick else (4, 8, 16, 32, 64, 128)
    raced = [linear_teacher(n, seed) for n in features for seed in seeds] + four_tasks(effort)
    races = [race(task) for task in effort.over(raced)]
    teachers = [races[i * len(seeds) : (i + 1) * len(seeds)] for i in range(len(features))]
    others = [[one] for one in races[len(features) * len(seeds) :]]
    rows, epochs = [], "epochs, gradient ascent / multiplicative"
    for family in teachers + others:
        labels = {"data": family[0].name, "support vectors": f"{100.0 * _mean(family, 'share'):.0f} %"}
        for quantity, name in (("ε_GD / ε_MU", "bound_ratio"), (epochs, "epoch_ratio")):
            values = [getattr(one, name) for one in family]
            rows.append(Comparison.of_mean(labels | {"quantity": quantity}, values))
    one = teachers[-1][0]
    informative = (one.bounds[UPDATES] / one.solved.objective) ** 2
    quicker = sum(min(one.epochs.values()) == one.epochs[ADATRON] for one in races)
    notes = [
        f"The bounds are loose: for {one.name}, ε_MU falls below the maximum itself after {informative:,.0f} "
        f"epochs, where {one.epochs[UPDATES]:,} come within 1 % of it.",
        f"Kernel-Adatron with its own rate 1/K_ii needs the fewest epochs on {quicker} of {len(races)} "
        "problems: a point that sees the latest α bears a rate that simultaneous updates do not.",
    ]
    return Findings(rows, _race_checks(races, teachers), _draw_races(teachers, others), notes)


def _race_checks(races: list[Race], teachers: list[list[Race]]) -> list[Check]:
    sparse, dense = (_mean(family, "epoch_ratio") for family in (teachers[0], teachers[-1]))
    ratios, shares = ([_mean(own, name) for own in teachers] for name in ("bound_ratio", "share"))
    # the largest share of its bound that the distance from the maximum came to, over all epochs
    use = max(
        float((one.curves[name][1] * one.solved.objective * np.sqrt(one.curves[name][0]) / bound).max())
        for one in races
        for name, bound in one.bounds.items()
    )
    smallest = min(one.bound_ratio for one in races)
    few, many = f"{shares[0]:.0%} support vectors", f"{shares[-1]:.0%}"
    fewer = "With few support vectors multiplicative updates need fewer epochs than gradient ascent"
    ordered = (np.diff(shares) > 0.0).all() and (np.diff(ratios) < 0.0).all()
    from_to = f"ε_GD / ε_MU from {ratios[0]:.0f} at {few} to {ratios[-1]:.0f} at {many}"
    longer = f"gradient ascent needs {dense:.2g} times the epochs at {many} support vectors"
    used = f"the distance from the maximum is at most {use:.2g} of its bound"
    return [
        Check("ε_MU is smaller than ε_GD", smallest > 1.0, f"at least {smallest:.0f} times, on all problems"),
        Check("The fewer support vectors, the greater the advantage of ε_MU", ordered, from_to),
        Check(fewer, sparse > 1.0, f"{sparse:.2g} times fewer at {few}"),
        Check("For general targets neither is always faster", sparse > 1.0 > dense, longer),
        Check("Both bounds hold at every epoch", use <= 1.0, used),
    ]


def _draw_races(teachers: list[list[Race]], others: list[list[Race]]) -> Any:
    away, ends = ("epoch", "relative distance from maximum"), (teachers[0][0], teachers[-1][0])
    labels = [away, away, ("share of support vectors", "gradient ascent / multiplicative")]
    titles = [f"{one.name}, {one.share:.0%} support vectors" for one in ends]
    figure, axes = new_figure(3, labels, log_x=True, log_y=True, titles=[*titles, ""])
    for ax, one in zip(axes, ends, strict=False):
        for name, curve in one.curves.items():
            ax.plot(*curve, label=name)
    add_legend(axes[0], loc="lower left")
    ax = axes[2]
    ax.set_xscale("linear")
    measured = (("bound_ratio", "ε of the bounds"), ("epoch_ratio", "epochs measured"))
    for colour, (name, text) in zip(COLOURS, measured, strict=False):
        for families, marker, label in ((teachers, "o-", text), (others, "x", f"{text}, section 4")):
            points = [(_mean(family, "share"), _mean(family, name)) for family in families]
            ax.plot(*zip(*points, strict=True), marker, color=colour, label=label)
    ax.axhline(1.0, **DOTTED)
    ax.set_ylim(0.2, 3e4)  # room for the legend
    add_legend(ax, loc="upper right")
    return figure


_DELTA = 0.05


def log_probability(n_support: int, n_samples: int, error: float) -> float:
    """Logarithm of ``Σ_{i=1..d} (p over i) (1 − ε)^(p−i)``.

    Bounds the chance of a consistent hypothesis with d support vectors of p points and an error above ε.
    """
    i = np.arange(1, n_support + 1)
    ways = gammaln(n_samples + 1) - gammaln(i + 1) - gammaln(n_samples - i + 1)
    return float(logsumexp(ways + (n_samples - i) * math.log1p(-error)))


@experiment(
    "Few support vectors, low error (section 2)",
    claim="With d support vectors of p points and no training error, the test error is bounded by (d "
    "log₂(ep/d) + log₂(p/δ))/(p − d) with confidence 1 − δ.",
    settings=f"{FOUR}, and wider kernels on breast cancer; δ = 0.05. Exact solutions.",
)
def compression_bound(effort: Effort) -> Findings:
    wider = [replace(tasks.breast_cancer(), width=width) for width in (2.0, 3.0, 5.0, 8.0)]
    rows, found = [], []
    for task in effort.over([*four_tasks(effort), *wider]):
        model, p = task.fit(tol=1e-9), len(task.split.y)
        d, name = len(model.support_), f"{task.name}, σ = {task.width:g}"
        bound, error = error_bound(d, p, delta=_DELTA), task.error(model)
        found.append((d / p, name, bound, error))
        labels = {"data": name, "support vectors": f"{d} of {p}"}
        for quantity, share in (("bound", bound), ("test error", error)):
            rows.append(Comparison(labels | {"quantity": quantity}, None, 100.0 * share, unit="%"))
    all_bounds = {(d, p): error_bound(d, p, delta=_DELTA) for p in (200, 550, 5_000) for d in range(1, p)}
    worst = max(log_probability(d, p, bound) for (d, p), bound in all_bounds.items() if bound < 1.0)
    follows = "The bound follows from the sum over all choices of support vectors"
    most = f"the sum at the bound is at most {math.exp(worst):.2g}, δ = {_DELTA:g}; p = 200, 550, 5,000"
    _, name, bound, error = min(found)
    sparsest = f"the sparsest: {name}, {error:.1%} against {bound:.0%}"
    shares, names, bounds, errors = zip(*found, strict=True)
    checks = [
        Check(follows, worst <= math.log(_DELTA), most),
        Check("No test error exceeds its bound", (np.array(errors) <= bounds).all(), sparsest),
    ]
    empty = [name for name, bound in zip(names, bounds, strict=True) if bound >= 1.0]
    which = f"{len(empty)} of {len(found)} machines" + (f": {', '.join(empty)}" if empty else "")
    figure, (ax,) = new_figure(1, [("support vectors / training points", "error")], log_y=True)
    x = np.linspace(0.005, 0.95, 150)
    for colour, p in zip(COLOURS[2:], (200, 550), strict=False):
        curve = [error_bound(max(1, round(share * p)), p, delta=_DELTA) for share in x]
        ax.plot(x, curve, color=colour, label=f"bound, {p} points")
    ax.plot(shares, bounds, "o", label="bound")
    ax.plot(shares, errors, "x", label="test error")
    ax.axhline(1.0, **DOTTED)
    add_legend(ax)
    return Findings(rows, checks, figure, [f"A bound of 100 % or more says nothing; so it is for {which}."])
