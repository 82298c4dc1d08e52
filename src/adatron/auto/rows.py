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
    means: np.ndarray | None = None  # (n, w): target means that know no target of the held-out rows


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
    mean_places: np.ndarray | None = None  # (w,): the features that are target means

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

    def features(self, fold: Fold) -> Any:
        """X as a fold may see it."""
        if fold.means is None:
            return self.X
        X = self.X.copy()
        X[:, self.mean_places] = fold.means
        return X

    def with_folds(self, n_folds: int) -> SearchRows:
        """The same rows with the first folds only."""
        return replace(self, folds=self.folds[:n_folds])


def fold_list(folds: Folds, means: list[np.ndarray] | None = None) -> list[Fold]:
    """The folds as places of rows, with the target means of each."""
    found = []
    for k, (train, held) in enumerate(zip(folds.training.T, folds.held.T, strict=True)):
        places, rows = np.flatnonzero(train), np.flatnonzero(held)
        if len(places) and len(rows):
            found.append(Fold(places, rows, held[rows], None if means is None else means[k]))
    return found
