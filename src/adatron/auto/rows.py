"""What a search is given: distinct rows in a fixed order, scaled, with the task they pose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adatron.auto.folds import Folds
from adatron.auto.stages import Task
from adatron.estimators.merging import distinct_rows, merged
from adatron.estimators.multiclass import Layout
from adatron.estimators.scaling import divided_in_blocks, feature_scales
from adatron.estimators.training_data import TrainingData
from adatron.gram import is_distributed, kept_rows

__all__ = [
    "FEW",
    "MANY",
    "Rows",
    "at_most",
    "fetched",
    "in_memory_if_few",
    "prepared_rows",
    "sample_of",
    "some_of",
]

FEW, MANY = 3_000, 12_000  # rows: up to which all is done on all of them, and with the whole kernel matrix

_CAP = 0.3  # of the loss that is tried beside the squared hinge, close to the hinge itself
_RARE = 20  # rows of every class that a sample has at least


@dataclass(frozen=True)
class Rows:
    """Rows that a search trains on."""

    data: TrainingData
    X: Any  # scaled
    task: Task
    scales: np.ndarray  # of the features
    spread: float  # mean squared distance of the scaled rows to their mean

    def with_folds(self, n_folds: int, **changes: Any) -> Rows:
        """The same rows with the first folds only, and perhaps other changes of the task."""
        folds = self.task.folds.of_rows(slice(None), n_folds)
        return replace(self, task=replace(self.task, folds=folds, **changes))

    def with_one_loss(self) -> Rows:
        """The same rows for models that have a loss of their own."""
        return replace(self, task=replace(self.task, caps=(np.inf,)))


def prepared_rows(
    data: TrainingData, folds: Folds, merge: bool, scaling: Rows | None = None, *, divide: bool = True
) -> Rows:
    """Merge equal rows, if wanted, and scale them, perhaps as others were."""
    if merge:
        kept, place = distinct_rows(data)
        data, folds = merged(data, kept, place), folds.merged(place)
    scales, spread = (
        feature_scales(data.X, data.sample_weight, divide=divide)
        if scaling is None
        else (scaling.scales, scaling.spread)
    )
    layout = Layout(len(data.classes), "ovr")
    caps = (np.inf, _CAP) if layout.is_binary else (np.inf,)
    task = Task(layout.signs(data.codes), data.codes, folds, data.weights, caps)
    return Rows(data, divided_in_blocks(data.X, scales), task, scales, spread)


def sample_of(codes: np.ndarray, random_state: np.random.RandomState, size: int) -> np.ndarray:
    """Places of some rows, a few at least of every class, in their order."""
    order = random_state.permutation(len(codes))
    rank_in_class = np.empty(len(codes), dtype=int)
    for code in range(int(codes.max()) + 1):
        own = order[codes[order] == code]
        rank_in_class[own] = np.arange(len(own))
    rare = rank_in_class < _RARE
    others = order[~rare[order]][: max(0, size - int(rare.sum()))]
    return np.sort(np.concatenate([np.flatnonzero(rare), others]))


def at_most(
    most: int, data: TrainingData, folds: Folds, order: np.ndarray, random_state: np.random.RandomState
) -> tuple[TrainingData, Folds, np.ndarray]:
    """So many of the rows where they are, with their folds and their part of `order`; a cluster keeps all."""
    if len(order) <= most or is_distributed(data.X):
        return data, folds, order
    kept = np.sort(order[sample_of(data.codes[order], random_state, most)])
    place = np.full(len(order), -1)
    place[kept] = np.arange(len(kept))
    new_order = place[order]
    return some_of(data, kept), folds.of_rows(kept, folds.n_folds), new_order[new_order >= 0]


def some_of(data: TrainingData, places: np.ndarray) -> TrainingData:
    """Some of the rows, in the order given, where they are."""
    parts = ("rows", "codes", "sample_weight", "weights")
    return replace(data, X=kept_rows(data.X, places), **{name: getattr(data, name)[places] for name in parts})


def fetched(data: TrainingData, places: np.ndarray) -> TrainingData:
    """Some of the rows, in memory."""
    some = some_of(data, places)
    return replace(some, X=data.X[places]) if is_distributed(data.X) else some


def in_memory_if_few(data: TrainingData) -> TrainingData:
    """The same rows, brought here from a cluster if they are so few that the whole kernel matrix is used."""
    return replace(data, X=data.X[:]) if is_distributed(data.X) and len(data.codes) <= MANY else data
