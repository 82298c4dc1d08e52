"""scikit-learn's usual metrics of held-out decisions and targets, fast enough to judge every stage.

A search asks for thousands of scores of a few hundred rows each; what scikit-learn's scorers check on every
call would take longer than the training. The values are the same to rounding.

Metrics of predicted labels depend on where the decision is cut. For two classes, all but accuracy are judged
at the best threshold of all held-out decisions, which the model then predicts with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adatron.estimators.probabilities import ClassProbabilities
from adatron.numerics.compiled import compiled

__all__ = ["LabelMetric", "RegressionMetric", "best_threshold", "label_metric", "regression_metric"]

_TINY = np.finfo(float).eps


@dataclass(frozen=True)
class LabelMetric:
    """A score of decisions (n, k) for rows of classes `codes`; larger is better."""

    kind: str  # "labels", "ranks" or "probabilities"
    of: Callable[..., float]
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
        threshold, values = 0.0, decisions
        if self.moves_threshold and decisions.shape[1] == 1:
            threshold = best_threshold(self, codes, decisions)
        if self.kind == "probabilities":
            values = ClassProbabilities.from_held_out(decisions, codes, np.ones(len(codes)))(decisions)
        own = [folds == fold for fold in range(int(folds.max()) + 1)]
        return float(np.mean([self(codes[rows], values[rows], threshold) for rows in own if rows.any()]))


def best_threshold(metric: LabelMetric, codes: np.ndarray, decisions: np.ndarray) -> float:
    """Where to cut the decisions (n, 1) of two classes; half-way between two of them."""
    values, positive = decisions[:, 0], codes == 1
    order = np.argsort(-values, kind="stable")
    falling, hits = values[order], np.cumsum(positive[order])
    n, n_positive, ends = len(values), int(positive.sum()), np.flatnonzero(np.diff(falling) < 0.0)
    taken = ends + 1.0  # rows above each threshold between two values
    true_positives = hits[ends].astype(float)
    false_positives = taken - true_positives
    counts = np.array(
        [
            [n - n_positive - false_positives, false_positives],
            [n_positive - true_positives, true_positives],
        ]
    )
    if not len(ends):
        return 0.0
    scores = metric.of(counts)
    best = int(np.argmax(scores))
    return float(0.5 * (falling[ends[best]] + falling[ends[best] + 1]))


def _accuracy(counts: np.ndarray) -> Any:
    return np.trace(counts) / counts.sum(axis=(0, 1))


def _balanced_accuracy(counts: np.ndarray) -> Any:
    """Mean recall of the classes that are there."""
    totals = counts.sum(axis=1)
    recalls = np.where(totals > 0.0, np.einsum("ii...->i...", counts) / np.maximum(totals, 1.0), 0.0)
    return recalls.sum(axis=0) / np.maximum((totals > 0.0).sum(axis=0), 1.0)


def _f1_of_classes(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F1 of each class, and how many rows it has; a class that is neither there nor predicted has 0."""
    right = np.einsum("ii...->i...", counts)
    totals, predicted = counts.sum(axis=1), counts.sum(axis=0)
    return 2.0 * right / np.maximum(totals + predicted, _TINY), totals


def _f1(counts: np.ndarray, positive: int) -> Any:
    return _f1_of_classes(counts)[0][positive]


def _f1_macro(counts: np.ndarray) -> Any:
    """Mean over the classes that are there or were predicted, as scikit-learn takes it."""
    values, totals = _f1_of_classes(counts)
    seen = (totals + counts.sum(axis=0)) > 0.0
    return values.sum(axis=0) / np.maximum(seen.sum(axis=0), 1.0)


def _f1_weighted(counts: np.ndarray) -> Any:
    values, totals = _f1_of_classes(counts)
    return (values * totals).sum(axis=0) / totals.sum(axis=0)


def _roc_auc(codes: np.ndarray, decisions: np.ndarray) -> float:
    positive = codes == 1
    n, m = int(positive.sum()), int(len(codes) - positive.sum())
    if n == 0 or m == 0:
        raise ValueError("roc_auc needs held-out rows of both classes in every fold; choose another cv")
    order = np.argsort(decisions[:, 0], kind="stable")
    return _auc_of_sorted(decisions[order, 0], positive[order]) / (n * m)


@compiled
def _auc_of_sorted(values, positive):
    """How many pairs of a negative and a positive row are in the right order; ties count for a half."""
    pairs, below, start = 0.0, 0.0, 0
    while start < len(values):
        end, negative = start, 0.0
        while end < len(values) and values[end] == values[start]:
            negative += 0.0 if positive[end] else 1.0
            end += 1
        pairs += (end - start - negative) * (below + 0.5 * negative)
        below += negative
        start = end
    return pairs


def _neg_log_loss(codes: np.ndarray, probabilities: np.ndarray) -> float:
    own = probabilities[np.arange(len(codes)), codes] / probabilities.sum(axis=1)
    return float(np.mean(np.log(np.clip(own, _TINY, 1.0 - _TINY))))


_LABELS = {
    "accuracy": LabelMetric("labels", _accuracy),
    "balanced_accuracy": LabelMetric("labels", _balanced_accuracy, moves_threshold=True),
    "f1_macro": LabelMetric("labels", _f1_macro, moves_threshold=True),
    "f1_micro": LabelMetric("labels", _accuracy),  # the same for one label a row
    "f1_weighted": LabelMetric("labels", _f1_weighted, moves_threshold=True),
    "neg_log_loss": LabelMetric("probabilities", _neg_log_loss),
}
_OF_TWO_CLASSES = {
    "roc_auc": LabelMetric("ranks", _roc_auc),
}


def label_metric(scoring: Any, classes: np.ndarray) -> LabelMetric | None:
    """The metric that a name of scikit-learn means; None where its own scorer must be asked."""
    if not isinstance(scoring, str):
        return None
    if len(classes) == 2 and scoring in _OF_TWO_CLASSES:
        return _OF_TWO_CLASSES[scoring]
    if len(classes) == 2 and scoring == "f1" and 1 in classes.tolist():  # it is of the class 1
        return LabelMetric("labels", partial(_f1, positive=classes.tolist().index(1)), moves_threshold=True)
    return _LABELS.get(scoring)


RegressionMetric = Callable[[np.ndarray, np.ndarray], float]


def _r2(targets: np.ndarray, outputs: np.ndarray) -> float:
    if len(targets) < 2:
        return float("nan")
    rest, total = float(np.sum((targets - outputs) ** 2)), float(np.sum((targets - targets.mean()) ** 2))
    if total == 0.0:
        return 1.0 if rest == 0.0 else 0.0
    return 1.0 - rest / total


def _neg_error(targets: np.ndarray, outputs: np.ndarray, power: int, root: bool = False) -> float:
    error = float(np.mean(np.abs(targets - outputs) ** power))
    return -(error**0.5) if root else -error


_REGRESSION: dict[str, RegressionMetric] = {
    "r2": _r2,
    "neg_mean_squared_error": partial(_neg_error, power=2),
    "neg_root_mean_squared_error": partial(_neg_error, power=2, root=True),
    "neg_mean_absolute_error": partial(_neg_error, power=1),
}


def regression_metric(scoring: Any) -> RegressionMetric | None:
    """The metric that a name of scikit-learn means; None where its own scorer must be asked."""
    return _REGRESSION.get(scoring) if isinstance(scoring, str) else None
