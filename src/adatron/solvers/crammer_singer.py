"""Direct multiclass classification and its solver: Crammer & Singer, JMLR 2 (2001).

One weight vector per class, and a row pays for the one class that comes closest to its own::

    minimise  ½ Σ_c |w_c|² + Σ_i C_i ξ_i,    ξ_i = max_c (1 − δ_{c,y_i} + ⟨w_c, x_i⟩ − ⟨w_{y_i}, x_i⟩)

With ``w_c = Σ_i A_ic φ(x_i)`` the dual is::

    maximise  Σ_i A_{i,y_i} − ½ Σ_c A_cᵀ K A_c    with    Σ_c A_ic = 0,    A_ic ≤ C_i δ_{c,y_i}

So the columns of A are coupled, row by row: this is no `DualProblem`. There is no bias. The solver (their
section 5) brings each row to its optimum, given the others. With row i of ``F = K A``::

    A_ic = min(C_i δ_{c,y_i}, v_c − θ),    v = A_i + (δ_{y_i} − F_i)/K_ii,    θ such that Σ_c A_ic = 0

The classes below their bound are those with the smallest ``v_c − C_i δ_{c,y_i}``, so after sorting these, θ
is found in one pass. Rows are visited in order, each seeing the latest A: this is Kernel-Adatron with a
simplex in place of an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from adatron.gram import Gram
from adatron.numerics.compiled import compiled
from adatron.problems import Problem, infinite_where_huge
from adatron.solvers.base import Pause, output_of, output_sweep


@dataclass(frozen=True)
class CrammerSingerProblem(Problem):
    """The dual above: one problem, whose multipliers A have shape (m, n_classes)."""

    codes: np.ndarray  # (m,): the class of each row, from 0 on
    n_classes: int
    upper: np.ndarray  # (m, 1): C times the weight of each row; inf is a hard margin
    n_columns: ClassVar[int] = 1  # the classes are coupled, so there is one problem
    has_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, shape in (("codes", (self.m,)), ("upper", (self.m, 1))):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {getattr(self, name).shape}")

    @property
    def y(self) -> np.ndarray:
        """What tells the classes apart, as a column."""
        return self.codes[:, None]

    @cached_property
    def own(self) -> np.ndarray:
        """Where δ_{c,y_i} is 1, shape (m, n_classes)."""
        return self.codes[:, None] == np.arange(self.n_classes)

    @cached_property
    def bounds(self) -> np.ndarray:
        """``C_i δ_{c,y_i}``, the upper bounds of A."""
        return np.where(self.own, self.upper, 0.0)

    def columns(self, which: np.ndarray) -> CrammerSingerProblem:
        """The one problem."""
        return self

    def outputs(self, alpha: np.ndarray) -> np.ndarray:
        """``F = K A``, in the shape of a solver's state."""
        return self.gram.matmul(alpha[..., 0])[:, :, None]

    def feasible(self, alpha: np.ndarray) -> np.ndarray:
        """A with every A_ic ≤ 0 but the row's own, which balances them and is at most C_i."""
        others = np.where(self.own, 0.0, np.minimum(alpha, 0.0))
        total = -others.sum(axis=1, keepdims=True)
        shrink = np.where(total > self.upper, self.upper / np.where(total > 0.0, total, 1.0), 1.0)
        return np.where(self.own, np.minimum(total, self.upper), others * shrink)

    def slack_and_margins(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``ξ_i − s_ic`` for the losses s, and ``f_{i,y_i} − max f_ic`` over other classes, of every row."""
        losses = np.where(self.own, 0.0, 1.0 + f - f[self.own][:, None])
        slack = losses.max(axis=1, keepdims=True) - losses
        return slack, 1.0 - np.where(self.own, -np.inf, losses).max(axis=1)

    def measure(self, state: Any) -> np.ndarray:
        """Objective, the smallest margin of rows below their bound, 1 at the optimum, and violation."""
        alpha, f = state.alpha[..., 0], state.f[..., 0]
        with np.errstate(over="ignore", invalid="ignore"):  # what diverges is recorded, then recognised
            slack, margins = self.slack_and_margins(f)
            objective = alpha[self.own].sum() - 0.5 * (alpha * f).sum()
            below = alpha[self.own] < self.upper[:, 0]
            violation = np.where(alpha < self.bounds, slack, 0.0).max()
        return np.array([[objective, margins[below].min() if below.any() else margins.min(), violation]])


def crammer_singer(gram: Gram, codes: np.ndarray, n_classes: int, upper: np.ndarray) -> CrammerSingerProblem:
    """The problem of rows with classes `codes` and bounds `upper`, C times the weight of each row."""
    upper = infinite_where_huge(gram, np.asarray(upper, dtype=np.float64))
    return CrammerSingerProblem(gram, np.asarray(codes, dtype=np.int64), int(n_classes), upper[:, None])


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
        start = problem.feasible(alpha)[:, :, None]
        return CrammerSingerState(start, np.asfortranarray(problem.outputs(start)), np.zeros(1))

    def epoch(
        self, problem: CrammerSingerProblem, state: CrammerSingerState, pause: Pause
    ) -> CrammerSingerState:
        """Visit every row once."""
        alpha, f = state.alpha[..., 0], state.f[..., 0]
        upper, v = problem.upper[:, 0], np.empty(problem.n_classes)
        for first, rows, outputs, factored in output_sweep(problem.gram, alpha, f, pause):
            _tile(first, rows, factored, problem.codes, upper, problem.diagonal, alpha, outputs, v)
        return state


@compiled
def _tile(first, rows, factored, codes, upper, diagonal, alpha, outputs, v):
    for r in range(rows.shape[0]):
        i = first + r
        row, own, old = rows[r], codes[i], alpha[i]
        for c in range(len(v)):
            v[c] = old[c] - output_of(row, outputs[c], i, factored) / diagonal[i]
        v[own] += 1.0 / diagonal[i]
        excess = v.copy()
        excess[own] -= upper[i]  # −∞ for a hard margin: never at its bound
        order = np.argsort(excess)
        below, at_bound, theta = 0.0, upper[i], 0.0  # sums of v below its bound, of bounds that are met; θ
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
        v[own] = upper[i] if at_bound > 0.0 else min(taken, upper[i])
        for c in range(len(v)):
            step = v[c] - old[c]
            if step != 0.0:
                old[c] = v[c]
                output = outputs[c]
                for j in range(len(row)):
                    output[j] += step * row[j]
