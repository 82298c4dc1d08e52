"""MUNK, multiplicative updates for non-negative kernels: Potluru et al. 2009.

No bias, no rate, kernels ``K ≥ 0`` only. With A and B the two classes, one after the other::

    α_A ← min(α_A ∘ (K_AB α_B + p_A) / (K_AA α_A), u_A),   then the same for B with the new α_A

The objective never falls, and where the classes interact it needs about half of M³'s epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers.base import Pause, positive_start, revive, scaled

__all__ = ["Munk", "MunkState"]


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
        start = positive_start(problem, alpha)
        positive = problem.y > 0.0
        above = problem.gram.matmul(np.where(positive, start, 0.0))
        below = problem.gram.matmul(np.where(positive, 0.0, start))
        arrays = (start, above - below, np.zeros(problem.n_columns), above, below)
        return MunkState(*(np.asfortranarray(array) for array in arrays))

    def epoch(self, problem: DualProblem, state: MunkState, pause: Pause) -> MunkState:
        """Update the positive class, then the negative one, which sees the new positive one."""
        positive = problem.y > 0.0
        for side, own, cross in ((positive, state.above, state.below), (~positive, state.below, state.above)):
            pause()
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                factor = np.where(own > 0.0, (cross + problem.p) / own, np.inf)  # no curvature: to the bound
            stepped = np.minimum(scaled(state.alpha, factor), problem.upper)
            new = revive(problem, stepped, own - cross, side)
            own[...] = problem.gram.matmul(np.where(side, new, 0.0))  # may fail: α is changed after it
            state.alpha[...] = np.where(side, new, state.alpha)
            state.f[...] = state.above - state.below
        return state
