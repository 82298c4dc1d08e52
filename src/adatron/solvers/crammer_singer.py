"""Crammer & Singer 2001, section 5: sweeps in which each row is brought to its optimum, given the others.

With row i of the outputs ``F = K A``, the best row i of A alone is::

    A_ic = min(C_i δ_{c,y_i}, v_c − θ),    v = A_i + (δ_{y_i} − F_i)/K_ii,    θ such that Σ_c A_ic = 0

The classes below their bound are those with the smallest ``v_c − C_i δ_{c,y_i}``, so after sorting
these, θ is found in one pass. Rows are visited in order, each seeing the latest A, as in
Kernel-Adatron, of which this is the counterpart for a simplex in place of an interval; F changes
only by rows, and in classes, that moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from adatron.numerics.compiled import compiled, compiled_part
from adatron.problems import CrammerSingerProblem
from adatron.solvers.base import Pause, output_of, output_sweep

__all__ = ["CrammerSinger", "CrammerSingerState"]


class CrammerSingerState(NamedTuple):
    alpha: np.ndarray  # (m, n_classes, 1): A
    f: np.ndarray  # (m, n_classes, 1): K A
    bias: np.ndarray  # (1,): none


@dataclass(frozen=True)
class CrammerSinger:
    """Row by row, each brought to its optimum; there is no rate and nothing to choose."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: CrammerSingerProblem, alpha: np.ndarray | None = None) -> CrammerSingerState:
        shape = (problem.m, problem.n_classes, 1)
        if alpha is None:
            return CrammerSingerState(np.zeros(shape), np.zeros(shape, order="F"), np.zeros(1))
        start = problem.feasible(alpha)
        f = np.asfortranarray(problem.gram.matmul(start)[:, :, None])
        return CrammerSingerState(start[:, :, None], f, np.zeros(1))

    def epoch(
        self, problem: CrammerSingerProblem, state: CrammerSingerState, pause: Pause
    ) -> CrammerSingerState:
        """Visit every row once."""
        alpha, f = state.alpha[..., 0], state.f[..., 0]
        upper, wanted = problem.upper[:, 0], np.empty(problem.n_classes)
        for first, rows, outputs, factored in output_sweep(problem.gram, alpha, f, pause):
            _tile(first, rows, factored, problem.codes, upper, problem.diagonal, alpha, outputs, wanted)
        return state


@compiled
def _tile(first, rows, factored, codes, upper, diagonal, alpha, outputs, wanted):
    for r in range(rows.shape[0]):
        i = first + r
        row, own, old = rows[r], codes[i], alpha[i]
        for c in range(len(wanted)):
            wanted[c] = old[c] - output_of(row, outputs[c], i, factored) / diagonal[i]
        wanted[own] += 1.0 / diagonal[i]
        _best_row(wanted, own, upper[i])
        for c in range(len(wanted)):
            step = wanted[c] - old[c]
            if step != 0.0:
                old[c] = wanted[c]
                output = outputs[c]
                for j in range(len(row)):
                    output[j] += step * row[j]


@compiled_part
def _best_row(v, own, upper):
    """Turn v into ``min(upper δ, v − θ)``, whose sum is 0."""
    excess = v.copy()
    excess[own] -= upper  # −∞ for a hard margin: never at its bound
    order = np.argsort(excess)
    below, at_bound, theta = 0.0, upper, 0.0  # sums of v below its bound, and of the bounds that are met
    for n in range(len(v)):
        c = order[n]
        if n > 0 and excess[c] >= theta:
            break
        if c == own:
            at_bound = 0.0
        below += v[c]
        theta = (below + at_bound) / (n + 1)
    taken = 0.0
    for c in range(len(v)):
        if c != own:
            v[c] = min(v[c] - theta, 0.0)
            taken -= v[c]
    v[own] = upper if at_bound > 0.0 else min(taken, upper)
