"""Runs that end by the algorithm's own rule instead of the gap."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers import Solver, take_columns
from adatron.training.certificate import Certificate, certify
from adatron.training.run import Run
from adatron.training.status import Status

__all__ = ["OwnRuleRun"]


class OwnRuleRun(Run):
    """A run that ends by the algorithm's own rule, and keeps the last state of every column.

    For algorithms that are not meant to reach the optimum of the dual: the perceptron, the ensemble.
    """

    def __init__(
        self,
        problem: DualProblem,
        solver: Solver,
        *,
        max_iter: int,
        alpha: np.ndarray | None = None,
        indefinite: bool = False,
    ) -> None:
        super().__init__(problem, solver, tol=np.inf, max_iter=max_iter, alpha=alpha, indefinite=indefinite)
        self.last: dict[int, Any] = {}

    def column_state(self, column: int) -> Any:
        """The state of one column, ended or not."""
        if column in self.last:
            return self.last[column]
        return take_columns(self.state, np.flatnonzero(self.live == column))

    def _judge(self, place: int, column: int, violation: float) -> tuple[Status, Certificate] | None:
        if self._flagged("ended", place):
            status = Status.INDEFINITE_KERNEL if self.indefinite else Status.CONVERGED
            return status, certify(self.problem, column, self.state.alpha[:, place])
        if self.epoch >= self.max_iter:
            return Status.MAX_ITER, certify(self.problem, column, self.state.alpha[:, place])
        return None

    def _status_at(self, status: Status, certificate: Certificate) -> Status:
        return status  # tol has no meaning here

    def _close(self, column: int, status: Status, certificate: Certificate) -> None:
        self.last[column] = self.column_state(column)
        super()._close(column, status, certificate)
