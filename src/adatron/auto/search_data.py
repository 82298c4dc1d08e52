"""What a search trains and judges on: scaled, distinct rows with their folds and the losses to try."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from adatron.estimators.folds import Folds
from adatron.estimators.multiclass import Layout
from adatron.estimators.scaling import divided_in_blocks, feature_scales
from adatron.estimators.training_set import TrainingSet, distinct_rows
from adatron.gram import REGIME, Regime
from adatron.numerics.compiled import compiled, compiled_part

__all__ = ["SearchData", "prepared_data", "sample_of"]

_CAP = 0.3  # of the loss that is tried beside the squared hinge, close to the hinge itself
_LEAST_OF_CLASS = 20  # rows of every class that a sample has, if there are so many
_SOFTNESS = 0.35  # width of the soft step, in mean sizes of the margins
_HARDER_FROM = 1_000.0  # held-out weight above which the step shrinks, so that no more rows are within it


class HeldOut(NamedTuple):
    """The held-out parts of all folds, one entry each."""

    folds: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    codes: np.ndarray  # classes


@dataclass(frozen=True)
class SearchData:
    """Rows that a search trains on, with their folds."""

    training_set: TrainingSet  # unscaled
    X: Any  # scaled
    scales: np.ndarray  # of the features
    spread: float  # mean squared distance of the scaled rows to their mean
    signs: np.ndarray  # (m, k): of the k one-vs-rest problems, 1 for two classes
    folds: Folds
    caps: tuple[float, ...]  # of the losses to try
    gain: float = 0.0  # part of the criterion by which it must fall to count as improved

    @property
    def m(self) -> int:
        return self.training_set.m

    @property
    def n_problems(self) -> int:
        return self.signs.shape[1]

    @property
    def codes(self) -> np.ndarray:
        return self.training_set.codes

    @property
    def weights(self) -> np.ndarray:
        return self.training_set.weights

    @cached_property
    def held(self) -> HeldOut:
        folds, rows = np.nonzero(self.folds.held.T)
        return HeldOut(folds, rows, self.folds.held[rows, folds], self.codes[rows])

    def with_folds(self, n_folds: int, **changes: Any) -> SearchData:
        """The same rows with the first folds only, and perhaps other changes."""
        return replace(self, folds=self.folds.some(n_folds=n_folds), **changes)

    def errors(self, before: np.ndarray, after: np.ndarray, share: float) -> np.ndarray:
        """Share of the held-out weight that is misclassified, and the same with a soft step; for each loss.

        The soft error counts a row of margin z as ``1/(1 + e^{z/τ})``, with τ in proportion to the mean size
        of the margins. It does not jump when single rows change sides, so neighbouring models can be told
        apart on few rows. With many rows the step becomes a hard one. With more than two classes the margin
        is the decision for the row's class minus the best of the others.

        `before` and `after` (m, n_losses F k) are decisions at two stages; a `share` of 1 means `after`.
        """
        result, margins = np.empty((len(self.caps), 2)), np.empty(len(self.held.rows))
        sizes = self.n_problems, self.folds.n_folds
        _errors(before.T, after.T, share, *self.held, *sizes, margins, result)
        return result


def prepared_data(
    data: TrainingSet, folds: Folds, merge: bool, scaled_as: SearchData | None = None,
    *, divide: bool = True, regime: Regime = REGIME,
) -> SearchData:  # fmt: skip
    """Merge equal rows, if wanted, and scale them, perhaps as others were."""
    if merge:
        kept, place = distinct_rows(data, regime)
        data, folds = data.merged(kept, place), folds.merged(place)
    if scaled_as is None:
        scales, spread = feature_scales(data.X, data.sample_weight, divide=divide)
    else:
        scales, spread = scaled_as.scales, scaled_as.spread
    layout = Layout(len(data.classes), "ovr")
    caps = (np.inf, _CAP) if layout.is_binary else (np.inf,)
    X = divided_in_blocks(data.X, scales, regime)
    return SearchData(data, X, scales, spread, layout.signs(data.codes), folds, caps)


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
