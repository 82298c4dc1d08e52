"""The statement of section 4 that the solution is that of quadratic programming."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from adatron.display.figures import add_legend, new_figure
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cristianini1999.tasks import (
    RATE_SHARE,
    Task,
    four_tasks,
    iterates,
    largest_rate,
    multiplicative,
    solve_exactly,
)
from adatron.papers.experiment import Check, Comparison, Effort, Findings
from adatron.solvers import MultiplicativeUpdating

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["run_equality"]

_CLOSE = 0.01  # of the largest multiplier, which all iterates come within
_EXACT = 1e-7
_GROWTH = 1.03
_EQUAL_ROWS = (
    "The breast cancer data has equal rows; how they share a multiplier is arbitrary, so theirs are added up."
)


@dataclass
class Distance:
    """How far the iterates of one task are from the solution of the quadratic program."""

    task: Task
    epochs: np.ndarray
    alpha: np.ndarray  # max |α − α*|, α of equal rows added up
    bias: np.ndarray  # |λ − b*|
    largest: float  # max α*
    fitted: float  # max |α − α*| of the fitted machine


def run_equality(effort: Effort) -> Findings:
    """Distance of the iterates from the exact solution, epoch by epoch."""
    n_epochs = effort.count(full=20_000, quick=2_000)
    distances = [_distance(task, n_epochs) for task in effort.over(four_tasks(effort))]
    comparisons = [
        Comparison({"data": d.task.name, "quantity": name}, None, float(values[-1]))
        for d in distances
        for name, values in (("max |α − α*|", d.alpha), ("|λ − b*|", d.bias))
    ]
    notes = [f"Distances are those of the updates themselves, after {n_epochs:,} epochs.", _EQUAL_ROWS]
    return Findings(comparisons, [_check(d) for d in distances], _figure(distances), notes)


@one_blas_thread()
def _distance(task: Task, n_epochs: int) -> Distance:
    solved = solve_exactly(task)
    rate = RATE_SHARE * largest_rate(task, solved)
    groups = _equal_rows(task)
    epochs, alphas, biases, due = [], [], [], 1.0
    states = islice(iterates(task.dual_problem(), MultiplicativeUpdating(rate)), n_epochs)
    for epoch, state in enumerate(states, start=1):
        if epoch >= due or epoch == n_epochs:
            due = max(epoch + 1.0, due * _GROWTH)
            epochs.append(epoch)
            alphas.append(_largest_sum(state.alpha[:, 0] - solved.alpha, groups))
            biases.append(abs(state.bias[0] - solved.bias))
    curves = np.array(epochs), np.array(alphas), np.array(biases)
    fitted = _fitted_distance(task, rate, solved.alpha, groups)
    return Distance(task, *curves, _largest_sum(solved.alpha, groups), fitted)


def _equal_rows(task: Task) -> np.ndarray:
    """A number for each row, the same for equal rows of one class: only the sum of their α is unique."""
    labelled = np.column_stack([task.X_train, task.y_train])
    return np.unique(labelled, axis=0, return_inverse=True)[1].ravel()


def _largest_sum(differences: np.ndarray, groups: np.ndarray) -> float:
    return float(np.abs(np.bincount(groups, weights=differences)).max())


def _fitted_distance(task: Task, rate: float, exact: np.ndarray, groups: np.ndarray) -> float:
    model = multiplicative(task, rate, tol=1e-9).fit(task.X_train, task.y_train)
    alpha = np.zeros_like(exact)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return _largest_sum(alpha - exact, groups)


def _check(distance: Distance) -> Check:
    off = float(distance.alpha[-1])
    return Check(
        f"The updates end at the solution of the quadratic program: {distance.task.name}",
        off <= _CLOSE * distance.largest and distance.bias[-1] <= _CLOSE and distance.fitted <= _EXACT,
        f"max |α − α*| = {off:.1e}, the largest α* being {distance.largest:.3g}; a machine fitted with "
        f"tol=1e-9 is {'within' if distance.fitted <= _EXACT else 'not within'} {_EXACT:g}",
    )


def _figure(distances: list[Distance]) -> Figure:
    labels = [("epoch", "max |α − α*|"), ("epoch", "|λ − b*|")]
    figure, (left, right) = new_figure(2, labels, log_x=True, log_y=True)
    for distance in distances:
        left.plot(distance.epochs, distance.alpha, label=distance.task.name)
        right.plot(distance.epochs, distance.bias, label=distance.task.name)
    add_legend(left)
    return figure
