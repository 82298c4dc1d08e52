"""What a search trains and judges on: scaled, distinct rows with their folds and the losses to try."""

from collections import namedtuple
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from adatron.estimators.classifier import Layout
from adatron.estimators.folds import Folds
from adatron.estimators.training_set import TrainingSet, distinct_rows
from adatron.gram import Regime, blockwise, mapped_rows, weighted_sum
from adatron.numerics.compiled import compiled, compiled_part

_CONSTANT = 1e-10  # deviation, relative to the largest value, below which a feature is constant
_CAP = 0.3  # of the loss that is tried beside the squared hinge, close to the hinge itself
_LEAST_OF_CLASS = 20  # rows of every class that a sample has, if there are so many
_SOFTNESS = 0.35  # width of the soft step, in mean sizes of the margins
_HARDER_FROM = 1_000.0  # held-out weight above which the step shrinks, so that no more rows are within it
HeldOut = namedtuple("HeldOut", "folds rows weights codes")  # an entry for each row that a fold holds out


def feature_scales(X: Any, weights: np.ndarray, *, divide: bool = True) -> tuple[np.ndarray, float]:
    """What to divide every feature by, and the mean squared distance to the mean that results.

    This is the standard deviation; for two values, half their distance, as if both were equally frequent, for
    rare marks would otherwise dwarf everything else. Constant features stay, and all of them unless `divide`.
    """
    moments = _sparse_moments if sparse.issparse(X) else _dense_moments
    spread, low, high, two_valued = moments(X, weights / weights.sum())
    varies = (high > low) & (spread > _CONSTANT * np.maximum(np.abs(low), np.abs(high)))
    scales = np.where(varies & divide, np.where(two_valued, 0.5 * (high - low), spread), 1.0)
    return scales, float((spread[varies] / scales[varies]) @ (spread[varies] / scales[varies])) or 1.0


def _dense_moments(X: Any, share: np.ndarray) -> tuple[np.ndarray, ...]:
    """Standard deviation, least and largest value of every feature; whether it has no others."""
    ends = blockwise(lambda X: (X.min(axis=0), X.max(axis=0)), X)
    low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    largest = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(float).tiny)
    mean = weighted_sum(share, X, np.divide, largest)  # no overflow
    variance = weighted_sum(share, X, lambda X, mean, unit: (X / unit - mean) ** 2, mean, largest)
    at_ends = blockwise(lambda X, low, high: ((low == X) | (high == X)).all(axis=0), X, low, high)
    return largest * np.sqrt(variance), low, high, np.all(at_ends, axis=0)


def _sparse_moments(X: Any, share: np.ndarray) -> tuple[np.ndarray, ...]:
    mean = np.asarray(share @ X)
    spread = np.sqrt(np.maximum(np.asarray(share @ X.multiply(X)) - mean**2, 0.0))
    low, high = (np.asarray(extreme(axis=0).todense()).ravel() for extreme in (X.min, X.max))
    at_end = (low[X.indices] == X.data) | (high[X.indices] == X.data)
    others = np.bincount(X.indices, weights=~at_end, minlength=X.shape[1])
    has_zeros = np.bincount(X.indices, minlength=X.shape[1]) < X.shape[0]
    return spread, low, high, (others == 0) & (~has_zeros | (low == 0.0) | (high == 0.0))


def divided_by(X: Any, scales: np.ndarray, regime: Regime | None = None) -> Any:
    """Rows with every feature divided by its scale; with a `regime`, many of them only when they are read."""
    if regime is not None and isinstance(X, np.ndarray) and X.shape[0] > regime.many_rows:
        return DividedRows(X, scales)
    if sparse.issparse(X):
        return sparse.csr_array(X.multiply(1.0 / scales))
    return mapped_rows(np.divide, X, scales)


@dataclass(frozen=True)
class DividedRows:
    """Rows of which blocks are scaled when they are read, so that there is no second copy of all."""

    X: np.ndarray
    scales: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.X.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        return np.asarray(self.X[rows] / self.scales, dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class SearchData(TrainingSet):
    """Rows that a search for a classifier trains on, with their folds; `X` has them unscaled."""

    scaled: Any
    scales: np.ndarray  # of the features
    spread: float  # mean squared distance of the scaled rows to their mean
    signs: np.ndarray  # (m, k): of the k one-vs-rest problems, 1 for two classes
    folds: Folds
    caps: tuple[float, ...]  # of the losses to try
    gain: float = 0.0  # part of the criterion by which it must fall to count as improved

    @property
    def n_problems(self) -> int:
        return self.signs.shape[1]

    @cached_property
    def held(self) -> HeldOut:
        folds, rows = np.nonzero(self.folds.held.T)
        return HeldOut(folds, rows, self.folds.held[rows, folds], self.codes[rows])

    def with_folds(self, n_folds: int, **changes: Any) -> Self:
        """The same rows with the first folds only, and perhaps other changes."""
        return replace(self, folds=self.folds.some(n_folds=n_folds), **changes)

    def errors(self, before: np.ndarray, after: np.ndarray, share: float) -> np.ndarray:
        """Share of the held-out weight that is misclassified, and the same with a soft step; for each loss.

        The soft error counts a row of margin z as ``1/(1 + e^{z/τ})``, with τ in proportion to the mean size
        of the margins. It does not jump when single rows change sides, so models can be told apart on few
        rows; with many, τ shrinks. With more than two classes z is the decision for the row's class minus the
        best other. `before` and `after` (m, n_losses F k) are decisions at two stages; share 1 means `after`.
        """
        result, margins = np.empty((len(self.caps), 2)), np.empty(len(self.held.rows))
        _errors(before.T, after.T, share, *self.held, self.n_problems, self.folds.n_folds, margins, result)
        return result


Scalings = list[tuple[SearchData, list[SearchData]]]  # all rows, and samples of them, for each that is tried


def prepared_data(
    data: TrainingSet, folds: Folds, scaling: tuple[np.ndarray, float] | None = None, *, merge: bool,
    divide: bool = True, regime: Regime,
) -> SearchData:  # fmt: skip
    """Merge equal rows, if wanted, and scale them, perhaps as others were."""
    if merge:
        kept, place = distinct_rows(data, regime)
        data, folds = data.merged(kept, place), folds.merged(place)
    scales, spread = scaling or feature_scales(data.X, data.sample_weight, divide=divide)
    layout = Layout(len(data.classes), "ovr")
    return SearchData(
        **{field.name: getattr(data, field.name) for field in fields(data)},
        scaled=divided_by(data.X, scales, regime), scales=scales, spread=spread, folds=folds,
        signs=layout.signs(data.codes), caps=(np.inf, _CAP) if layout.is_binary else (np.inf,),
    )  # fmt: skip


def sample_of(codes: np.ndarray, random_state: np.random.RandomState, size: int) -> np.ndarray:
    """Places of some rows, a few at least of every class, in their order."""
    order = random_state.permutation(len(codes))
    rank_in_class = np.empty(len(codes), dtype=int)
    for code in range(int(codes.max()) + 1):
        own = order[codes[order] == code]
        rank_in_class[own] = np.arange(len(own))
    needed = rank_in_class < _LEAST_OF_CLASS
    others = order[~needed[order]][: max(0, size - int(needed.sum()))]
    return np.sort(np.concatenate([np.flatnonzero(needed), others]))


@compiled_part
def margin_of(before, after, share, code, k, first, i):
    """The margin of one row, and whether its prediction is wrong."""
    if k == 1:  # a tie goes to the first class
        z = (1.0 - share) * before[first, i] + share * after[first, i]
        return (z, z <= 0.0) if code == 1 else (-z, z > 0.0)
    own = (1.0 - share) * before[first + code, i] + share * after[first + code, i]
    best, is_wrong = -np.inf, False
    for c in range(k):
        if c != code:
            value = (1.0 - share) * before[first + c, i] + share * after[first + c, i]
            best = max(best, value)
            is_wrong = is_wrong or value > own or (value == own and c < code)
    return own - best, is_wrong


@compiled
def _errors(before, after, share, folds, rows, weights, codes, k, n_folds, margins, result):
    for loss in range(len(result)):
        wrong, total, size = 0.0, 0.0, 0.0
        for j in range(len(rows)):
            first = (loss * n_folds + folds[j]) * k
            margins[j], is_wrong = margin_of(before, after, share, codes[j], k, first, rows[j])
            wrong += weights[j] if is_wrong else 0.0
            total += weights[j]
            size += weights[j] * abs(margins[j])
        width = _SOFTNESS * min(1.0, _HARDER_FROM / total) * size / total
        soft = 0.0
        for j in range(len(rows)):
            odds = np.exp(min(margins[j] / width, 700.0)) if width > 0.0 else 1.0
            soft += weights[j] / (1.0 + odds)
        result[loss, 0], result[loss, 1] = wrong / total, soft / total
