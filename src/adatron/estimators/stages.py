"""The partially trained SVMs of an ensemble, collected while the ρ-SVM is trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.gram import FEW_COLUMNS
from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem
from adatron.solvers import Journal, Pause, RhoSVM
from adatron.training import EpochRecord, OwnRuleRun

__all__ = ["StageRun"]

_WINDOW = 0.1  # part of the iterations over which the loss must still fall
_FALL = 5e-4  # of its logarithm
_AT_ONCE = 2**26  # kernel values of epochs that are taken at once: some 5 ms, so Ctrl-C is seen in time
_MOST_AT_ONCE = 64  # epochs


class StageRun(OwnRuleRun):
    """A ρ-SVM that keeps each hypothesis *before* its step, with the rate of the step that left it.

    On a low-rank kernel ρ̄ tends to 0 and the rule for ε may never fire: there the run also ends when
    the exponential loss of the ensemble hardly falls any more.
    """

    one_blas_thread_up_to = 1_000  # its time is that of products, and little happens between them
    solver: RhoSVM

    def __init__(self, problem: DualProblem, solver: RhoSVM, **options: Any) -> None:
        super().__init__(problem, solver, **options)
        self.parzen = self.state.weights.copy()
        self.rates: list[list[float]] = [[] for _ in range(problem.n_columns)]
        self.stages: list[list[np.ndarray]] = [[] for _ in range(problem.n_columns)]
        self.totals = np.zeros_like(self.parzen, order="F")
        self._losses: list[list[float]] = [[] for _ in range(problem.n_columns)]
        self._factor: Any = problem.gram if _is_approximate(problem) else None

    def advance(self, pause: Pause) -> list[EpochRecord]:
        K = getattr(self.problem.gram, "lower_half", None)
        if K is None or len(self.live) > FEW_COLUMNS:
            self.state, journal, stages = self._one_epoch(pause)
        else:
            pause()
            self.state, journal = self.solver.march(self._live_problem, K, self.state, self._at_once())
            stages = journal.signed
        self.epoch += len(journal.rates)
        self._keep(journal, stages)
        records = self._record(journal.measures)
        self._check_if_due(records, pause)
        return records

    def _at_once(self) -> int:
        """Epochs that are taken at once."""
        many = max(1, min(_MOST_AT_ONCE, _AT_ONCE // self.problem.m**2))
        return 1 if self.is_watched else min(many, self.max_iter - self.epoch)

    def _one_epoch(self, pause: Pause) -> tuple[Any, Journal, np.ndarray]:
        signed = self._live_problem.y * self.state.weights
        # now: a cluster still knows its last product
        stages = signed if self._factor is None else self._factor.weights_of(signed)
        state = self.solver.epoch(self._live_problem, self.state, pause)
        parts = signed.T, state.rate.copy(), state.log_loss.copy(), self._measure()
        return state, Journal(*(part[None] for part in parts)), stages.T[None]

    def _keep(self, journal: Journal, stages: np.ndarray) -> None:
        """Take over the stages of some epochs; one without a step, the last of its column, left none."""
        for place, column in enumerate(self.live.tolist()):
            steps = np.count_nonzero(journal.rates[:, place])
            rates = journal.rates[:steps, place]
            _add_up(self.totals[:, column], rates, journal.signed[:steps, place])
            self.rates[column] += rates.tolist()
            self.stages[column] += list(stages[:steps, place])
            self._losses[column] += journal.log_losses[:steps, place].tolist()
            if self._factor is not None and steps and self._loss_is_flat(column):
                self.state.ended[place] = 1.0

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


@compiled
def _add_up(totals, rates, signed):
    """Stage after stage: the sum is the same however many come at once."""
    for t in range(len(rates)):
        for i in range(len(totals)):
            totals[i] += rates[t] * abs(signed[t, i])
