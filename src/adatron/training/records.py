"""What is known of a problem: after each epoch, on the way, at the end, and why it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem, measure_columns
from adatron.training.certificate import Certificate

HISTORY_FIELDS = ("epoch", "seconds", "objective", "margin", "bias", "violation")


class Status(StrEnum):
    """The reason a fit ended; ``sentence`` says it in words.

    Examples
    --------
    >>> from adatron.training import Status
    >>> print(Status.MAX_ITER, "—", Status.MAX_ITER.sentence)
    max_iter — max_iter epochs were not enough
    >>> Status.CONVERGED == "converged"
    True
    """

    CONVERGED = "converged", "the stopping rule was met"
    MAX_ITER = "max_iter", "max_iter epochs were not enough"
    TIME_LIMIT = "time_limit", "time_limit was reached"
    STOPPED = "stopped", "a callback or the user stopped the fit"
    DIVERGED = "diverged", "the iteration diverged"
    NOT_SEPARABLE = "not_separable", "the classes cannot be separated with this kernel"
    INDEFINITE_KERNEL = (
        "indefinite_kernel",
        "the kernel is not positive semi-definite, so no duality gap can tell how good the model is",
    )
    PRECISION_LIMIT = "precision_limit", "tol is below what float64 arithmetic can certify on this problem"

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Status:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member


@dataclass(frozen=True)
class DualSolution:
    """The answer to one column of a `DualProblem`, certified."""

    alpha: np.ndarray
    bias: float
    status: Status
    n_iter: int
    gap: float
    seconds: float
    bias_interval: tuple[float, float]
    margin_interval: tuple[float, float]
    plain_gap: float  # relative to the larger of both objectives, also where they all but vanish
    finished_exactly: bool = False  # by the exact finish, not by an iterate of the solver
    advice: str = ""  # the solver's own, when it diverged
    trace: list[tuple[float, ...]] = field(repr=False, default_factory=list)


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
        self.growth = 1.0 + 10.0 / limit

    def add(self, row: tuple[float, ...]) -> None:
        """Add the row of the newest epoch, which stands first in it."""
        if len(self.rows) > self.limit // 2 and self.rows[-1][0] < self.growth * self.rows[-2][0]:
            self.rows.pop()  # it was there as the newest only
        if len(self.rows) >= self.limit:
            half = self.limit // 2
            self.rows = self.rows[:half] + self.rows[half + 1 :: 2]
            self.growth = 1.0 + 2.0 * (self.growth - 1.0)
        self.rows.append(row)


def as_plain(value: Any) -> Any:
    """Certificates, solutions and histories as dictionaries that say what they are."""
    if isinstance(value, list):
        return [as_plain(item) for item in value]
    if isinstance(value, History):
        rows = np.array(value.rows, dtype=float).reshape(len(value.rows), len(HISTORY_FIELDS))
        return {"": "History", "limit": value.limit, "growth": value.growth, "rows": rows}
    if isinstance(value, DualSolution):
        trace = np.array(value.trace, dtype=float).reshape(len(value.trace), len(HISTORY_FIELDS))
        named = {f.name: getattr(value, f.name) for f in fields(value)}
        return {"": "DualSolution", **named, "status": value.status.name, "trace": trace}
    if isinstance(value, Certificate):
        return {"": "Certificate"} | {f.name: getattr(value, f.name) for f in fields(value)}
    return value


def from_plain(value: Any) -> Any:
    """The inverse of `as_plain`."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict) or "" not in value:
        return value
    kind, content = value[""], {key: item for key, item in value.items() if key != ""}
    if kind == "History":
        history = History(content["limit"])
        history.rows, history.growth = _rows(content["rows"]), content["growth"]
        return history
    if kind == "DualSolution":
        content |= {"status": Status[content["status"]], "trace": _rows(content["trace"])}
        return DualSolution(**content)
    return Certificate(**content)


def _rows(values: np.ndarray) -> list[tuple[float, ...]]:
    """Rows of a trace; the first entry is the epoch."""
    return [(int(row[0]), *row[1:]) for row in values.tolist()]


@singledispatch
def measure(problem: Any, state: Any) -> np.ndarray:
    """Objective, margin and violation of every column, shape (B, 3)."""
    raise TypeError(f"no measures of {type(problem).__name__}")


@measure.register(DualProblem)
def _(problem: DualProblem, state: Any) -> np.ndarray:
    result = np.empty((problem.n_columns, 3))
    y, p, upper = problem.y.T, problem.p.T, problem.upper.T
    with np.errstate(over="ignore", invalid="ignore"):  # what diverges is recorded, then recognised
        _measure(y, p, upper, state.alpha.T, state.f.T, state.bias, result)
    return result


_measure = compiled(measure_columns)
