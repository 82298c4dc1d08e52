"""Least-squares machines by plain loops and a general solver."""

import math

import numpy as np


def kernel(name, gamma, x, z):
    """One kernel value, with the constant that takes the place of a bias."""
    differences = [a - b for a, b in zip(x, z, strict=True)]
    if name == "laplacian":
        distance = sum(abs(value) for value in differences)
    else:
        distance = sum(value * value for value in differences)
        distance = math.sqrt(distance) if name == "exponential" else distance
    return math.exp(-gamma * distance) + 1.0


def coefficients(name, gamma, X, Y, penalty, weights):
    """``(K + 1 + λ/u) a = Y``."""
    n = len(X)
    matrix = np.array([[kernel(name, gamma, X[i], X[j]) for j in range(n)] for i in range(n)])
    for i in range(n):
        matrix[i, i] += penalty / weights[i]
    return np.linalg.solve(matrix, Y)


def outputs(name, gamma, X, a, new):
    """``Σ_i a_i (k(x_i, x) + 1)`` for each new row."""
    return np.array([sum(kernel(name, gamma, X[i], x) * a[i] for i in range(len(X))) for x in new])


def relevances(gamma, X, a, weights, step=1e-6):
    """``Σ_i u_i Σ_c (∂f_c/∂x_j)²`` of a city-block machine by finite differences; no two values are equal.

    The row's own term has a kink there, whose two one-sided slopes cancel in central differences.
    """
    found = np.zeros(X.shape[1])
    for i, x in enumerate(X):
        for j in range(X.shape[1]):
            moved = np.zeros(X.shape[1])
            moved[j] = step
            above, below = outputs("laplacian", gamma, X, a, [x + moved, x - moved])
            found[j] += weights[i] * np.sum(((above - below) / (2.0 * step)) ** 2)
    return found
