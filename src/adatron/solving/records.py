"""What is known after each epoch, and the history that is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from adatron.compiled import compiled
from adatron.problems import DualProblem
from adatron.solvers import State

__all__ = ["HISTORY_FIELDS", "EpochRecord", "History", "measure"]

HISTORY_FIELDS = ("epoch", "seconds", "objective", "margin", "bias", "violation")


@dataclass
class EpochRecord:
    """One problem after one epoch.

    Attributes
    ----------
    problem, epoch : int
    seconds : float
        Since the fit began.
    objective : float
        ``pᵀα − ½ αᵀQα``.
    margin : float
        ``½ (min f over y=+1 − max f over y=−1)`` over points below their bound; 1 at the optimum
        of a classification. Min f with one class only.
    bias : float
        The solver's own estimate.
    violation : float
        Largest violation of the Karush–Kuhn–Tucker conditions.
    gap, n_support : float, int
        Relative duality gap and number of support vectors, computed on first access: read them
        before the next epoch.
    """

    problem: int
    epoch: int
    seconds: float
    objective: float
    margin: float
    bias: float
    violation: float
    _now: Callable[[int], tuple[float, int]] = field(repr=False, compare=False)

    @cached_property
    def gap(self) -> float:
        return self._now(self.problem)[0]

    @cached_property
    def n_support(self) -> int:
        return self._now(self.problem)[1]


class History:
    """At most `limit` records, the first half of them of every epoch, then ever sparser.

    Beyond ``limit / 2`` epochs, a record is kept when its epoch is some per cent later than the one
    kept before; the percentage doubles whenever the records become too many. The newest is always there.

    Examples
    --------
    >>> from adatron.solving import History
    >>> history = History(limit=8)
    >>> for epoch in range(1, 101):
    ...     history.add((epoch,))
    >>> [row[0] for row in history.rows]
    [1, 2, 3, 4, 9, 21, 48, 100]
    """

    def __init__(self, limit: int = 2_000) -> None:
        self.limit = limit
        self.rows: list[tuple[float, ...]] = []
        self._growth = 1.0 + 10.0 / limit

    def add(self, row: tuple[float, ...]) -> None:
        """Add the row of the newest epoch, which stands first in it."""
        if len(self.rows) > self.limit // 2 and self.rows[-1][0] < self._growth * self.rows[-2][0]:
            self.rows.pop()  # it was there as the newest only
        if len(self.rows) >= self.limit:
            half = self.limit // 2
            self.rows = self.rows[:half] + self.rows[half + 1 :: 2]
            self._growth = 1.0 + 2.0 * (self._growth - 1.0)
        self.rows.append(row)


def measure(problem: DualProblem, state: State) -> np.ndarray:
    """Objective, margin and violation of every column, shape (B, 3)."""
    result = np.empty((problem.n_columns, 3))
    y, p, upper = problem.y.T, problem.p.T, problem.upper.T
    with np.errstate(over="ignore", invalid="ignore"):  # what diverges is recorded, then recognised
        _measure(y, p, upper, state.alpha.T, state.f.T, state.bias, result)
    return result


@compiled
def _measure(y, p, upper, alpha, f, bias, result):
    for b in range(y.shape[0]):
        objective, violation = 0.0, 0.0
        lowest = np.array([np.inf, np.inf])  # of y f over points below their bound: y = +1, y = −1
        lowest_of_all = np.array([np.inf, np.inf])
        for i in range(y.shape[1]):
            if upper[b, i] <= 0.0:
                continue
            a, output = alpha[b, i], y[b, i] * f[b, i]
            objective += a * (p[b, i] - 0.5 * output)
            gradient = p[b, i] - output - y[b, i] * bias[b]
            if a <= 0.0:
                gradient = max(gradient, 0.0)
            elif a >= upper[b, i]:
                gradient = max(-gradient, 0.0)
            violation = max(violation, abs(gradient))
            side = 0 if y[b, i] > 0.0 else 1
            lowest_of_all[side] = min(lowest_of_all[side], output)
            if a < upper[b, i]:
                lowest[side] = min(lowest[side], output)
        for side in range(2):
            if lowest[side] == np.inf:  # every point of the class is at its bound
                lowest[side] = lowest_of_all[side]
        for side in range(2):
            if lowest[side] == np.inf:  # there is only the other class
                lowest[side] = lowest[1 - side]
        result[b, 0] = objective
        result[b, 1] = 0.5 * (lowest[0] + lowest[1])
        result[b, 2] = violation
