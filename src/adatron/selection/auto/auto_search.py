"""How `AutoSVC` searches: on all rows when they are few, else first on some of them, then on all.

Few rows: every fold and every width with the whole kernel matrix. More rows: the width is looked for on a
sample; as it comes out too wide there, the search goes on from it with all rows. Many rows: the same, but
with a low-rank kernel, whose memory grows with the rows and not with their square; it suits wider kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from adatron.kernels import Gaussian
from adatron.operators import GaussianFamily, available_memory, nystroem_single
from adatron.selection.auto.stages import StageCurve, Task, TimeIsUp, stage_curve, trained_until
from adatron.selection.auto.width_search import Choice, WidthSearch
from adatron.threads import one_blas_thread

__all__ = ["AutoSearch", "Found", "Rows"]

FEW, MANY = 3_000, 12_000  # rows
_SAMPLE = 2_500
_COLUMNS = 32  # that are trained side by side on all rows, if two folds fit into them
_RANKS = 200, 1_000  # of the low-rank kernel: the least that is worth it, and that without a time limit
OUT_OF_TIME = "the search had ended"
_FLOPS = 30e9  # per second that are counted on when time is limited
_FOR_SEARCH = 0.6  # part of the time limit; the rest is for the final training
_RARE = 20  # rows of every class that a sample has at least


@dataclass(frozen=True)
class Rows:
    """Scaled rows and the task they pose."""

    X: Any
    task: Task
    scales: np.ndarray  # of the features
    spread: float  # mean squared distance of the scaled rows to their mean

    def some(self, rows: np.ndarray, n_folds: int) -> Rows:
        old = self.task
        task = replace(
            old,
            signs=old.signs[rows],
            codes=old.codes[rows],
            weights=old.weights[rows],
            folds=old.folds.of_rows(rows, n_folds),
        )
        return Rows(self.X[rows], task, self.scales, self.spread)


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
        self, rows: Rows, criterion_of: Callable[[Task], Any], time_limit: float | None,
        random_state: np.random.RandomState, after_width: Callable[[AutoSearch], bool],
    ) -> None:  # fmt: skip
        self.all, self.criterion_of, self.after_width = rows, criterion_of, after_width
        self.random_state = random_state
        self.began, self.time_limit = monotonic(), time_limit
        self.searches: list[WidthSearch] = []
        self.found: Found | None = None
        self.is_cut_short = self.is_stopped = False

    def run(self) -> Found:
        m = len(self.all.task.codes)
        with one_blas_thread():  # several would mostly wait for one another
            sample = np.arange(m) if m <= FEW else self._sample()
            rows = self.all.some(sample, self.all.task.folds.n_folds)
            first = self._level(rows, sample, GaussianFamily(rows.X).gram)
        if m <= FEW or self._is_over(_FOR_SEARCH):
            return first
        kind = self._kind_of_all()
        if kind is None:
            self.is_cut_short = True
            return first
        rows = self.all.some(np.arange(m), kind.n_folds)
        octave = first.choice.octave
        second = self._level(rows, np.arange(m), kind.gram_of, (octave, octave + kind.next_octave))
        error = first.choice.error
        doubt = 2.0 * np.sqrt(error * (1.0 - error) / len(sample)) if 0.0 < error < 1.0 else 0.0
        if self.is_cut_short and second.choice.error > error + doubt:
            self.found = first
        return self.found or first

    def _sample(self) -> np.ndarray:
        """Some rows, a few at least of every class, in their order."""
        codes = self.all.task.codes
        order = self.random_state.permutation(len(codes))
        rank_in_class = np.empty(len(codes), dtype=int)
        for code in range(codes.max() + 1):
            own = order[codes[order] == code]
            rank_in_class[own] = np.arange(len(own))
        rare = rank_in_class < _RARE
        others = order[~rare[order]][: max(0, _SAMPLE - int(rare.sum()))]
        return np.sort(np.concatenate([np.flatnonzero(rare), others]))

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

    def _level(
        self, rows: Rows, places: np.ndarray, gram_of: Callable[[float], Any], *first: tuple[int, ...]
    ) -> Found:
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
            return self._trained(rows, places, gram_of(choice.gamma), choice)

        search = WidthSearch(rows.spread, curve_of, after_width)
        self.searches.append(search)
        self._train_best = train
        search.run(*first)
        self.found = train()
        return self.found

    def best_so_far(self) -> Found:
        """The model of the last level that is complete, else of the widths tried so far."""
        return self.found or self._train_best()

    def _trained(self, rows: Rows, places: np.ndarray, gram: Any, choice: Choice) -> Found:
        """All rows and every fold once more, to the chosen stage."""
        task, k = rows.task, rows.task.signs.shape[1]
        weights = np.column_stack([task.weights, task.folds.training])
        alpha, f, bias = trained_until(
            gram, task.signs, weights, task.caps[choice.loss], choice.stage, self._final_pause
        )
        decisions = (f + bias)[:, k:].reshape(len(f), -1, k)
        held = task.held
        coefficients = task.signs * alpha[:, :k]
        if hasattr(gram, "projection"):
            coefficients = gram.projection @ (gram.factor.T @ coefficients.astype(np.float32))
            places = places[gram.landmarks]
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
        if self._is_over():
            raise TimeIsUp
