"""Target means of the levels of a category, for categories of many levels.

Training rows get means that were learned on other rows (five folds), so that the model does not mistake a
row's own target for information in the level (Micci-Barreca 2001; scikit-learn's ``TargetEncoder``). Rows of
one group are in one fold. Folds and sums do not depend on the order in which rows come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from adatron.tables.columns import Column, is_missing
from adatron.tables.encodings import Levels, Numbers

_FOLDS = 5
_MOST_CLASSES = 10  # with a column each
_FEW_WHOLE_NUMBERS = 20  # distinct ones, up to which targets that are whole numbers are classes


@dataclass(frozen=True)
class Target:
    """Targets as columns: one for each of a regression or for two classes, else for each frequent class."""

    values: np.ndarray
    names: list[str]

    @classmethod
    def of(cls, y: Any, n_rows: int, target_type: str) -> Self:
        several = target_type == "continuous" and np.ndim(y) == 2
        y = np.asarray(y) if several else column_or_1d(y)
        if len(y) != n_rows:
            raise ValueError(f"X and y have inconsistent numbers of samples: {n_rows} rows, {len(y)} targets")
        if y.dtype.kind == "O" and any(map(is_missing, y.flat)):
            raise ValueError("Input y contains missing values; drop the rows without a target")
        if target_type == "continuous" or (target_type == "auto" and _is_continuous(y)):
            values = y.astype(np.float64).reshape(n_rows, -1)
            if not np.isfinite(values).all():
                raise ValueError("Input y contains NaN or infinity; drop the rows without a target")
            k = values.shape[1]
            return cls(values, ["target"] if k == 1 else [f"target_{i}" for i in range(k)])
        classes, codes = np.unique(y, return_inverse=True)
        by_count = np.argsort(-np.bincount(codes, minlength=len(classes)), kind="stable")
        shown = [1] if len(classes) == 2 else sorted(by_count[:_MOST_CLASSES].tolist())
        values = (codes[:, None] == np.array(shown)).astype(np.float64)
        return cls(values, [f"target_{classes[i]}" for i in shown])


@dataclass(frozen=True)
class Dealt:
    """Rows in an order that does not depend on the one they came in, dealt out to folds."""

    order: np.ndarray
    folds: np.ndarray

    @classmethod
    def of(cls, target: Target, columns: Sequence[Column], others: list[Any], seed: Any, groups: Any) -> Self:
        """By targets, levels, and `others`: the other columns, encoded."""
        rng = np.random.default_rng(0)
        total = np.zeros(len(target.values))
        for block in others:  # row by row: sums of BLAS depend on the place of a row
            weights = rng.normal(size=block.shape[1])
            total += block @ weights if sparse.issparse(block) else np.einsum("ij,j->i", block, weights)
        labels = np.zeros(len(total)) if groups is None else column_or_1d(groups)
        own = np.unique(labels, return_inverse=True)[1]
        order = np.lexsort((own, *(column.values for column in columns), *target.values.T, total))
        place = np.argsort(order)
        if groups is not None:  # which are as early as the first of their rows
            first = np.full(int(own.max()) + 1, len(order))
            np.minimum.at(first, own, place)
            place = np.argsort(np.argsort(first))[own]
        return cls(order, np.random.default_rng(seed).permutation(int(place.max()) + 1)[place] % _FOLDS)


class LevelMeans:
    """The target means of one column, standardised like numbers."""

    def __init__(self, column: Column, target: Target, dealt: Dealt) -> None:
        self.target, self.dealt = target, dealt
        self.n_codes = len(column.levels) + 2  # the last but one is for unseen levels, the last for missing
        self.codes = np.where(column.values < 0, self.n_codes - 1, column.values)
        of_levels, of_rows = self.means(np.zeros(len(self.codes), dtype=bool))
        names = [f"{column.name}_{name}" for name in target.names]
        numbers = [Numbers.fit(name, own) for name, own in zip(names, of_rows.T, strict=True)]
        self.numbers = {k: own for k, own in enumerate(numbers) if own.has_values}
        table = self._encoded(of_levels)
        names = [own.name for own in self.numbers.values()]
        self.encodings = [Levels(names, list(column.levels), table)] if names else []
        self.of_training_rows = self._encoded(of_rows)

    def without(self, held: np.ndarray) -> np.ndarray:
        """What all rows get if the targets of the `held` ones are not known."""
        return self._encoded(self.means(held)[1])

    def _encoded(self, means: np.ndarray) -> np.ndarray:
        return np.column_stack(
            [np.empty((len(means), 0)), *(own.encode(means[:, k]) for k, own in self.numbers.items())]
        )

    def means(self, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means of levels, as in `Levels`, and what rows get: those not `held`, the means of other folds."""
        rows, codes, folds = self.dealt.order[~held[self.dealt.order]], self.codes, self.dealt.folds
        totals, values = [], self.target.values  # of each fold and level: sums, sums of squares, and counts
        for terms in (values, values**2, np.ones((len(values), 1))):
            total = np.zeros((_FOLDS, self.n_codes, terms.shape[1]))
            np.add.at(total, (folds[rows], codes[rows]), terms[rows])
            totals.append(total)
        of_levels = _smoothed(*(total.sum(axis=0) for total in totals))
        of_rows = of_levels[codes]
        for fold in range(_FOLDS):
            inside, others = (folds == fold) & ~held, np.arange(_FOLDS) != fold
            of_rows[inside] = _smoothed(*(total[others].sum(axis=0) for total in totals))[codes[inside]]
        return of_levels, of_rows


@dataclass(frozen=True)
class TargetMeans:
    """The outputs of an encoder that are target means, and what they are without the targets of some rows."""

    places: np.ndarray  # of the outputs
    parts: list[LevelMeans]

    @property
    def ties(self) -> tuple[np.ndarray, ...]:
        """What tells training rows apart whose outputs and targets are equal: their folds and levels."""
        return self.parts[0].dealt.folds, *(part.codes for part in self.parts)

    def without(self, held: np.ndarray) -> np.ndarray:
        """These outputs for all training rows, if the targets of the `held` ones are not known."""
        return np.hstack([part.without(held) for part in self.parts])


def _is_continuous(y: np.ndarray) -> bool:
    if y.dtype.kind not in "iuf":
        return False
    return bool((y % 1 != 0).any()) or len(np.unique(y)) > _FEW_WHOLE_NUMBERS


def _smoothed(sums: np.ndarray, squares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Means of levels, drawn towards the overall mean as far as the noise within levels asks for it.

    That is n/(n + m) of the way from the overall mean, where m is the variance within levels over that
    between them (empirical Bayes). Where levels tell nothing, m is large and all means are nearly equal.
    """
    n, n_seen = counts.sum(), (counts > 0).sum()
    overall = sums.sum(axis=0) / max(n, 1.0)
    means = np.where(counts > 0, sums / np.maximum(counts, 1.0), overall)
    within = (squares - counts * means**2).sum(axis=0) / max(n - n_seen, 1.0)
    spread = (counts * (means - overall) ** 2).sum(axis=0) - (n_seen - 1) * within
    between = np.maximum(spread / max(n - (counts**2).sum() / max(n, 1.0), 1.0), 1e-3 * within)
    m = within / np.where(between > 0, between, 1.0)
    return overall + counts / (counts + np.maximum(m, 1.0)) * (means - overall)
