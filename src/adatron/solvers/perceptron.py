"""Rosenblatt's perceptron in dual form, as in CISC 889, lecture 17.

One point at a time: on a mistake, ``y_i (f_i + b) ≤ 0``, do ``α_i += 1`` and ``b += y_i R²`` with
``R = max √K_ii``. It ends after an epoch without a mistake; Novikoff's theorem bounds their number. The
averaged variant, for noisy data, keeps the sum of α and b over all visits.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem
from adatron.solvers.base import Pause, output_of, output_sweep


class PerceptronState(NamedTuple):
    alpha: np.ndarray  # (m, B): mistakes made on each point
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,)
    mistakes: np.ndarray  # (B,): of all epochs
    visits: np.ndarray  # (B,): points seen so far
    alpha_sum: np.ndarray  # (m, B): α weighted by the visits it was made at
    bias_sum: np.ndarray  # (B,)
    ended: np.ndarray  # (B,): 1.0 after an epoch without a mistake


class Perceptron:
    needs: ClassVar[frozenset[str]] = frozenset({"its own estimator"})

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> PerceptronState:
        start, f = problem.start(alpha)
        bias, mistakes, visits, bias_sum, ended = np.zeros((5, problem.n_columns))
        return PerceptronState(start, f, bias, mistakes, visits, np.zeros_like(start), bias_sum, ended)

    def epoch(self, problem: DualProblem, state: PerceptronState, pause: Pause) -> PerceptronState:
        """Visit every point once; each sees the latest α."""
        before = state.mistakes.copy()
        fixed = problem.y.T, problem.upper.T, float(problem.diagonal.max()) if problem.has_bias else 0.0
        counts = state.bias, state.mistakes, state.visits, state.alpha_sum.T, state.bias_sum
        for *tile, outputs, factored in output_sweep(problem.gram, problem.y * state.alpha, state.f, pause):
            _perceptron_tile(*tile, factored, *fixed, state.alpha.T, outputs, *counts)
        state.ended[:] = state.mistakes == before
        return state

    @staticmethod
    def averaged(state: PerceptronState) -> tuple[np.ndarray, np.ndarray]:
        """Mean of α and b over all visits: a mistake at visit t counts for the visits after it."""
        visits = np.maximum(state.visits, 1.0)
        return state.alpha - state.alpha_sum / visits, state.bias - state.bias_sum / visits


@compiled
def _perceptron_tile(
    first, rows, factored, y, upper, bias_step, alpha, outputs, bias, mistakes, visits, alpha_sum, bias_sum
):
    for r in range(rows.shape[0]):
        i, row = first + r, rows[r]
        for b in range(alpha.shape[0]):
            output, sign = outputs[b], y[b, i]
            if upper[b, i] <= 0.0:
                continue
            if sign * (output_of(row, output, i, factored) + bias[b]) <= 0.0:
                alpha[b, i] += 1.0
                bias[b] += sign * bias_step
                alpha_sum[b, i] += visits[b]
                bias_sum[b] += visits[b] * sign * bias_step
                mistakes[b] += 1.0
                for j in range(len(row)):
                    output[j] += sign * row[j]
            visits[b] += 1.0
