"""The folds of a cross-validation: a column of weights to train with and one of weights held out for each."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from adatron.estimators.training_set import TrainingSet
from adatron.gram import is_dask, on_client


@dataclass(frozen=True)
class Folds:
    """Weights of rows that every fold trains with and holds out."""

    training: np.ndarray  # (m, F)
    held: np.ndarray  # (m, F)

    @classmethod
    def of(cls, cv: Any, data: TrainingSet, order: np.ndarray, given: tuple, state: Any) -> Folds:
        """The folds of the rows in `order`: drawn if `cv` is a number, else by a splitter of X, y, groups."""
        X, y, groups = given
        cv, has_classes = 5 if cv is None else cv, len(data.classes) > 0
        if isinstance(cv, Integral) and groups is None:
            weights, n_folds = data.weights[order][:, None], int(cv)
            if has_classes:
                numbers = stratified_folds(data.codes[order], n_folds, state)
            else:
                n_folds = min(n_folds, len(order))
                numbers = state.permutation(np.arange(len(order)) % n_folds)
            held = np.where(numbers[:, None] == np.arange(n_folds), weights, 0.0)
            return cls(weights - held if n_folds > 1 else held, held)  # a single row trains on itself
        if isinstance(cv, Integral):
            n_groups = len(np.unique(groups))
            if n_groups < 2:
                raise ValueError("groups has only one group, of which no rows can be held out; needs two")
            cv = (StratifiedGroupKFold if has_classes else GroupKFold)(min(int(cv), n_groups))
        if is_dask(X):  # a splitter needs no more than the number of rows and the classes
            X, y = np.empty((data.shape[0], 0)), on_client(y)
        return cls.given(data, cv, X, y, groups).some(order)

    @classmethod
    def given(cls, data: TrainingSet, cv: Any, X: Any, y: Any, groups: Any = None) -> Folds:
        """The parts of a scikit-learn splitter, or of an iterable of (train, test)."""
        parts = list(check_cv(cv, y, classifier=len(data.classes) > 0).split(X, y, groups))
        if not parts:
            raise ValueError(f"cv={cv!r} gives no folds")
        training, held = (np.zeros((data.shape[0], len(parts)), dtype=bool) for _ in range(2))
        for fold, (training_rows, held_rows) in enumerate(parts):
            try:
                training[training_rows, fold] = held[held_rows, fold] = True
            except IndexError as error:
                raise ValueError(f"fold {fold} of cv has rows that X has not: {error}") from error
        weights = data.weights[:, None]
        return cls(training[data.rows] * weights, held[data.rows] * weights)

    def some(self, rows: Any = slice(None), n_folds: int | None = None) -> Folds:
        """Some of the rows, and the first folds."""
        return Folds(self.training[rows, :n_folds], self.held[rows, :n_folds])

    def joined(self) -> Folds:
        """Fewer and larger folds where many hold out few rows, such as those of leave-one-out.

        A search looks at a few folds only, which must tell enough. Folds that do not train with all rows
        that they do not hold out, such as those of time series, stay as they are.
        """
        m, n_folds = self.held.shape
        is_held = self.held > 0.0
        size = min(n_folds // 10, (m * n_folds - 1) // (10 * max(1, int(is_held.sum()))))  # to hold a tenth
        if size < 2 or not np.all(is_held | (self.training > 0.0)):
            return self
        n_joined = n_folds // size
        training, held = (
            np.column_stack([end(weights[:, k::n_joined], axis=1) for k in range(n_joined)])
            for end, weights in ((np.min, self.training), (np.max, self.held))
        )
        return Folds(training, held)

    def check_classes(self, codes: np.ndarray, classes: np.ndarray, at_least: int = 2) -> None:
        """Refuse folds that leave too few classes to train on."""
        for fold, weights in enumerate(self.training.T):
            left = np.bincount(codes, weights=weights) > 0.0
            if left.sum() < at_least:
                raise ValueError(
                    f"fold {fold} of cv leaves no row of the classes {classes[~left].tolist()!r} to train "
                    "on; needs >= 2 rows per class for cv: add rows of these classes, or choose another cv"
                )


def stratified_folds(codes: np.ndarray, n_folds: int, random_state: np.random.RandomState) -> np.ndarray:
    """The fold of every row: each class is shuffled and dealt out in turn."""
    folds, turn = np.empty(len(codes), dtype=int), 0
    for code in range(int(codes.max()) + 1):
        rows = random_state.permutation(np.flatnonzero(codes == code))
        folds[rows] = (turn + np.arange(len(rows))) % n_folds
        turn += len(rows)
    return folds
