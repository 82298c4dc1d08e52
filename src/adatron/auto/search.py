"""How `AutoSVC` searches: on all rows when they are few, else first on some of them, then on all.

Few rows: every fold and every width with the whole kernel matrix. More rows: the width is looked for on a
sample; as it comes out too wide there, the search goes on from it with all rows. Many rows: the same, but
with a low-rank kernel, whose memory grows with the rows and not with their square; it suits wider kernels.
Very many rows: the low-rank kernel on a larger sample tells the width, and all rows are trained once with it;
the factor is whitened, so that few epochs suffice. The exact SVM is tried beside early stopping where there
are enough rows to tell the difference, and few enough for the whole kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from adatron.auto.exact_search import ExactSearch, SearchResult, less_by
from adatron.auto.search_data import SearchData
from adatron.auto.stages import Score, StageCurve, TimeIsUp, stage_curve, trained_until
from adatron.auto.width_search import FIRST_OCTAVES, Candidate, SearchLevels
from adatron.gram import GaussianFamily, Regime, fetched_if, nystroem_gram
from adatron.kernels import Gaussian
from adatron.numerics.memory import available_memory
from adatron.numerics.threads import one_blas_thread
from adatron.paths.kernel_path import KernelPath
from adatron.solvers import nearest_penalty

__all__ = ["OUT_OF_TIME", "AutoSearch"]

_CLEARLY = 0.03  # part of the other's criterion by which the exact SVM must be lower to be taken
_CLEARLY_FOR_TEXT = 0.003  # its best kernels are so wide that they are linear: epochs are a coarse choice
_COLUMNS = 32  # that are trained side by side on all rows, if two folds fit into them
_BUILDS = 3.0  # kernel matrices or factors of all rows that a search takes at least: two widths, the model
_GAIN = 1e-3  # by which the error of very many rows must fall for training to go on
_FOR_SEARCH, _FOR_TRAINING = 0.6, 0.95  # parts of the time limit after which they end
OUT_OF_TIME = "the search had ended"
_SEARCH = "some kernel widths were not tried"
_EXACT = "some exact SVMs were not tried"
_TRAINING = "the training of the final model was cut short"
_SAMPLE_ONLY = "there was no time to train on all rows; the model was trained on {:,} of them"


class AutoSearch:
    """One search, from coarse to fine; `result` is the best model so far.

    `scalings` has all rows, and samples of them, for each scaling of the features that is tried.
    """

    def __init__(
        self, scalings: list[tuple[SearchData, list[SearchData]]],
        criterion_of: Callable[[SearchData], Score], time_limit: float | None,
        random_state: np.random.RandomState, after_width: Callable[[AutoSearch], bool],
        began: float, regime: Regime,
    ) -> None:  # fmt: skip
        self.scalings, self.criterion_of, self.after_width = scalings, criterion_of, after_width
        self.all, self.samples = scalings[0]
        self.random_state, self.regime = random_state, regime
        self.began, self.time_limit = began, time_limit
        self.levels = SearchLevels()
        self.result: SearchResult | None = None
        self.exact: ExactSearch | None = None
        self.is_stopped = False
        self.shortfall = ""  # the first thing that the time limit did not allow
        self._is_text = len(scalings) > 1  # as far as the rows show it: they are also tried unscaled
        self._seconds_per_value = 0.0  # of the kernel; measured on the first rows
        self._train_best: Callable[[], SearchResult]  # the best candidate of the level under way

    def run(self) -> None:
        """The whole search."""
        self.result = self._stopped_early()
        is_of_all = self.result.data.training_set is self.all.training_set
        enough = self.regime.exact_from_for_text if self._is_text else self.regime.exact_from
        is_dense = self.result.gram_of is not None
        if is_dense and is_of_all and self.all.m > enough and not self._is_over(_FOR_SEARCH):
            self.result = self._exact(self.result) or self.result

    def best_so_far(self) -> SearchResult:
        """The model of the last level that is complete, else of the widths tried so far."""
        return self.result or self._train_best()

    def _stopped_early(self) -> SearchResult:
        """The best model by early stopping; on more than a few rows, from the width of a sample on."""
        first = self._first_level()
        if not self.samples:
            return first
        if self._is_over(_FOR_SEARCH):
            return self._only_of_sample(first)
        if len(self.samples) > 1:
            return self._with_larger_sample(first, self.samples[1])
        X, m, octave = self.all.X, self.all.m, first.candidate.octave
        if m <= self.regime.many and 8 * m * m <= 0.5 * available_memory():
            left = self._seconds_until(_FOR_SEARCH)
            if left is not None and m * m * self._seconds_per_value >= left:  # distances are evaluated once
                return self._only_of_sample(first)
            problems = self.all.n_problems * len(self.all.caps)
            data = self.all.with_folds(max(2, min(self.all.folds.n_folds, _COLUMNS // problems)))
            gram_of = GaussianFamily(fetched_if(True, X)).gram
            return self._unless_worse(self._level(data, gram_of, (octave, octave + 1)), first)
        rank = self._affordable_rank()
        if rank is None:
            return self._only_of_sample(first)
        landmarks = np.sort(self.random_state.permutation(m)[:rank])
        result = self._level(
            self.all.with_folds(2),
            lambda gamma: nystroem_gram(Gaussian(gamma), X, landmarks),
            (octave, octave - 1),
        )
        return self._unless_worse(result, first)

    def _first_level(self) -> SearchResult:
        """The widths on the first rows, for every scaling of the features; the best one stays."""
        best: SearchResult | None = None
        for data, samples in self.scalings:
            if best is not None and self._is_over(_FOR_SEARCH):
                break
            first = samples[0] if samples else data
            with one_blas_thread():  # several would mostly wait for one another
                began = monotonic()
                family = GaussianFamily(first.X)
                self._seconds_per_value = (monotonic() - began) / first.m**2  # it depends on the features
                result = self._level(first, family.gram)
            # by the error itself: how soft its step is depends on the margins, and these on the scaling
            if best is None or result.candidate.error < best.candidate.error:
                best, self.all, self.samples = result, data, samples
            self.result = best
        assert best is not None
        return best

    def _with_larger_sample(self, first: SearchResult, sample: SearchData) -> SearchResult:
        """The width by a low-rank kernel of some rows; then that kernel of all rows, once."""
        rank = self._affordable_rank()
        if rank is None:
            return self._only_of_sample(first)
        drawn, octave = self.random_state.permutation(sample.m), first.candidate.octave
        landmarks, whitened = np.sort(drawn[:rank]), np.sort(drawn[: self.regime.rows_to_whiten * rank])

        def of_sample(gamma: float) -> Any:
            return nystroem_gram(Gaussian(gamma), sample.X, landmarks, whitened)

        candidate = self._search(sample.with_folds(2, gain=_GAIN), of_sample, (octave, octave - 1))
        if self._is_over(_FOR_SEARCH):
            return self._unless_worse(self._train_best(), first)
        # the same rows among all; those that were merged with others are not there
        given, rows = sample.training_set.rows, self.all.training_set.rows
        places, basis = (np.flatnonzero(np.isin(rows, given[part])) for part in (landmarks, whitened))
        of_all = lru_cache(1)(lambda gamma: nystroem_gram(Gaussian(gamma), self.all.X, places, basis))
        data = self.all.with_folds(1, caps=(sample.caps[candidate.loss],), gain=_GAIN)
        return self._unless_worse(self._level(data, of_all, (candidate.octave,), neighbours=False), first)

    def _exact(self, early: SearchResult) -> SearchResult | None:
        """The exact SVM, if held-out rows clearly prefer it."""
        data, rival = replace(early.data, caps=(np.inf,)), early.candidate
        self.exact = search = ExactSearch(
            data, self.criterion_of(data), self.levels.searches[early.level].gamma, early.gram_of,
            lambda: self._seconds_until(_FOR_SEARCH), self._after_width, self.regime,
        )  # fmt: skip
        best = search.run(rival.octave, rival.criterion)
        if search.is_over and not self.is_stopped:
            self.shortfall = self.shortfall or _EXACT
        clearly = _CLEARLY_FOR_TEXT if self._is_text else _CLEARLY
        if best is None or best.criterion >= less_by(clearly, rival.criterion):
            return None
        if self._is_over(_FOR_TRAINING):
            return None
        trained = search.trained(best, self._seconds_until(_FOR_TRAINING))
        if trained is None and self.time_limit is not None:
            self.shortfall = self.shortfall or _EXACT
        return trained

    def _unless_worse(self, result: SearchResult, first: SearchResult) -> SearchResult:
        """A model of low rank, or whose training was cut short, may be worse than that of the sample."""
        may_be_worse = bool(self.shortfall) or result.gram_of is None
        error, n = first.candidate.error, len(first.held_decisions)
        plausible = error + 2.0 * float(np.sqrt(abs(error * (1.0 - error)) / n))  # though more than measured
        return first if may_be_worse and result.candidate.error > plausible else result

    def _only_of_sample(self, first: SearchResult) -> SearchResult:
        """The model of the first rows, for want of time; that matters more than anything else left out."""
        if self.time_limit is not None and not self.is_stopped:
            self.shortfall = _SAMPLE_ONLY.format(first.data.m)
        return first

    def _affordable_rank(self) -> int | None:
        """The rank of a kernel of all rows that there is time to build; None if there is none."""
        m = self.all.m
        least, of_large, most = self.regime.ranks
        rank = most if 4 * m * most <= self.regime.large_factor else of_large
        left = self._seconds_until(_FOR_SEARCH)
        if left is None:
            return rank
        A = np.ones((512, 512), dtype=np.float32)
        A @ A
        began = perf_counter()
        A @ A
        # the greatest r with _BUILDS · m · r · (a + b r) = left, a and b the seconds of a value and a product
        a, b = self._seconds_per_value, max(perf_counter() - began, 1e-9) / len(A) ** 3
        root = np.sqrt(a * a + 4.0 * b * max(left, 0.0) / (_BUILDS * m))
        affordable = int((root - a) / (2.0 * b))
        if affordable < rank:
            self.shortfall = self.shortfall or f"there was no time for a kernel of rank {rank}"
        return min(rank, affordable) if affordable >= least else None

    def _level(self, *search: Any, **options: Any) -> SearchResult:
        """Look for a width as `_search` does, and train with it."""
        self._search(*search, **options)
        self.result = self._train_best()
        return self.result

    def _search(
        self, data: SearchData, gram_of: Callable[[float], Any], octaves: tuple[int, ...] = FIRST_OCTAVES,
        *, neighbours: bool = True,
    ) -> Candidate:  # fmt: skip
        """Look for the width, and remember how to train with the best one."""
        criterion = self.criterion_of(data)

        def curve_of(gamma: float, rival: float) -> StageCurve:
            if self._is_over(_FOR_SEARCH) and search.curves:
                return StageCurve(gamma, [], [], reason=OUT_OF_TIME)
            try:
                pause = partial(self._end_after, _FOR_SEARCH)
                return stage_curve(gram_of(gamma), gamma, data, criterion, pause, rival)
            except (ValueError, ArithmeticError) as error:
                return StageCurve(gamma, [], [], reason=str(error))

        search = self.levels.begin(data.spread, curve_of, self._after_width)
        self._train_best = lambda: self._trained(data, gram_of, search.candidate(search.best_octave()))
        return search.run(octaves, neighbours=neighbours)

    def _trained(
        self, data: SearchData, gram_of: Callable[[float], Any], candidate: Candidate
    ) -> SearchResult:
        """All rows and every fold once more, to the chosen stage."""
        gram, signs, k = gram_of(candidate.gamma), data.signs, data.n_problems
        weights = np.column_stack([data.weights, data.folds.training])
        cap, pause = data.caps[candidate.loss], partial(self._end_after, _FOR_TRAINING)
        alpha, f, bias = trained_until(gram, signs, weights, cap, candidate.stage, pause)
        decisions = (f + bias)[:, k:].reshape(len(f), -1, k)
        coefficients, places = signs * alpha[:, :k], np.arange(len(f))
        if not gram.has_entries:
            coefficients, places = gram.projection @ gram.weights_of(coefficients), gram.landmarks
        per_class = (alpha[:, :k].T, f[:, :k].T, bias[:k], signs.T)
        nearest = [nearest_penalty(*columns, data.weights) for columns in zip(*per_class, strict=True)]
        C, duality_gap = max(nearest, key=lambda of_class: of_class[1])
        return SearchResult(
            candidate, data, places, coefficients, bias[:k], decisions[data.held.rows, data.held.folds],
            C, duality_gap, len(self.levels.searches) - 1, gram_of if gram.has_entries else None,
        )  # fmt: skip

    def _after_width(self) -> None:
        self.is_stopped = self.is_stopped or self.after_width(self)

    def _seconds_until(self, part: float) -> float | None:
        """Seconds left of a part of the limit, none after a stop; None without a limit."""
        if self.is_stopped:
            return 0.0
        return None if self.time_limit is None else part * self.time_limit - (monotonic() - self.began)

    def _is_over(self, part: float) -> bool:
        if self.is_stopped:
            return True
        if self.time_limit is None or monotonic() - self.began < part * self.time_limit:
            return False
        self.shortfall = self.shortfall or (_SEARCH if part == _FOR_SEARCH else _TRAINING)
        return True

    def _end_after(self, part: float) -> None:
        """What a training calls between epochs, to end after a part of the limit."""
        if self._is_over(part):
            raise TimeIsUp

    def path(self) -> KernelPath:
        """Every width that was tried, level by level, then every exact SVM."""
        records: list[dict[str, Any]] = []
        best, result, exact = 0, self.result, self.exact

        def add(level: int, tried: Any, own: Any, stage: float, **more: Any) -> None:
            record = {"level": level, "sigma": (2.0 * tried.gamma) ** -0.5, "gamma": tried.gamma}
            record |= {"criterion": own.criterion, "error": own.error, "stage": stage}
            records.append(record | {"epochs": tried.epochs, "seconds": tried.seconds} | more)

        for level, widths in enumerate(self.levels.searches):
            for octave, curve in sorted(widths.curves.items()):
                if result is not None and (level, octave) == (result.level, result.candidate.octave):
                    best = len(records)
                own = widths.candidate(octave)
                add(level, curve, own, own.stage, reason=curve.reason)
        if exact is not None:
            for trial in exact.trials.values():
                if result is not None and result.is_exact and trial is exact.best:
                    best = len(records)
                add(len(self.levels.searches), trial, trial, np.nan, reason="", C=exact.C_of(trial))
        return KernelPath(records, criterion="held-out soft error", best_index=best)
