"""One walk along the regularisation path: α, outputs and bias as C grows, event by event.

Every point is on one side: LEFT of the margin with ``α_i = C w_i``, RIGHT of it with ``α_i = 0``, or on the
ELBOW with ``y_i (f_i + b) = 1``. While the sides stay, everything is linear in C. A side changes when

- a multiplier of the elbow meets 0 or its bound ``C w_i``, or
- the slack ``g_i = 1 − y_i (f_i + b)`` of another point meets 0.

Simultaneous events are taken one by one, in steps of length 0.

A point that lies on the margin because others do, being a combination of them, is PARKED: its multiplier
keeps its share of the bound until the others leave it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adatron.gram.rows import add_kept_rows
from adatron.paths.elbow import Elbow
from adatron.paths.events import ELBOW, LEFT, PARKED, RIGHT, first_meeting, next_event

__all__ = ["Motion", "PathWalk"]

_MET = 1e-12  # part of the largest multiplier within which another is at its bound
_SLACK = 1e-12  # slack that counts as none …
_ROUNDING = 2e-15  # … beside what rounding of the outputs adds to it
_REFINEMENTS = 4
_AT_A_BOUND = 1e-9  # part of C w_i, for the last point of an elbow, which cannot move


class Motion(NamedTuple):
    """Derivatives by C on the current segment."""

    alpha: np.ndarray  # (m,)
    f: np.ndarray  # (m,)
    bias: float


class PathWalk:
    """Where the walk is.

    Parameters
    ----------
    K : array of shape (m, m)
        Kernel matrix. It is centred here: as ``yᵀα = 0``, the origin of the feature space only matters to the
        bias, but kernel values that are nearly equal keep more of their digits.
    y : array of shape (m,)
        −1 or +1.
    w : array of shape (m,)
        Weights > 0; the bound of a point is ``C w_i``.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, w: np.ndarray) -> None:
        self.y, self.w, self.m = y, w, len(y)
        self._roots = np.sqrt(np.maximum(K.diagonal(), 0.0))
        self._means = K.mean(axis=0)
        self.K = K - (self._means[:, None] + self._means) + self._means.mean()
        self.place(0.0, np.zeros(self.m), 0.0, np.full(self.m, LEFT, dtype=np.int8))

    def place(self, C: float, alpha: np.ndarray, bias: float, side: np.ndarray) -> None:
        """Go on from a solution."""
        self.C, self.alpha, self.bias, self.side = C, alpha, bias, side
        self.share = np.where(side == LEFT, 1.0, 0.0)  # of the bound, off the elbow
        self.elbow = Elbow(self.K, self.y, _ROUNDING * float(self._roots.max()) ** 2)
        for row in np.flatnonzero(side == ELBOW).tolist():
            if self.elbow.is_dependent(row):
                self.side[row], self.share[row] = PARKED, alpha[row] / (C * self.w[row])
            else:
                self.elbow.add(row)
        self.refresh()

    def refresh(self) -> None:
        """Recompute all outputs, so that rounding cannot pile up."""
        self.f = self.K @ (self.y * self.alpha)
        self._pull = self.K @ (self.y * self.w * self.share)

    @property
    def is_constant(self) -> bool:
        """Whether all points are one, but for rounding."""
        return bool(self.K.diagonal().max() <= _ROUNDING * self._roots.max() ** 2)

    @property
    def uncentred_bias(self) -> float:
        """The bias that belongs to the kernel matrix before it was centred."""
        return self.bias - float(self._means @ (self.y * self.alpha))

    @property
    def slack(self) -> np.ndarray:
        """``g_i = 1 − y_i (f_i + b)``."""
        return 1.0 - self.y * (self.f + self.bias)

    @property
    def rounding(self) -> float:
        """Slack that rounding cannot tell from none."""
        return self._rounding_of(self.alpha)

    def _rounding_of(self, alpha: np.ndarray) -> float:
        return _SLACK + _ROUNDING * float(self._roots.max()) * float(alpha @ self._roots)

    def violation(self) -> float:
        """How far the worst slack is on the wrong side."""
        g = self.slack
        wrong = np.where(self.side == LEFT, -g, np.where(self.side == RIGHT, g, np.abs(g)))
        return float(wrong.max())

    def motion(self) -> Motion:
        """How everything moves while no side changes; for an elbow with points."""
        if not (self.side == LEFT).any():  # separated: nothing moves any more
            return Motion(np.zeros(self.m), np.zeros(self.m), 0.0)
        rows, error = self.elbow.rows, np.inf
        motion = Motion(self.w * self.share, self._pull, 0.0)
        for _ in range(_REFINEMENTS):
            owed = -float(self.y @ motion.alpha)
            d, more = self.elbow.solve(-self.y[rows] * (motion.f[rows] + motion.bias), owed)
            refined = Motion(motion.alpha.copy(), motion.f + self._combined(d), motion.bias + more)
            refined.alpha[rows] += d
            before, error = error, float(np.abs(refined.f[rows] + refined.bias).max())
            if error >= before:
                break
            motion = refined
            if error <= self.rounding / self.C:
                break
        return motion

    def _combined(self, d: np.ndarray) -> np.ndarray:
        """What changes d of the elbow's multipliers do to all outputs."""
        rows, f = self.elbow.rows, np.zeros(self.m)
        add_kept_rows(self.K, rows, self.y[rows] * d, f, 0, self.m)
        return f

    def correct(self) -> None:
        """Take the slack of the elbow, and ``yᵀα``, back to 0 if they are not; within the bounds only."""
        rows = self.elbow.rows
        slack = 1.0 - self.y[rows] * (self.f[rows] + self.bias)
        if np.abs(slack).max() <= self.rounding:
            return
        d, more = self.elbow.solve(slack, -float(self.y @ self.alpha))
        moved = self.alpha[rows] + d
        if (moved >= 0.0).all() and (moved <= self.C * self.w[rows]).all():
            self.f += self._combined(d)
            self.alpha[rows], self.bias = moved, self.bias + more

    def next_event(self, motion: Motion) -> tuple[float, int]:
        """The step to the next event and its point; (inf, −1) if there is none."""
        slopes = -self.y * (motion.f + motion.bias)
        still = self._rounding_of(self.C * np.abs(motion.alpha))
        allowed = np.array([self.rounding, _MET * float(self.alpha.max())])
        return next_event(
            self.side, self.w, self.C, self.alpha, motion.alpha, self.slack, slopes, allowed, still
        )

    def advance(self, step: float, motion: Motion) -> None:
        """Let C grow by `step`."""
        self.C += step
        self.f += step * motion.f
        self.bias += step * motion.bias
        self.alpha += step * motion.alpha
        left = self.side == LEFT
        self.alpha[left] = self.C * self.w[left]

    def change_side(self, row: int) -> None:
        """A point of the elbow goes to the bound it has met, any other to the elbow."""
        if self.side[row] != ELBOW:
            self._enter(row)
            return
        self._leave(row)
        parked = np.flatnonzero(self.side == PARKED)
        if len(self.elbow) == 0 and len(parked):
            self._enter(int(parked[0]))
        elif len(self.elbow) == 1 and not len(parked):
            self._leave_if_at_a_bound(int(self.elbow.rows[0]))

    def _enter(self, row: int) -> None:
        self._pull -= self.y[row] * self.w[row] * self.share[row] * self.K[row]
        self.side[row], self.share[row] = ELBOW, 0.0
        self.elbow.add(row)

    def _leave(self, row: int) -> None:
        bound = self.C * self.w[row]
        is_left = self.alpha[row] > 0.5 * bound
        self.elbow.remove(row)
        self.side[row], self.share[row], self.alpha[row] = (
            (LEFT, 1.0, bound) if is_left else (RIGHT, 0.0, 0.0)
        )
        self._pull += self.y[row] * self.w[row] * self.share[row] * self.K[row]

    def _leave_if_at_a_bound(self, row: int) -> None:
        """One point alone keeps ``α_i / C``: at a bound it no longer holds the bias."""
        share = self.alpha[row] / (self.C * self.w[row])
        if min(share, 1.0 - share) <= _AT_A_BOUND:
            self._leave(row)

    def bias_interval(self) -> tuple[float, float]:
        """All biases that leave no slack on the wrong side, with an empty elbow."""
        turns, from_above = self.y - self.f, self._bounds_from_above()
        return float(turns[~from_above].max()), float(turns[from_above].min())

    def _bounds_from_above(self) -> np.ndarray:
        """Whether ``b ≤ y_i − f_i`` (LEFT and +1, RIGHT and −1) or ``b ≥ y_i − f_i`` is due for a point."""
        return (self.side == LEFT) == (self.y > 0.0)

    def refill(self) -> tuple[float, tuple[int, int]] | None:
        """The step until an empty elbow gets its next two points, and these; None if it stays empty.

        That is when the interval of biases has shrunk to one value.
        """
        from_above = self._bounds_from_above()
        still = self._rounding_of(self.w * self.share) - _SLACK
        return first_meeting(self.y - self.f, -self._pull, from_above, still)

    def advance_empty(self, step: float) -> None:
        """Let C grow by `step` with an empty elbow; the bias becomes the middle of its interval."""
        self.advance(step, Motion(self.w * self.share, self._pull, 0.0))
        self.bias = float(np.mean(self.bias_interval()))
