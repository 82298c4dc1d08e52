"""What is known after each epoch, and the history that is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem, measure_columns
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
    >>> from adatron.training import History
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


_measure = compiled(measure_columns)
