"""What a search trains and judges on: scaled rows, targets, weights and folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from adatron.estimators.folds import Folds


class Fold(NamedTuple):
    """Places of the rows to train on and of those held out, and the weights of the latter."""

    train: np.ndarray
    held: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class SearchRows:
    """Rows in scaled features, with a column of `Y` for each class or target."""

    X: Any  # (n, d) array, or CSR matrix
    Y: np.ndarray  # (n, k): ±1 for classes, or standardised targets; about their mean
    mean: np.ndarray  # (k,): what was subtracted, which decisions get back
    codes: np.ndarray  # classes, empty for a regression
    weights: np.ndarray  # (n,)
    blocks: np.ndarray  # (d,): features of one column, such as the levels of a category, share a weight
    folds: list[Fold]

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def held(self) -> np.ndarray:
        """Places of all held-out rows, fold by fold."""
        return np.concatenate([fold.held for fold in self.folds])

    @property
    def held_folds(self) -> np.ndarray:
        """The number of the fold of each."""
        return np.repeat(np.arange(len(self.folds)), [len(fold.held) for fold in self.folds])

    @property
    def held_weights(self) -> np.ndarray:
        return np.concatenate([fold.weights for fold in self.folds])

    def some(self, rows: np.ndarray, folds: Folds) -> SearchRows:
        """Some of the rows, with their part of the folds; the rows that a fold holds out come together."""
        rows = rows[np.argsort(folds.held[rows].argmax(axis=1), kind="stable")]
        codes = self.codes[rows] if len(self.codes) else self.codes
        parts = {"X": self.X[rows], "Y": self.Y[rows], "weights": self.weights[rows], "codes": codes}
        return replace(self, **parts, folds=fold_list(folds.some(rows)))

    def with_folds(self, n_folds: int) -> SearchRows:
        """The same rows with the first folds only."""
        return replace(self, folds=self.folds[:n_folds])


def fold_list(folds: Folds) -> list[Fold]:
    """The folds as places of rows."""
    pairs = zip(folds.training.T, folds.held.T, strict=True)
    found = [(np.flatnonzero(train), np.flatnonzero(held), held) for train, held in pairs]
    return [Fold(train, rows, held[rows]) for train, rows, held in found if len(train) and len(rows)]
