"""The folds of a cross-validation, for classification and regression.

A fold is a column of weights to train with and a column of weights held out. Equal rows may be merged after
the folds are made; such a row can be held out in part.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from adatron.estimators.parameters import check_integer, check_number, count_threads
from adatron.estimators.training_set import TrainingSet
from adatron.gram import on_client

__all__ = ["Folds", "check_search", "is_number_of_folds", "stratified_numbers"]


@dataclass(frozen=True)
class Folds:
    """What every fold trains with and holds out."""

    training: np.ndarray  # (m, F): weights
    held: np.ndarray  # (m, F): weights

    @classmethod
    def numbered(cls, numbers: np.ndarray, n_folds: int, weights: np.ndarray) -> Folds:
        """Each row is held out by the fold of its number; a single fold trains on what it holds out."""
        held = np.where(numbers[:, None] == np.arange(n_folds), weights[:, None], 0.0)
        return cls(weights[:, None] - held if n_folds > 1 else held, held)

    @classmethod
    def given(cls, data: TrainingSet, cv: Any, X: Any, y: Any, groups: Any, *, of_classes: bool) -> Folds:
        """The parts of a scikit-learn splitter, of an iterable of (train, test), or of whole `groups`."""
        groups = on_client(groups)
        if groups is not None and is_number_of_folds(cv):
            cv = (StratifiedGroupKFold if of_classes else GroupKFold)(5 if cv is None else int(cv))
        parts = list(check_cv(cv, y, classifier=of_classes).split(X, y, groups))
        if not parts:
            raise ValueError(f"cv={cv!r} gives no folds")
        training, held = (np.zeros((data.shape[0], len(parts)), dtype=bool) for _ in range(2))
        for fold, (training_rows, held_rows) in enumerate(parts):
            training[training_rows, fold] = True
            held[held_rows, fold] = True
        weights = data.weights[:, None]
        return cls(training[data.rows] * weights, held[data.rows] * weights)

    @property
    def n_folds(self) -> int:
        return self.held.shape[1]

    def some(self, rows: Any = slice(None), n_folds: int | None = None) -> Folds:
        """Some of the rows, and the first folds."""
        return Folds(self.training[rows, :n_folds], self.held[rows, :n_folds])

    def merged(self, place: np.ndarray) -> Folds:
        """Rows with the same place as one."""
        if place.max() + 1 == len(place):
            return self
        training, held = (np.zeros((place.max() + 1, self.n_folds)) for _ in range(2))
        np.add.at(training, place, self.training)
        np.add.at(held, place, self.held)
        return Folds(training, held)

    def check_classes(self, codes: np.ndarray, classes: np.ndarray, at_least: int = 2) -> None:
        """Refuse folds that leave too few classes to train on."""
        left = np.stack([np.bincount(codes, weights=column) for column in self.training.T])
        lacking = np.flatnonzero((left > 0.0).sum(axis=1) < at_least)
        if len(lacking):
            fold = int(lacking[0])
            lost = classes[np.flatnonzero(left[fold] <= 0.0)].tolist()
            raise ValueError(
                f"fold {fold} of cv leaves no row of the classes {lost!r} to train on; needs >= 2 rows per "
                "class for cv: add rows of these classes, or choose another cv"
            )


def stratified_numbers(codes: np.ndarray, n_folds: int, random_state: np.random.RandomState) -> np.ndarray:
    """The fold of every row: each class is shuffled and dealt out in turn."""
    numbers, turn = np.empty(len(codes), dtype=int), 0
    for code in range(int(codes.max()) + 1):
        rows = random_state.permutation(np.flatnonzero(codes == code))
        numbers[rows] = (turn + np.arange(len(rows))) % n_folds
        turn += len(rows)
    return numbers


def is_number_of_folds(cv: Any) -> bool:
    """Whether `cv` is a count (None is 5, as in scikit-learn)."""
    if isinstance(cv, bool | np.bool_):
        raise ValueError(f"cv must be an integer >= 2, a splitter or an iterable of splits, got {cv!r}")
    return cv is None or isinstance(cv, Integral)


def check_search(estimator: Any) -> None:
    """Check the parameters that estimators with a search of their own share."""
    if estimator.time_limit is not None:
        check_number("time_limit", estimator.time_limit, allowed="None or a finite number > 0")
    if is_number_of_folds(estimator.cv) and estimator.cv is not None:
        check_integer("cv", estimator.cv, at_least=2, allowed="an integer >= 2, a splitter or splits")
    count_threads(estimator.n_jobs)
