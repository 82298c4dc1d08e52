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
_POINTS = 256  # rows at which gradients are taken, at most
POWERS = (0.25, 0.5)


def relevances(
    X: np.ndarray, weights: np.ndarray, gamma: float, coefs: list[np.ndarray], blocks: np.ndarray
) -> np.ndarray:
    """``g`` (n_machines, d) of machines ``f = Σ_i a_i exp(−γ|x − x_i|₁)`` on the same rows.

    `coefs` has the a of each. Features of one block, such as the levels of a category, have the largest g
    among them.
    """
    step = max(1, -(-len(X) // _POINTS))
    points, k = np.arange(0, len(X), step), coefs[0].shape[1]
    stacked = np.ascontiguousarray(np.hstack(coefs).T)  # (n_models k, n)
    squares = np.zeros((len(stacked), X.shape[1]))
    for start in range(0, len(points), 32):  # Ctrl-C is seen in between
        _add_squared_gradients(X, points[start : start + 32], weights, gamma, stacked, squares)
    g = squares.reshape(len(coefs), k, -1).sum(axis=1)
    largest = np.zeros((len(coefs), int(blocks.max()) + 1))
    np.maximum.at(largest, (slice(None), blocks), g)
    return largest[:, blocks]


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
