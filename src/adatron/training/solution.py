"""What a solved problem is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from adatron.training.status import Status

__all__ = ["DualSolution"]


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
