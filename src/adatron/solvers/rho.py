"""ρ-SVM with an adaptive rate: Tsang & Kwok 2007, Algorithm 1.

Hard margin, no bias. The weights d (``Σd = 1``) start equal and minimise ``ρ̄ = dᵀQd``. Each iteration

1. aims at ``ρ = ρ̄/(1 + ε)``,
2. finds the rate ``η ≥ 0`` that minimises ``Z(η) e^{ρη}``, ``Z(η) = Σ d_i e^{−η (Qd)_i}``: the root of
   ``E_η[(Qd)_i] = ρ`` under weights ∝ ``d_i e^{−η (Qd)_i}``, which exists when some ``(Qd)_i < ρ``,
3. accepts ``d_i ← d_i e^{−η (Qd)_i}/Z`` if ρ̄ did not grow; otherwise, or if no root exists, halves ε.

It ends when ε falls below its limit. ``α = d/ρ̄`` is the canonical SVM, whose margin is 1.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.gram import symmetric_product
from adatron.numerics.compiled import compiled, compiled_part
from adatron.numerics.exponential import exponential
from adatron.problems import DualProblem, measure_columns
from adatron.solvers.base import Pause

_NO_RATE, _OPTIMAL = -1.0, 0.0  # in place of a rate
_SQUARE_ROOT_OF_ROUNDING = 1e-8


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


class Step(NamedTuple):
    """What an attempt proposes, a line for each of its columns."""

    logs: np.ndarray  # (b, m): log d
    weights: np.ndarray  # (b, m): d
    signed: np.ndarray  # (b, m): y d
    rates: np.ndarray  # (b,): η, or why there is none
    log_z: np.ndarray  # (b,)


class Journal(NamedTuple):
    """What some epochs did, a line for each."""

    signed: np.ndarray  # (n, B, m): y d before the epoch
    rates: np.ndarray  # (n, B)
    log_losses: np.ndarray  # (n, B)
    measures: np.ndarray  # (n, B, 3): objective, margin, violation


@dataclass(frozen=True)
class RhoSVM:
    eps: float = 0.005  # limit of ε below which the algorithm ends
    eps_init: float = 0.1  # first ε
    needs: ClassVar[frozenset[str]] = frozenset({"classification", "no bias", "hard margin"})

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> RhoState:
        """Start from equal weights, or from α as a distribution."""
        present = (problem.upper > 0.0).astype(float)
        start = present if alpha is None else np.maximum(alpha, 1e-12 * alpha.max(axis=0)) * present
        weights = np.asfortranarray(start / start.sum(axis=0))
        edges = np.asfortranarray(problem.y * problem.gram.matmul(problem.y * weights))
        with np.errstate(divide="ignore"):
            logs = np.asfortranarray(np.log(weights))
        edge = (weights * edges).sum(axis=0)
        scale, epsilon = np.where(edge > 0.0, edge, 1.0), np.full(problem.n_columns, self.eps_init)
        alpha, f, (bias, *rest) = weights / scale, problem.y * edges / scale, np.zeros((4, problem.n_columns))
        return RhoState(alpha, f, bias, logs, weights, edges, edge, epsilon, *rest)

    def epoch(self, problem: DualProblem, state: RhoState, pause: Pause) -> RhoState:
        """One accepted step of every column, or its end."""
        y, lines = problem.y.T, RhoState(*(value.T for value in state))
        state.rate[:] = 0.0
        waiting = np.flatnonzero(state.ended == 0.0)
        while len(waiting):
            pause()
            step = Step(*np.empty((3, len(waiting), problem.m)), *np.empty((2, len(waiting))))
            outputs = step.signed
            if _call_propose(y, lines, waiting, step):  # one product for all columns
                outputs = np.ascontiguousarray(problem.gram.matmul(step.signed.T).T)
            waiting = _call_settle(y, lines, waiting, step, outputs, self.eps)
        return state

    def march(self, problem: DualProblem, K: np.ndarray, state: RhoState, n: int) -> tuple[RhoState, Journal]:
        """Take up to n epochs with (the lower half of) K in memory, fewer if a column ends; a new state."""
        state = RhoState(*(value.copy(order="F") for value in state))
        shape = (n, problem.n_columns)
        journal = Journal(*(np.empty(size) for size in ((*shape, problem.m), shape, shape, (*shape, 3))))
        lines = RhoState(*(value.T for value in state))
        done = _march(problem.y.T, problem.p.T, problem.upper.T, lines, K, self.eps, journal)
        return state, Journal(*(part[:done] for part in journal))


@compiled
def _march(y, p, upper, state, K, limit, journal):
    """Take several epochs in one call, while the data are in cache; return how many."""
    n = len(journal.rates)
    for t in range(n):
        journal.signed[t] = y * state.weights
        state.rate[:] = 0.0
        waiting = np.arange(len(y))
        while len(waiting):
            shape, lines = (len(waiting), y.shape[1]), len(waiting)
            step = Step(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(lines), np.empty(lines))
            outputs = np.zeros(shape)
            if _propose(y, state, waiting, step):
                for place in range(lines):
                    symmetric_product(K, step.signed[place], outputs[place])
            waiting = _settle(y, state, waiting, step, outputs, limit)
        journal.rates[t], journal.log_losses[t] = state.rate, state.log_loss
        measure_columns(y, p, upper, state.alpha, state.f, state.bias, journal.measures[t])
        if state.ended.max() > 0.0:
            return t + 1
    return n


@compiled_part
def _propose(y, state, columns, step):
    """Rates and new weights of some columns; whether any has a rate."""
    for place, b in enumerate(columns):
        target = state.edge[b] / (1.0 + state.epsilon[b])
        rate, log_z, lowest = _step_length(state.log_weights[b], state.weights[b], state.edges[b], target)
        step.rates[place], step.log_z[place] = rate, log_z - rate * lowest
        for i in range(y.shape[1]):
            log_weight = state.log_weights[b, i] - rate * (state.edges[b, i] - lowest) - log_z
            weight = exponential(log_weight) if rate > 0.0 else 0.0
            step.logs[place, i], step.weights[place, i] = log_weight, weight
            step.signed[place, i] = y[b, i] * weight
    return step.rates.max() > 0.0


@compiled_part
def _settle(y, state, columns, step, outputs, limit):
    """Accept the steps that do not raise ρ̄, halve ε for the others; the columns that must try again.

    With d goes α = d/ρ̄; α = d for ρ̄ = 0, when there is nothing to separate.
    """
    again = np.zeros(len(columns), dtype=np.bool_)
    for place, b in enumerate(columns):
        rate, edge = step.rates[place], 0.0
        for i in range(y.shape[1]):
            edge += step.signed[place, i] * outputs[place, i]
        if rate == _OPTIMAL:
            state.ended[b] = 1.0
        elif rate == _NO_RATE or not edge <= state.edge[b]:
            state.epsilon[b] *= 0.5
            again[place] = state.epsilon[b] >= limit
            state.ended[b] = 0.0 if again[place] else 1.0
        else:
            scale = edge if edge > 0.0 else 1.0
            for i in range(y.shape[1]):
                state.log_weights[b, i], state.weights[b, i] = step.logs[place, i], step.weights[place, i]
                state.edges[b, i] = y[b, i] * outputs[place, i]
                state.alpha[b, i], state.f[b, i] = step.weights[place, i] / scale, outputs[place, i] / scale
            state.edge[b], state.rate[b] = edge, rate
            state.log_loss[b] += step.log_z[place]
    return columns[again]


_call_propose, _call_settle = compiled(_propose), compiled(_settle)


@compiled_part
def _step_length(logs, weights, edges, target):
    """η, log Z with edges measured from the lowest one, and that one."""
    lowest, mean, square = np.inf, 0.0, 0.0
    for i in range(len(logs)):
        if logs[i] > -np.inf:
            lowest = min(lowest, edges[i])
    if not lowest < target:
        return _NO_RATE, 0.0, 0.0
    for i in range(len(logs)):
        mean += weights[i] * (edges[i] - lowest)
        square += weights[i] * (edges[i] - lowest) ** 2
    distance, variance, log_z = mean - (target - lowest), square - mean * mean, 0.0
    if distance <= 0.0:
        return _OPTIMAL, 0.0, 0.0
    low, high = 0.0, np.inf
    rate = distance / variance if variance > 0.0 else 1.0
    for _ in range(200):  # Newton's method, kept between the bounds found so far
        distance, variance, log_z = _distance_to_target(logs, edges, lowest, rate, target)
        low, high = (rate, high) if distance > 0.0 else (low, rate)
        if abs(distance) <= 1e-14 * abs(target - lowest):
            break
        following = rate + distance / variance if variance > 0.0 else np.inf
        if abs(following - rate) <= _SQUARE_ROOT_OF_ROUNDING * rate:  # the error left is its square
            change = following - rate
            return following, log_z + change * (lowest - target - distance + 0.5 * variance * change), lowest
        if not low < following < high:
            following = 2.0 * rate if high == np.inf else 0.5 * (low + high)
        elif high == np.inf:
            following = min(following, 10.0 * rate)
        if abs(following - rate) <= 1e-15 * rate:
            break
        rate = following
    return rate, log_z, lowest


@compiled_part
def _distance_to_target(logs, edges, lowest, rate, target):
    """``E_η[(Qd)_i] − ρ``, the variance, and log Z, with edges measured from the lowest."""
    top = -np.inf
    for i in range(len(logs)):
        top = max(top, logs[i] - rate * (edges[i] - lowest))
    total, first, second = 0.0, 0.0, 0.0
    for i in range(len(logs)):
        e = edges[i] - lowest
        w = exponential(logs[i] - rate * e - top)
        total += w
        first += w * e
        second += w * e * e
    mean = first / total
    return mean - (target - lowest), second / total - mean * mean, top + np.log(total)
