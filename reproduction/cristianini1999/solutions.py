"""End of section 4: the limit of the updates, the influence of the rate, and regression."""

from functools import partial
from typing import Any

import numpy as np

from adatron import SVR
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.problems import regression as regression_problem
from adatron.solvers import MultiplicativeUpdating
from reproduction.cristianini1999.tasks import FOUR, RATE_SHARE, Task, four_tasks, iterates
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, DOTTED, INK, add_legend, new_figure, thinning
from reproduction.shared import cpu_seconds, multipliers, one_blas_thread


@one_blas_thread()
def _distance(task: Task, n_epochs: int) -> tuple[np.ndarray, float, float]:
    """How far the iterates are from the solution of the quadratic program.

    The curve of epochs, max |α − α*| with α of equal rows added up, and |λ − b*|; max α*; and max |α − α*| of
    the fitted machine.
    """
    solved = task.solve()
    rate = RATE_SHARE * task.largest_rate(solved)
    # equal rows of one class have one number: only the sum of their α is unique
    labelled = np.column_stack([task.split.X, task.split.y])
    groups = np.unique(labelled, axis=0, return_inverse=True)[1].ravel()

    def largest_sum(differences: np.ndarray) -> float:
        return float(np.abs(np.bincount(groups, weights=differences)).max())

    points, is_shown = [], thinning(1.03)
    for epoch, state in iterates(task.dual_problem(), MultiplicativeUpdating(rate), n_epochs):
        if is_shown(epoch, epoch == n_epochs):
            off = largest_sum(state.alpha[:, 0] - solved.alpha)
            points.append((epoch, off, abs(state.bias[0] - solved.bias)))
    fitted = multipliers(task.fit(rate, tol=1e-9), len(groups))
    return np.array(points).T, largest_sum(solved.alpha), largest_sum(fitted - solved.alpha)


@experiment(
    "The solution is that of quadratic programming (section 4)",
    claim="Multipliers and bias end where a quadratic program has its solution.",
    settings=f"{FOUR}. Exact solution α*, b*: SVC(C=inf, tol=1e-9), certified by its duality gap. The "
    "updates run without the exact finish of SVC, at three quarters of the largest stable rate.",
)
def qp(effort: Effort) -> Findings:
    n_epochs, close, exact = effort.count(full=20_000, quick=2_000), 0.01, 1e-7
    figure, axes = new_figure(2, [("epoch", "max |α − α*|"), ("epoch", "|λ − b*|")], log_x=True, log_y=True)
    rows, checks = [], []
    for task in effort.over(four_tasks(effort)):
        (epochs, *distances), largest, fitted = _distance(task, n_epochs)
        for ax, quantity, values in zip(axes, ("max |α − α*|", "|λ − b*|"), distances, strict=True):
            rows.append(Comparison({"data": task.name, "quantity": quantity}, None, float(values[-1])))
            ax.plot(epochs, values, label=task.name)
        off, bias_off = (float(values[-1]) for values in distances)
        statement = f"The updates end at the solution of the quadratic program: {task.name}"
        detail = (
            f"max |α − α*| = {off:.1e}, the largest α* being {largest:.3g}; a machine fitted with tol=1e-9 "
            f"is {'within' if fitted <= exact else 'not within'} {exact:g}"
        )
        holds = off <= close * largest and bias_off <= close and fitted <= exact
        checks.append(Check(statement, holds, detail))
    add_legend(axes[0])
    notes = [
        f"Distances are those of the updates themselves, after {n_epochs:,} epochs.",
        "The breast cancer data has equal rows; how they share a multiplier is arbitrary, so theirs are "
        "added up.",
    ]
    return Findings(rows, checks, figure, notes)


@experiment(
    "The choice of the learning rate (section 4, end)",
    claim="Too large a rate does not converge, too small a one is slow, and for that reason the algorithm is "
    "slower than quadratic programming.",
    settings=f"{FOUR}. Rates as shares of the largest stable one, 2/λ_max of the updates linearised at the "
    "solution; fits to a relative duality gap of 1e-3.",
)
def learning_rate(effort: Effort) -> Findings:
    all_shares = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.05, 1.1, 1.5, 2.0)
    shares = (0.4, 0.95, 1.1, 2.0) if effort.quick else all_shares
    labels = [("η / largest stable η", "epochs until the fit ends")]
    figure, (ax,) = new_figure(1, labels, log_x=True, log_y=True)
    rows, named, as_predicted, slower, spread = [], [], True, True, 0.0
    for colour, task in zip(COLOURS, effort.over(four_tasks(effort)), strict=False):
        largest = task.largest_rate(task.solve())
        fits = {share: task.fit(share * largest, max_iter=40_000) for share in shares}
        as_predicted &= all(model.converged_ is (share < 1.0) for share, model in fits.items())
        ended, diverged = (
            np.array([(s, m.n_iter_[0]) for s, m in fits.items() if m.converged_ is is_good]).reshape(-1, 2).T
            for is_good in (True, False)
        )
        products = ended[0] * ended[1]
        spread = max(spread, float(products.max() / products.min()))
        slower &= cpu_seconds(partial(task.fit, "auto")) > min(cpu_seconds(task.fit) for _ in range(5))
        rows.append(Comparison({"data": task.name, "quantity": "largest stable η"}, None, largest))
        named.append(f"{task.name} {largest:.3g}")
        ax.plot(*ended, "o-", color=colour, label=task.name)
        ax.plot(*diverged, "x", color=colour)
    ticks = [tick for tick in (0.05, 0.1, 0.2, 0.4, 0.6, 1.0, 2.0) if tick >= min(shares)]
    ax.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.plot([], [], "x", color=INK, label="diverged")
    ax.axvline(1.0, **DOTTED)
    add_legend(ax)
    limit = "Too large a rate does not converge: a rate does if and only if it is below 2/λ_max"
    factor = f"η times epochs differs by a factor of {spread:.2f} at most"
    clock = 'processor time with learning_rate="auto" against solver="auto", which ends by active sets'
    checks = [
        Check(limit, as_predicted, f"rates on both sides of the limit: {', '.join(named)}"),
        Check("Too small a rate is slow: the epochs go as 1/η", spread < 2.0, factor),
        Check("The updates are slower than a solver of the quadratic program", slower, clock),
    ]
    return Findings(rows, checks, figure)


_KERNEL, _EPSILON = Gaussian.of_width(1.0), 0.1
_SHOWN = (3, 30)  # epochs whose functions are drawn, for the first C


@one_blas_thread()
def _approach(X: np.ndarray, t: np.ndarray, grid: np.ndarray, C: float, n_epochs: int) -> Any:
    """The exact function f* on a grid, the updates' own by epoch, and a curve of epochs and max |f − f*|."""
    goal = SVR(C, _EPSILON, _KERNEL, tol=1e-9).fit(X, t).predict(grid)
    upper = np.full(len(t), C)
    problem = regression_problem(DenseGram(_KERNEL(X, X)), t, upper, epsilon=_EPSILON, bias=True)
    functions: dict[int, np.ndarray] = {}
    points, is_shown = [], thinning(1.03)
    for epoch, state in iterates(problem, MultiplicativeUpdating(), n_epochs):
        if is_shown(epoch, epoch in (*_SHOWN, n_epochs)):
            above, below = state.alpha[: len(X), 0], state.alpha[len(X) :, 0]  # twin multipliers
            function = _KERNEL(grid, X) @ (above - below) + state.bias[0]
            points.append((epoch, float(np.abs(function - goal).max())))
            functions |= {epoch: function} if epoch in _SHOWN else {}
    return goal, functions, np.array(points).T


@experiment(
    "Regression (section 4, end)",
    claim="The algorithm is readily extended to regression.",
    settings="sin(x)/x at 100 points with noise of 0.1, Gaussian σ = 1, ε = 0.1; twin multipliers with upper "
    "bounds C, rate halved when the objective falls; exact solution: SVR(tol=1e-9).",
)
def regression(effort: Effort) -> Findings:
    generator, n_epochs = effort.generator(), effort.count(full=20_000, quick=2_000)
    X = np.sort(generator.uniform(-6.0, 6.0, size=100))[:, None]
    t = np.sinc(X[:, 0] / np.pi) + 0.1 * generator.standard_normal(100)
    grid = np.linspace(X.min(), X.max(), 200)[:, None]
    approaches = {C: _approach(X, t, grid, C, n_epochs) for C in effort.over((1.0, 10.0))}
    figure, (left, right) = new_figure(2, [("x", "f(x), C = 1"), ("epoch", "max |f − f*|")])
    right.set(xscale="log", yscale="log")
    rows = []
    for C, (_, _, curve) in approaches.items():
        labels = {"C": f"{C:g}", "quantity": f"max |f − f*| after {n_epochs:,} epochs"}
        rows.append(Comparison(labels, None, curve[1, -1]))
        right.plot(*curve, label=f"C = {C:g}")
    add_legend(right)
    goal, functions, curve = approaches[1.0]
    left.plot(X[:, 0], t, ".", markersize=3, color=INK, alpha=0.5)
    for epoch, function in functions.items():
        left.plot(grid[:, 0], function, label=f"{epoch} epochs")
    left.plot(grid[:, 0], goal, label="exact")
    left.set_ylim(top=1.7)  # room for the legend
    add_legend(left, loc="upper left", ncols=3)
    statement = "The updates carry over to regression: C = 1 ends at the exact solution"
    check = Check(statement, curve[1, -1] <= 1e-2, f"max |f − f*| = {curve[1, -1]:.1e}")
    return Findings(rows, [check], figure, ["The larger C, the longer it takes."])
