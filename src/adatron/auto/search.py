"""How `AutoSVC` searches: on all rows when they are few, else first on some of them, then on all.

Few rows: every fold and every width with the whole kernel matrix. More rows: the width is looked for on a
sample; as it comes out too wide there, the search goes on from it with all rows. Many rows: the same with a
low-rank kernel, which suits wider kernels. Very many rows: the low-rank kernel on a larger sample tells the
width, and all rows are trained once with it; the factor is whitened, so that few epochs suffice.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from adatron.auto.base import Candidate, Search
from adatron.auto.candidates import ExactSearch, SearchResult, best_stage, less_by, trained_until
from adatron.auto.scoring import criterion_of
from adatron.auto.search_data import Scalings, SearchData
from adatron.gram import GaussianFamily, fetched_if, nystroem_single
from adatron.kernels import Gaussian
from adatron.numerics.memory import available_memory
from adatron.numerics.threads import one_blas_thread
from adatron.paths.kernel_path import KernelPath
from adatron.solvers import nearest_penalty

_CLEARLY = 0.03  # part of the other's criterion by which the exact SVM must be lower to be taken
_CLEARLY_FOR_TEXT = 0.003  # its best kernels are so wide that they are linear: epochs are a coarse choice
_COLUMNS = 32  # that are trained side by side on all rows, if two folds fit into them
_BUILDS = 3.0  # kernel matrices or factors of all rows that a search takes at least: two widths, the model
_GAIN = 1e-3  # by which the error of very many rows must fall for training to go on
_FOR_TRAINING = 0.95  # part of the time limit
_EXACT = "some exact SVMs were not tried"


class AutoSearch(Search):
    """One search, from coarse to fine; `result` is the best model so far."""

    part_for_search = 0.6

    def __init__(self, model: Any, scalings: Scalings, began: float) -> None:
        super().__init__(model, began)
        self.random_state, self.regime = model._random_state(), model._regime
        self.scalings, (self.all, self.samples) = scalings, scalings[0]
        self.result: SearchResult | None = None
        self.exact: ExactSearch | None = None
        self.shortfall = ""  # the first thing that the time limit did not allow
        self._is_text = len(scalings) > 1  # as far as the rows show it: they are also tried unscaled
        self._seconds_per_value = 0.0  # of the kernel; measured on the first rows

    def run(self) -> None:
        """The whole search."""
        self.result = early = self._stopped_early()
        is_dense_of_all = early.gram_of is not None and early.data.rows is self.all.rows
        enough = self.regime.exact_from_for_text if self._is_text else self.regime.exact_from
        if is_dense_of_all and self.all.m > enough and not self.is_over():
            self.result = self._exact(early) or early

    def _stopped_early(self) -> SearchResult:
        """The best model by early stopping; on more than a few rows, from the width of a sample on."""
        first = self._first_level()
        if not self.samples:
            return first
        result = None if self.is_over() else self._on_all_rows(first.candidate.octave)
        if result is None:  # that matters more than anything else left out
            if self.time_limit is not None and not self.is_stopped:
                text = "there was no time to train on all rows; the model was trained on {:,} of them"
                self.shortfall = text.format(first.data.m)
            return first
        # a model of low rank, or whose training was cut short, may be worse than that of the sample
        may_be_worse = bool(self.shortfall) or result.gram_of is None
        error, n = first.candidate.error, len(first.held_decisions)
        plausible = error + 2.0 * float(np.sqrt(abs(error * (1.0 - error)) / n))  # though more than measured
        return first if may_be_worse and result.candidate.error > plausible else result

    def _first_level(self) -> SearchResult:
        """The widths on the first rows, for every scaling of the features; the best one stays."""
        best: SearchResult | None = None
        for data, samples in self.scalings:
            if best is not None and self.is_over():
                break
            first = samples[0] if samples else data
            with one_blas_thread():  # several would mostly wait for one another
                began, family = monotonic(), GaussianFamily(first.scaled)
                self._seconds_per_value = (monotonic() - began) / first.m**2  # it depends on the features
                result = self._level(first, family.gram)
            # by the error itself: how soft its step is depends on the margins, and these on the scaling
            if best is None or result.candidate.error < best.candidate.error:
                best, self.all, self.samples = result, data, samples
            self.result = best
        assert best is not None
        return best

    def _on_all_rows(self, octave: int) -> SearchResult | None:
        """The search with all rows, from the width of a sample on; None if there is no time for it."""
        data, m, draw = self.all, self.all.m, self.random_state.permutation
        few_enough = m <= self.regime.many and 8 * m * m <= 0.5 * available_memory()
        if len(self.samples) == 1 and few_enough:
            left = self.seconds_left()
            if left is not None and m * m * self._seconds_per_value >= left:  # distances are evaluated once
                return None
            folds = max(2, min(data.folds.n_folds, _COLUMNS // (data.n_problems * len(data.caps))))
            gram_of = GaussianFamily(fetched_if(True, data.scaled)).gram
            return self._level(data.with_folds(folds), gram_of, (octave, octave + 1))
        rank, octaves = self._affordable_rank(), (octave, octave - 1)
        if rank is None:
            return None
        if len(self.samples) == 1:
            return self._level(data.with_folds(2), _low_rank(data, np.sort(draw(m)[:rank])), octaves)
        sample = self.samples[1]
        drawn = draw(sample.m)
        parts = np.sort(drawn[:rank]), np.sort(drawn[: self.regime.rows_to_whiten * rank])
        candidate = self._search(sample.with_folds(2, gain=_GAIN), _low_rank(sample, *parts), octaves)
        if self.is_over():
            return self.trained()
        # the same rows among all; those that were merged with others are not there
        places = [np.flatnonzero(np.isin(data.rows, sample.rows[part])) for part in parts]
        once = data.with_folds(1, caps=(sample.caps[candidate.loss],), gain=_GAIN)
        gram_of = lru_cache(1)(_low_rank(data, *places))
        return self._level(once, gram_of, (candidate.octave,), neighbours=False)

    def _affordable_rank(self) -> int | None:
        """The rank of a kernel of all rows that there is time to build; None if there is none."""
        m, (least, of_large, most), left = self.all.m, self.regime.ranks, self.seconds_left()
        rank = most if 4 * m * most <= self.regime.large_factor else of_large
        if left is None:
            return rank
        A = np.ones((512, 512), dtype=np.float32)
        A @ A
        began = perf_counter()
        A @ A
        # the greatest r with _BUILDS · m · r · (a + b r) = left, a and b the seconds of a value and a product
        a, b = self._seconds_per_value, max(perf_counter() - began, 1e-9) / len(A) ** 3
        affordable = int((np.sqrt(a * a + 4.0 * b * left / (_BUILDS * m)) - a) / (2.0 * b))
        if affordable < rank:
            self.shortfall = self.shortfall or f"there was no time for a kernel of rank {rank}"
        return min(rank, affordable) if affordable >= least else None

    def _exact(self, early: SearchResult) -> SearchResult | None:
        """The exact SVM, if held-out rows clearly prefer it."""
        self.exact, rival = ExactSearch(self, early), early.candidate
        best = self.exact.run(rival.octave, rival.criterion)
        if self.exact.is_over and not self.is_stopped:
            self.shortfall = self.shortfall or _EXACT
        limit = less_by(_CLEARLY_FOR_TEXT if self._is_text else _CLEARLY, rival.criterion)
        left = self.seconds_left(_FOR_TRAINING)
        if best is None or best.criterion >= limit or self.is_over(_FOR_TRAINING):
            return None
        trained = self.exact.trained(best, left)
        if trained is None and self.time_limit is not None:
            self.shortfall = self.shortfall or _EXACT
        return trained

    def _level(self, *search: Any, **options: Any) -> SearchResult:
        """Look for a width as `_search` does, and train with it."""
        self._search(*search, **options)
        self.result = self.trained()
        return self.result

    def _search(self, data: SearchData, gram_of: Any, *octaves: Any, **options: Any) -> Candidate:
        """The best width and stage of some rows, given the kernel matrix for a γ."""
        self._under_way = data, gram_of
        judge = partial(best_stage, data, gram_of, criterion_of(self.model, data), self.is_over)
        return self.look_for_width(data.spread, judge, *octaves, **options)

    def trained(self) -> SearchResult:
        """The best candidate of the level under way: all rows and every fold once more, to its stage."""
        candidate, (data, gram_of) = self.best, self._under_way
        gram, signs, k = gram_of(candidate.gamma), data.signs, data.n_problems
        weights = np.column_stack([data.weights, data.folds.training])
        cap, is_over = data.caps[candidate.loss], partial(self.is_over, _FOR_TRAINING)
        alpha, f, bias = trained_until(gram, signs, weights, cap, candidate.stage, is_over)
        decisions = (f + bias)[:, k:].reshape(len(f), -1, k)
        coefficients, places = signs * alpha[:, :k], np.arange(len(f))
        if not gram.has_entries:
            coefficients, places = gram.projection @ gram.weights_of(coefficients), gram.landmarks
        per_class = (alpha[:, :k].T, f[:, :k].T, bias[:k], signs.T)
        nearest = [nearest_penalty(*columns, data.weights) for columns in zip(*per_class, strict=True)]
        C, duality_gap = max(nearest, key=lambda of_class: of_class[1])
        return SearchResult(
            candidate, data, places, coefficients, bias[:k], decisions[data.held.rows, data.held.folds],
            C, duality_gap, candidate.stage, gram_of if gram.has_entries else None,
        )  # fmt: skip

    def is_over(self, part: float | None = None) -> bool:
        """Remembers what the time limit did not allow."""
        is_over = super().is_over(part)
        if is_over and not self.is_stopped and not self.shortfall:
            of_training = "the training of the final model was cut short"
            self.shortfall = "some kernel widths were not tried" if part is None else of_training
        return is_over

    def path(self, result: SearchResult) -> KernelPath:
        """Every width that was tried, level by level, then every exact SVM."""
        tried = [(n, level[octave]) for n, level in enumerate(self.levels) for octave in sorted(level)]
        tried += [(len(self.levels), trial) for trial in (self.exact.trials.values() if self.exact else ())]
        names, exact = ("gamma", "criterion", "error", "stage", "epochs", "seconds", "reason"), ("C",)
        records = [{"level": n} | own.record(*names, *(() if np.isnan(own.C) else exact)) for n, own in tried]
        best = [candidate for _, candidate in tried].index(result.candidate)
        return KernelPath(records, criterion="held-out soft error", best_index=best)


def _low_rank(data: SearchData, *places: np.ndarray) -> Callable[[float], Any]:
    """The kernel of a γ by its landmarks, and perhaps whitened on some rows."""
    return lambda gamma: nystroem_single(Gaussian(gamma), data.scaled, *places)
