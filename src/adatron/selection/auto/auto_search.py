"""How `AutoSVC` searches: on all rows when they are few, else first on some of them, then on all.

Few rows: every fold and every width with the whole kernel matrix. More rows: the width is looked for on a
sample; as it comes out too wide there, the search goes on from it with all rows. Many rows: the same, but
with a low-rank kernel, whose memory grows with the rows and not with their square; it suits wider kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from adatron.kernels import Gaussian
from adatron.operators import GaussianFamily, available_memory, nystroem_single
from adatron.selection.auto.rows import Rows
from adatron.selection.auto.stages import StageCurve, Task, TimeIsUp, stage_curve, trained_until
from adatron.selection.auto.width_search import Choice, WidthSearch
from adatron.threads import one_blas_thread

__all__ = ["AutoSearch", "Found"]

FEW, MANY = 3_000, 12_000  # rows
_COLUMNS = 32  # that are trained side by side on all rows, if two folds fit into them
_RANKS = 200, 1_000  # of the low-rank kernel: the least that is worth it, and that without a time limit
OUT_OF_TIME = "the search had ended"
_FLOPS = 30e9  # per second that are counted on when time is limited
_FOR_SEARCH, _FOR_TRAINING = 0.6, 0.95  # parts of the time limit after which they end


@dataclass(frozen=True)
class Found:
    """A trained model: coefficients of some rows, and held-out decisions for calibration."""

    choice: Choice
    rows: np.ndarray  # places of the rows that carry coefficients
    coefficients: np.ndarray  # (len(rows), k)
    intercept: np.ndarray  # (k,)
    held_decisions: np.ndarray  # (n, k)
    held_codes: np.ndarray
    held_weights: np.ndarray
    alpha: np.ndarray  # (m, k) of all trained rows
    outputs: np.ndarray  # (m, k)
    trained: Rows
    level: int


@dataclass(frozen=True)
class _Kind:
    """How all rows are trained on."""

    n_folds: int
    gram_of: Callable[[float], Any]
    next_octave: int  # where the best width of the sample is likely to move


class AutoSearch:
    """One search, from coarse to fine; `found` is the best model so far."""

    def __init__(
        self, rows: Rows, sample: Rows | None, criterion_of: Callable[[Task], Any], time_limit: float | None,
        random_state: np.random.RandomState, after_width: Callable[[AutoSearch], bool], began: float,
    ) -> None:  # fmt: skip
        self.all, self.sample, self.criterion_of, self.after_width = rows, sample, criterion_of, after_width
        self.random_state = random_state
        self.began, self.time_limit = began, time_limit
        self.searches: list[WidthSearch] = []
        self.found: Found | None = None
        self.is_cut_short = self.is_stopped = False

    def run(self) -> Found:
        with one_blas_thread():  # several would mostly wait for one another
            rows = self.sample or self.all
            first = self._level(rows, GaussianFamily(rows.X).gram)
        if self.sample is None or self._is_over(_FOR_SEARCH):
            return first
        kind = self._kind_of_all()
        if kind is None:
            self.is_cut_short = True
            return first
        octave = first.choice.octave
        rows = self.all.with_folds(kind.n_folds)
        second = self._level(rows, kind.gram_of, (octave, octave + kind.next_octave))
        if self.is_cut_short and second.choice.error > _plausible(first):
            self.found = first
        return self.found or first

    def _kind_of_all(self) -> _Kind | None:
        """How to train on all rows; None if there is no time for it."""
        X, task = self.all.X, self.all.task
        m, d = X.shape
        if m <= MANY and 8 * m * m <= 0.5 * available_memory():
            problems = task.signs.shape[1] * len(task.caps)
            n_folds = max(2, min(task.folds.n_folds, _COLUMNS // problems))
            seconds = 2.0 * m * m * d / _FLOPS
            return _Kind(n_folds, GaussianFamily(X).gram, 1) if self._has_time_for(seconds) else None
        rank = _RANKS[1]
        while not self._has_time_for(2.0 * m * rank * (rank + d) / _FLOPS):
            rank //= 2
            if rank < _RANKS[0]:
                return None
        landmarks = np.sort(self.random_state.permutation(m)[:rank])
        return _Kind(2, lambda gamma: nystroem_single(Gaussian(gamma), X, landmarks), -1)

    def _has_time_for(self, seconds: float) -> bool:
        """Whether a kernel that takes so long may be built for some widths."""
        if self.time_limit is None:
            return True
        return 8.0 * seconds < self.time_limit - (monotonic() - self.began)

    def _level(self, rows: Rows, gram_of: Callable[[float], Any], *first: tuple[int, ...]) -> Found:
        criterion = self.criterion_of(rows.task)

        def curve_of(gamma: float, rival: float) -> StageCurve:
            if self._is_over(_FOR_SEARCH) and search.curves:
                return StageCurve(gamma, [], [], reason=OUT_OF_TIME)
            try:
                return stage_curve(gram_of(gamma), gamma, rows.task, criterion, self._search_pause, rival)
            except (ValueError, ArithmeticError) as error:
                return StageCurve(gamma, [], [], reason=str(error))

        def after_width() -> None:
            self.is_stopped = self.is_stopped or self.after_width(self)

        def train() -> Found:
            choice = search.choose()
            return self._trained(rows, gram_of(choice.gamma), choice)

        search = WidthSearch(rows.spread, curve_of, after_width)
        self.searches.append(search)
        self._train_best = train
        search.run(*first)
        self.found = train()
        return self.found

    @property
    def can_train(self) -> bool:
        """Whether some width was judged."""
        return any(not curve.reason for search in self.searches for curve in search.curves.values())

    def best_so_far(self) -> Found:
        """The model of the last level that is complete, else of the widths tried so far."""
        return self.found or self._train_best()

    def _trained(self, rows: Rows, gram: Any, choice: Choice) -> Found:
        """All rows and every fold once more, to the chosen stage."""
        task, k = rows.task, rows.task.signs.shape[1]
        weights = np.column_stack([task.weights, task.folds.training])
        alpha, f, bias = trained_until(
            gram, task.signs, weights, task.caps[choice.loss], choice.stage, self._final_pause
        )
        decisions = (f + bias)[:, k:].reshape(len(f), -1, k)
        held = task.held
        coefficients, places = task.signs * alpha[:, :k], np.arange(len(f))
        if hasattr(gram, "projection"):
            coefficients = gram.projection @ (gram.factor.T @ coefficients.astype(np.float32))
            places = gram.landmarks
        return Found(
            choice, places, coefficients, bias[:k], decisions[held.rows, held.folds], held.codes,
            held.weights, alpha[:, :k], f[:, :k], rows, len(self.searches) - 1,
        )  # fmt: skip

    def _is_over(self, part: float = 1.0) -> bool:
        if self.is_stopped:
            return True
        if self.time_limit is None or monotonic() - self.began < part * self.time_limit:
            return False
        self.is_cut_short = True
        return True

    def _search_pause(self) -> None:
        if self._is_over(_FOR_SEARCH):
            raise TimeIsUp

    def _final_pause(self) -> None:
        if self._is_over(_FOR_TRAINING):
            raise TimeIsUp


def _plausible(found: Found) -> float:
    """An error that a model may well have whose held-out error was found smaller."""
    error, n = found.choice.error, len(found.held_codes)
    return error + 2.0 * float(np.sqrt(max(error * (1.0 - error), 0.0) / n))
