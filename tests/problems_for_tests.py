"""Small problems that several tests share."""

import numpy as np

from adatron.gram import DenseGram
from adatron.problems import classification


def noisy_points(seed, m=30, d=3, flip=0.15):
    """Points with labels ±1 from a noisy linear rule; both labels are there."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    y[rng.random(m) < flip] *= -1.0
    y[:2] = 1.0, -1.0
    return X, y


def noisy_targets(seed, m=30, d=3):
    """Points with targets from a noisy smooth function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=m)


def separated_points(seed, m=30, d=3):
    """Points that a hyperplane separates with a wide margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    X[:, 0] = y * (1.5 + np.abs(X[:, 0]))
    return X, y


def binary_problem(kernel, X, y, C, bias):
    gram = DenseGram(kernel(X, X))
    return classification(gram, y, np.full(len(y), C), bias=bias)
