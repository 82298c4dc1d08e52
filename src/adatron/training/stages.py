"""The partially trained SVMs of an ensemble, collected while the ρ-SVM is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adatron.gram import FEW_COLUMNS, REGIME, Regime
from adatron.numerics.compiled import compiled
from adatron.solvers import Journal, Pause
from adatron.training.rule import Rule

if TYPE_CHECKING:
    from adatron.training.run import Run

_WINDOW = 0.1  # part of the iterations over which the loss must still fall
_FALL = 5e-4  # of its logarithm
_AT_ONCE = 2**26  # kernel values of epochs that are taken at once: some 5 ms, so Ctrl-C is seen in time
_MOST_AT_ONCE = 64  # epochs


class StageRule(Rule):
    """Keeps each hypothesis of a ρ-SVM *before* its step, with the rate of the step that left it.

    On a low-rank kernel ρ̄ tends to 0 and the solver's own rule may never fire: there a column also ends when
    the exponential loss of the ensemble hardly falls any more.
    """

    def __init__(self, *, indefinite: bool = False, regime: Regime = REGIME) -> None:
        super().__init__(indefinite=indefinite, regime=regime)
        self.one_blas_thread_up_to = regime.stage_blas_thread_up_to

    def begin(self, run: Run) -> None:
        n = run.problem.n_columns
        self.parzen = run.state.weights.copy()
        self.totals = np.zeros_like(self.parzen, order="F")
        self.rates: list[list[float]] = [[] for _ in range(n)]
        self.stages: list[list[np.ndarray]] = [[] for _ in range(n)]
        self._losses: list[list[float]] = [[] for _ in range(n)]

    def advance(self, run: Run, pause: Pause) -> np.ndarray:
        solver: Any = run.solver
        K, problem, m = run.problem.gram.lower_half, run.live_problem, run.problem.m
        if K is None or len(run.live) > FEW_COLUMNS:
            signed = problem.y * run.state.weights
            # now, while a cluster still remembers its last product
            weights = signed if problem.gram.has_entries else problem.gram.weights_of(signed)
            run.state = solver.epoch(problem, run.state, pause)
            parts = signed.T, run.state.rate.copy(), run.state.log_loss.copy(), problem.measure(run.state)
            journal, stages = Journal(*(part[None] for part in parts)), weights.T[None]
        else:
            pause()
            many = max(1, min(_MOST_AT_ONCE, _AT_ONCE // m**2, run.max_iter - run.epoch))
            run.state, journal = solver.march(problem, K, run.state, 1 if run.is_watched else many)
            stages = journal.signed
        for place, column in enumerate(run.live.tolist()):
            steps = np.count_nonzero(journal.rates[:, place])  # the last epoch of a column may have none
            rates = journal.rates[:steps, place]
            _add_up(self.totals[:, column], rates, journal.signed[:steps, place])
            self.rates[column] += rates.tolist()
            self.stages[column] += list(stages[:steps, place])
            losses = self._losses[column]
            losses += journal.log_losses[:steps, place].tolist()
            back = max(10, int(_WINDOW * len(losses)))
            is_flat = len(losses) > 2 * back and losses[-back - 1] - losses[-1] < _FALL
            if not run.problem.gram.has_entries and steps and is_flat:
                run.state.ended[place] = 1.0
        return journal.measures

    def ensemble(self) -> np.ndarray:
        """``Σ η_t d_t / Σ η_t`` of every column; the Parzen window where no step was possible."""
        sums = np.array([sum(rates) for rates in self.rates])
        return np.where(sums > 0.0, self.totals / np.where(sums > 0.0, sums, 1.0), self.parzen)

    def saved(self, run: Run) -> dict[str, Any]:
        kept = {"parzen": self.parzen, "totals": self.totals, "rates": self.rates}
        return kept | {"stages": self.stages, "losses": self._losses}

    def restore(self, run: Run, saved: dict[str, Any]) -> None:
        self.parzen, self.totals = saved["parzen"], saved["totals"]
        self.rates, self.stages, self._losses = saved["rates"], saved["stages"], saved["losses"]


@compiled
def _add_up(totals, rates, signed):
    """Add stage after stage, so that the sum does not depend on how many come at once."""
    for t in range(len(rates)):
        for i in range(len(totals)):
            totals[i] += rates[t] * abs(signed[t, i])
