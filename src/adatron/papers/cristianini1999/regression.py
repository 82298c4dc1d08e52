"""The closing remark that the updates extend to regression."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from adatron.display.figures import add_legend, new_figure
from adatron.estimators import SVR
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cristianini1999.lines import INK
from adatron.papers.cristianini1999.tasks import iterates
from adatron.papers.experiment import Check, Comparison, Effort, Findings
from adatron.problems import regression
from adatron.solvers import MultiplicativeUpdating

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["run_regression"]

_BOUNDS, _EPSILON, _KERNEL = (1.0, 10.0), 0.1, Gaussian.of_width(1.0)
_SHOWN = (3, 30)  # epochs whose functions are drawn, for the first bound
_GROWTH = 1.03
_CLOSE = 1e-2


@dataclass
class Approach:
    """The way of the updates to the exact solution, for one bound C."""

    C: float
    goal: np.ndarray  # f* on a grid
    curves: dict[int, np.ndarray] = field(default_factory=dict)
    epochs: list[int] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)  # max |f − f*| on the grid


def run_regression(effort: Effort) -> Findings:
    """Noisy sin(x)/x: the updates' own function against the exact one."""
    X, t = _noisy_sinc(effort.generator())
    grid = np.linspace(X.min(), X.max(), 200)[:, None]
    n_epochs = effort.count(full=20_000, quick=2_000)
    approaches = [_approach(X, t, grid, C, n_epochs) for C in effort.over(_BOUNDS)]
    comparisons = [
        Comparison(
            {"C": f"{one.C:g}", "quantity": f"max |f − f*| after {n_epochs:,} epochs"},
            None,
            one.distances[-1],
        )
        for one in approaches
    ]
    last = approaches[0].distances[-1]
    check = Check(
        f"The updates carry over to regression: C = {_BOUNDS[0]:g} ends at the exact solution",
        last <= _CLOSE,
        f"max |f − f*| = {last:.1e}",
    )
    note = "The larger C, the longer it takes."
    return Findings(comparisons, [check], _figure(X, t, grid, approaches), [note])


def _noisy_sinc(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = np.sort(generator.uniform(-6.0, 6.0, size=100))[:, None]
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * generator.standard_normal(100)


@one_blas_thread()
def _approach(X: np.ndarray, t: np.ndarray, grid: np.ndarray, C: float, n_epochs: int) -> Approach:
    approach = Approach(C, SVR(C, _EPSILON, _KERNEL, tol=1e-9).fit(X, t).predict(grid))
    problem = regression(DenseGram(_KERNEL(X, X)), t, np.full(len(t), C), epsilon=_EPSILON, bias=True)
    due = 1.0
    for epoch, state in enumerate(islice(iterates(problem, MultiplicativeUpdating()), n_epochs), start=1):
        if epoch >= due or epoch in (*_SHOWN, n_epochs):
            due = max(epoch + 1.0, due * _GROWTH)
            _look(approach, epoch, _function(state, X, grid))
    return approach


def _look(approach: Approach, epoch: int, function: np.ndarray) -> None:
    approach.epochs.append(epoch)
    approach.distances.append(float(np.abs(function - approach.goal).max()))
    if epoch in _SHOWN:
        approach.curves[epoch] = function


def _function(state: Any, X: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """What the twin multipliers stand for, λ being the bias."""
    above, below = state.alpha[: len(X), 0], state.alpha[len(X) :, 0]
    return _KERNEL(grid, X) @ (above - below) + state.bias[0]


def _figure(X: np.ndarray, t: np.ndarray, grid: np.ndarray, approaches: list[Approach]) -> Figure:
    labels = [("x", f"f(x), C = {_BOUNDS[0]:g}"), ("epoch", "max |f − f*|")]
    figure, (left, right) = new_figure(2, labels)
    left.plot(X[:, 0], t, ".", markersize=3, color=INK, alpha=0.5)
    for epoch, curve in approaches[0].curves.items():
        left.plot(grid[:, 0], curve, label=f"{epoch} epochs")
    left.plot(grid[:, 0], approaches[0].goal, label="exact")
    left.set_ylim(top=1.7)  # room for the legend
    add_legend(left, loc="upper left", ncols=3)
    right.set(xscale="log", yscale="log")
    for one in approaches:
        right.plot(one.epochs, one.distances, label=f"C = {one.C:g}")
    add_legend(right)
    return figure
