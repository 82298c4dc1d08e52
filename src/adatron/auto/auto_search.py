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
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from adatron.auto.found import Found
from adatron.auto.penalty_search import PenaltySearch, less_by
from adatron.auto.rows import FEW, MANY, Rows
from adatron.auto.stages import StageCurve, Task, TimeIsUp, stage_curve, trained_until
from adatron.auto.width_search import Choice, SearchLevels, WidthSearch
from adatron.gram import (
    TO_WHITEN,
    GaussianFamily,
    LowRankGram,
    available_memory,
    is_distributed,
    nystroem_single,
)
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.training import nearest_penalty

__all__ = ["FEW", "AutoSearch"]

LARGE = 50_000  # rows
EXACT_FROM = 1_000  # rows above which held-out errors tell an exact SVM from one that is stopped early
EXACT_FROM_FOR_TEXT = 100
_CLEARLY = 0.03  # part of the other's criterion by which it must be lower to be taken
_CLEARLY_FOR_TEXT = 0.003  # its best kernels are so wide that they are linear: epochs are a coarse choice
SAMPLES = 3_000, 50_000  # rows that the width is looked for on
MOST = 500_000  # rows trained on one machine: hundreds for each landmark, of which there are then more
_COLUMNS = 32  # that are trained side by side on all rows, if two folds fit into them
_RANKS = (
    200,
    512,
    1_000,
)  # of the low-rank kernel: the least that is worth it, of large factors, of others
_LARGE_FACTOR = 2**31  # bytes
_BUILDS = 3.0  # kernel matrices or factors of all rows that a search takes at least: two widths, the model
_GAIN = 1e-3  # by which the error of very many rows must fall for training to go on
OUT_OF_TIME = "the search had ended"
_SEARCH = "some kernel widths were not tried"
_EXACT = "some exact SVMs were not tried"
_TRAINING = "the training of the final model was cut short"
_SAMPLE_ONLY = "there was no time to train on all rows; the model was trained on {:,} of them"
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
        self, candidates: list[tuple[Rows, list[Rows]]], criterion_of: Callable[[Task], Any],
        time_limit: float | None, random_state: np.random.RandomState,
        after_width: Callable[[AutoSearch], bool], began: float,
    ) -> None:  # fmt: skip
        self.candidates, self.criterion_of, self.after_width = candidates, criterion_of, after_width
        self.all, self.samples = candidates[0]
        self._is_text = len(candidates) > 1  # as far as the rows show it: they are also tried unscaled
        self.random_state = random_state
        self.began, self.time_limit = began, time_limit
        self.levels = SearchLevels()
        self.found: Found | None = None
        self.exact: PenaltySearch | None = None
        self.is_stopped = False
        self.shortfall = ""  # what the time limit did not allow
        self._seconds_per_value = 0.0  # of the kernel; measured on the first rows

    def run(self) -> Found:
        """The whole search."""
        found = self._stopped_early()
        m, is_all = len(found.trained.task.codes), found.trained.data.rows is self.all.data.rows
        enough = EXACT_FROM_FOR_TEXT if self._is_text else EXACT_FROM
        if found.gram_of and is_all and m > enough and not self._is_over(_FOR_SEARCH):
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
        if search.is_over and not self.is_stopped:
            self._fall_short(_EXACT)
        clearly = _CLEARLY_FOR_TEXT if self._is_text else _CLEARLY
        if best is None or best.criterion >= less_by(clearly, choice.criterion):
            return None
        if self._is_over(_FOR_TRAINING):
            return None
        trained = search.trained(best, self._seconds_until(_FOR_TRAINING))
        if trained is None and self.time_limit is not None:
            self._fall_short(_EXACT)
        return trained

    def _stopped_early(self) -> Found:
        first = self._first_level()
        if not self.samples:
            return first
        if self._is_over(_FOR_SEARCH):
            return self._of_the_sample(first)
        if len(self.samples) > 1:
            return self._with_a_larger_sample(first, self.samples[1])
        kind = self._kind_of_all()
        if kind is None:
            return self._of_the_sample(first)
        octave = first.choice.octave
        rows = self.all.with_folds(kind.n_folds)
        return self._unless_worse(self._level(rows, kind.gram_of, (octave, octave + kind.next_octave)), first)

    def _first_level(self) -> Found:
        """The widths on the first rows, for every scaling of the features; the best one stays."""
        best: tuple[Found, Rows, list[Rows]] | None = None
        for rows, samples in self.candidates:
            if best is not None and self._is_over(_FOR_SEARCH):
                break
            first = samples[0] if samples else rows
            with one_blas_thread():  # several would mostly wait for one another
                began, m = monotonic(), first.X.shape[0]
                family = GaussianFamily(first.X)
                self._seconds_per_value = (monotonic() - began) / m**2  # it knows how many features there are
                found = self._level(first, family.gram)
            # by the error itself: how soft its step is depends on the margins, and these on the scaling
            if best is None or found.choice.error < best[0].choice.error:
                best = found, rows, samples
            self.found, self.all, self.samples = best
        assert best is not None
        return best[0]

    def _with_a_larger_sample(self, first: Found, sample: Rows) -> Found:
        """The width by a low-rank kernel of some rows; then that kernel of all rows, once."""
        rank = self._rank()
        if rank is None:
            return self._of_the_sample(first)
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
        """A model of low rank, or whose training was cut short, may be worse than that of the sample."""
        may_be_worse = bool(self.shortfall) or found.gram_of is None
        is_worse = may_be_worse and found.choice.error > first.plausible_error
        self.found = first if is_worse else found
        return self.found

    def _of_the_sample(self, first: Found) -> Found:
        """The model of the first rows, for want of time; that matters more than anything else left out."""
        if self.time_limit is not None and not self.is_stopped:
            self.shortfall = _SAMPLE_ONLY.format(len(first.trained.task.codes))
        return first

    def _fall_short(self, of: str) -> None:
        """Remember what the time limit did not allow; what came first is what matters."""
        self.shortfall = self.shortfall or of

    def _kind_of_all(self) -> _Kind | None:
        """How to train on all rows; None if there is no time for it."""
        X, task = self.all.X, self.all.task
        m = X.shape[0]
        if m <= MANY and not is_distributed(X) and 8 * m * m <= 0.5 * available_memory():
            if not self._has_time_for(m * m * self._seconds_per_value):  # distances are evaluated once
                return None
            problems = task.signs.shape[1] * len(task.caps)
            n_folds = max(2, min(task.folds.n_folds, _COLUMNS // problems))
            return _Kind(n_folds, GaussianFamily(X).gram, 1)
        rank = self._rank()
        if rank is None:
            return None
        landmarks = np.sort(self.random_state.permutation(m)[:rank])
        return _Kind(2, lambda gamma: _low_rank(Gaussian(gamma), X, landmarks), -1)

    def _rank(self) -> int | None:
        """The rank of a kernel of all rows that there is time to build; None if there is none."""
        m = self.all.X.shape[0]
        rank = _RANKS[2] if 4 * m * _RANKS[2] <= _LARGE_FACTOR else _RANKS[1]
        left = self._seconds_until(_FOR_SEARCH)
        if left is None:
            return rank
        # the greatest r with _BUILDS · m · r · (a + b r) = left, a and b the seconds of a value and a product
        a, b = self._seconds_per_value, 2.0 / _flops()
        root = np.sqrt(a * a + 4.0 * b * max(left, 0.0) / (_BUILDS * m))
        affordable = int((root - a) / (2.0 * b))
        if affordable < rank:
            self._fall_short(f"there was no time for a kernel of rank {rank}")
        return min(rank, affordable) if affordable >= _RANKS[0] else None

    def _has_time_for(self, seconds: float) -> bool:
        """Whether the search can take so long; the final training has the rest of the limit."""
        left = self._seconds_until(_FOR_SEARCH)
        return left is None or seconds < left

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
        self._fall_short(_SEARCH if part == _FOR_SEARCH else _TRAINING)
        return True

    def _search_pause(self) -> None:
        if self._is_over(_FOR_SEARCH):
            raise TimeIsUp

    def _final_pause(self) -> None:
        if self._is_over(_FOR_TRAINING):
            raise TimeIsUp


def _flops() -> float:
    """Floating-point operations per second of a float32 product, which a low-rank factor consists of."""
    A = np.ones((512, 512), dtype=np.float32)
    A @ A
    began = perf_counter()
    A @ A
    return 2.0 * len(A) ** 3 / max(perf_counter() - began, 1e-9)


def _low_rank(
    kernel: Gaussian, X: Any, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> LowRankGram:
    if not is_distributed(X):
        return nystroem_single(kernel, X, landmarks, whitened_on)
    from adatron.gram.dask import dask_single

    return dask_single(kernel, X, landmarks, whitened_on)
