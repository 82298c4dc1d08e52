"""Multiplicative updates without a rate and without a bias: M³ and MUNK, as in Potluru et al. 2009.

M³, multiplicative margin maximisation (Sha, Saul & Lee): split ``Qα = a − c`` into ``a = Q⁺α`` and
``c = Q⁻α``, the positive and the negative entries of Q apart; then all points at once::

    α_i ← min(α_i (p_i + √(p_i² + 4 a_i c_i)) / (2 a_i), u_i)

Kernels may have either sign. MUNK is for ``K ≥ 0`` only. With A and B the classes, one after the other::

    α_A ← min(α_A ∘ (K_AB α_B + p_A) / (K_AA α_A), u_A),   then the same for B with the new α_A

Neither lets the objective fall; where the classes interact MUNK needs about half of M³'s epochs. A zero could
never change: so the start is positive, and a zero (of a warm start, say) with a positive gradient is raised.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers.base import Pause


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
        start = _positive_start(problem, alpha)
        a, c = _split_products(problem, start, lambda: None)
        return M3State(start, problem.y * (a - c), np.zeros(problem.n_columns), a, c)

    def epoch(self, problem: DualProblem, state: M3State, pause: Pause) -> M3State:
        """Update every multiplier once; one pass over the kernel matrix."""
        p, a, c = problem.p, state.a, state.c
        alpha = _multiplied(problem, state.alpha, p + np.sqrt(p * p + 4.0 * a * c), 2.0 * a, a - c)
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


class MunkState(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,): 0
    above: np.ndarray  # (m, B): K α of the positive class
    below: np.ndarray  # (m, B): K α of the negative class


@dataclass(frozen=True)
class Munk:
    """Multiplicative updates for non-negative kernels."""

    needs: ClassVar[frozenset[str]] = frozenset({"classification", "no bias", "entries", "nonnegative"})

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> MunkState:
        start, positive = _positive_start(problem, alpha), problem.y > 0.0
        above = problem.gram.matmul(np.where(positive, start, 0.0))
        below = problem.gram.matmul(np.where(positive, 0.0, start))
        arrays = (start, above - below, np.zeros(problem.n_columns), above, below)
        return MunkState(*(np.asfortranarray(array) for array in arrays))

    def epoch(self, problem: DualProblem, state: MunkState, pause: Pause) -> MunkState:
        """Update the positive class, then the negative one, which sees the new positive one."""
        positive = problem.y > 0.0
        for side, own, cross in ((positive, state.above, state.below), (~positive, state.below, state.above)):
            pause()
            new = _multiplied(problem, state.alpha, cross + problem.p, own, own - cross, side)
            own[...] = problem.gram.matmul(np.where(side, new, 0.0))  # may fail: α is changed after it
            state.alpha[...] = np.where(side, new, state.alpha)
            state.f[...] = state.above - state.below
        return state


def _positive_start(problem: DualProblem, alpha: np.ndarray | None) -> np.ndarray:
    """A start without zeros, which multiplicative updates could never leave."""
    if alpha is None:
        return np.asfortranarray(np.minimum(1.0 / problem.m, 0.5 * problem.upper))
    floor = np.minimum(1e-6 / problem.diagonal[:, None], 0.5 * problem.upper)
    return np.asfortranarray(np.maximum(np.minimum(alpha, problem.upper), floor))


def _multiplied(
    problem: DualProblem, alpha: np.ndarray, numerator: np.ndarray, denominator: np.ndarray,
    outputs: np.ndarray, where: np.ndarray | bool = True,
) -> np.ndarray:  # fmt: skip
    """``α numerator/denominator`` within the box; a denominator of 0, no curvature, leads to the bound.

    Zeros where the gradient ``p − outputs`` (y∘f) is positive are raised.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = np.where(denominator > 0.0, numerator / denominator, np.inf)
        product = np.where(alpha > 0.0, np.minimum(alpha * factor, 1e150), 0.0)  # 0 · ∞ is 0
    new = np.minimum(product, problem.upper)
    locked = (new <= 0.0) & (problem.p > outputs) & (problem.upper > 0.0) & where
    small = 1e-6 * np.minimum(1.0 / problem.diagonal[:, None], problem.upper)
    return np.where(locked, small, new)
