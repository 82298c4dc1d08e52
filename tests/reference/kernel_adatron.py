"""Kernel-Adatron as literal loops from Campbell & Cristianini 1998: slow, and nothing else."""

import numpy as np


def output(K, y, alpha, i):
    """z_i = Σ_j α_j y_j K_ij."""
    z = 0.0
    for j in range(len(y)):
        z += alpha[j] * y[j] * K[i, j]
    return z


def clipped(value, upper):
    if value < 0.0:
        return 0.0
    return upper if value > upper else value


def without_bias(K, y, upper, n_epochs, rate=None, p=None):
    """α after each epoch of the algorithm without bias (section 3.1; 3.2 for finite bounds)."""
    alpha, p = np.zeros(len(y)), np.ones(len(y)) if p is None else p
    for _ in range(n_epochs):
        for i in range(len(y)):
            eta = 1.0 / K[i, i] if rate is None else rate
            alpha[i] = clipped(alpha[i] + eta * (p[i] - y[i] * output(K, y, alpha, i)), upper[i])
        yield alpha.copy(), 0.0


def with_augmented_lagrangian(K, y, upper, n_epochs, rate=None, p=None, r=0.0):
    """α and λ after each epoch; the sweep sees λ + cω and divides by K_ii + c."""
    m = len(y)
    mean = sum(K[i, i] for i in range(m)) / m
    alpha, lam, p = np.zeros(m), 0.0, np.ones(m) if p is None else p
    c = 1.0 / sum(1.0 / max(K[i, i], 0.01 * mean) for i in range(m))
    for _ in range(n_epochs):
        for i in range(m):
            omega = sum(alpha[j] * y[j] for j in range(m)) - r
            relaxation = 1.0 if rate is None else rate * K[i, i]
            gradient = p[i] - y[i] * (output(K, y, alpha, i) + lam + c * omega)
            alpha[i] = clipped(alpha[i] + relaxation * gradient / (K[i, i] + c), upper[i])
        lam += c * (sum(alpha[j] * y[j] for j in range(m)) - r)
        free = [i for i in range(m) if 0.0 < alpha[i] < upper[i]] or range(m)
        c = 1.0 / sum(1.0 / max(K[i, i], 0.01 * mean) for i in free)
        yield alpha.copy(), lam


def with_secant(K, y, upper, n_epochs, rate=None, mu=0.1, p=None, r=0.0):
    """α and λ after each epoch of the algorithm with bias, as printed."""
    m = len(y)
    alpha, p = np.zeros(m), np.ones(m) if p is None else p
    lams, omegas = [], []
    for t in range(n_epochs):
        if t == 0:
            lam = mu
        elif t == 1:
            lam = -mu
        else:
            rise = omegas[-1] - omegas[-2]
            flat = abs(rise) <= 1e-12 * max(abs(omegas[-1]), 1.0)
            lam = lams[-1] if flat else lams[-1] - omegas[-1] * (lams[-1] - lams[-2]) / rise
        for i in range(m):
            eta = 1.0 / K[i, i] if rate is None else rate
            gradient = p[i] - y[i] * output(K, y, alpha, i) - lam * y[i]
            alpha[i] = clipped(alpha[i] + eta * gradient, upper[i])
        lams.append(lam)
        omegas.append(sum(alpha[j] * y[j] for j in range(m)) - r)
        yield alpha.copy(), lam


def margin(K, y, alpha, upper):
    """½ (min z over y = +1 − max z over y = −1) over the points below their bound."""
    above = [output(K, y, alpha, i) for i in range(len(y)) if y[i] > 0 and alpha[i] < upper[i]]
    below = [output(K, y, alpha, i) for i in range(len(y)) if y[i] < 0 and alpha[i] < upper[i]]
    return 0.5 * (min(above) - max(below))
