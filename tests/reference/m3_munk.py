"""M³ and MUNK as literal loops from Potluru et al. 2009."""

import math

import numpy as np


def start(K, upper):
    m = len(K)
    return np.array([min(1.0 / m, 0.5 * upper[i]) for i in range(m)])


def m3(K, y, upper, n_epochs, p=None):
    """α after each epoch; Q⁺ and Q⁻ are the positive and negative entries of Q."""
    m = len(y)
    alpha, p = start(K, upper), np.ones(m) if p is None else p
    for _ in range(n_epochs):
        new = np.empty(m)
        for i in range(m):
            a = c = 0.0
            for j in range(m):
                q = y[i] * y[j] * K[i, j]
                if q > 0:
                    a += q * alpha[j]
                else:
                    c -= q * alpha[j]
            new[i] = min(alpha[i] * (p[i] + math.sqrt(p[i] ** 2 + 4.0 * a * c)) / (2.0 * a), upper[i])
        alpha = new
        yield alpha.copy(), 0.0


def munk(K, y, upper, n_epochs):
    """α after each epoch; the negative class sees the new multipliers of the positive one."""
    alpha = start(K, upper)
    for _ in range(n_epochs):
        for sign in (1.0, -1.0):
            new = alpha.copy()
            for i in np.flatnonzero(y == sign):
                own = sum(K[i, j] * alpha[j] for j in range(len(y)) if y[j] == sign)
                cross = sum(K[i, j] * alpha[j] for j in range(len(y)) if y[j] != sign)
                new[i] = min(alpha[i] * (cross + 1.0) / own, upper[i])
            alpha = new
        yield alpha.copy(), 0.0
