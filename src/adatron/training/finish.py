"""The exact finish: from a nearly optimal α to the optimum itself.

At the optimum every multiplier is at 0, at its upper bound, or free; the free ones and the bias
solve a linear system. Starting from the sets that α suggests, step towards the solution of the
free system; a multiplier that meets its bound on the way stays there; when the whole step fits,
the points at a bound whose gradient has the wrong sign are freed. The dual objective never falls,
so the sets cannot cycle (a primal active-set method).
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs  # the wrappers around them cost more than small solves

from adatron.problems import DualProblem
from adatron.solvers import Pause
from adatron.training.certificate import best_bias

__all__ = ["LARGEST_FREE_SET", "exact_finish", "lengths_to_try", "reach_the_optimum", "solve_free_system"]

LARGEST_FREE_SET = 2_000
_WORK = 4e10  # multiply-adds spent at most on one finish
_WORK_PER_STEP = 1e7  # what a step costs in any case, in the same unit
_RIDGE = 1e-11  # keeps factorisations of singular systems (equal rows) bounded; refinement removes it
_FREED_AT_ONCE = 16


@singledispatch
def exact_finish(
    problem: Any, column: int, alpha: np.ndarray, pause: Pause = lambda: None
) -> np.ndarray | None:
    """The optimal α of one problem, or None when it was not reached within a bounded effort."""
    raise TypeError(f"no exact finish for {type(problem).__name__}")


@exact_finish.register(DualProblem)
def _(problem: DualProblem, column: int, alpha: np.ndarray, pause: Pause = lambda: None) -> np.ndarray | None:
    return reach_the_optimum(_Finish(problem, column, alpha), pause)


def reach_the_optimum(finish: Any, pause: Pause, most_work: float = _WORK) -> np.ndarray | None:
    """Step, and free what is wrong, until nothing is; None when that took more than a bounded effort."""
    work = 0.0
    while finish.n_free <= LARGEST_FREE_SET and work < most_work:
        pause()
        work += _WORK_PER_STEP + float(finish.n_free) ** 3 / 3
        try:
            if finish.step() and not finish.free_the_wrong():
                return finish.polished()
        except LinAlgError:
            return None
    return None


class _Finish:
    """α, its outputs f, the bias and the free set of one problem on the way to the optimum."""

    def __init__(self, problem: DualProblem, column: int, alpha: np.ndarray) -> None:
        self.gram, self.has_bias, self.r = problem.gram, problem.has_bias, problem.equality or 0.0
        self.y, self.p, self.upper = (a[:, column] for a in (problem.y, problem.p, problem.upper))
        self.alpha = problem.gram.cancel_twins(np.clip(alpha, 0.0, self.upper))
        self.root_diagonal = np.sqrt(problem.diagonal)
        self.bias, self.progress = 0.0, True
        self.exact_f, self.of_alpha = np.zeros(problem.m), np.zeros(problem.m)
        self.place, self.values = np.full(problem.m, -1), np.empty((0, 0))
        self.refresh()
        self._guess_bounds(problem.diagonal)

    def _guess_bounds(self, diagonal: np.ndarray) -> None:
        """Move points to the bound that one step of their own would take them to; the rest are free.

        Without this, the α > 0 of multiplicative solvers would make every point free.
        """
        if self.has_bias:
            self.bias = float(np.mean(best_bias(self.f, self.y, self.p, self.upper, self.r)))
        wanted = self.alpha + (self.p - self.y * (self.f + self.bias)) / diagonal
        self.alpha[wanted <= 0.0] = 0.0
        full = wanted >= self.upper
        self.alpha[full] = self.upper[full]
        self.free = (self.alpha > 0.0) & (self.alpha < self.upper)
        self.refresh()

    @property
    def n_free(self) -> int:
        return int(self.free.sum())

    def refresh(self) -> None:
        """Bring the outputs up to date with what α has changed since the last time."""
        change = self.y * (self.alpha - self.of_alpha)
        self.exact_f = self.exact_f + self.gram.matmul(change[:, None])[:, 0]
        self.f, self.of_alpha = self.exact_f.copy(), self.alpha.copy()

    def _block(self, rows: np.ndarray) -> np.ndarray:
        """Kernel values among some points; free sets mostly shrink, so those of the last ones are kept."""
        if (self.place[rows] < 0).any():
            self.values = self.gram.block(rows, rows)
            self.place[:] = -1
            self.place[rows] = np.arange(len(rows))
        place = self.place[rows]
        return self.values[np.ix_(place, place)]

    def step(self) -> bool:
        """Step towards the solution of the free system; whether the whole step was taken.

        Outputs are kept up to date for the free points only, which is all that steps need.
        """
        rows = np.flatnonzero(self.free)
        if len(rows) == 0:
            return True
        y, alpha, upper = self.y[rows], self.alpha[rows], self.upper[rows]
        block = self._block(rows)
        missing = self.r - float(self.y @ self.alpha) if self.has_bias else None
        residual = self.p[rows] - y * self.f[rows]
        signed = y[:, None] * block * y
        direction, self.bias = solve_free_system(signed, y, residual, missing)
        blocked = ((alpha <= 0.0) & (direction < 0.0)) | ((alpha >= upper) & (direction > 0.0))
        if blocked.any():  # freed together with others, but it wants to stay
            self.free[rows[blocked]] = False
            return False
        moved = _best_on_bent_path(alpha, upper, direction, residual - self.bias * y, signed)
        self.alpha[rows] = moved
        self.f[rows] += block @ (y * (moved - alpha))
        met = (moved <= 0.0) | (moved >= upper)
        self.free[rows[met]] = False
        self.progress |= bool((moved != alpha).any())
        return not met.any()

    def free_the_wrong(self) -> bool:
        """Free points at a bound that the gradient wants elsewhere; whether there were any."""
        self.refresh()
        wrong = self._worst_pair() if self.has_bias and not self.free.any() else self._wrong_points()
        self.free[wrong] = True
        self.progress = False
        return len(wrong) > 0

    def _wrong_points(self) -> np.ndarray:
        gradient = self.p - self.y * (self.f + self.bias)
        pull = np.where(self.alpha <= 0.0, gradient, -gradient)
        pull[self.free | (self.upper <= 0.0)] = 0.0
        wrong = np.flatnonzero(pull > self._rounding())
        most = _FREED_AT_ONCE if self.progress else 1  # one alone is sure to move
        return wrong[np.argsort(-pull[wrong], kind="stable")[:most]]

    def _worst_pair(self) -> np.ndarray:
        """With all points at their bounds, the two that disagree most about the bias.

        While ``yᵀα`` is not yet r, the one that moves it there at the least cost.
        """
        turn = self.y * self.p - self.f
        can_rise = np.where(self.y > 0.0, self.alpha < self.upper, self.alpha > 0.0)
        can_fall = np.where(self.y > 0.0, self.alpha > 0.0, self.alpha < self.upper)
        low = np.where(can_rise, turn, -np.inf)
        high = np.where(can_fall, turn, np.inf)
        i, j = int(low.argmax()), int(high.argmin())
        omega = float(self.y @ self.alpha) - self.r
        if abs(omega) > 1e-12 * float(self.alpha.sum()):
            return np.array([j if omega > 0.0 else i])
        return np.array([i, j]) if low[i] - high[j] > self._rounding()[i] else np.array([], dtype=int)

    def _rounding(self) -> np.ndarray:
        """How far rounding alone can move a gradient."""
        return 1e-13 * self.root_diagonal * float(self.alpha @ self.root_diagonal) + 1e-12 * np.abs(self.p)

    def polished(self) -> np.ndarray:
        """One more solve of the free system, against outputs that are fresh from `free_the_wrong`."""
        before = self.alpha.copy(), self.free.copy()
        if not self.step() or not np.isfinite(self.alpha).all():
            self.alpha, self.free = before
        return self.alpha


def _best_on_bent_path(
    alpha: np.ndarray, upper: np.ndarray, direction: np.ndarray, gradient: np.ndarray, Q: np.ndarray
) -> np.ndarray:
    """The best α on the path ``clip(α + t d)``, from the first bound it meets to t = 1.

    Stopping at the first bound always gains; going on bends the path but often gains more, and then
    takes many multipliers to their bounds at once.
    """
    room = np.where(direction < 0.0, alpha, upper - alpha)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lengths = np.where(direction != 0.0, room / np.abs(direction), np.inf)
    tried = lengths_to_try(float(lengths.min()))
    paths = np.clip(alpha[:, None] + tried * direction[:, None], 0.0, upper[:, None])
    reached = lengths[:, None] <= tried  # exactly at the bound, whatever rounding says
    paths = np.where(reached, np.where(direction < 0.0, 0.0, upper)[:, None], paths)
    steps = paths - alpha[:, None]
    gains = gradient @ steps - 0.5 * np.einsum("ij,ij->j", steps, Q @ steps)
    return paths[:, int(gains.argmax())]


def lengths_to_try(first: float) -> np.ndarray:
    """Lengths of a step, from the one that meets the first bound to 1."""
    first = min(1.0, first)
    return np.unique(np.minimum(first * 4.0 ** np.arange(12), 1.0)) if first > 0.0 else np.ones(1)


def solve_free_system(
    Q: np.ndarray, y: np.ndarray, p: np.ndarray, missing: float | None
) -> tuple[np.ndarray, float]:
    """Solve ``Q d + b y = p`` (and ``yᵀd = missing``) by Cholesky and iterative refinement."""
    ridged = Q.copy(order="F")
    np.einsum("ii->i", ridged)[:] += _RIDGE * Q.diagonal().max()
    factor, failed = dpotrf(ridged, lower=1, overwrite_a=1)
    if failed:
        raise LinAlgError("the free system is not positive definite")
    along = dpotrs(factor, y, lower=1)[0]
    solution, bias = np.zeros(len(y)), 0.0
    for _ in range(3):
        step = dpotrs(factor, p - Q @ solution - bias * y, lower=1)[0]
        if missing is not None:
            change = float(y @ (step + solution) - missing) / float(y @ along)
            step -= change * along
            bias += change
        solution = solution + step
    return solution, bias
