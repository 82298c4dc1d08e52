"""Weights of features, learned from how much the decisions of a fitted machine change along each.

The mean squared gradient of the decision function along a feature says how much the feature matters:
``g_j = mean_i Σ_c (∂f_c/∂x_j)²(x_i)``. Feature j is then multiplied by ``(g_j / max g)^p`` and the machine is
trained again. This is the diagonal of the average gradient outer product (A. Radhakrishnan et al.,
*Mechanism for feature learning in neural networks and backpropagation-free machine learning models*,
Science 383, 2024). Gradients are those of the city-block kernel, whose weights serve the other kernels too.
"""

from __future__ import annotations

import numpy as np

from adatron.numerics.compiled import compiled

_FLOOR = 1e-5  # least weight: a feature that does not matter now may matter to another kernel
_POINTS = 128  # rows at which gradients are taken, at most
POWERS = (0.25, 0.5)


def relevances(X: np.ndarray, weights: np.ndarray, gamma: float, a: np.ndarray) -> np.ndarray:
    """``g`` (d,) of the machine ``f = Σ_i a_i exp(−γ|x − x_i|₁)``, a (n, k), at some of its rows."""
    points = np.arange(0, len(X), max(1, -(-len(X) // _POINTS)))
    squares, columns = np.zeros((a.shape[1], X.shape[1])), np.ascontiguousarray(a.T)
    for start in range(0, len(points), 32):  # Ctrl-C is seen in between
        _add_squared_gradients(X, points[start : start + 32], weights, gamma, columns, squares)
    return squares.sum(axis=0)


def marginal_relevances(X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How much each feature alone tells of the targets: its squared correlation, or that of its square.

    The larger of both, for any target, less ``1/n``, which chance alone gives. Where features are many, a
    machine that takes all of them alike sees next to nothing, and its gradients tell no more.
    """
    share = weights / weights.sum()
    X, Y = X - share @ X, Y - share @ Y
    found = np.zeros(X.shape[1])
    for values in (X, X**2 - share @ X**2):
        covariances = values.T @ (share[:, None] * Y)
        variances = np.outer(share @ values**2, share @ Y**2)
        np.divide(covariances**2, variances, out=covariances, where=variances > 0.0)
        np.maximum(found, covariances.max(axis=1), out=found)
    return np.maximum(found - 1.0 / weights.sum(), 0.0)


def shared(relevance: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Features of one block, such as the levels of a category, get the largest relevance among them."""
    largest = np.zeros(int(blocks.max()) + 1)
    np.maximum.at(largest, blocks, relevance)
    return largest[blocks]


def feature_weights(relevance: np.ndarray, power: float) -> np.ndarray:
    """``(g / max g)^p``, not below a floor; all 1 where no feature matters."""
    top = relevance.max()
    return np.maximum((relevance / top) ** power, _FLOOR) if top > 0.0 else np.ones(len(relevance))


@compiled
def _add_squared_gradients(X, points, weights, gamma, coefs, squares):
    n, d = X.shape
    gradient, sign = np.empty((len(coefs), d)), np.empty(d)
    for i in points:
        gradient[:] = 0.0
        x = X[i]
        for q in range(n):
            z, distance = X[q], 0.0
            for j in range(d):
                difference = x[j] - z[j]
                distance += abs(difference)
                sign[j] = 1.0 if difference > 0.0 else (-1.0 if difference < 0.0 else 0.0)
            value = gamma * np.exp(-gamma * distance)
            for c in range(len(coefs)):
                scale, row = value * coefs[c, q], gradient[c]
                for j in range(d):
                    row[j] -= scale * sign[j]
        for c in range(len(coefs)):
            for j in range(d):
                squares[c, j] += weights[i] * gradient[c, j] ** 2
