"""Kernel-Adatron with the document's own bias search: Campbell & Cristianini 1998, section 3.1.

λ is the root of ``ω(λ) = Σ α_i y_i``, followed by a secant over the epochs::

    λ⁰ = μ,  λ¹ = −μ,  λᵗ = λᵗ⁻¹ − ωᵗ⁻¹ (λᵗ⁻¹ − λᵗ⁻²) / (ωᵗ⁻¹ − ωᵗ⁻²)

Faithful, and therefore able to diverge (polynomial kernels of degree 4 and 6 on the sonar and
Wisconsin data); `KernelAdatron` is what to use. A vanishing denominator, the trap the document
mentions, leaves λ where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers.base import Pause
from adatron.solvers.kernel_adatron import KernelAdatron, adatron_sweep

__all__ = ["SecantAdatron", "SecantState"]


class SecantState(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,): λᵗ of the last sweep
    omega: np.ndarray  # (B,): ωᵗ
    penalty: np.ndarray  # (B,): always 0, the sweep is shared with `KernelAdatron`
    bias_before: np.ndarray  # (B,): λᵗ⁻¹
    omega_before: np.ndarray  # (B,): ωᵗ⁻¹
    time: np.ndarray  # (B,): t of the next sweep


@dataclass(frozen=True)
class SecantAdatron:
    """Kernel-Adatron, bias by the secant of the document.

    Parameters
    ----------
    learning_rate : float or "auto"
    mu : float
        The first two values of λ are ``mu`` and ``−mu``.
    """

    learning_rate: float | str = "auto"
    mu: float = 0.1
    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> SecantState:
        start = KernelAdatron(self.learning_rate).init(problem, alpha)
        zeros = np.zeros(problem.n_columns)
        return SecantState(start.alpha, start.f, zeros, start.omega, *(zeros.copy() for _ in range(4)))

    def epoch(self, problem: DualProblem, state: SecantState, pause: Pause) -> SecantState:
        """Choose λᵗ, then visit every point once."""
        if problem.has_bias:
            following = _next_bias(state, self.mu)
            state.bias_before[:], state.omega_before[:] = state.bias, state.omega
            state.bias[:] = following
            state.time[:] += 1.0
        adatron_sweep(problem, state, self.learning_rate, pause)  # type: ignore[arg-type]
        state.omega[:] = problem.imbalance(state.alpha)
        return state


def _next_bias(state: SecantState, mu: float) -> np.ndarray:
    rise = state.omega - state.omega_before
    flat = np.abs(rise) <= 1e-12 * np.maximum(np.abs(state.omega), 1.0)
    slope = (state.bias - state.bias_before) / np.where(flat, 1.0, rise)
    secant = np.where(flat, state.bias, state.bias - state.omega * slope)
    return np.select([state.time == 0, state.time == 1], [mu, -mu], secant)
