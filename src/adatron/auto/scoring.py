"""Scores of held-out predictions: the usual metrics at once, any other by scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adatron.auto.metrics import LabelMetric
from adatron.auto.stages import Score, Task
from adatron.estimators.held_out import HeldOutModel

__all__ = ["criterion_of_metric", "criterion_of_scorer"]


def criterion_of_metric(metric: LabelMetric, task: Task) -> Score:
    """A criterion to minimise, ``1 − score``, as the mean over folds."""
    k, held = task.signs.shape[1], task.held
    columns = held.folds[:, None] * k + np.arange(k)

    def criterion(before: np.ndarray, after: np.ndarray, share: float) -> np.ndarray:
        values = []
        for loss in range(len(task.caps)):
            places = held.rows[:, None], loss * task.folds.n_folds * k + columns
            decisions = (1.0 - share) * before[places] + share * after[places]
            values.append(1.0 - metric.of_folds(held.codes, decisions, held.folds))
        if not np.isfinite(values).all():
            raise ValueError("the score is not a finite number")
        return np.array([values, values]).T

    return criterion


def criterion_of_scorer(scorer: Callable[..., float], task: Task, classes: np.ndarray) -> Score:
    """A criterion to minimise, ``1 − score``, as the mean over folds."""
    k = task.signs.shape[1]
    held = [np.flatnonzero(column) for column in task.folds.held.T]
    labels = classes[task.codes]

    def criterion(before: np.ndarray, after: np.ndarray, share: float) -> np.ndarray:
        decisions = (1.0 - share) * before + share * after
        values = []
        for part in np.split(decisions, len(task.caps), axis=1):
            scores = [
                scorer(HeldOutModel(part[:, f * k : (f + 1) * k], classes).fit(), rows[:, None], labels[rows])
                for f, rows in enumerate(held)
                if len(rows)
            ]
            values.append(1.0 - float(np.mean(scores)))
        if not np.isfinite(values).all():
            raise ValueError("the score is not a finite number")
        return np.array([values, values]).T

    return criterion
