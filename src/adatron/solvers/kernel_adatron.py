"""Kernel-Adatron: Campbell & Cristianini 1998, sections 3.1 and 3.2.

One point at a time, in order, each seeing the latest α::

    α_i ← clip(α_i + η_i (p_i − y_i (f_i + λ)), 0, u_i)

``η_i = 1/K_ii`` is the exact optimum of one variable; any ``0 < η_i K_ii < 2`` converges. λ is 0 without a
bias. With one, λ estimates it and ``ω = Σ y_i α_i − r`` enters through an augmented Lagrangian: the sweep
uses ``λ + cω``, and λ ← λ + cω after each epoch. The paper's own search for λ is a secant::

    λ⁰ = μ,  λ¹ = −μ,  λᵗ = λᵗ⁻¹ − ωᵗ⁻¹ (λᵗ⁻¹ − λᵗ⁻²) / (ωᵗ⁻¹ − ωᵗ⁻²)

A vanishing denominator, which the paper warns of, leaves λ where it is. This `SecantAdatron` can diverge
(polynomial kernels of degree 4 and 6 on the sonar and Wisconsin data); `KernelAdatron` does not.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem
from adatron.solvers.base import Pause, output_of, output_sweep

_EDGE = 1.95  # ηK_ii closer to 2 would cycle for ever, so larger rates are reduced to this


class AdatronState(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B): K (y∘α)
    bias: np.ndarray  # (B,): λ
    omega: np.ndarray  # (B,): ω = yᵀα − r
    penalty: np.ndarray  # (B,): c


@dataclass(frozen=True)
class KernelAdatron:
    """Kernel-Adatron with a bias that cannot diverge."""

    learning_rate: float | str = "auto"  # η; "auto" is 1/K_ii for each point
    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> AdatronState:
        _rates(problem, self.learning_rate)  # an impossible rate is an error before any work
        alpha, f = problem.start(alpha)
        columns = problem.n_columns
        first = 1.0 / problem.inverse_curvature.sum() if problem.has_bias else 0.0
        return AdatronState(alpha, f, np.zeros(columns), problem.imbalance(alpha), np.full(columns, first))

    def epoch(self, problem: DualProblem, state: AdatronState, pause: Pause) -> AdatronState:
        """Visit every point once, then move the bias by what ω asks for."""
        _sweep(problem, state, self.learning_rate, pause)
        if problem.has_bias:
            _move_bias(
                problem.y.T, problem.upper.T, problem.inverse_curvature, float(problem.equality or 0.0),
                state.alpha.T, state.omega, state.bias, state.penalty,
            )  # fmt: skip
        return state


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
    """Kernel-Adatron with the paper's secant search for the bias."""

    learning_rate: float | str = "auto"
    mu: float = 0.1  # the first two values of λ are μ and −μ
    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> SecantState:
        start = KernelAdatron(self.learning_rate).init(problem, alpha)
        zeros = np.zeros(problem.n_columns)
        return SecantState(start.alpha, start.f, zeros, start.omega, *(zeros.copy() for _ in range(4)))

    def epoch(self, problem: DualProblem, state: SecantState, pause: Pause) -> SecantState:
        """Choose λᵗ, then visit every point once."""
        if problem.has_bias:
            rise = state.omega - state.omega_before
            flat = np.abs(rise) <= 1e-12 * np.maximum(np.abs(state.omega), 1.0)
            slope = (state.bias - state.bias_before) / np.where(flat, 1.0, rise)
            secant = np.where(flat, state.bias, state.bias - state.omega * slope)
            following = np.select([state.time == 0, state.time == 1], [self.mu, -self.mu], secant)
            state.bias_before[:], state.omega_before[:] = state.bias, state.omega
            state.bias[:], state.time[:] = following, state.time + 1.0
        _sweep(problem, state, self.learning_rate, pause)
        state.omega[:] = problem.imbalance(state.alpha)
        return state


@compiled
def _move_bias(y, upper, inverse, r, alpha, omega, bias, penalty):
    """``λ ← λ + cω``, then ``c = 1/Σ 1/K_ii`` over the free points: the curvature of the dual along ω."""
    for b in range(alpha.shape[0]):
        total, free, everywhere = -r, 0.0, 0.0
        for i in range(alpha.shape[1]):
            total += y[b, i] * alpha[b, i]
            everywhere += inverse[i]
            if 0.0 < alpha[b, i] < upper[b, i]:
                free += inverse[i]
        omega[b] = total
        bias[b] += penalty[b] * total
        penalty[b] = 1.0 / free if free > 0.0 else 1.0 / everywhere


def _rates(problem: DualProblem, learning_rate: float | str) -> np.ndarray:
    """η_i of every point."""
    if isinstance(learning_rate, str):
        return 1.0 / problem.diagonal
    largest = float(problem.diagonal.max())
    if learning_rate * largest >= 2.0:
        allowed = f"Kernel-Adatron converges only for learning_rate < 2 / max K_ii = {2.0 / largest:.6g}"
        raise ValueError(f"learning_rate={learning_rate!r} is too large: {allowed}; use less, or 'auto'")
    return np.minimum(float(learning_rate), _EDGE / problem.diagonal)


def _sweep(problem: DualProblem, state: Any, learning_rate: float | str, pause: Pause) -> None:
    """One pass over the points that updates α, f and ω in place."""
    rates, points, copies = _rates(problem, learning_rate), problem.gram.points, problem.gram.copies
    if not problem.gram.is_elsewhere:
        fixed = problem.y.T, problem.p.T, problem.upper.T, problem.diagonal, rates
        bias = state.bias, state.omega, state.penalty
        for *tile, outputs, factored in output_sweep(problem.gram, problem.y * state.alpha, state.f, pause):
            _adatron_tile(*tile, factored, *fixed, state.alpha.T, outputs, *bias)
        return
    pause()  # the factor is elsewhere: ``w = Zᵀ(y∘α)`` and ω visit block after block
    shape = (copies, points.m, problem.n_columns)
    alpha, y, p, upper = (a.reshape(shape) for a in (state.alpha, problem.y, problem.p, problem.upper))
    diagonal, etas = (a.reshape(copies, -1) for a in (problem.diagonal, rates))
    passes = [((y[c], p[c], upper[c], diagonal[c], etas[c]), alpha[c]) for c in range(copies)]
    rest = state.omega, state.bias, state.penalty
    moved, (omega, *_), f = points.visit(_visit, (y * alpha).sum(axis=0), passes, rest)
    state.alpha[...], state.omega[...] = np.concatenate(moved), omega
    state.f[...] = np.tile(f, (copies, 1))


def _visit(Z: np.ndarray, fixed: Any, alpha: np.ndarray, carried: Any) -> tuple[np.ndarray, Any]:
    """Sweep over one block; works on copies, because the arguments may be shared."""
    y, p, upper = (np.asfortranarray(array).T for array in fixed[:3])
    diagonal, rates = (np.array(array) for array in fixed[3:])
    w, new = np.array(carried[0].T, order="C"), np.array(alpha, order="F")
    omega, bias, penalty = (np.array(array) for array in carried[1])
    rows = np.asarray(Z, dtype=np.float64, order="C")
    _adatron_tile(0, rows, True, y, p, upper, diagonal, rates, new.T, w, bias, omega, penalty)
    return new, (w.T, (omega, bias, penalty))


@compiled
def _adatron_tile(first, rows, factored, y, p, upper, diagonal, rates, alpha, outputs, bias, omega, penalty):
    for r in range(rows.shape[0]):
        i, row = first + r, rows[r]
        for b in range(alpha.shape[0]):
            output, old = outputs[b], alpha[b, i]
            f = output_of(row, output, i, factored)
            gradient = p[b, i] - y[b, i] * (f + bias[b] + penalty[b] * omega[b])
            new = old + rates[i] * gradient / (1.0 + penalty[b] / diagonal[i])
            new = min(max(new, 0.0), upper[b, i])
            if new != old:
                step = y[b, i] * (new - old)
                alpha[b, i] = new
                omega[b] += step
                for j in range(len(row)):
                    output[j] += step * row[j]
