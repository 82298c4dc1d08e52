"""ρ-SVM with an adaptive rate: Tsang & Kwok 2007, Algorithm 1.

Hard margin, no bias. The weights d (``Σd = 1``) start equal and minimise ``ρ̄ = dᵀQd``. Each iteration

1. aims at ``ρ = ρ̄/(1 + ε)``,
2. finds the rate ``η ≥ 0`` that minimises ``Z(η) e^{ρη}``, ``Z(η) = Σ d_i e^{−η (Qd)_i}``: the root of
   ``E_η[(Qd)_i] = ρ`` under weights ∝ ``d_i e^{−η (Qd)_i}``, which exists when some ``(Qd)_i < ρ``,
3. accepts ``d_i ← d_i e^{−η (Qd)_i}/Z`` if ρ̄ did not grow; otherwise, or if no root exists, halves ε.

It ends when ε falls below its limit. ``α = d/ρ̄`` is the canonical SVM, whose margin is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.compiled import compiled, compiled_part
from adatron.problems import DualProblem
from adatron.solvers.base import Pause

__all__ = ["RhoSVM", "RhoState", "distance_to_target", "step_length"]


class RhoState(NamedTuple):
    alpha: np.ndarray  # (m, B): d/ρ̄
    f: np.ndarray  # (m, B)
    bias: np.ndarray  # (B,): 0
    log_weights: np.ndarray  # (m, B): log d
    weights: np.ndarray  # (m, B): d
    edges: np.ndarray  # (m, B): Qd
    edge: np.ndarray  # (B,): ρ̄
    epsilon: np.ndarray  # (B,): ε
    rate: np.ndarray  # (B,): η of the last accepted step, 0 if there was none
    log_loss: np.ndarray  # (B,): Σ log Z, the log of the exponential loss of the ensemble
    ended: np.ndarray  # (B,): 1.0 when ε is below its limit


@dataclass(frozen=True)
class RhoSVM:
    """ρ-SVM with an adaptive rate.

    Parameters
    ----------
    eps : float
        Limit of ε below which the algorithm ends.
    eps_init : float
        First ε.
    """

    eps: float = 0.005
    eps_init: float = 0.1
    needs: ClassVar[frozenset[str]] = frozenset({"classification", "no bias", "hard margin"})

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> RhoState:
        """Start from equal weights, or from α as a distribution."""
        present = (problem.upper > 0.0).astype(float)
        start = present if alpha is None else np.maximum(alpha, 1e-12 * alpha.max(axis=0)) * present
        weights = np.asfortranarray(start / start.sum(axis=0))
        edges = np.asfortranarray(problem.y * problem.gram.matmul(problem.y * weights))
        with np.errstate(divide="ignore"):
            logs = np.asfortranarray(np.log(weights))
        columns = problem.n_columns
        edge = (weights * edges).sum(axis=0)
        state = RhoState(
            np.empty_like(weights), np.empty_like(weights), np.zeros(columns), logs, weights, edges, edge,
            np.full(columns, self.eps_init), *(np.zeros(columns) for _ in range(3)),
        )  # fmt: skip
        return _canonical(problem, state, np.arange(columns))

    def epoch(self, problem: DualProblem, state: RhoState, pause: Pause) -> RhoState:
        """One accepted step of every column, or its end."""
        state.rate[:] = 0.0
        waiting = np.flatnonzero(state.ended == 0.0)
        while len(waiting):
            pause()
            waiting = self._attempt(problem, state, waiting)
        return state

    def _attempt(self, problem: DualProblem, state: RhoState, columns: np.ndarray) -> np.ndarray:
        """Try a step in some columns, all with one product; the columns that must try again."""
        logs = np.empty((problem.m, len(columns)), order="F")
        targets = state.edge[columns] / (1.0 + state.epsilon[columns])
        found = [
            step_length(state.log_weights[:, b], state.edges[:, b], target, logs[:, k])
            for k, (b, target) in enumerate(zip(columns, targets, strict=True))
        ]
        rates, log_z = np.array(found).T
        state.ended[columns[rates == 0.0]] = 1.0
        possible = rates > 0.0
        accepted = np.zeros(len(columns), dtype=bool)
        if possible.any():
            weights = np.exp(logs[:, possible])
            y = problem.y[:, columns[possible]]
            edges = y * problem.gram.matmul(y * weights)
            edge = (weights * edges).sum(axis=0)
            better = edge <= state.edge[columns[possible]]
            accepted[possible] = better
            chosen = columns[accepted]
            state.log_weights[:, chosen] = logs[:, accepted]
            state.weights[:, chosen], state.edges[:, chosen] = weights[:, better], edges[:, better]
            state.edge[chosen], state.rate[chosen] = edge[better], rates[accepted]
            state.log_loss[chosen] += log_z[accepted]
            _canonical(problem, state, chosen)
        again = columns[~accepted & (rates != 0.0)]
        state.epsilon[again] *= 0.5
        state.ended[again] = state.epsilon[again] < self.eps
        return again[state.ended[again] == 0.0]


def _canonical(problem: DualProblem, state: RhoState, columns: np.ndarray) -> RhoState:
    """α = d/ρ̄ and its outputs; ρ̄ = 0 (nothing to separate) leaves d as it is."""
    scale = np.where(state.edge[columns] > 0.0, state.edge[columns], 1.0)
    state.alpha[:, columns] = state.weights[:, columns] / scale
    state.f[:, columns] = problem.y[:, columns] * state.edges[:, columns] / scale
    return state


@compiled_part
def distance_to_target(logs, edges, lowest, rate, target):
    """``E_η[(Qd)_i] − ρ``, the variance, and log Z, with edges measured from the lowest."""
    top = -np.inf
    for i in range(len(logs)):
        top = max(top, logs[i] - rate * (edges[i] - lowest))
    total, first, second = 0.0, 0.0, 0.0
    for i in range(len(logs)):
        e = edges[i] - lowest
        w = np.exp(logs[i] - rate * e - top)
        total += w
        first += w * e
        second += w * e * e
    mean = first / total
    return mean - (target - lowest), second / total - mean * mean, top + np.log(total)


@compiled
def step_length(logs, edges, target, new_logs):
    """η and log Z, with the new log d in `new_logs`; η = −1: no rate reaches the target, η = 0: optimal."""
    lowest = np.inf
    for i in range(len(logs)):
        if logs[i] > -np.inf:
            lowest = min(lowest, edges[i])
    if not lowest < target:
        return -1.0, 0.0
    distance, variance, log_z = distance_to_target(logs, edges, lowest, 0.0, target)
    if distance <= 0.0:
        return 0.0, 0.0
    low, high = 0.0, np.inf
    rate = distance / variance if variance > 0.0 else 1.0
    for _ in range(200):  # Newton's method, kept between the bounds found so far
        distance, variance, log_z = distance_to_target(logs, edges, lowest, rate, target)
        if distance > 0.0:
            low = rate
        else:
            high = rate
        if abs(distance) <= 1e-14 * abs(target - lowest):
            break
        following = rate + distance / variance if variance > 0.0 else np.inf
        if not low < following < high:
            following = 2.0 * rate if high == np.inf else 0.5 * (low + high)
        elif high == np.inf:
            following = min(following, 10.0 * rate)
        if abs(following - rate) <= 1e-15 * rate:
            break
        rate = following
    for i in range(len(logs)):
        new_logs[i] = logs[i] - rate * (edges[i] - lowest) - log_z
    return rate, log_z - rate * lowest
