"""Certificate, records and exact finish of Crammer & Singer's problem, whose columns are coupled.

With the losses ``s_ic = 1 − δ_{c,y_i} + f_ic − f_{i,y_i}``, ``ξ_i = max_c s_ic`` and the distances
``β_ic = C_i δ_{c,y_i} − A_ic ≥ 0`` of a feasible A from its bounds, whose rows sum to C_i, the gap is
again a sum of non-negative terms::

    P − D = Σ_ic β_ic (ξ_i − s_ic)

A hard margin is one in the joint space of rows and classes, where every ``f_{i,y_i} − f_ic`` is to be
at least 1, and is certified like any other.

The finish is the active-set method of `finish` on a simplex per row: the class with the largest β_ic is the
row's reference; another class c with β_ic > 0 is free to exchange mass with it. Exchanging ``d_ic`` gains
``s_ic − s_ir`` per unit and changes the quadratic term by the matrix::

    H[(i, c), (j, c')] = K_ij (δ_cc' − δ_cr' − δ_rc' + δ_rr'),    r, r' the references of i and j

so that the free exchanges solve one linear system, and where all of a row's mass comes from the
reference, that class leaves and another takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.gram import REGIME, Regime
from adatron.numerics.threads import one_blas_thread
from adatron.problems import CrammerSingerProblem
from adatron.solvers import Pause
from adatron.training.certificate import (
    Certificate,
    certify,
    hard_margin,
    is_as_good_as_hard,
    precise_sum,
    soft_margin,
    with_smaller_gap,
)
from adatron.training.finish import exact_finish, lengths_to_try, reach_the_optimum, solve_free_system
from adatron.training.records import measure

__all__: list[str] = []

_FREED_AT_ONCE = 256
_WORK = 2e11  # multiply-adds spent at most: more than in `finish`, because sweeps over rows end later


@certify.register(CrammerSingerProblem)
def _certify(
    problem: CrammerSingerProblem,
    column: int,
    alpha: np.ndarray,
    outputs: np.ndarray | None = None,
    regime: Regime = REGIME,
) -> Certificate:
    alpha = problem.feasible(np.asarray(alpha, dtype=np.float64))
    f = problem.gram.matmul(alpha)
    losses = problem.losses(f)
    margins = _margins(problem, losses)
    quadratic = max(precise_sum(alpha * f), 0.0)
    linear = precise_sum(alpha[problem.own])
    known = (alpha, f, 0.0, (0.0, 0.0), quadratic, linear)
    hard = hard_margin(*known, margins)
    if np.isinf(problem.upper).any():
        return hard
    room = problem.bounds - alpha
    difference = precise_sum(room * (losses.max(axis=1, keepdims=True) - losses))
    soft = soft_margin(*known, float(margins.min()), difference)
    return with_smaller_gap(soft, hard) if is_as_good_as_hard(problem, 0) else soft


@measure.register(CrammerSingerProblem)
def _measure(problem: CrammerSingerProblem, state: Any) -> np.ndarray:
    """The margin is the smallest ``f_{i,y_i} − f_ic`` over rows below their bound, 1 at the optimum."""
    alpha, f = state.alpha[..., 0], state.f[..., 0]
    with np.errstate(over="ignore", invalid="ignore"):  # what diverges is recorded, then recognised
        losses = problem.losses(f)
        objective = alpha[problem.own].sum() - 0.5 * (alpha * f).sum()
        below = alpha[problem.own] < problem.upper[:, 0]
        margins = _margins(problem, losses)
        short = losses.max(axis=1, keepdims=True) - losses
        violation = np.where(alpha < problem.bounds, short, 0.0).max()
    return np.array([[objective, margins[below].min() if below.any() else margins.min(), violation]])


def _margins(problem: CrammerSingerProblem, losses: np.ndarray) -> np.ndarray:
    """``f_{i,y_i} − max f_ic`` over the other classes, of every row."""
    return 1.0 - np.where(problem.own, -np.inf, losses).max(axis=1)


@exact_finish.register(CrammerSingerProblem)
def _exact_finish(
    problem: CrammerSingerProblem, column: int, alpha: np.ndarray, pause: Pause = lambda: None
) -> np.ndarray | None:
    with one_blas_thread():  # the systems are small, however many rows there are
        return reach_the_optimum(_CoupledFinish(problem, alpha), pause, _WORK)


class _CoupledFinish:
    """A, its outputs and the classes that are free in each row, on the way to the optimum."""

    def __init__(self, problem: CrammerSingerProblem, alpha: np.ndarray) -> None:
        self.problem, self.gram = problem, problem.gram
        self.alpha = problem.feasible(alpha)
        self.root_diagonal = np.sqrt(problem.diagonal)
        self.places = np.arange(problem.m)
        self.progress = True
        self.free = self.alpha < problem.bounds
        self.refresh()

    def refresh(self) -> None:
        self.f = self.gram.matmul(self.alpha)

    @property
    def reference(self) -> np.ndarray:
        """The class of each row that is farthest from its bound."""
        return (self.problem.bounds - self.alpha).argmax(axis=1)

    @property
    def n_free(self) -> int:
        return int(self.free.sum()) - self.problem.m

    def step(self) -> bool:
        """Step towards the solution of the free system; whether the whole step was taken."""
        exchange = _Exchange(self)
        if not len(exchange.rows):
            return True
        residual = self._advantage(exchange.reference)[exchange.rows, exchange.classes]
        direction, _ = solve_free_system(exchange.matrix, np.zeros_like(residual), residual, None)
        blocked = (exchange.room <= 0.0) & (direction < 0.0)
        if blocked.any():  # freed together with others, but it wants to stay
            self.free[exchange.rows[blocked], exchange.classes[blocked]] = False
            return False
        moved, emptied = exchange.best_on_bent_path(direction, residual)
        before = self.alpha[exchange.members]
        self._take(exchange, moved, emptied)
        change = self.alpha[exchange.members] - before
        self.f[exchange.members] += exchange.block @ change
        self.progress |= bool(change.any())
        return not (emptied.any() or (moved <= 0.0).any())

    def _take(self, exchange: _Exchange, moved: np.ndarray, emptied: np.ndarray) -> None:
        """Set the distances of the free classes to `moved`; each row's reference balances them."""
        bounds, members, reference = self.problem.bounds, exchange.members, exchange.reference
        given = exchange.per_row(moved - exchange.room)
        self.alpha[exchange.rows, exchange.classes] = bounds[exchange.rows, exchange.classes] - moved
        self.alpha[members, reference[members]] += given
        gone = members[emptied]
        self.alpha[gone, reference[gone]] = bounds[gone, reference[gone]]
        self.free[gone, reference[gone]] = False
        met = moved <= 0.0
        self.free[exchange.rows[met], exchange.classes[met]] = False

    def free_the_wrong(self) -> bool:
        """Free classes at their bound that the gradient wants elsewhere; whether there were any."""
        self.refresh()
        pull = self._advantage(self.reference)
        pull[self.free] = 0.0
        rows, classes = np.nonzero(pull > self._rounding()[:, None])
        most = _FREED_AT_ONCE if self.progress else 1  # one alone is sure to move
        worst = np.argsort(-pull[rows, classes], kind="stable")[:most]
        self.free[rows[worst], classes[worst]] = True
        self.progress = False
        return len(worst) > 0

    def _advantage(self, reference: np.ndarray) -> np.ndarray:
        """What moving a unit of mass from the reference to each class gains."""
        value = self.f - self.problem.own
        return value - value[self.places, reference][:, None]

    def _rounding(self) -> np.ndarray:
        """How far rounding alone can move a gradient."""
        sizes = float(np.abs(self.alpha).sum(axis=1) @ self.root_diagonal)
        return 1e-13 * self.root_diagonal * sizes + 1e-12

    def polished(self) -> np.ndarray:
        """One more solve of the free system, against outputs that are fresh from `free_the_wrong`."""
        before = self.alpha.copy()
        if not self.step() or not np.isfinite(self.alpha).all():
            self.alpha = before
        return self.alpha


class _Exchange:
    """The free classes of all rows beside their references: pairs (row, class) in the order of rows."""

    def __init__(self, finish: _CoupledFinish) -> None:
        problem, self.reference = finish.problem, finish.reference
        free = finish.free.copy()
        free[finish.places, self.reference] = False
        self.rows, self.classes = np.nonzero(free)
        self.room = (problem.bounds - finish.alpha)[self.rows, self.classes]
        self.members, self._first, self._member = np.unique(self.rows, return_index=True, return_inverse=True)
        self.upper = problem.upper[self.members, 0]
        self.spare = (problem.bounds - finish.alpha)[self.members, self.reference[self.members]]
        self.block = finish.gram.block(self.members, self.members)
        sign = np.zeros((len(self.rows), problem.n_classes))
        sign[np.arange(len(self.rows)), self.classes] = 1.0
        sign[np.arange(len(self.rows)), self.reference[self.rows]] = -1.0
        self.matrix = self.block[np.ix_(self._member, self._member)] * (sign @ sign.T)

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Sums over the pairs of each row."""
        return np.add.reduceat(values, self._first, axis=0)

    def best_on_bent_path(self, direction: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best distances on ``β + t d``, bent into the simplex, and which references that empties."""
        taken = self.per_row(direction)
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(direction < 0.0, self.room / -direction, np.inf)
            last = np.where(taken > 0.0, self.spare / taken, np.inf)
        tried = lengths_to_try(min(float(lengths.min()), float(last.min())))
        paths = np.maximum(self.room[:, None] + tried * direction[:, None], 0.0)
        paths[lengths[:, None] <= tried] = 0.0  # whatever rounding says
        totals, upper = self.per_row(paths), self.upper[:, None]
        emptied = (totals >= upper) | (last[:, None] <= tried)
        scale = np.where(emptied, upper / np.where(totals > 0.0, totals, 1.0), 1.0)
        paths *= scale[self._member]
        steps = paths - self.room[:, None]
        gains = gradient @ steps - 0.5 * np.einsum("ij,ij->j", steps, self.matrix @ steps)
        best = int(gains.argmax())
        return paths[:, best], emptied[:, best]
