"""Multiplicative updating: Cristianini, Campbell & Shawe-Taylor 1999.

All points at once, with a fixed rate η and γ_k = y_k f_k::

    α_k ← α_k exp(η (p_k − γ_k − λ y_k)),   λ such that Σ y_k α_k = r

λ, which becomes the bias, has a closed form for a hard margin; with upper bounds it is the root of the
monotone ``Σ y_k min(u_k, α_k exp(…)) − r``, after which α is clipped. Logarithms of α are kept, so
exponents of any size are harmless and a tiny α can grow again. A rate that is too large makes the objective
fall: a fixed one then marks the column as diverged; with "auto" the step is undone and the rate halved.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp

from adatron.numerics.compiled import compiled, compiled_part
from adatron.numerics.exponential import exponential
from adatron.problems import DualProblem
from adatron.solvers.base import Pause

_FLUSH = -690.0  # log α below which α is stored as 0: exp would be denormal
_PATIENCE = 10  # epochs after a fall of the objective within which it must recover


class MultiplicativeState(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,): λ
    log_alpha: np.ndarray  # (m, B)
    rate: np.ndarray  # (B,): η
    objective: np.ndarray  # (B,): the highest so far
    falls: np.ndarray  # (B,): epochs since the objective was highest
    diverged: np.ndarray  # (B,): 1.0 once the rate proved too large


@dataclass(frozen=True)
class MultiplicativeUpdating:
    learning_rate: float | str = "auto"  # η; "auto" starts at 1/max K_ii and is halved as often as needed
    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> MultiplicativeState:
        start = _start(problem, alpha)
        f = np.asfortranarray(problem.gram.matmul(problem.y * start))
        bias, rate, falls, diverged = np.zeros((4, problem.n_columns))
        auto = isinstance(self.learning_rate, str)
        rate[:] = 1.0 / problem.diagonal.max() if auto else float(self.learning_rate)
        with np.errstate(divide="ignore"):
            logs = np.asfortranarray(np.log(start))
        objective = _objective(problem, start, f)
        return MultiplicativeState(start, f, bias, logs, rate, objective, falls, diverged)

    def epoch(self, problem: DualProblem, state: MultiplicativeState, pause: Pause) -> MultiplicativeState:
        """Update every multiplier once; one product with the kernel matrix."""
        pause()
        gradient = problem.p - problem.y * state.f
        logs = state.log_alpha + state.rate * gradient
        bias = np.array([_multiplier(problem, logs, state.rate, b) for b in range(problem.n_columns)])
        logs -= state.rate * bias * problem.y
        with np.errstate(divide="ignore"):
            logs = np.minimum(logs, np.log(problem.upper))
        alpha = np.where(logs < _FLUSH, 0.0, np.exp(np.minimum(logs, 700.0)))
        f = problem.gram.matmul(problem.y * alpha)
        objective = _objective(problem, alpha, f)
        fell = ~(objective >= state.objective * (1.0 - 1e-12 * np.sign(state.objective)))
        if isinstance(self.learning_rate, str):  # a column that fell stays where it was
            accepted, highest = ~fell, objective
            state.rate[fell] *= 0.5
        else:
            accepted, highest = np.ones_like(fell), np.fmax(objective, state.objective)
            state.falls[:] = np.where(fell, state.falls + 1.0, 0.0)
            state.diverged[:] = (state.falls >= _PATIENCE) | ~np.isfinite(objective)
        news = {"alpha": alpha, "f": f, "bias": bias, "log_alpha": logs, "objective": highest}
        for name, new in news.items():
            getattr(state, name)[..., accepted] = new[..., accepted]
        return state

    def advice(self, problem: DualProblem, column: int, alpha: np.ndarray) -> str:
        """Advice on a column that diverged, given its best α."""
        stable = 0.5 * largest_stable_rate(problem, column, alpha)
        fault = f"learning_rate={self.learning_rate} is too large for multiplicative updates"
        return f"{fault}; use learning_rate={stable:.2g}, or 'auto'"


def _start(problem: DualProblem, alpha: np.ndarray | None) -> np.ndarray:
    """1/m₊ on the positive points, 1/m₋ on the negative, so that ``yᵀα = 0``; or a warm start.

    One-class: in proportion to the bounds. Zeros of a warm start, which could never grow, are raised.
    """
    upper, present = problem.upper, problem.upper > 0.0
    if alpha is not None:
        floor = 1e-6 * np.maximum(alpha.max(axis=0), 1e-300)
        return np.asfortranarray(np.minimum(np.maximum(alpha, floor) * present, upper))
    if problem.equality:
        return np.asfortranarray(problem.equality * upper / upper.sum(axis=0))
    sides = [present & (problem.y == sign) for sign in (1.0, -1.0)]
    above, below = (side / np.maximum(side.sum(axis=0), 1) for side in sides)
    return np.asfortranarray(np.minimum(above + below, 0.5 * upper))


def _objective(problem: DualProblem, alpha: np.ndarray, f: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return (alpha * (problem.p - 0.5 * problem.y * f)).sum(axis=0)


def _multiplier(problem: DualProblem, logs: np.ndarray, rate: np.ndarray, b: int) -> float:
    """λ of one column: ``Σ y_k min(u_k, exp(logs_k − ηλ y_k)) = r``."""
    if not problem.has_bias:
        return 0.0
    positive = problem.y[:, b] > 0.0
    above, r = logsumexp(logs[positive, b]), float(problem.equality or 0.0)
    shift = above - np.log(r) if r else 0.5 * (above - logsumexp(logs[~positive, b]))  # ηλ without bounds
    if np.isfinite(problem.upper[:, b]).any():
        shift = _root(logs[:, b].copy(), problem.y[:, b].copy(), problem.upper[:, b].copy(), r, shift)
    return float(shift / rate[b])


@compiled_part
def _sum_at(logs, y, upper, r, s):
    total = -r
    for k in range(len(y)):
        total += y[k] * min(upper[k], exponential(min(logs[k] - s * y[k], 700.0)))
    return total


@compiled
def _root(logs, y, upper, r, guess):
    """Bisection for the zero of the non-increasing ``Σ y_k min(u_k, exp(logs_k − s y_k)) − r`` in s."""
    low, high, below, above = guess, guess, 1.0, 1.0
    while _sum_at(logs, y, upper, r, low) < 0.0 and below < 1e6:
        low, below = low - below, 2.0 * below
    while _sum_at(logs, y, upper, r, high) > 0.0 and above < 1e6:
        high, above = high + above, 2.0 * above
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        low, high = (middle, high) if _sum_at(logs, y, upper, r, middle) > 0.0 else (low, middle)
    return 0.5 * (low + high)


def largest_stable_rate(problem: DualProblem, column: int, alpha: np.ndarray) -> float:
    """``2/λ_max`` of ``A^½ Q A^½`` on the support vectors, projected on ``yᵀα = 0``, A = diag α."""
    rows = np.argsort(-alpha, kind="stable")[:1_000]
    rows = rows[alpha[rows] > 1e-6 * alpha.max()]
    y, root = problem.y[rows, column], np.sqrt(alpha[rows])
    M = (root * y)[:, None] * problem.gram.block(rows, rows) * (root * y)
    if problem.has_bias:
        v = root * y / np.linalg.norm(root)
        M -= np.outer(v, v @ M)
        M -= np.outer(M @ v, v)
    return float(2.0 / np.linalg.eigvalsh(0.5 * (M + M.T))[-1])
