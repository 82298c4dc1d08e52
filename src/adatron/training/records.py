"""Records of a fit: after each epoch, at the end, and why it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

HISTORY_FIELDS = ("epoch", "seconds", "objective", "margin", "bias", "violation")


class Status(StrEnum):
    """The reason a fit ended; ``sentence`` says it in words.

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
        member._value_, member.sentence = value, sentence
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
    plain_gap: float  # relative to the larger objective, also where both nearly vanish
    gap_is_exact: bool = True  # of float64 values of the kernel itself; else it is an estimate
    finished_exactly: bool = False  # by the exact finish, not by an iterate of the solver
    advice: str = ""  # the solver's own, when it diverged
    trace: list[tuple[float, ...]] = field(repr=False, default_factory=list)
    level: float = 0.0  # λ of a ν-formulation


@dataclass
class EpochRecord:
    """One problem after one epoch; `gap` and `n_support` are computed on demand, before the next epoch."""

    problem: int
    epoch: int
    seconds: float  # since the fit began
    objective: float  # pᵀα − ½ αᵀQα
    # ½ (min f over y=+1 − max f over y=−1) over points below their bound, 1 at the optimum of a
    # classification; min f with one class only
    margin: float
    bias: float  # the solver's own estimate
    violation: float  # largest violation of the Karush–Kuhn–Tucker conditions
    _now: Callable[[int], tuple[float, int]] = field(repr=False, compare=False)

    @cached_property
    def gap(self) -> float:
        """The relative duality gap."""
        return self._now(self.problem)[0]

    @cached_property
    def n_support(self) -> int:
        """The number of support vectors."""
        return self._now(self.problem)[1]
