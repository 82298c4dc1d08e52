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

from typing import Any

import numpy as np

from adatron.gram import REGIME, Regime
from adatron.numerics.threads import one_blas_thread
from adatron.solvers import CrammerSingerProblem, Pause
from adatron.training.certificate import (
    Certificate,
    certify,
    hard_margin,
    is_as_good_as_hard,
    precise_sum,
    soft_margin,
    with_smaller_gap,
)  # fmt: skip
from adatron.training.finish import exact_finish, lengths_to_try, reach_the_optimum, solve_free_system
from adatron.training.records import measure

_FREED_AT_ONCE = 256
_WORK = 2e11  # multiply-adds spent at most: more than in `finish`, because sweeps over rows end later


@certify.register(CrammerSingerProblem)
def _certify(
    problem: CrammerSingerProblem, column: int, alpha: np.ndarray, outputs: np.ndarray | None = None,
    regime: Regime = REGIME,
) -> Certificate:  # fmt: skip
    alpha = problem.feasible(np.asarray(alpha, dtype=np.float64))
    f = problem.gram.matmul(alpha)
    slack, margins = _slack_and_margins(problem, f)
    quadratic, linear = max(precise_sum(alpha * f), 0.0), precise_sum(alpha[problem.own])
    known = (alpha, f, 0.0, (0.0, 0.0), quadratic, linear)
    hard = hard_margin(*known, margins)
    if np.isinf(problem.upper).any():
        return hard
    soft = soft_margin(*known, float(margins.min()), precise_sum((problem.bounds - alpha) * slack))
    return with_smaller_gap(soft, hard) if is_as_good_as_hard(problem, 0) else soft


@measure.register(CrammerSingerProblem)
def _measure(problem: CrammerSingerProblem, state: Any) -> np.ndarray:
    """The margin is the smallest ``f_{i,y_i} − f_ic`` over rows below their bound, 1 at the optimum."""
    alpha, f = state.alpha[..., 0], state.f[..., 0]
    with np.errstate(over="ignore", invalid="ignore"):  # what diverges is recorded, then recognised
        slack, margins = _slack_and_margins(problem, f)
        objective = alpha[problem.own].sum() - 0.5 * (alpha * f).sum()
        below = alpha[problem.own] < problem.upper[:, 0]
        violation = np.where(alpha < problem.bounds, slack, 0.0).max()
    return np.array([[objective, margins[below].min() if below.any() else margins.min(), violation]])


def _slack_and_margins(problem: CrammerSingerProblem, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``ξ_i − s_ic``, and ``f_{i,y_i} − max f_ic`` over the other classes, of every row."""
    losses = np.where(problem.own, 0.0, 1.0 + f - f[problem.own][:, None])
    slack = losses.max(axis=1, keepdims=True) - losses
    return slack, 1.0 - np.where(problem.own, -np.inf, losses).max(axis=1)


@exact_finish.register(CrammerSingerProblem)
def _exact_finish(
    problem: CrammerSingerProblem, column: int, alpha: np.ndarray, pause: Pause = lambda: None
) -> np.ndarray | None:
    with one_blas_thread():  # the systems are small, however many rows there are
        return reach_the_optimum(_CoupledFinish(problem, alpha), pause, _WORK)


class _CoupledFinish:
    """A, its outputs and the classes that are free in each row, on the way to the optimum."""

    def __init__(self, problem: CrammerSingerProblem, alpha: np.ndarray) -> None:
        self.problem, self.gram, self.alpha = problem, problem.gram, problem.feasible(alpha)
        self.root_diagonal, self.places = np.sqrt(problem.diagonal), np.arange(problem.m)
        self.free, self.progress = self.alpha < problem.bounds, True
        self.f, self.n_references = self.gram.matmul(self.alpha), problem.m

    def _gains(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """β, the reference of each row, and what moving a unit of mass from it to each class gains."""
        room = self.problem.bounds - self.alpha
        reference, value = room.argmax(axis=1), self.f - self.problem.own
        return room, reference, value - value[self.places, reference][:, None]

    def step(self) -> bool:
        """Step towards the solution of the free system; whether the whole step was taken."""
        bounds = self.problem.bounds
        room, reference, gains = self._gains()
        free = self.free.copy()
        free[self.places, reference] = False
        rows, classes = pairs = np.nonzero(free)
        if not len(rows):
            return True
        members, first, member = np.unique(rows, return_index=True, return_inverse=True)
        references = members, reference[members]
        sign = np.zeros((len(rows), self.problem.n_classes))
        sign[np.arange(len(rows)), classes] = 1.0
        sign[np.arange(len(rows)), reference[rows]] = -1.0
        block = self.gram.block(members, members)
        H = block[np.ix_(member, member)] * (sign @ sign.T)
        direction, _ = solve_free_system(H, np.zeros(len(rows)), gains[pairs], None)
        blocked = (room[pairs] <= 0.0) & (direction < 0.0)
        if blocked.any():  # freed together with others, but it wants to stay
            self.free[rows[blocked], classes[blocked]] = False
            return False
        # The best distances on β + t d, bent into the simplex, and which references that empties.
        start, upper, taken = room[pairs], self.problem.upper[members], np.add.reduceat(direction, first)
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(direction < 0.0, start / -direction, np.inf)
            last = np.where(taken > 0.0, room[references] / taken, np.inf)
        tried = lengths_to_try(min(float(lengths.min()), float(last.min())))
        paths = np.maximum(start[:, None] + tried * direction[:, None], 0.0)
        paths[lengths[:, None] <= tried] = 0.0  # whatever rounding says
        totals = np.add.reduceat(paths, first, axis=0)
        empties = (totals >= upper) | (last[:, None] <= tried)
        paths *= np.where(empties, upper / np.where(totals > 0.0, totals, 1.0), 1.0)[member]
        steps = paths - start[:, None]
        best = int((gains[pairs] @ steps - 0.5 * np.einsum("ij,ij->j", steps, H @ steps)).argmax())
        moved, emptied = paths[:, best], empties[:, best]
        before = self.alpha[members]
        self.alpha[pairs] = bounds[pairs] - moved
        self.alpha[references] += np.add.reduceat(moved - room[pairs], first)
        gone = members[emptied], reference[members[emptied]]
        self.alpha[gone], self.free[gone] = bounds[gone], False
        self.free[rows[moved <= 0.0], classes[moved <= 0.0]] = False
        change = self.alpha[members] - before
        self.f[members] += block @ change
        self.progress |= bool(change.any())
        return not (emptied.any() or (moved <= 0.0).any())

    def free_the_wrong(self) -> bool:
        """Free classes at their bound that the gradient wants elsewhere; whether there were any."""
        self.f = self.gram.matmul(self.alpha)
        pull = self._gains()[2]
        pull[self.free] = 0.0
        sizes = float(np.abs(self.alpha).sum(axis=1) @ self.root_diagonal)
        rounding = 1e-13 * self.root_diagonal * sizes + 1e-12  # of a gradient
        rows, classes = np.nonzero(pull > rounding[:, None])
        most = _FREED_AT_ONCE if self.progress else 1  # one alone is sure to move
        worst = np.argsort(-pull[rows, classes], kind="stable")[:most]
        self.free[rows[worst], classes[worst]] = True
        self.progress = False
        return len(worst) > 0
