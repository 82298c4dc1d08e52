"""Hinge losses by conjugate gradients in the metric of the kernel, with a general optimiser for the steps."""

import numpy as np
from scipy.optimize import minimize


def loss(short, u, cap):
    """Half a square up to the cap, a line of the same slope beyond."""
    short = np.maximum(short, 0.0)
    inside = np.minimum(short, cap)
    return float(u @ (inside * (short - 0.5 * inside)))


def best_step(y, u, cap, f, slope, bias, has_bias):
    """η ≥ 0 and bias that minimise the loss at f + η slope + bias."""

    def cost(p):
        short = 1.0 - y * (f + p[0] * slope + (p[1] if has_bias else bias))
        r = u * np.clip(short, 0.0, cap)
        return loss(short, u, cap), np.array([-(r * y) @ slope, -(r @ y) if has_bias else 0.0])

    scale = max(np.abs(slope).max(), 1e-30)
    found = minimize(
        lambda p: (cost([p[0] / scale, p[1]])[0], cost([p[0] / scale, p[1]])[1] * [1.0 / scale, 1.0]),
        [0.0, bias], jac=True, bounds=[(0.0, None), (None, None)], method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000},
    )  # fmt: skip
    return found.x[0] / scale, found.x[1]


def epochs(K, y, u, cap=np.inf, has_bias=True):
    """``(α, f, b)`` after each epoch."""
    m = len(y)
    f, alpha, bias = np.zeros(m), np.zeros(m), 0.0
    if has_bias:
        bias = best_step(y, u, cap, f, np.zeros(m), 0.0, True)[1]
    direction = last = None
    while True:
        g = y * u * np.clip(1.0 - y * (f + bias), 0.0, cap)
        if last is None:
            direction = g.copy()
        else:
            beta = max(0.0, (g @ K @ g - g @ K @ last) / (last @ K @ last))
            direction = g + beta * direction
        last = g
        rate, bias = best_step(y, u, cap, f, K @ direction, bias, has_bias)
        alpha = alpha + rate * y * direction
        f = K @ (y * alpha)
        yield alpha, f, bias
