"""The solutions of the soft-margin SVM as C grows, followed from breakpoint to breakpoint.

Every point is LEFT of the margin with ``α_i = C w_i``, RIGHT of it with ``α_i = 0``, or on the ELBOW with
``y_i (f_i + b) = 1``. While no point changes its side, everything is linear in C. An event is where a
multiplier of the elbow meets 0 or its bound ``C w_i``, or the slack ``1 − y_i (f_i + b)`` of another point
meets 0. Simultaneous events are taken one by one, in steps of length 0. A point that is on the margin because
it is a combination of others there is PARKED: its multiplier keeps its share of the bound until they leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adatron.gram import DenseGram, add_kept_rows
from adatron.paths.elbow import ELBOW, LEFT, PARKED, RIGHT, Elbow, next_event
from adatron.problems import classification
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, exact_finish, solved
from adatron.training.certificate import best_bias

_SLACK = 1e-12  # slack that counts as none …
_ROUNDING = 2e-15  # … beside what rounding of the outputs adds to it
_MET = 1e-12  # part of the largest multiplier within which another is at its bound
_AT_BOUND = 1e-9  # part of the bound within which a multiplier is at it
_REFRESH_EVERY = 40  # events
_ZERO_STEP = 1e-13  # part of C
_COINCIDENT = 50  # events in steps of length 0, beyond which a new start is made a little further on
_JUMP = 1e-7  # part of C; what lies within is interpolated, with an error of its square
_WRONG = 1e-8  # slack on the wrong side that asks for a new start
_LOST = 1e-5  # slack on the wrong side, or that rounding cannot tell from none, at which the path ends
_MOST_EVENTS = 100  # per point


class Knot(NamedTuple):
    """A breakpoint: the sides of all points, but the multipliers only of those on the margin."""

    C: float
    bias: float
    side: np.ndarray
    free: np.ndarray

    def alpha(self, w: np.ndarray) -> np.ndarray:
        """All multipliers, given the weights of the points."""
        alpha = np.where(self.side == LEFT, self.C * w, 0.0)
        alpha[(self.side == ELBOW) | (self.side == PARKED)] = self.free
        return alpha


class Homotopy:
    """Where the path is, and its breakpoints so far; `complete` if no event follows the last of them.

    K is centred: as ``yᵀα = 0``, the origin of the feature space matters to the bias only, but kernel values
    that are nearly equal keep more of their digits.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, w: np.ndarray, C_max: float) -> None:
        self.y, self.w, self.m, self.C_max = y, w, len(y), C_max
        self._roots, self._means = np.sqrt(np.maximum(K.diagonal(), 0.0)), K.mean(axis=0)
        self.K = K - (self._means[:, None] + self._means) + self._means.mean()
        if self.K.diagonal().max() <= _ROUNDING * self._roots.max() ** 2:
            raise ValueError("K has equal values only, so nothing tells the points apart; change the kernel")
        self.knots: list[Knot] = []
        self.complete, self._coincident, self._jump = False, 0, _JUMP
        self._place(0.0, np.zeros(self.m), 0.0, np.full(self.m, LEFT, dtype=np.int8))

    def follow(self) -> None:
        """Go from C = 0 to the end of the path."""
        excess, total = float(self.y @ self.w), float(self.w.sum())
        if abs(excess) <= 1e-12 * total:  # all multipliers grow with C, and the bias is free
            self._add_knot()
        else:  # those of the smaller class grow, and the others solve a problem that does not depend on C
            self.bias = float(np.sign(excess))
            self._add_knot()
            smaller = 0.5 * (total - abs(excess))
            C = 0.5 / (smaller * float(self.K.diagonal().max()))  # below the first event
            self._solve_at(min(C, self.C_max), self.y * excess < 0.0)
        for event in range(1, _MOST_EVENTS * self.m + 1):
            if self.complete or self.C_max <= self.C or self._rounding(self.alpha) > _LOST:
                return
            self._step() if len(self.elbow.rows) else self._step_with_empty_elbow()
            if event % _REFRESH_EVERY == 0:
                self._refresh()
                if len(self.elbow.rows):
                    self._correct()
                    if self._violation() > max(_WRONG, 10.0 * self._rounding(self.alpha)):
                        self._solve_at(self.C)
        raise RuntimeError(f"the path has not ended after {event} events, at C={self.C:g}; lower C_max")

    def _step(self) -> None:
        """Go to the next event, or to the end."""
        self._correct()
        speeds, f, bias = motion = self._motion()
        allowed = np.array([self._rounding(self.alpha), _MET * float(self.alpha.max())])
        still, slopes = self._rounding(self.C * np.abs(speeds)), -self.y * (f + bias)
        state = self.side, self.w, self.C, self.alpha
        step, point = next_event(*state, speeds, self._slack(), slopes, allowed, still)
        if step >= self.C_max - self.C:
            self.complete = point < 0
            self._advance(self.C_max - self.C if np.isfinite(self.C_max) else self.C, *motion)
            self._correct()
            self._add_knot()
            return
        self._advance(step, *motion)
        self._coincident += 1
        if step > _ZERO_STEP * self.C:
            self._add_knot()
            self._coincident, self._jump = 0, _JUMP
        self._change_side(point)
        if not len(self.elbow.rows):  # the bias is free, and jumps to the middle
            self._advance_with_empty_elbow(0.0)
            self._add_knot()
        if self._coincident > _COINCIDENT:
            self._coincident, self._jump = 0, 10.0 * self._jump
            self._solve_at(self.C * (1.0 + self._jump))

    def _step_with_empty_elbow(self) -> None:
        """Go to where the interval of biases has shrunk to one value: there two points enter the elbow."""
        from_above = self._bounds_from_above()
        above, below = np.flatnonzero(from_above), np.flatnonzero(~from_above)
        turns, speeds = self.y - self.f, -self._pull
        distances = np.subtract.outer(turns[above], turns[below])
        closing = -np.subtract.outer(speeds[above], speeds[below])
        still = self._rounding(self.w * self.share) - _SLACK
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(closing > still, np.maximum(distances, 0.0) / closing, np.inf)
        i, j = np.unravel_index(int(steps.argmin()), steps.shape)
        step = float(steps[i, j])
        is_last = step >= self.C_max - self.C
        if is_last:
            self.complete = step == np.inf
            step = self.C_max - self.C if np.isfinite(self.C_max) else max(self.C, 1.0)
        self._advance_with_empty_elbow(step)
        self._add_knot()
        if not is_last:
            self._change_side(int(above[i]))
            self._change_side(int(below[j]))

    def _solve_at(self, C: float, known_left: Any = slice(0)) -> None:
        """Go on from another solver's solution: at the start, and where rounding leaves no way on."""
        upper = C * self.w
        problem = classification(DenseGram(self.K), self.y, upper, bias=True)
        near = self.alpha * (C / self.C) if self.C > 0.0 else None
        alpha = None if near is None else exact_finish(problem, 0, near)
        if alpha is None:
            start = None if near is None else near[:, None]
            run = Run(problem, GreedyAdatron(), GapRule(1e-10, eager=True), max_iter=200, alpha=start)
            found = solved([run])[0].alpha
            finished = exact_finish(problem, 0, found)
            alpha = found if finished is None else finished
        side = np.where(alpha >= (1.0 - _AT_BOUND) * upper, LEFT, ELBOW).astype(np.int8)
        side[alpha <= _AT_BOUND * np.minimum(upper, alpha.max())] = RIGHT
        side[known_left] = LEFT
        alpha = np.where(side == LEFT, upper, np.where(side == RIGHT, 0.0, alpha))
        bias = np.mean(best_bias(self.K @ (self.y * alpha), self.y, np.ones(self.m), upper))
        self._place(C, alpha, float(bias), side)
        if len(self.elbow.rows):
            self._correct()
        if self._violation() > max(_LOST, 100.0 * self._rounding(self.alpha)):
            raise RuntimeError(f"the exact path is lost to rounding at C={C:g}; scale X, or use a grid of Cs")
        self._add_knot()

    def _place(self, C: float, alpha: np.ndarray, bias: float, side: np.ndarray) -> None:
        self.C, self.alpha, self.bias, self.side = C, alpha, bias, side
        self.share = np.where(side == LEFT, 1.0, 0.0)  # of the bound, off the elbow
        self.elbow = Elbow(self.K, self.y, _ROUNDING * float(self._roots.max()) ** 2)
        for row in np.flatnonzero(side == ELBOW).tolist():
            if not self.elbow.add(row, only_independent=True):
                self.side[row], self.share[row] = PARKED, alpha[row] / (C * self.w[row])
        self._refresh()

    def _refresh(self) -> None:
        """Recompute all outputs, so that rounding cannot pile up."""
        self.f = self.K @ (self.y * self.alpha)
        self._pull = self.K @ (self.y * self.w * self.share)

    def _add_knot(self) -> None:
        bias = self.bias - float(self._means @ (self.y * self.alpha))  # for the K given
        free = self.alpha[(self.side == ELBOW) | (self.side == PARKED)]
        self.knots.append(Knot(self.C, bias, self.side.copy(), free))

    def _slack(self) -> np.ndarray:
        return 1.0 - self.y * (self.f + self.bias)

    def _violation(self) -> float:
        """How far the worst slack is on the wrong side."""
        g = self._slack()
        return float(np.where(self.side == LEFT, -g, np.where(self.side == RIGHT, g, np.abs(g))).max())

    def _rounding(self, alpha: np.ndarray) -> float:
        """Slack that rounding cannot tell from none, for outputs that add up `alpha`."""
        return _SLACK + _ROUNDING * float(self._roots.max()) * float(alpha @ self._roots)

    def _motion(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Derivatives of α, f and the bias by C while no side changes; for an elbow with points."""
        if not (self.side == LEFT).any():  # separated: nothing moves any more
            return np.zeros(self.m), np.zeros(self.m), 0.0
        rows, error = self.elbow.rows, np.inf
        alpha, f, bias = self.w * self.share, self._pull, 0.0
        for _ in range(4):  # refinements
            d, more = self.elbow.solve(-self.y[rows] * (f[rows] + bias), -float(self.y @ alpha))
            refined_f, refined_bias = f + self._outputs_of(d), bias + more
            before, error = error, float(np.abs(refined_f[rows] + refined_bias).max())
            if error >= before:
                break
            alpha[rows], f, bias = alpha[rows] + d, refined_f, refined_bias
            if error <= self._rounding(self.alpha) / self.C:
                break
        return alpha, f, bias

    def _outputs_of(self, d: np.ndarray) -> np.ndarray:
        """What changes d of the elbow's multipliers add to all outputs."""
        rows, f = self.elbow.rows, np.zeros(self.m)
        add_kept_rows(self.K, rows, self.y[rows] * d, f, 0, self.m)
        return f

    def _correct(self) -> None:
        """Take the slack of the elbow, and ``yᵀα``, back to 0 if they are not; within the bounds only."""
        rows = self.elbow.rows
        slack = self._slack()[rows]
        if np.abs(slack).max() <= self._rounding(self.alpha):
            return
        d, more = self.elbow.solve(slack, -float(self.y @ self.alpha))
        moved = self.alpha[rows] + d
        if (moved >= 0.0).all() and (moved <= self.C * self.w[rows]).all():
            self.f += self._outputs_of(d)
            self.alpha[rows], self.bias = moved, self.bias + more

    def _advance(self, step: float, alpha: np.ndarray, f: np.ndarray, bias: float) -> None:
        """Let C grow by `step`, and the rest by their derivatives."""
        self.C, self.bias = self.C + step, self.bias + step * bias
        self.f += step * f
        self.alpha += step * alpha
        self.alpha[self.side == LEFT] = self.C * self.w[self.side == LEFT]

    def _advance_with_empty_elbow(self, step: float) -> None:
        """Let C grow by `step`; the bias becomes the middle of the interval that leaves no slack wrong."""
        self._advance(step, self.w * self.share, self._pull, 0.0)
        turns, from_above = self.y - self.f, self._bounds_from_above()
        self.bias = float(np.mean((turns[~from_above].max(), turns[from_above].min())))

    def _bounds_from_above(self) -> np.ndarray:
        """Whether ``b ≤ y_i − f_i`` (LEFT and +1, RIGHT and −1) or ``b ≥ y_i − f_i`` is due for a point."""
        return (self.side == LEFT) == (self.y > 0.0)

    def _change_side(self, row: int) -> None:
        """A point of the elbow goes to the bound it has met, any other to the elbow."""
        if self.side[row] != ELBOW:
            self._enter(row)
            return
        self._leave(row)
        parked = np.flatnonzero(self.side == PARKED)
        if len(self.elbow.rows) == 0 and len(parked):
            self._enter(int(parked[0]))
        elif len(self.elbow.rows) == 1 and not len(parked):
            last = int(self.elbow.rows[0])  # it keeps α_i / C: at a bound it no longer holds the bias
            share = self.alpha[last] / (self.C * self.w[last])
            if min(share, 1.0 - share) <= _AT_BOUND:
                self._leave(last)

    def _enter(self, row: int) -> None:
        self._pull -= self.y[row] * self.w[row] * self.share[row] * self.K[row]
        self.side[row], self.share[row] = ELBOW, 0.0
        self.elbow.add(row)

    def _leave(self, row: int) -> None:
        bound = self.C * self.w[row]
        is_left = self.alpha[row] > 0.5 * bound
        self.elbow.remove(row)
        self.side[row] = LEFT if is_left else RIGHT
        self.share[row], self.alpha[row] = (1.0, bound) if is_left else (0.0, 0.0)
        self._pull += self.y[row] * self.w[row] * self.share[row] * self.K[row]
