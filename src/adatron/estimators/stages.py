"""The partially trained SVMs of an ensemble, collected while the ρ-SVM is trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers import Pause, RhoSVM
from adatron.solving import EpochRecord, OwnRuleRun

__all__ = ["StageRun"]

_WINDOW = 0.1  # part of the iterations over which the loss must still fall
_FALL = 5e-4  # of its logarithm


class StageRun(OwnRuleRun):
    """A ρ-SVM that keeps each hypothesis *before* its step, with the rate of the step that left it.

    On a low-rank kernel ρ̄ tends to 0 and the rule for ε may never fire: there the run also ends when
    the exponential loss of the ensemble hardly falls any more.
    """

    one_blas_thread_up_to = 1_000  # its time is that of products, and little happens between them

    def __init__(self, problem: DualProblem, solver: RhoSVM, **options: Any) -> None:
        super().__init__(problem, solver, **options)
        self.parzen = self.state.weights.copy()
        self.rates: list[list[float]] = [[] for _ in range(problem.n_columns)]
        self.stages: list[list[np.ndarray]] = [[] for _ in range(problem.n_columns)]
        self.totals = np.zeros_like(self.parzen)
        self._losses: list[list[float]] = [[] for _ in range(problem.n_columns)]
        self._factor: Any = problem.gram if _is_approximate(problem) else None

    def advance(self, pause: Pause) -> list[EpochRecord]:
        before = self.state.weights.copy()
        signed = self._live_problem.y * before  # now: a cluster still knows its last product
        self._before = before, signed if self._factor is None else self._factor.weights_of(signed)
        return super().advance(pause)

    def _record(self) -> list[EpochRecord]:
        before, stages = self._before
        for place, column in enumerate(self.live.tolist()):
            rate = float(self.state.rate[place])
            if rate > 0.0:
                self._keep(column, before[:, place], rate, float(self.state.log_loss[place]))
                self.stages[column].append(stages[:, place])
                if self._factor is not None and self._loss_is_flat(column):
                    self.state.ended[place] = 1.0
        return super()._record()

    def _keep(self, column: int, weights: np.ndarray, rate: float, loss: float) -> None:
        self.rates[column].append(rate)
        self.totals[:, column] += rate * weights
        self._losses[column].append(loss)

    def _loss_is_flat(self, column: int) -> bool:
        losses = self._losses[column]
        back = max(10, int(_WINDOW * len(losses)))
        return len(losses) > 2 * back and losses[-back - 1] - losses[-1] < _FALL

    def ensemble(self) -> np.ndarray:
        """``Σ η_t d_t / Σ η_t`` of every column; the Parzen window where no step was possible."""
        sums = np.array([sum(rates) for rates in self.rates])
        return np.where(sums > 0.0, self.totals / np.where(sums > 0.0, sums, 1.0), self.parzen)


def _is_approximate(problem: DualProblem) -> bool:
    return not getattr(problem.gram, "has_entries", True)
