"""Target means of the levels of a category, for categories of many levels.

Training rows get means that were learned on other rows (five folds), so that the model does not mistake a
row's own target for information in the level (Micci-Barreca 2001; scikit-learn's ``TargetEncoder``). Rows of
one group are in one fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from adatron.tables.columns import Column, is_missing
from adatron.tables.encodings import Levels, Numbers

_FOLDS = 5
_MOST_CLASSES = 10  # with a column each
_FEW_WHOLE_NUMBERS = 20  # distinct ones, up to which targets that are whole numbers are classes


@dataclass(frozen=True)
class Target:
    """Targets as columns: one for a regression or two classes, else one for each of the frequent classes."""

    values: np.ndarray
    names: list[str]
    folds: np.ndarray

    @classmethod
    def of(cls, y: Any, n_rows: int, target_type: str, seed: Any, groups: Any = None) -> Target:
        y = column_or_1d(y)
        if len(y) != n_rows:
            raise ValueError(f"X and y have inconsistent numbers of samples: {n_rows} rows, {len(y)} targets")
        if y.dtype.kind == "O" and any(map(is_missing, y)):
            raise ValueError("Input y contains missing values; drop the rows without a target")
        own = np.arange(n_rows) if groups is None else np.unique(column_or_1d(groups), return_inverse=True)[1]
        folds = np.random.default_rng(seed).permutation(int(own.max()) + 1)[own] % _FOLDS
        if target_type == "continuous" or (target_type == "auto" and _is_continuous(y)):
            values = y.astype(np.float64)
            if not np.isfinite(values).all():
                raise ValueError("Input y contains NaN or infinity; drop the rows without a target")
            return cls(values[:, None], ["target"], folds)
        classes, codes = np.unique(y, return_inverse=True)
        by_count = np.argsort(-np.bincount(codes, minlength=len(classes)), kind="stable")
        shown = [1] if len(classes) == 2 else sorted(by_count[:_MOST_CLASSES].tolist())
        values = (codes[:, None] == np.array(shown)).astype(np.float64)
        return cls(values, [f"target_{classes[i]}" for i in shown], folds)

    def level_means(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        """A row for each level, as in `Levels`, and what training rows get: means of the other folds."""
        n_rows = len(column.levels) + 2  # the last one is for missing
        rows = np.where(column.values < 0, n_rows - 1, column.values)
        totals = []  # of each fold and level: sums, sums of squares, and counts
        for terms in (self.values, self.values**2, np.ones((len(rows), 1))):
            total = np.zeros((_FOLDS, n_rows, terms.shape[1]))
            np.add.at(total, (self.folds, rows), terms)
            totals.append(total)
        held_out = np.empty_like(self.values)
        for fold in range(_FOLDS):
            inside, others = self.folds == fold, np.arange(_FOLDS) != fold
            held_out[inside] = _smoothed(*(total[others].sum(axis=0) for total in totals))[rows[inside]]
        return _smoothed(*(total.sum(axis=0) for total in totals)), held_out

    def means(self, column: Column) -> tuple[list[Levels], np.ndarray]:
        """The means as an encoding, and the encoded training rows, standardised like numbers."""
        full, held_out = self.level_means(column)
        names, table, training = [], [], [np.empty((len(held_out), 0))]
        for j, name in enumerate(self.names):
            numbers = Numbers.fit(f"{column.name}_{name}", held_out[:, j])
            if numbers.has_values:
                names.append(numbers.name)
                table.append(numbers.encode(full[:, j]))
                training.append(numbers.encode(held_out[:, j]))
        encodings = [Levels(names, list(column.levels), np.hstack(table))] if names else []
        return encodings, np.hstack(training)


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
