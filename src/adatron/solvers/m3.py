"""M³, multiplicative margin maximisation: Sha, Saul & Lee, as stated in Potluru et al. 2009.

No bias and no rate. Split ``Qα = a − c`` into ``a = Q⁺α`` and ``c = Q⁻α``, the positive and the negative
entries of Q apart; then all points at once::

    α_i ← min(α_i (p_i + √(p_i² + 4 a_i c_i)) / (2 a_i), u_i)

The split is of Q, so kernels of either sign will do. The objective never falls. A zero could never
change again: the start is positive, and a zero (say, of a warm start) that the gradient wants back is raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers.base import Pause, positive_start, revive, scaled

__all__ = ["M3", "M3State"]


class M3State(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,): 0
    a: np.ndarray  # (m, B): Q⁺α
    c: np.ndarray  # (m, B): Q⁻α


@dataclass(frozen=True)
class M3:
    """Multiplicative margin maximisation."""

    needs: ClassVar[frozenset[str]] = frozenset({"no bias", "entries", "free sum"})

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> M3State:
        start = positive_start(problem, alpha)
        a, c = _split_products(problem, start, lambda: None)
        return M3State(start, problem.y * (a - c), np.zeros(problem.n_columns), a, c)

    def epoch(self, problem: DualProblem, state: M3State, pause: Pause) -> M3State:
        """Update every multiplier once; one pass over the kernel matrix."""
        p = problem.p
        root = np.sqrt(p * p + 4.0 * state.a * state.c)
        with np.errstate(divide="ignore", invalid="ignore"):
            # without curvature the step goes to the bound
            factor = np.where(state.a > 0.0, (p + root) / (2.0 * state.a), np.inf)
        alpha = np.minimum(scaled(state.alpha, factor), problem.upper)
        alpha = revive(problem, alpha, state.a - state.c)
        a, c = _split_products(problem, alpha, pause)
        for array, new in zip(state, (alpha, problem.y * (a - c), state.bias, a, c), strict=True):
            array[...] = new
        return state


def _split_products(problem: DualProblem, alpha: np.ndarray, pause: Pause) -> tuple[np.ndarray, np.ndarray]:
    """``Q⁺α`` and ``Q⁻α``, tile by tile."""
    positive = problem.y > 0.0
    points, copies = problem.gram.points, problem.gram.copies
    sides = np.hstack([np.where(positive, alpha, 0.0), np.where(positive, 0.0, alpha)])
    sides = sides.reshape(copies, points.m, -1, order="C").sum(axis=0)
    above, below = points.split_matmul(sides, pause)  # K⁺ and K⁻ times α of each side
    up, down = np.hsplit(np.tile(above, (copies, 1)), 2)
    up_minus, down_minus = np.hsplit(np.tile(below, (copies, 1)), 2)
    a = np.where(positive, up + down_minus, down + up_minus)
    c = np.where(positive, down + up_minus, up + down_minus)
    return np.asfortranarray(a), np.asfortranarray(np.maximum(c, 0.0))
