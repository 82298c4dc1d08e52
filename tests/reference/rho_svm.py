"""Algorithm 1 of Tsang & Kwok 2007 in plain NumPy, and the boosting loop it corresponds to."""

import numpy as np
from scipy.optimize import brentq


def best_rate(weights, edges, target):
    """argmin over η ≥ 0 of Z(η) exp(target η), or None when there is none."""

    def slope(rate):
        tilted = weights * np.exp(-rate * (edges - edges.min()))
        return target - tilted @ edges / tilted.sum()

    if not edges[weights > 0].min() < target:
        return None
    high = 1.0
    while slope(high) < 0:
        high *= 2.0
    return brentq(slope, 0.0, high, xtol=1e-14, rtol=1e-14, maxiter=500)


def accepted_steps(K, y, eps=0.005, epsilon=0.1, weights=None):
    """``(d, η)`` of each accepted step: the weights before it and the rate that left them; then (d, 0)."""
    Q = np.outer(y, y) * K
    d = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
    edge = d @ Q @ d
    while True:
        rate = best_rate(d, Q @ d, edge / (1.0 + epsilon))
        if rate is not None:
            new = d * np.exp(-rate * (Q @ d))
            new /= new.sum()
            new_edge = new @ Q @ new
            if new_edge <= edge:
                yield d, rate
                d, edge = new, new_edge
                continue
        epsilon /= 2.0
        if epsilon < eps:
            yield d, 0.0
            return


def boosting_with_target_edge(K, y, slacks):
    """AdaBoost over weighted Parzen windows, aiming in round t at the edge ``edge / (1 + slacks[t])``.

    The base learner answers a distribution with the Parzen window of that distribution, scaled into
    [−1, 1]; the booster knows margins only, never the kernel matrix.
    """
    m, scale = len(y), max(1.0, K.diagonal().max())
    distribution = np.full(m, 1.0 / m)
    for slack in slacks:
        hypothesis = np.array([sum(distribution * y * K[:, i]) for i in range(m)]) / scale
        margins = y * hypothesis
        edge = distribution @ margins
        coefficient = best_rate(distribution, margins, edge / (1.0 + slack))
        yield distribution, coefficient / scale
        distribution = distribution * np.exp(-coefficient * margins)
        distribution = distribution / distribution.sum()
