"""The exact finish: from a nearly optimal α to the optimum itself.

At the optimum every multiplier is at 0, at its upper bound, or free; the free ones and the bias
solve a linear system. Starting from the sets that α suggests, step towards the solution of the
free system; a multiplier that meets its bound on the way stays there; when the whole step fits,
the points at a bound whose gradient has the wrong sign are freed. The dual objective never falls,
so the sets cannot cycle (a primal active-set method).
"""

from functools import singledispatch
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs  # without the wrappers, which cost more than small solves

from adatron.numerics.threads import one_blas_thread
from adatron.problems import DualProblem
from adatron.solvers import CrammerSingerProblem, Pause
from adatron.training.certificate import best_bias

_LARGEST_FREE_SET = 2_000
_WORK, _WORK_COUPLED = 4e10, 2e11  # multiply-adds at most; sweeps over coupled rows are slower
_WORK_IF_NEAR = 4e9  # the same where α is nearly optimal already
_WORK_PER_STEP = 1e7  # fixed cost of a step, in the same unit
_RIDGE = 1e-11  # keeps factorisations of singular systems (equal rows) bounded; refinement removes it
_FREED_AT_ONCE, _FREED_AT_ONCE_COUPLED = 16, 256


@singledispatch
def exact_finish(
    problem: Any, column: int, alpha: np.ndarray, pause: Pause = lambda: None, is_near: bool = False
) -> np.ndarray | None:
    """The optimal α of one problem, or None when it was not reached within a bounded effort.

    Much less effort is spent on an α that `is_near` the optimum already.
    """
    return reach_the_optimum(_Finish(problem, column, alpha), pause, _WORK_IF_NEAR if is_near else _WORK)


def reach_the_optimum(finish: Any, pause: Pause, most_work: float) -> np.ndarray | None:
    """Step, and free wrong multipliers, until the optimum; None if that takes more than a bounded effort."""
    work = 0.0
    while (n_free := int(finish.free.sum()) - finish.n_references) <= _LARGEST_FREE_SET and work < most_work:
        pause()
        work += _WORK_PER_STEP + float(n_free) ** 3 / 3
        try:
            if finish.step() and not finish.free_the_wrong():
                optimum = finish.alpha.copy()  # one more solve, now with recomputed outputs
                return finish.alpha if finish.step() and np.isfinite(finish.alpha).all() else optimum
        except LinAlgError:
            return None
    return None


class _Finish:
    """α, its outputs f, the bias and the free set of one problem on the way to the optimum."""

    n_references = 0  # members of the free set that the others exchange with

    def __init__(self, problem: DualProblem, column: int, alpha: np.ndarray) -> None:
        self.gram, self.has_bias, self.r = problem.gram, problem.has_bias, problem.equality or 0.0
        self.y, self.p, self.upper = (a[:, column] for a in (problem.y, problem.p, problem.upper))
        self.alpha = problem.gram.cancel_twins(np.clip(alpha, 0.0, self.upper))
        self.root_diagonal = np.sqrt(problem.diagonal)
        self.bias, self.progress = 0.0, True
        self.exact_f, self.of_alpha = np.zeros(problem.m), np.zeros(problem.m)
        self.place, self.values = np.full(problem.m, -1), np.empty((0, 0))
        self.rows, self.system = np.empty(0, dtype=int), FreeSystem(*[np.empty(0)] * 4)  # of no rows
        self._refresh()
        # Points are at the bound that one step of their own would take them to, the rest are free. Without
        # this, the α > 0 of multiplicative solvers would make every point free.
        if self.has_bias:
            self.bias = 0.5 * sum(best_bias(self.f, self.y, self.p, self.upper, self.r))
        wanted = self.alpha + (self.p - self.y * (self.f + self.bias)) / problem.diagonal
        self.alpha = np.where(wanted <= 0.0, 0.0, np.where(wanted >= self.upper, self.upper, self.alpha))
        self.free = (self.alpha > 0.0) & (self.alpha < self.upper)
        self._refresh()

    def _refresh(self) -> None:
        """Bring the outputs up to date with what α has changed since the last time."""
        change = self.y * (self.alpha - self.of_alpha)
        self.exact_f = self.exact_f + self.gram.matmul(change[:, None])[:, 0]
        self.f, self.of_alpha = self.exact_f.copy(), self.alpha.copy()

    def step(self) -> bool:
        """Step towards the solution of the free system; whether the whole step was taken.

        Steps need the outputs of free points only, so only these are kept up to date.
        """
        rows = np.flatnonzero(self.free)
        if len(rows) == 0:
            return True
        y, alpha, upper = self.y[rows], self.alpha[rows], self.upper[rows]
        if len(rows) != len(self.rows) or (rows != self.rows).any():
            self.rows, self.system = rows, FreeSystem.of(y[:, None] * self._block(rows) * y, y)
        signed = self.system.Q
        missing = self.r - float(self.y @ self.alpha) if self.has_bias else None
        residual = self.p[rows] - y * self.f[rows]
        direction, self.bias = self.system.solve(residual, missing)
        moved = alpha + direction
        if (np.minimum(moved, upper - moved) > 0.0).all():  # mostly no bound is in the way
            self._move(rows, alpha, moved)
            return True
        blocked = ((alpha <= 0.0) & (direction < 0.0)) | ((alpha >= upper) & (direction > 0.0))
        if blocked.any():  # freed together with others, but it wants to stay
            self.free[rows[blocked]] = False
            return False
        # The best α on the path clip(α + t d), from the first bound it meets to t = 1. Stopping at the first
        # bound always gains; going on bends the path but often gains more, and then takes many multipliers
        # to their bounds at once.
        room, end = np.where(direction < 0.0, alpha, upper - alpha), np.where(direction < 0.0, 0.0, upper)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lengths = np.where(direction != 0.0, room / np.abs(direction), np.inf)
        tried = lengths_to_try(float(lengths.min()))
        paths = np.clip(alpha[:, None] + tried * direction[:, None], 0.0, upper[:, None])
        paths = np.where(lengths[:, None] <= tried, end[:, None], paths)  # exactly at the bound
        steps = paths - alpha[:, None]
        gains = (residual - self.bias * y) @ steps - 0.5 * np.einsum("ij,ij->j", steps, signed @ steps)
        moved = paths[:, int(gains.argmax())]
        met = (moved <= 0.0) | (moved >= upper)
        self.free[rows[met]] = False
        self._move(rows, alpha, moved)
        return not met.any()

    def _move(self, rows: np.ndarray, alpha: np.ndarray, moved: np.ndarray) -> None:
        """Move the free multipliers, and their outputs with them."""
        self.alpha[rows] = moved
        self.f[rows] += self.y[rows] * (self.system.Q @ (moved - alpha))
        self.progress |= bool((moved != alpha).any())

    def _block(self, rows: np.ndarray) -> np.ndarray:
        """The kernel values of some rows; free sets mostly shrink, so the last block is reused."""
        places = self.place[rows]
        if places.min() < 0:
            self.values = self.gram.block(rows, rows)
            self.place[:] = -1
            self.place[rows] = np.arange(len(rows))
            return self.values
        return self.values[np.ix_(places, places)]

    def free_the_wrong(self) -> bool:
        """Free points at a bound whose gradient points inwards; return whether there were any.

        With all points at their bounds, these are the two that disagree most about the bias; while ``yᵀα`` is
        not yet r, the one that moves it there at the least cost.
        """
        self._refresh()
        roots = self.root_diagonal
        rounding = 1e-13 * roots * float(self.alpha @ roots) + 1e-12 * np.abs(self.p)  # of a gradient
        if self.has_bias and not self.free.any():
            turn = self.y * self.p - self.f
            can_grow, can_shrink = self.alpha < self.upper, self.alpha > 0.0
            low = np.where(np.where(self.y > 0.0, can_grow, can_shrink), turn, -np.inf)
            high = np.where(np.where(self.y > 0.0, can_shrink, can_grow), turn, np.inf)
            i, j = int(low.argmax()), int(high.argmin())
            omega = float(self.y @ self.alpha) - self.r
            if abs(omega) > 1e-12 * float(self.alpha.sum()):
                wrong = np.array([j if omega > 0.0 else i])
            else:
                wrong = np.array([i, j] if low[i] - high[j] > rounding[i] else [], dtype=int)
        else:
            gradient = self.p - self.y * (self.f + self.bias)
            pull = np.where(self.alpha <= 0.0, gradient, -gradient)
            pull[self.free | (self.upper <= 0.0)] = 0.0
            wrong = np.flatnonzero(pull > rounding)
            most = _FREED_AT_ONCE if self.progress else 1  # one alone is sure to move
            wrong = wrong[np.argsort(-pull[wrong], kind="stable")[:most]]
        self.free[wrong] = True
        self.progress = False
        return len(wrong) > 0


@exact_finish.register(CrammerSingerProblem)
def _exact_finish(
    problem: CrammerSingerProblem, column: int, alpha: np.ndarray, pause: Pause = lambda: None
) -> np.ndarray | None:
    with one_blas_thread():  # the systems are small, however many rows there are
        return reach_the_optimum(_CoupledFinish(problem, alpha), pause, _WORK_COUPLED)


class _CoupledFinish:
    """The same on a simplex per row, for Crammer & Singer's problem.

    The class with the largest distance β_ic from its bound is the row's reference r; another class c with
    β_ic > 0 is free to exchange mass with it. Exchanging ``d_ic`` gains ``s_ic − s_ir`` per unit and changes
    the quadratic term by ``H[(i, c), (j, c')] = K_ij (δ_cc' − δ_cr' − δ_rc' + δ_rr')``. Where all of a row's
    mass comes from the reference, that class leaves and another takes its place.
    """

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
        direction, _ = FreeSystem.of(H, np.zeros(len(rows))).solve(gains[pairs], None)
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
        paths[lengths[:, None] <= tried] = 0.0  # exactly, in spite of rounding
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
        """Free classes at their bound whose gradient points inwards; return whether there were any."""
        self.f = self.gram.matmul(self.alpha)
        pull = self._gains()[2]
        pull[self.free] = 0.0
        sizes = float(np.abs(self.alpha).sum(axis=1) @ self.root_diagonal)
        rounding = 1e-13 * self.root_diagonal * sizes + 1e-12  # of a gradient
        rows, classes = np.nonzero(pull > rounding[:, None])
        most = _FREED_AT_ONCE_COUPLED if self.progress else 1  # one alone is sure to move
        worst = np.argsort(-pull[rows, classes], kind="stable")[:most]
        self.free[rows[worst], classes[worst]] = True
        self.progress = False
        return len(worst) > 0


def lengths_to_try(first: float) -> np.ndarray:
    """Lengths of a step, from the one that meets the first bound to 1."""
    if not 0.0 < first < 1.0:
        return np.ones(1)
    return np.unique(np.minimum(first * 4.0 ** np.arange(12), 1.0))


class FreeSystem(NamedTuple):
    """The system ``Q d + b y = p`` of free multipliers, solved by Cholesky and iterative refinement."""

    Q: np.ndarray
    y: np.ndarray
    factor: np.ndarray
    along: np.ndarray  # Q⁻¹ y

    @classmethod
    def of(cls, Q: np.ndarray, y: np.ndarray) -> Self:
        ridged = Q.copy(order="F")
        ridged.ravel("K")[:: len(Q) + 1] += _RIDGE * Q.diagonal().max()
        factor, failed = dpotrf(ridged, lower=1, overwrite_a=1)
        if failed:
            raise LinAlgError("the free system is not positive definite")
        return cls(Q, y, factor, dpotrs(factor, y, lower=1)[0])

    def solve(self, p: np.ndarray, missing: float | None) -> tuple[np.ndarray, float]:
        """Return d and b, with ``yᵀd = missing`` unless that is None."""
        Q, y, factor, along = self
        solution, bias, size = np.zeros(len(y)), 0.0, float(y @ along)
        for turn in range(3):
            left = p - Q @ solution - bias * y if turn else p
            step = dpotrs(factor, left, lower=1)[0]
            if missing is not None:
                change = float(y @ (step + solution) - missing) / size
                step -= change * along
                bias += change
            solution = solution + step
        return solution, bias
