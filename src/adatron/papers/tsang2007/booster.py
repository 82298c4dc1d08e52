"""AdaBoost with weighted Parzen windows as base hypotheses, after the document's Algorithm 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adatron.estimators import EnsembleSVC, ParzenClassifier
from adatron.papers.tsang2007.sets import Split

__all__ = ["Boosting", "boost"]


@dataclass(frozen=True)
class Boosting:
    """What a booster with given coefficients goes through.

    Attributes
    ----------
    decisions : ndarray
        The combined hypothesis on the test rows.
    last_hypothesis : ndarray
        On the test rows, of the base hypothesis for the last distribution.
    edges : ndarray
        ``Σ d_i y_i h_t(x_i)`` of each base hypothesis on the distribution it was made for.
    epsilons : ndarray
        By how much the edge on the next distribution is smaller: ``edge_t / edge_{t, next} − 1``. A
        coefficient from an exact line search for a target edge leaves exactly that edge.
    """

    decisions: np.ndarray
    last_hypothesis: np.ndarray
    edges: np.ndarray
    epsilons: np.ndarray


def boost(split: Split, model: EnsembleSVC) -> Boosting:
    """Boost with the coefficients of `model`, from equal weights and knowing margins only."""
    gamma = 1.0 / float(np.var(split.X, axis=0).sum())  # of the equal weights, in all rounds
    d = np.full(len(split.y), 1.0 / len(split.y))
    decisions, edges, epsilons = np.zeros(len(split.y_test)), [], []
    for coefficient in model.stage_weights_.tolist():
        hypothesis = ParzenClassifier(gamma=gamma).fit(split.X, split.y, sample_weight=d)
        decisions += coefficient * hypothesis.decision_function(split.X_test)
        margins = split.y * hypothesis.decision_function(split.X)
        edges.append(float(d @ margins))
        d = d * np.exp(-coefficient * (margins - margins.min()))
        d /= d.sum()
        epsilons.append(edges[-1] / float(d @ margins) - 1.0)
    last = ParzenClassifier(gamma=gamma).fit(split.X, split.y, sample_weight=d)
    combined = decisions / model.stage_weights_.sum()
    return Boosting(combined, last.decision_function(split.X_test), np.array(edges), np.array(epsilons))
