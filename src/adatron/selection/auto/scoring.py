"""Scores of held-out predictions: the usual metrics at once, any other by scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from adatron.estimators.multiclass import Layout
from adatron.selection.auto.metrics import LabelMetric
from adatron.selection.auto.stages import Score, Task

__all__ = ["HeldOutRegressor", "criterion_of_metric", "criterion_of_scorer"]


class HeldOutModel(ClassifierMixin, BaseEstimator):
    """A fitted classifier for whose rows the decisions are known: its X are places in a table."""

    def __init__(self, decisions=None, classes=None):
        self.decisions = decisions
        self.classes = classes

    def fit(self, X: Any = None, y: Any = None) -> HeldOutModel:
        self.classes_ = self.classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        values = self.decisions[np.asarray(X)[:, 0]]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        layout = Layout(len(self.classes), "ovr")
        return self.classes[layout.vote(self.decisions[np.asarray(X)[:, 0]])]

    def predict_proba(self, X: Any) -> np.ndarray:
        values = self.decisions[np.asarray(X)[:, 0]]
        if values.shape[1] > 1:
            return softmax(values, axis=1)
        positive = expit(2.0 * values[:, 0])
        return np.column_stack([1.0 - positive, positive])


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """The same for targets."""

    def __init__(self, outputs=None):
        self.outputs = outputs

    def fit(self, X: Any = None, y: Any = None) -> HeldOutRegressor:
        self.is_fitted_ = True
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.outputs[np.asarray(X)[:, 0]]


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
