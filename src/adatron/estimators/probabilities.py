"""Probabilities of classes from decision values, in agreement with the predictions.

Two classes: the log-odds are the decision value times a slope, one slope on either side of zero, so that
the probability is above one half exactly where the decision is positive. More classes: the softmax of the
decisions times one slope. The slopes maximise the likelihood of held-out decisions, as Platt's do. Pairs
of classes: each pair has its two slopes, and a class the product of its probabilities against the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit, softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.dask import lazy_on_dask

__all__ = ["CalibratedMixin", "ClassProbabilities", "PairProbabilities", "agreeing"]

_STEEPEST = 1e3  # slope, in units of the mean size of the decisions: held-out rows may be separable


@dataclass(frozen=True)
class ClassProbabilities:
    """A map from decision values to probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.estimators.probabilities import ClassProbabilities
    >>> decisions, codes = np.array([[-1.0], [1.0], [2.0], [-2.0]]), np.array([0, 1, 0, 0])
    >>> calibrated = ClassProbabilities.from_held_out(decisions, codes, np.ones(4))
    >>> calibrated(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """

    slopes: np.ndarray  # below and above zero, or one

    @classmethod
    def from_held_out(
        cls, decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> ClassProbabilities:
        """Fit the slopes to decisions (n, 1), or (n, n_classes), of rows of known classes."""
        size = float(weights @ np.abs(decisions).mean(axis=1)) / float(weights.sum()) or 1.0
        if decisions.shape[1] > 1:
            return cls(np.array([_softmax_slope(decisions / size, codes, weights)]) / size)
        values, positive = decisions[:, 0] / size, codes == 1
        sides = [values < 0.0, values > 0.0]
        slopes = [_logistic_slope(values[side], positive[side], weights[side]) for side in sides]
        return cls(np.array(slopes) / size)

    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        """Probabilities (n, n_classes) from decisions (n, 1) or (n, n_classes)."""
        if decisions.shape[1] > 1:
            return softmax(self.slopes[0] * decisions, axis=1)
        positive = expit(_log_odds(decisions[:, 0], self.slopes))
        return np.column_stack([1.0 - positive, positive])


@dataclass(frozen=True)
class PairProbabilities:
    """A map from the decisions of all pairs of classes (class i positive in the pair i < j)."""

    pairs: list[ClassProbabilities]
    together: ClassProbabilities

    @classmethod
    def from_held_out(
        cls, decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> PairProbabilities:
        """Fit to decisions (n, n_pairs) of rows of known classes."""
        pairs = []
        for column, (i, j) in enumerate(combinations(range(int(codes.max()) + 1), 2)):
            rows = np.flatnonzero((codes == i) | (codes == j))
            values = decisions[rows, column : column + 1]
            pairs.append(
                ClassProbabilities.from_held_out(values, (codes[rows] == i).astype(int), weights[rows])
            )
        scores = _pair_scores(decisions, pairs)
        return cls(pairs, ClassProbabilities.from_held_out(scores, codes, weights))

    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        """Probabilities (n, n_classes) from decisions (n, n_pairs)."""
        return self.together(_pair_scores(decisions, self.pairs))


def _has_probabilities(model: Any) -> bool:
    """For `available_if`, which shows the reason why a method is missing."""
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class CalibratedMixin:
    """Probabilities of a classifier whose ``probability=True`` has calibrated its decisions."""

    _probabilities: Any
    _decisions: Any
    _winners: Any

    @available_if(_has_probabilities)
    @lazy_on_dask
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; needs ``probability=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if not hasattr(self, "_probabilities"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False, by iter_fit or by a fit "
                "that was interrupted; call fit with probability=True"
            )
        decisions = self._decisions(X)
        return agreeing(self._probabilities(decisions), self._winners(decisions))

    @available_if(_has_probabilities)
    @lazy_on_dask
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))


def agreeing(probabilities: np.ndarray, winners: np.ndarray) -> np.ndarray:
    """Probabilities whose largest is that of the predicted class, also where votes are tied."""
    largest, rows = probabilities.argmax(axis=1), np.arange(len(probabilities))
    result = probabilities.copy()
    result[rows, largest], result[rows, winners] = probabilities[rows, winners], probabilities[rows, largest]
    return result


def _pair_scores(decisions: np.ndarray, pairs: list[ClassProbabilities]) -> np.ndarray:
    """Sum of the log-probabilities of each class against every other."""
    n_classes = round(0.5 + (0.25 + 2.0 * len(pairs)) ** 0.5)
    scores = np.zeros((len(decisions), n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        log_odds = _log_odds(decisions[:, column], pairs[column].slopes)
        scores[:, i] += log_expit(log_odds)
        scores[:, j] += log_expit(-log_odds)
    return scores


def _log_odds(decisions: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    return np.where(decisions > 0.0, slopes[1], slopes[0]) * decisions


def _logistic_slope(values: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    return _root(lambda slope: float((weights * values) @ (positive - expit(slope * values))))


def _softmax_slope(decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    own = decisions[np.arange(len(codes)), codes]

    def gain(slope: float) -> float:
        expected = (softmax(slope * decisions, axis=1) * decisions).sum(axis=1)
        return float(weights @ (own - expected))

    return _root(gain)


def _root(gain: Callable[[float], float]) -> float:
    """Where the derivative of the log-likelihood, which falls with the slope, vanishes; else an end."""
    low, high = 1.0 / _STEEPEST, _STEEPEST
    if gain(low) <= 0.0:
        return low
    return high if gain(high) >= 0.0 else float(brentq(gain, low, high, xtol=1e-13, rtol=1e-13))
