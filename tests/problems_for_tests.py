"""Small problems that several tests share."""

import numpy as np

from adatron.gram import DenseGram, LazyGram, RowGram
from adatron.kernels import Gaussian, Linear, Polynomial
from adatron.problems import classification

KERNELS = {"gaussian": Gaussian(0.3), "polynomial": Polynomial(2, 0.5), "linear": Linear()}


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


def operators(kernel, X):
    """The same kernel matrix behind every operator."""
    order = np.random.default_rng(0).permutation(2 * len(X))
    doubled = np.concatenate([X, X + 1.0])[order]
    rows = np.array([int(np.flatnonzero(order == i)[0]) for i in range(len(X))])
    few_rows = 8 * len(X) * (len(X) // 3)
    return {
        "dense": DenseGram(kernel(X, X)),
        "blocked": RowGram(kernel, X, cache_bytes=few_rows, dtype=np.float64, keeps_first=True),
        "blocked, no cache": RowGram(kernel, X, cache_bytes=0, dtype=np.float64, keeps_first=True),
        "dense, restricted": DenseGram(kernel(doubled, doubled)).restrict(rows),
        "blocked, restricted": RowGram(
            kernel, doubled, cache_bytes=few_rows, dtype=np.float64, keeps_first=True
        ).restrict(rows),
        "rows": RowGram(kernel, X, few_rows, np.float64),
        "rows, restricted": RowGram(kernel, doubled, few_rows, np.float64).restrict(rows),
        "lazy": LazyGram(kernel, X),
    }


OPERATORS = list(operators(Linear(), np.eye(4)))


def binary_problem(kernel, X, y, C, bias):
    gram = DenseGram(kernel(X, X))
    return classification(gram, y, np.full(len(y), C), bias=bias)
