"""Scores of held-out predictions: scikit-learn's usual metrics computed here, any other by its scorers.

What scikit-learn's scorers check on every call would take longer than the training; the values are the same
to rounding. For two classes, all metrics of labels but accuracy are judged at the best threshold of all
held-out decisions, which the model then predicts with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring

from adatron.auto.search_data import SearchData
from adatron.estimators.probabilities import ClassProbabilities, HeldOutModel

_TINY = np.finfo(float).eps
Score = Callable[[np.ndarray, np.ndarray, float], np.ndarray]  # as `SearchData.errors`


def criterion_of(model: Any, data: SearchData) -> Score:
    """A criterion to minimise: the error on held-out rows, or ``1 − score`` by the model's `scoring`."""
    if model.scoring is None:
        return data.errors
    metric, k, held = label_metric(model.scoring, data.classes), data.n_problems, data.held
    scorer: Any = check_scoring(model, model.scoring) if metric is None else None
    columns = held.folds[:, None] * k + np.arange(k)

    def criterion(before: np.ndarray, after: np.ndarray, share: float) -> np.ndarray:
        values = []
        for loss in range(len(data.caps)):
            places = held.rows[:, None], loss * data.folds.n_folds * k + columns
            decisions = (1.0 - share) * before[places] + share * after[places]
            if metric is not None:
                values.append(1.0 - metric.of_folds(held.codes, decisions, held.folds))
            else:
                known, y = HeldOutModel(decisions, data.classes), data.classes[held.codes]
                parts = [np.flatnonzero(held.folds == fold) for fold in np.unique(held.folds)]
                values.append(1.0 - float(np.mean([scorer(known, rows[:, None], y[rows]) for rows in parts])))
        if not np.isfinite(values).all():
            raise ValueError("the score is not a finite number")
        return np.array([values, values]).T

    return criterion


@dataclass(frozen=True)
class LabelMetric:
    """A score of decisions (n, k) for rows of classes `codes`; larger is better."""

    kind: str  # "labels", "ranks" or "probabilities"
    of: Callable[..., Any]  # of counts (true class, predicted class, ...), else of classes and values
    moves_threshold: bool = False

    def __call__(self, codes: np.ndarray, values: np.ndarray, threshold: float = 0.0) -> float:
        """The score of decisions, or of probabilities for that kind of metric."""
        if self.kind != "labels":
            return self.of(codes, values)
        predicted = (values[:, 0] > threshold).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)
        n_classes = max(2, values.shape[1])
        counts = np.bincount(n_classes * codes + predicted, minlength=n_classes**2)
        return self.of(counts.reshape(n_classes, n_classes).astype(float))

    def of_folds(self, codes: np.ndarray, decisions: np.ndarray, folds: np.ndarray) -> float:
        """The mean over the folds of held-out rows, with one threshold, or one calibration, for all."""
        threshold, values = self.best_threshold(codes, decisions), decisions
        if self.kind == "probabilities":
            values = ClassProbabilities.from_held_out(decisions, codes, np.ones(len(codes)))(decisions)
        parts = [folds == fold for fold in np.unique(folds)]
        return float(np.mean([self(codes[rows], values[rows], threshold) for rows in parts]))

    def best_threshold(self, codes: np.ndarray, decisions: np.ndarray) -> float:
        """Where to cut the decisions: half-way between two of them; 0 for more classes, or other metrics."""
        if not self.moves_threshold or decisions.shape[1] > 1:
            return 0.0
        values, positive = decisions[:, 0], codes == 1
        order = np.argsort(-values, kind="stable")
        falling, hits = values[order], np.cumsum(positive[order])
        ends = np.flatnonzero(np.diff(falling) < 0.0)  # the last row above each threshold
        if not len(ends):
            return 0.0
        true_positives = hits[ends].astype(float)
        false_positives = ends + 1.0 - true_positives
        of_negatives = int((~positive).sum()) - false_positives, false_positives
        of_positives = int(positive.sum()) - true_positives, true_positives
        best = ends[int(np.argmax(self.of(np.array([of_negatives, of_positives]))))]
        return float(0.5 * (falling[best] + falling[best + 1]))


def _balanced_accuracy(counts: np.ndarray) -> Any:
    """Mean recall of the classes that are there."""
    totals = counts.sum(axis=1)
    recalls = np.where(totals > 0.0, np.einsum("ii...->i...", counts) / np.maximum(totals, 1.0), 0.0)
    return recalls.sum(axis=0) / np.maximum((totals > 0.0).sum(axis=0), 1.0)


def _f1(counts: np.ndarray, of: str | int) -> Any:
    """F1 of one class, or its mean; a class that is neither there nor predicted has 0."""
    right, totals, predicted = np.einsum("ii...->i...", counts), counts.sum(axis=1), counts.sum(axis=0)
    values = 2.0 * right / np.maximum(totals + predicted, _TINY)
    if of == "macro":  # scikit-learn leaves out classes that are neither there nor predicted
        return values.sum(axis=0) / np.maximum((totals + predicted > 0.0).sum(axis=0), 1.0)
    if of == "weighted":
        return (values * totals).sum(axis=0) / totals.sum(axis=0)
    return values[of]


def _roc_auc(codes: np.ndarray, decisions: np.ndarray) -> float:
    """The share of pairs of a negative and a positive row in the right order; ties count for a half."""
    positive, negative = decisions[codes == 1, 0], np.sort(decisions[codes != 1, 0])
    if len(positive) == 0 or len(negative) == 0:
        raise ValueError("roc_auc needs held-out rows of both classes in every fold; choose another cv")
    below, not_above = (np.searchsorted(negative, positive, side).sum() for side in ("left", "right"))
    return float(0.5 * (below + not_above) / (len(positive) * len(negative)))


def _neg_log_loss(codes: np.ndarray, probabilities: np.ndarray) -> float:
    own = probabilities[np.arange(len(codes)), codes] / probabilities.sum(axis=1)
    return float(np.mean(np.log(np.clip(own, _TINY, 1.0 - _TINY))))


def label_metric(scoring: Any, classes: np.ndarray) -> LabelMetric | None:
    """The metric that a name of scikit-learn means; None where its own scorer must be asked."""
    match scoring:
        case "accuracy" | "f1_micro":  # the same for one label a row
            return LabelMetric("labels", lambda counts: np.trace(counts) / counts.sum(axis=(0, 1)))
        case "balanced_accuracy":
            return LabelMetric("labels", _balanced_accuracy, moves_threshold=True)
        case "f1_macro" | "f1_weighted":
            return LabelMetric("labels", partial(_f1, of=scoring[3:]), moves_threshold=True)
        case "f1" if len(classes) == 2 and 1 in classes.tolist():  # it is of the class 1
            return LabelMetric("labels", partial(_f1, of=classes.tolist().index(1)), moves_threshold=True)
        case "roc_auc" if len(classes) == 2:
            return LabelMetric("ranks", _roc_auc)
        case "neg_log_loss":
            return LabelMetric("probabilities", _neg_log_loss)
    return None


def _r2(targets: np.ndarray, outputs: np.ndarray) -> float:
    if len(targets) < 2:
        return float("nan")
    rest, total = float(np.sum((targets - outputs) ** 2)), float(np.sum((targets - targets.mean()) ** 2))
    return float(rest == 0.0) if total == 0.0 else 1.0 - rest / total


def regression_metric(model: Any) -> Callable[[np.ndarray, np.ndarray], float]:
    """What the model's `scoring` means, of targets and outputs: computed here or by scikit-learn's scorer."""
    match model.scoring:
        case "r2":
            return _r2
        case "neg_mean_squared_error":
            return lambda targets, outputs: -float(np.mean((targets - outputs) ** 2))
        case "neg_root_mean_squared_error":
            return lambda targets, outputs: -(float(np.mean((targets - outputs) ** 2)) ** 0.5)
        case "neg_mean_absolute_error":
            return lambda targets, outputs: -float(np.mean(np.abs(targets - outputs)))
    scorer = check_scoring(model, model.scoring)
    return lambda t, outputs: float(scorer(HeldOutRegressor(outputs), np.arange(len(t))[:, None], t))


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """A regressor for scikit-learn's scorers whose outputs are known: its X are row numbers."""

    def __init__(self, outputs=None):
        self.outputs = outputs

    def predict(self, X: Any) -> np.ndarray:
        return self.outputs[np.asarray(X)[:, 0]]
