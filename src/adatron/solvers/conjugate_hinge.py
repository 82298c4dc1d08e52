"""Squared hinge loss by conjugate gradients in feature space: like the ensemble, in fewer steps.

The ensemble of Tsang & Kwok 2007 is steepest descent on the exponential loss in feature space. This is not
their Algorithm 1: the loss is the squared hinge, ``½ Σ_i u_i s_i²``, ``s_i = max(0, 1 − y_i (f_i + b))``, or
its Huber variant, which is linear where ``s_i`` exceeds a cap; with a small cap it is close to the
hinge. Directions are conjugate (Polak & Ribière): a few products with K achieve what takes
dozens of plain steps. Every epoch

1. takes the residuals ``r_i = u_i min(s_i, cap)`` as gradient ``g = y∘r`` and multiplies ``K g``,
2. mixes in the last direction, ``d ← g + β d``, ``β = max(0, ⟨g, g − g'⟩_K / ⟨g', g'⟩_K)``, g' the last g,
3. goes the length η along d that, with the best bias, minimises the loss.

Stopped early it is a soft-margin SVM: the number of epochs takes the place of C. As β and η are not
negative, ``α = Σ η y∘d ≥ 0``; the best bias makes ``yᵀα = 0``. `upper` holds the weights u of the rows, 0
for held-out ones.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from adatron.numerics.compiled import compiled, compiled_part
from adatron.numerics.threads import in_parallel, usable_threads
from adatron.problems import DualProblem
from adatron.solvers.base import Pause

_WORTH_THREADS = 50_000  # entries of all columns


class ConjugateState(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,)
    direction: np.ndarray  # (m, B): d
    outputs: np.ndarray  # (m, B): K d
    last_outputs: np.ndarray  # (m, B): K g of the last epoch
    last_square: np.ndarray  # (B,): ⟨g, g⟩_K of the last epoch, 0 before the first
    rate: np.ndarray  # (B,): η of the last epoch


@dataclass(frozen=True)
class ConjugateHinge:
    """Hinge losses by conjugate gradients; one product with the kernel matrix per epoch."""

    caps: np.ndarray | float = np.inf  # where the square becomes a line; (B,) or the same for all columns
    precision: float = 1e-6  # a line search ends when it gains less than this part of the loss

    def init(self, problem: DualProblem) -> ConjugateState:
        """Start from ``f = 0`` and the best bias."""
        alpha, f, direction, outputs, last_outputs = (np.zeros_like(problem.y) for _ in range(5))
        bias, last_square, rate = np.zeros((3, problem.n_columns))
        y, u, caps = problem.y.T, problem.upper.T, np.full(problem.n_columns, self.caps)
        for b in range(problem.n_columns if problem.has_bias else 0):
            bias[b] = _best_step(y[b], u[b], caps[b], f.T[b], outputs.T[b], 0.0, True, self.precision)[1]
        return ConjugateState(alpha, f, bias, direction, outputs, last_outputs, last_square, rate)

    def epoch(self, problem: DualProblem, state: ConjugateState, pause: Pause) -> ConjugateState:
        """One step of every column."""
        pause()
        y, u, caps = problem.y.T, problem.upper.T, np.full(problem.n_columns, self.caps)
        gradients = np.empty_like(state.f)
        _gradients(y, u, caps, state.f.T, state.bias, gradients.T)
        products = problem.gram.matmul(gradients)
        columns_as_rows = [y, u, caps, gradients.T, products.T, *(array.T for array in state)]

        def work(some: slice) -> None:
            _steps(problem.has_bias, self.precision, *(array[some] for array in columns_as_rows))

        threads = usable_threads() if problem.y.size > _WORTH_THREADS else 1
        width = -(-problem.n_columns // threads)
        in_parallel(work, (slice(b, b + width) for b in range(0, problem.n_columns, width)), threads)
        return state


@compiled_part
def loss_along(y, u, cap, f, slope, rate, bias):
    """The loss at ``f + rate·slope + bias``, its slopes and curvatures in rate and bias.

    Beyond the cap the curvature is that of a parabola which touches the line from above.
    """
    loss, g1, g2, h11, h12, h22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(y)):
        short = max(0.0, 1.0 - y[i] * (f[i] + rate * slope[i] + bias))
        residual = u[i] * min(short, cap)
        curvature = residual / short if short > 0.0 else 0.0
        loss += residual * (2.0 * short - min(short, cap))
        g1 += residual * y[i] * slope[i]
        g2 += residual * y[i]
        h11 += curvature * slope[i] * slope[i]
        h12 += curvature * slope[i]
        h22 += curvature
    return loss, g1, g2, h11, h12, h22


@compiled_part
def best_step(y, u, cap, f, slope, bias, has_bias, precision):
    """η ≥ 0 and the bias that minimise the loss along `slope`: Newton steps, halved where they overshoot."""
    rate = 0.0
    best, g1, g2, h11, h12, h22 = loss_along(y, u, cap, f, slope, rate, bias)
    for _ in range(100):
        determinant = h11 * h22 - h12 * h12
        if has_bias and determinant > 1e-10 * h11 * h22:
            d_rate, d_bias = (h22 * g1 - h12 * g2) / determinant, (h11 * g2 - h12 * g1) / determinant
        elif has_bias and h22 > 0.0:  # in one variable where the other has no curvature of its own
            d_rate, d_bias = 0.0, g2 / h22
        else:
            d_rate, d_bias = (g1 / h11 if h11 > 0.0 else 0.0), 0.0
        if d_rate < -rate:  # η stays ≥ 0; the bias is then the best one for the shorter step
            d_rate = -rate
            d_bias = (g2 - h12 * d_rate) / h22 if has_bias and h22 > 0.0 else 0.0
        loss = np.inf
        for _ in range(20):
            loss, g1, g2, h11, h12, h22 = loss_along(y, u, cap, f, slope, rate + d_rate, bias + d_bias)
            if loss <= best:
                break
            d_rate, d_bias = 0.5 * d_rate, 0.5 * d_bias
        if not loss < best:
            break
        gain = best - loss
        rate, bias, best = rate + d_rate, bias + d_bias, loss
        if gain <= precision * best:
            break
    return rate, bias


_best_step = compiled(best_step)


@compiled
def _gradients(y, u, caps, f, bias, out):
    for b in range(len(y)):
        for i in range(y.shape[1]):
            short = max(0.0, 1.0 - y[b, i] * (f[b, i] + bias[b]))
            out[b, i] = y[b, i] * u[b, i] * min(short, caps[b])


@compiled
def _steps(
    has_bias, precision, y, u, caps, gradients, products,
    alpha, f, bias, direction, outputs, last_outputs, last_square, rate,
):  # fmt: skip
    for b in range(len(y)):
        g, Kg, d, Kd, last = gradients[b], products[b], direction[b], outputs[b], last_outputs[b]
        square, across = 0.0, 0.0
        for i in range(len(g)):
            square += g[i] * Kg[i]
            across += g[i] * last[i]
        beta = max(0.0, (square - across) / last_square[b]) if last_square[b] > 0.0 else 0.0
        for i in range(len(g)):
            d[i], Kd[i], last[i] = g[i] + beta * d[i], Kg[i] + beta * Kd[i], Kg[i]
        last_square[b] = square
        rate[b], bias[b] = best_step(y[b], u[b], caps[b], f[b], Kd, bias[b], has_bias, precision)
        for i in range(len(g)):
            f[b, i] += rate[b] * Kd[i]
            alpha[b, i] += rate[b] * y[b, i] * d[i]


def nearest_penalty(
    alpha: np.ndarray, outputs: np.ndarray, bias: float, y: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """The C of the 2-norm soft-margin SVM that a model is closest to, and its relative duality gap there.

    That SVM minimises ``½‖w‖² + ½C Σ u_i s_i²``; its dual is ``max Σα − ½ αᵀQα − Σ α_i²/(2C u_i)`` with
    ``α ≥ 0, yᵀα = 0``. The model's w gives the primal value, the best multiple of its α the dual one. A gap
    of 0 says that training on would not change the model. The `outputs` are without the bias.
    """
    square = float(np.maximum(alpha * y @ outputs, 0.0))
    total, spread = float(alpha.sum()), float((alpha**2 / weights).sum())
    loss = float(weights @ np.maximum(0.0, 1.0 - y * (outputs + bias)) ** 2)
    if total <= 0.0 or spread <= 0.0:
        return np.inf, 1.0

    def gap(log_C: float) -> float:
        C = np.exp(log_C)
        primal, dual = 0.5 * (square + C * loss), 0.5 * total**2 / (square + spread / C)
        return max(0.0, 1.0 - dual / primal) if primal > 0.0 else 0.0

    bounds = (-30.0 - np.log(weights.sum()), 30.0)
    found = minimize_scalar(gap, bounds=bounds, method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x)), float(found.fun)
