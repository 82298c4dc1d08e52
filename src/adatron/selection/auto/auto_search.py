"""How `AutoSVC` searches: on all rows when they are few, else first on some of them, then on all.

Few rows: every fold and every width with the whole kernel matrix. More rows: the width is looked for on a
sample; as it comes out too wide there, the search goes on from it with all rows. Many rows: the same, but
with a low-rank kernel, whose memory grows with the rows and not with their square; it suits wider kernels.
Very many rows: the low-rank kernel on a larger sample tells the width, and all rows are trained once with it;
the factor is whitened, as there are many more rows than columns, so that few epochs suffice.

Where rows are enough to tell the difference, and few enough for the whole kernel matrix, the exact SVM is
tried beside the one whose training is stopped early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from time import monotonic
from typing import Any

import numpy as np

from adatron.kernels import Gaussian
from adatron.operators import (
    TO_WHITEN,
    GaussianFamily,
    LowRankGram,
    available_memory,
    is_distributed,
    nystroem_single,
)
from adatron.selection.auto.found import Found
from adatron.selection.auto.penalty_search import PenaltySearch, less_by
from adatron.selection.auto.rows import FEW, MANY, Rows
from adatron.selection.auto.stages import StageCurve, Task, TimeIsUp, stage_curve, trained_until
from adatron.selection.auto.width_search import Choice, SearchLevels, WidthSearch
from adatron.solving import nearest_penalty
from adatron.threads import one_blas_thread

__all__ = ["FEW", "AutoSearch"]

LARGE = 50_000  # rows
EXACT_FROM = 1_000  # rows above which held-out errors tell an exact SVM from one that is stopped early
_CLEARLY = 0.03  # part of the other's criterion by which it must be lower to be taken
SAMPLES = 3_000, 50_000  # rows that the width is looked for on
MOST = 500_000  # rows trained on one machine: hundreds for each landmark, of which there are then more
_COLUMNS = 32  # that are trained side by side on all rows, if two folds fit into them
_RANKS = (
    200,
    512,
    1_000,
)  # of the low-rank kernel: the least that is worth it, of large factors, of others
_LARGE_FACTOR = 2**31  # bytes
_BUILDS = 8.0, 3.0  # of factors of all rows that a search takes, with all of them and with a sample
_GAIN = 1e-3  # by which the error of very many rows must fall for training to go on
OUT_OF_TIME = "the search had ended"
_FLOPS = 30e9  # per second that are counted on when time is limited
_FOR_SEARCH, _FOR_TRAINING = 0.6, 0.95  # parts of the time limit after which they end


@dataclass(frozen=True)
class _Kind:
    """How all rows are trained on."""

    n_folds: int
    gram_of: Callable[[float], Any]
    next_octave: int  # where the best width of the sample is likely to move


class AutoSearch:
    """One search, from coarse to fine; `found` is the best model so far."""

    def __init__(
        self, rows: Rows, samples: list[Rows], criterion_of: Callable[[Task], Any], time_limit: float | None,
        random_state: np.random.RandomState, after_width: Callable[[AutoSearch], bool], began: float,
    ) -> None:  # fmt: skip
        self.all, self.samples, self.criterion_of, self.after_width = rows, samples, criterion_of, after_width
        self.random_state = random_state
        self.began, self.time_limit = began, time_limit
        self.levels = SearchLevels()
        self.found: Found | None = None
        self.exact: PenaltySearch | None = None
        self.is_cut_short = self.is_stopped = False

    def run(self) -> Found:
        """The whole search."""
        found = self._stopped_early()
        m, is_all = len(found.trained.task.codes), found.trained.data.rows is self.all.data.rows
        if found.gram_of and is_all and m > EXACT_FROM and not self._is_over(_FOR_SEARCH):
            self.found = self._exact(found) or found
        return self.found or found

    def _exact(self, found: Found) -> Found | None:
        """The exact SVM, if held-out rows clearly prefer it."""
        rows, choice = found.trained.with_one_loss(), found.choice
        self.exact = search = PenaltySearch(
            rows, self.criterion_of(rows.task), self.searches[found.level].gamma, found.gram_of,
            lambda: self._seconds_until(_FOR_SEARCH), self._after_width,
        )  # fmt: skip
        best = search.run(choice.octave, choice.criterion)
        self.is_cut_short = self.is_cut_short or (search.is_over and not self.is_stopped)
        if best is None or best.criterion >= less_by(_CLEARLY, choice.criterion):
            return None
        if self._is_over(_FOR_TRAINING):
            return None
        trained = search.trained(best, self._seconds_until(_FOR_TRAINING))
        self.is_cut_short = self.is_cut_short or trained is None
        return trained

    def _stopped_early(self) -> Found:
        with one_blas_thread():  # several would mostly wait for one another
            rows = self.samples[0] if self.samples else self.all
            first = self._level(rows, GaussianFamily(rows.X).gram)
        if not self.samples or self._is_over(_FOR_SEARCH):
            return first
        if len(self.samples) > 1:
            return self._with_a_larger_sample(first, self.samples[1])
        kind = self._kind_of_all()
        if kind is None:
            self.is_cut_short = True
            return first
        octave = first.choice.octave
        rows = self.all.with_folds(kind.n_folds)
        return self._unless_worse(self._level(rows, kind.gram_of, (octave, octave + kind.next_octave)), first)

    def _with_a_larger_sample(self, first: Found, sample: Rows) -> Found:
        """The width by a low-rank kernel of some rows; then that kernel of all rows, once."""
        rank = self._rank(_BUILDS[1])
        if rank is None:
            self.is_cut_short = True
            return first
        drawn, octave = self.random_state.permutation(len(sample.task.codes)), first.choice.octave
        landmarks, chosen = np.sort(drawn[:rank]), np.sort(drawn[: TO_WHITEN * rank])

        def of_sample(gamma: float) -> Any:
            return nystroem_single(Gaussian(gamma), sample.X, landmarks, chosen)

        choice = self._search(sample.with_folds(2, gain=_GAIN), of_sample, (octave, octave - 1))
        if self._is_over(_FOR_SEARCH):
            return self._unless_worse(self._train_best(), first)
        places, chosen = (self._places_of(sample.data.rows[rows]) for rows in (landmarks, chosen))
        of_all = lru_cache(1)(lambda gamma: _low_rank(Gaussian(gamma), self.all.X, places, chosen))
        rows = self.all.with_folds(1, caps=(sample.task.caps[choice.loss],), gain=_GAIN)
        return self._unless_worse(self._level(rows, of_all, (choice.octave,), is_all=True), first)

    def _places_of(self, rows: np.ndarray) -> np.ndarray:
        """Where rows of the user's X are among all; those that were merged with others are not."""
        return np.flatnonzero(np.isin(self.all.data.rows, rows))

    def _unless_worse(self, found: Found, first: Found) -> Found:
        """A model whose training was cut short may be worse than that of the sample."""
        self.found = first if self.is_cut_short and found.choice.error > first.plausible_error else found
        return self.found

    def _kind_of_all(self) -> _Kind | None:
        """How to train on all rows; None if there is no time for it."""
        X, task = self.all.X, self.all.task
        m, d = X.shape
        if m <= MANY and not is_distributed(X) and 8 * m * m <= 0.5 * available_memory():
            problems = task.signs.shape[1] * len(task.caps)
            n_folds = max(2, min(task.folds.n_folds, _COLUMNS // problems))
            seconds = 2.0 * m * m * d / _FLOPS
            has_time = self._has_time_for(_BUILDS[0] * seconds)
            return _Kind(n_folds, GaussianFamily(X).gram, 1) if has_time else None
        rank = self._rank(_BUILDS[0])
        if rank is None:
            return None
        landmarks = np.sort(self.random_state.permutation(m)[:rank])
        return _Kind(2, lambda gamma: _low_rank(Gaussian(gamma), X, landmarks), -1)

    def _rank(self, builds: float) -> int | None:
        """The rank of a kernel of all rows that can be built so many times; None if there is no time."""
        m, d = self.all.X.shape
        rank = _RANKS[2] if 4 * m * _RANKS[2] <= _LARGE_FACTOR else _RANKS[1]
        while not self._has_time_for(builds * 2.0 * m * rank * (rank + d) / _FLOPS):
            rank //= 2
            if rank < _RANKS[0]:
                return None
        return rank

    def _has_time_for(self, seconds: float) -> bool:
        return self.time_limit is None or seconds < self.time_limit - (monotonic() - self.began)

    def _level(
        self, rows: Rows, gram_of: Callable[[float], Any], *first: tuple[int, ...], is_all: bool = False
    ) -> Found:
        self._search(rows, gram_of, *first, is_all=is_all)
        self.found = self._train_best()
        return self.found

    def _search(
        self, rows: Rows, gram_of: Callable[[float], Any], *first: tuple[int, ...], is_all: bool = False
    ) -> Choice:
        """Look for the width, from the `first` ones on unless these are all; how to train is remembered."""
        criterion = self.criterion_of(rows.task)

        def curve_of(gamma: float, rival: float) -> StageCurve:
            if self._is_over(_FOR_SEARCH) and search.curves:
                return StageCurve(gamma, [], [], reason=OUT_OF_TIME)
            try:
                return stage_curve(gram_of(gamma), gamma, rows.task, criterion, self._search_pause, rival)
            except (ValueError, ArithmeticError) as error:
                return StageCurve(gamma, [], [], reason=str(error))

        def train() -> Found:
            choice = search.choose()
            gram = gram_of(choice.gamma)
            found = self._trained(rows, gram, choice)
            return found if hasattr(gram, "projection") else replace(found, gram_of=gram_of)

        search = self.levels.begin(rows.spread, curve_of, self._after_width)
        self._train_best = train
        if not is_all:
            return search.run(*first)
        search.look_at(*first)
        return search.choose()

    def _after_width(self) -> None:
        self.is_stopped = self.is_stopped or self.after_width(self)

    @property
    def searches(self) -> list[WidthSearch]:
        return self.levels.searches

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
            coefficients = gram.projection @ gram.weights_of(coefficients)
            places = gram.landmarks
        penalties = [
            nearest_penalty(alpha[:, c], f[:, c], bias[c], task.signs[:, c], task.weights) for c in range(k)
        ]
        return Found(
            choice, places, coefficients, bias[:k], decisions[held.rows, held.folds],
            max(penalties, key=lambda penalty: penalty[1]), rows, len(self.searches) - 1,
        )  # fmt: skip

    def _seconds_until(self, part: float) -> float | None:
        """Seconds left of a part of the limit, none after a stop; None without a limit."""
        if self.is_stopped:
            return 0.0
        return None if self.time_limit is None else part * self.time_limit - (monotonic() - self.began)

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


def _low_rank(
    kernel: Gaussian, X: Any, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> LowRankGram:
    if not is_distributed(X):
        return nystroem_single(kernel, X, landmarks, whitened_on)
    from adatron.operators.dask import dask_single

    return dask_single(kernel, X, landmarks, whitened_on)
