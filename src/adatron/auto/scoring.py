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
from scipy.special import expit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring

from adatron.auto.rows import SearchRows
from adatron.estimators.probabilities import ClassProbabilities, HeldOutModel

_TINY = np.finfo(float).eps
_SOFTNESS = 1.0  # width of the soft step, in mean sizes of the margins
_HARDER_FROM = 1_000.0  # held-out weight above which the step shrinks, so that no more rows are within it
Criterion = Callable[[np.ndarray], float]  # of decisions for held-out rows; less is better


def soft_error(decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """The share of misclassified weight, with a soft step.

    A row of margin z counts as ``1/(1 + e^{z/τ})``, with τ in proportion to the mean size of the margins. It
    does not jump when single rows change sides, so machines can be told apart on few rows; with many, τ
    shrinks. With more than two classes z is the decision for the row's class minus the best other.
    """
    z = margins(decisions, codes)
    total = float(weights.sum())
    width = _SOFTNESS * min(1.0, _HARDER_FROM / total) * float(weights @ np.abs(z)) / total
    return float(weights @ expit(-z / width)) / total if width > 0.0 else 0.5


def margins(decisions: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """How clearly the decision of each row is for its class; negative where it is not."""
    if decisions.shape[1] == 1:
        return np.where(codes == 1, decisions[:, 0], -decisions[:, 0])
    rows, others = np.arange(len(codes)), decisions.copy()
    others[rows, codes] = -np.inf
    return decisions[rows, codes] - others.max(axis=1)


def criterion_of(model: Any, rows: SearchRows, classes: np.ndarray) -> Criterion:
    """A criterion to minimise: the soft error on held-out rows, or ``1 − score`` by the model's `scoring`."""
    codes, weights, folds = rows.codes[rows.held], rows.held_weights, rows.held_folds
    if model.scoring is None:
        return lambda decisions: soft_error(decisions, codes, weights)
    metric = label_metric(model.scoring, classes)
    scorer: Any = check_scoring(model, model.scoring) if metric is None else None
    if isinstance(model.scoring, str) and len(classes) == 2 and 1 not in classes.tolist():
        classes = np.arange(2)  # the second class is the positive one, where scikit-learn would look for a 1

    def criterion(decisions: np.ndarray) -> float:
        if metric is not None:
            value = 1.0 - metric.of_folds(codes, decisions, folds)
        else:
            calibrated = ClassProbabilities.from_held_out(decisions, codes, weights)
            known, y = HeldOutModel(decisions, classes, calibrated), classes[codes]
            parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
            value = 1.0 - float(np.mean([float(scorer(known, part[:, None], y[part])) for part in parts]))
        if not np.isfinite(value):
            raise ValueError("the score is not a finite number")
        return value

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
        """The best threshold, half-way between two decisions; 0 for several classes, or other metrics."""
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
        case "f1" if len(classes) == 2:  # of the class 1 if there is one, else of the second class
            positive = classes.tolist().index(1) if 1 in classes.tolist() else 1
            return LabelMetric("labels", partial(_f1, of=positive), moves_threshold=True)
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
