"""Why a fit ended."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Status"]


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
