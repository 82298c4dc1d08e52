"""How far a problem is from its solution."""

import numpy as np

from adatron.numerics.compiled import compiled_part

__all__ = ["measure_columns"]


@compiled_part
def measure_columns(y, p, upper, alpha, f, bias, result):
    """Write objective, margin and violation of every problem, one to a line, into `result`, (B, 3)."""
    for b in range(y.shape[0]):
        objective, violation = 0.0, 0.0
        lowest = np.array([np.inf, np.inf])  # of y f over points below their bound: y = +1, y = −1
        lowest_of_all = np.array([np.inf, np.inf])
        for i in range(y.shape[1]):
            if upper[b, i] <= 0.0:
                continue
            a, output = alpha[b, i], y[b, i] * f[b, i]
            objective += a * (p[b, i] - 0.5 * output)
            gradient = p[b, i] - output - y[b, i] * bias[b]
            if a <= 0.0:
                gradient = max(gradient, 0.0)
            elif a >= upper[b, i]:
                gradient = max(-gradient, 0.0)
            violation = max(violation, abs(gradient))
            side = 0 if y[b, i] > 0.0 else 1
            lowest_of_all[side] = min(lowest_of_all[side], output)
            if a < upper[b, i]:
                lowest[side] = min(lowest[side], output)
        for side in range(2):
            if lowest[side] == np.inf:  # every point of the class is at its bound
                lowest[side] = lowest_of_all[side]
        for side in range(2):
            if lowest[side] == np.inf:  # there is only the other class
                lowest[side] = lowest[1 - side]
        result[b, 0] = objective
        result[b, 1] = 0.5 * (lowest[0] + lowest[1])
        result[b, 2] = violation
