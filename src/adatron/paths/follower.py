"""From one end of a regularisation path to the other, past whatever holds a walk up.

The path starts at C = 0. If both classes have the same weight, all multipliers grow with C and the bias is
free until two points meet the margin. Otherwise those of the smaller class do, and those of the larger one
solve a quadratic programme that does not depend on C while C is small; the package's own solver does that. It
also takes over where rounding, or many coincident events, leave the walk without a way on.
"""

from __future__ import annotations

import numpy as np

from adatron.gram import DenseGram
from adatron.paths.events import ELBOW, LEFT, RIGHT
from adatron.paths.exact_result import Knots
from adatron.paths.walk import Motion, PathWalk
from adatron.problems import DualProblem
from adatron.solvers import GreedyAdatron
from adatron.training import Run, exact_finish, rounds
from adatron.training.certificate import best_bias

__all__ = ["PathFollower"]

_REFRESH_EVERY = 40  # events
_ZERO_STEP = 1e-13  # part of C
_COINCIDENT = 50  # events in steps of length 0, beyond which the walk starts anew a little further on
_JUMP = 1e-7  # part of C; what lies within is interpolated, with an error of its square
_WRONG = 1e-8  # slack on the wrong side from which on the walk starts anew
_FAILED = 1e-5  # slack on the wrong side that a solution may have
_LOST = 1e-5  # slack that rounding cannot tell from none, at which the path ends
_AT_BOUND = 1e-9  # part of the bound
_MOST_EVENTS = 100  # per point
_MOST_ROUNDS = 200


class PathFollower:
    """Takes a walk from event to event and keeps the breakpoints.

    Parameters
    ----------
    walk : PathWalk
        At C = 0.
    C_max : float

    Attributes
    ----------
    knots : Knots
    complete : bool
        Whether no event follows the last breakpoint.
    """

    def __init__(self, walk: PathWalk, C_max: float) -> None:
        self.walk, self.C_max = walk, C_max
        self.knots, self.complete = Knots(), False
        self._coincident, self._jump = 0, _JUMP

    def follow(self) -> None:
        """Go to the end."""
        self._start()
        for event in range(1, _MOST_EVENTS * self.walk.m + 1):
            if self.complete or self.C_max <= self.walk.C or self.walk.rounding > _LOST:
                return
            self._step() if len(self.walk.elbow) else self._step_empty()
            if event % _REFRESH_EVERY == 0:
                self._look_after()
        raise RuntimeError(f"the path has not ended after {event} events, at C={self.walk.C:g}; lower C_max")

    def _start(self) -> None:
        walk = self.walk
        excess, total = float(walk.y @ walk.w), float(walk.w.sum())
        if abs(excess) <= 1e-12 * total:
            self.knots.add(walk)
            return
        walk.bias = float(np.sign(excess))
        self.knots.add(walk)
        smaller = 0.5 * (total - abs(excess))
        C = 0.5 / (smaller * float(walk.K.diagonal().max()))  # below the first event
        self._solve_at(min(C, self.C_max), walk.y * excess < 0.0)

    def _step(self) -> None:
        walk = self.walk
        walk.correct()
        motion = walk.motion()
        step, point = walk.next_event(motion)
        if step >= self.C_max - walk.C:
            self._last_step(motion, point)
            return
        walk.advance(step, motion)
        if step > _ZERO_STEP * walk.C:
            self.knots.add(walk)
            self._coincident, self._jump = 0, _JUMP
        else:
            self._coincident += 1
        walk.change_side(point)
        if not len(walk.elbow):  # the bias is free, and jumps to the middle
            walk.advance_empty(0.0)
            self.knots.add(walk)
        if self._coincident > _COINCIDENT:
            self._coincident, self._jump = 0, 10.0 * self._jump
            self._solve_at(walk.C * (1.0 + self._jump))

    def _last_step(self, motion: Motion, point: int) -> None:
        walk = self.walk
        self.complete = point < 0
        walk.advance(self.C_max - walk.C if np.isfinite(self.C_max) else walk.C, motion)
        walk.correct()
        self.knots.add(walk)

    def _step_empty(self) -> None:
        walk = self.walk
        found = walk.refill()
        if found is None or found[0] >= self.C_max - walk.C:
            self.complete = found is None
            walk.advance_empty(self.C_max - walk.C if np.isfinite(self.C_max) else max(walk.C, 1.0))
            self.knots.add(walk)
            return
        step, points = found
        walk.advance_empty(step)
        self.knots.add(walk)
        for point in points:
            walk.change_side(point)

    def _look_after(self) -> None:
        walk = self.walk
        walk.refresh()
        if len(walk.elbow):
            walk.correct()
            if walk.violation() > max(_WRONG, 10.0 * walk.rounding):
                self._solve_at(walk.C)

    def _solve_at(self, C: float, known_left: np.ndarray | None = None) -> None:
        """Go on from the solution that the package's own solver finds at C."""
        walk, upper = self.walk, C * self.walk.w
        y = walk.y[:, None]
        problem = DualProblem(DenseGram(walk.K), y, np.ones_like(y), upper[:, None], equality=0.0)
        alpha = _solved(problem, walk.alpha * (C / walk.C) if walk.C > 0.0 else None)
        side = np.where(alpha >= (1.0 - _AT_BOUND) * upper, LEFT, ELBOW).astype(np.int8)
        side[alpha <= _AT_BOUND * np.minimum(upper, alpha.max())] = RIGHT
        if known_left is not None:
            side[known_left] = LEFT
        alpha = np.where(side == LEFT, upper, np.where(side == RIGHT, 0.0, alpha))
        f = walk.K @ (walk.y * alpha)
        walk.place(C, alpha, float(np.mean(best_bias(f, walk.y, np.ones(walk.m), upper))), side)
        if len(walk.elbow):
            walk.correct()
        if walk.violation() > max(_FAILED, 100.0 * walk.rounding):
            raise RuntimeError(
                f"the exact path is lost at C={C:g}, as rounding leaves no solution accurate enough to go on "
                "from; scale X, or use a grid of Cs"
            )
        self.knots.add(walk)


def _solved(problem: DualProblem, near: np.ndarray | None) -> np.ndarray:
    """The solution of a problem, from one nearby if there is one."""
    finished = None if near is None else exact_finish(problem, 0, near)
    if finished is not None:
        return finished
    start = None if near is None else near[:, None]
    run = Run(problem, GreedyAdatron(), tol=1e-10, max_iter=_MOST_ROUNDS, alpha=start, eager=True)
    for _ in rounds([run]):
        pass
    alpha = run.snapshot()[0].alpha
    finished = exact_finish(problem, 0, alpha)
    return alpha if finished is None else finished
