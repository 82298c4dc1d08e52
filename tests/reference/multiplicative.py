"""Multiplicative updating as literal loops from Cristianini, Campbell & Shawe-Taylor 1999."""

import math

import numpy as np
from scipy.optimize import brentq


def updating(K, y, upper, n_epochs, rate=0.05, bias=True, p=None, r=0.0):
    """α and λ after each epoch: α_k ← min(u_k, α_k exp(η(p_k − γ_k − λ y_k))) with Σ y_k α_k = r."""
    m = len(y)
    p = np.ones(m) if p is None else p
    count = {sign: sum(1 for k in range(m) if y[k] == sign) for sign in (1.0, -1.0)}
    alpha = np.array([min(1.0 / count[y[k]], 0.5 * upper[k]) for k in range(m)])
    if r > 0.0:
        alpha = np.array([r * upper[k] / sum(upper) for k in range(m)])
    for _ in range(n_epochs):
        gamma = [y[k] * sum(alpha[j] * y[j] * K[k, j] for j in range(m)) for k in range(m)]
        grown = [alpha[k] * math.exp(rate * (p[k] - gamma[k])) for k in range(m)]
        lam = multiplier(grown, y, upper, rate, r) if bias else 0.0
        alpha = np.array([min(upper[k], grown[k] * math.exp(-rate * lam * y[k])) for k in range(m)])
        yield alpha.copy(), lam


def multiplier(grown, y, upper, rate, r):
    above = sum(g for g, sign in zip(grown, y, strict=True) if sign > 0)
    below = sum(g for g, sign in zip(grown, y, strict=True) if sign < 0)
    if r > 0.0:  # one class only
        closed_form = (math.log(above) - math.log(r)) / rate
    else:
        closed_form = (math.log(above) - math.log(below)) / (2.0 * rate)
    if not np.isfinite(upper).all():
        return closed_form

    def imbalance(lam):
        total = sum(
            sign * min(u, g * math.exp(-rate * lam * sign))
            for g, sign, u in zip(grown, y, upper, strict=True)
        )
        return total - r

    return brentq(imbalance, closed_form - 500.0, closed_form + 500.0, xtol=1e-14, rtol=1e-15)
