"""Which part of the training weight each fold holds out.

A fold is a column of weights to train with and one of weights held out. Equal rows are merged into one of
greater weight after the folds were dealt out, so that a merged row may be held out in part.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from adatron.estimators.dask_input import on_client
from adatron.estimators.held_out import dealt
from adatron.estimators.parameters import check_integer, check_number, count_threads
from adatron.estimators.training_data import TrainingData

__all__ = ["Folds", "check_search", "drawn_folds", "given_folds", "is_number_of_folds", "splits"]


@dataclass(frozen=True)
class Folds:
    """What every fold trains with and holds out."""

    training: np.ndarray  # (m, F): weights
    held: np.ndarray  # (m, F): weights

    @property
    def n_folds(self) -> int:
        return self.held.shape[1]

    def merged(self, place: np.ndarray) -> Folds:
        """Rows with the same place as one."""
        if place.max() + 1 == len(place):
            return self
        training, held = (np.zeros((place.max() + 1, self.n_folds)) for _ in range(2))
        np.add.at(training, place, self.training)
        np.add.at(held, place, self.held)
        return Folds(training, held)

    def of_rows(self, rows: Any, n_folds: int) -> Folds:
        """The first folds of some rows."""
        return Folds(self.training[rows, :n_folds], self.held[rows, :n_folds])


def drawn_folds(data: TrainingData, n_folds: int, random_state: np.random.RandomState) -> Folds:
    """Folds with about equal shares of each class."""
    fold = dealt(data.codes, n_folds, random_state)
    held = np.where(fold[:, None] == np.arange(n_folds), data.weights[:, None], 0.0)
    return _checked(Folds(data.weights[:, None] - held, held), data)


def splits(cv: Any, X: Any, y: Any, groups: Any, *, of_classes: bool) -> list[tuple[Any, Any]]:
    """The parts of a scikit-learn splitter, of an iterable of (train, test), or of whole `groups`."""
    groups = on_client(groups)
    if groups is not None and is_number_of_folds(cv):
        cv = (StratifiedGroupKFold if of_classes else GroupKFold)(5 if cv is None else int(cv))
    found = list(check_cv(cv, y, classifier=of_classes).split(X, y, groups))
    if not found:
        raise ValueError(f"cv={cv!r} gives no folds")
    return found


def given_folds(data: TrainingData, cv: Any, X: Any, y: Any, groups: Any) -> Folds:
    """Folds as `splits` deals them out."""
    place = np.full(data.shape[0], -1)
    place[data.rows] = np.arange(len(data.rows))
    training: list[np.ndarray] = []
    held: list[np.ndarray] = []
    for parts in splits(cv, X, y, groups, of_classes=True):
        for rows, columns in zip(parts, (training, held), strict=True):
            inside = place[np.arange(data.shape[0])[rows]]
            column = np.zeros(len(data.rows))
            column[inside[inside >= 0]] = data.weights[inside[inside >= 0]]
            columns.append(column)
    return _checked(Folds(np.stack(training, axis=1), np.stack(held, axis=1)), data)


def is_number_of_folds(cv: Any) -> bool:
    """Whether `cv` is a count (None is 5, as in scikit-learn)."""
    if isinstance(cv, bool | np.bool_):
        raise ValueError(f"cv must be an integer >= 2, a splitter or an iterable of splits, got {cv!r}")
    return cv is None or isinstance(cv, Integral)


def check_search(estimator: Any) -> None:
    """The parameters that the estimators which search for themselves share."""
    if estimator.time_limit is not None:
        check_number("time_limit", estimator.time_limit, allowed="None or a finite number > 0")
    if is_number_of_folds(estimator.cv) and estimator.cv is not None:
        check_integer("cv", estimator.cv, at_least=2, allowed="an integer >= 2, a splitter or splits")
    count_threads(estimator.n_jobs)


def _checked(folds: Folds, data: TrainingData) -> Folds:
    left = np.stack([np.bincount(data.codes, weights=u) for u in folds.training.T])
    present = (left > 0.0).sum(axis=1)
    if (present >= 2).all():
        return folds
    fold = int(np.flatnonzero(present < 2)[0])
    lost = data.classes[np.flatnonzero(left[fold] <= 0.0)].tolist()
    raise ValueError(
        f"fold {fold} of cv leaves no row of the classes {lost!r} to train on; needs >= 2 rows per class for "
        "cv: add rows of these classes, or choose another cv"
    )
