"""The solutions of the soft-margin SVM as C grows, followed from breakpoint to breakpoint.

Every point is LEFT of the margin with ``α_i = C w_i``, RIGHT of it with ``α_i = 0``, or on the ELBOW with
``y_i (f_i + b) = 1``. While no point changes its side, everything is linear in C. An event is where a
multiplier of the elbow meets 0 or its bound ``C w_i``, or the slack ``1 − y_i (f_i + b)`` of another point
meets 0; simultaneous ones are taken one by one, in steps of length 0. A point that is on the margin because
it is a combination of others there is PARKED: its multiplier keeps its share of the bound until they leave.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dtpsv

from adatron.gram import DenseGram, add_kept_rows
from adatron.numerics.compiled import compiled
from adatron.problems import classification
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, exact_finish, solved
from adatron.training.certificate import best_bias

RIGHT, ELBOW, LEFT, PARKED = 0, 1, 2, 3
_SLACK, _ROUNDING = 1e-12, 2e-15  # slack that counts as zero, and part of the outputs that is rounding
_WRONG, _LOST = 1e-8, 1e-5  # wrong slack that needs a restart, and wrong slack at which the path ends
_MET, _AT_BOUND = 1e-12, 1e-9  # of the largest multiplier, of the own bound: so close is at the bound
_COINCIDENT = 50  # steps of length 0 in a row before a restart a little further on
_ZERO_STEP, _JUMP = 1e-13, 1e-7  # parts of C; a jump is interpolated, with an error that is its square
_REFRESH_EVERY, _MOST_EVENTS = 40, 100  # the latter per point
_LEAST_PIVOT, _DEPENDENT = 1e-12, 1e-10  # of the diagonal: least pivot, and pivot of a dependent point


class Knot(NamedTuple):
    """A breakpoint: the sides of all points, and the multipliers of those on the margin."""

    C: float
    bias: float
    side: np.ndarray
    free: np.ndarray


class Elbow:
    """Points whose multipliers are free, with the Cholesky factor L of ``Q_EE + c y yᵀ``.

    It solves ``Q_EE d + y_E b = r, y_Eᵀ d = s`` with ``Q = (y yᵀ) ∘ K`` for the multipliers and the bias. As
    ``y_Eᵀ d`` is known, adding c to the kernel changes b alone, by ``c s``, and makes the matrix as well
    conditioned as the whole system. Points that are still dependent (equal ones) get a small positive pivot.
    The rows of L stand one after the other in one array. `noise` is what rounding may have added to K.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, noise: float) -> None:
        self._K, self._y, self._constant = K, y, float(K.diagonal().mean())
        self._scale = self._constant + float(K.diagonal().max())
        self._least = max(_LEAST_PIVOT * self._scale, noise)
        self.rows, self._factor = np.empty(0, dtype=np.int64), np.empty(2_080)

    def add(self, row: int, *, only_independent: bool = False) -> bool:
        """Add a point, unless it is, but for rounding, a combination of those here and `only_independent`."""
        n, old = len(self.rows), self.rows
        values = self._forward(self._y[old] * self._y[row] * (self._K[row, old] + self._constant))
        rest = float(self._K[row, row]) + self._constant - float(values @ values)
        pivot = np.sqrt(max(rest, self._least))
        if only_independent and pivot**2 <= _DEPENDENT * self._scale:
            return False
        start = n * (n + 1) // 2
        if len(self._factor) < start + n + 1:
            self._factor = np.concatenate([self._factor, np.empty(3 * len(self._factor))])
        self._factor[start : start + n + 1] = np.append(values, pivot)
        self.rows = np.append(old, row)
        return True

    def remove(self, row: int) -> None:
        place = int(np.flatnonzero(self.rows == row)[0])
        _delete(self._factor, len(self.rows), place)
        self.rows = np.delete(self.rows, place)

    def solve(self, r: np.ndarray, s: float) -> tuple[np.ndarray, float]:
        """d, in the order of `rows`, and b."""
        right, along = self._forward(r), self._forward(self._y[self.rows])
        b = float(along @ right - s) / float(along @ along)
        d = dtpsv(len(self.rows), self._factor, right - b * along, lower=0, trans=0)
        return d, b + self._constant * s

    def _forward(self, right: np.ndarray) -> np.ndarray:
        """``L⁻¹ right``; rows of L are columns of an upper triangular matrix to LAPACK."""
        return dtpsv(len(self.rows), self._factor, right, lower=0, trans=1) if len(self.rows) else right


@compiled
def _delete(factor, n, place):
    """Remove a row; rotations of neighbouring columns make what follows triangular again."""
    cosines, sines, to = np.empty(n), np.empty(n), place * (place + 1) // 2
    for i in range(place, n - 1):
        start = to + i + 1  # of the row that becomes row i
        kept = factor[start + place]
        for k in range(place):
            factor[to + k] = factor[start + k]
        for k in range(place, i):
            following = factor[start + k + 1]
            factor[to + k] = cosines[k] * kept + sines[k] * following
            kept = cosines[k] * following - sines[k] * kept
        last = factor[start + i + 1]
        length = np.sqrt(kept * kept + last * last)
        cosines[i], sines[i], factor[to + i] = kept / length, last / length, length
        to = start


@compiled
def _next_event(side, w, C, alpha, speeds, slack, slopes, allowed, still):
    """The step to the next event and its point; (inf, −1) if there is none.

    Of events that rounding cannot tell apart the one that moves fastest comes first, as in the ratio test of
    P. M. J. Harris, *Pivot selection methods of the Devex LP code*, 1973: `allowed` says by how much a slack,
    and a multiplier, may go too far. Changes below `still` while C doubles count as none.
    """
    m, longest = len(side), np.inf
    rooms, rates, pivots = np.empty(m), np.empty(m), np.empty(m)
    for i in range(m):
        if side[i] == ELBOW:
            grows = speeds[i] > 0.5 * w[i]
            rooms[i] = C * w[i] - alpha[i] if grows else alpha[i]
            rates[i] = speeds[i] - w[i] if grows else -speeds[i]
            pivots[i] = rates[i] / w[i]
        else:
            sign = 1.0 if side[i] == LEFT else -1.0
            rooms[i], rates[i] = sign * slack[i], -sign * slopes[i]
            if side[i] == PARKED:
                rooms[i], rates[i] = 0.0, abs(slopes[i])
            pivots[i] = C * rates[i]
        if pivots[i] > still:
            further = allowed[1] if side[i] == ELBOW else allowed[0]
            longest = min(longest, (max(rooms[i], 0.0) + further) / rates[i])
    best, point = still, -1
    for i in range(m):
        if pivots[i] > best and rooms[i] <= longest * rates[i]:
            best, point = pivots[i], i
    return (max(rooms[point], 0.0) / rates[point], point) if point >= 0 else (np.inf, -1)


class Homotopy:
    """The state of the path and its breakpoints so far; `complete` if no event follows the last one."""

    def __init__(self, K: np.ndarray, y: np.ndarray, w: np.ndarray, C_max: float) -> None:
        self.y, self.w, self.m, self.C_max = y, w, len(y), C_max
        self._roots, self._means = np.sqrt(np.maximum(K.diagonal(), 0.0)), K.mean(axis=0)
        # centred: as yᵀα = 0, this changes the bias only, but nearly equal values keep more of their digits
        self.K = K - (self._means[:, None] + self._means) + self._means.mean()
        if self.K.diagonal().max() <= _ROUNDING * self._roots.max() ** 2:
            raise ValueError("K has equal values only, so nothing tells the points apart; change the kernel")
        self.complete, self._coincident, self._jump = False, 0, _JUMP
        self.knots: list[Knot] = []
        self._place(0.0, np.zeros(self.m), 0.0, np.full(self.m, LEFT, dtype=np.int8))

    def follow(self) -> None:
        """Go from C = 0 to the end of the path."""
        excess, total = float(self.y @ self.w), float(self.w.sum())
        is_balanced = abs(excess) <= 1e-12 * total  # all multipliers grow with C, and the bias is free
        self.bias = 0.0 if is_balanced else float(np.sign(excess))
        self._add_knot()
        if not is_balanced:  # those of the smaller class grow, the others solve a problem independent of C
            start = 0.5 / (0.5 * (total - abs(excess)) * float(self.K.diagonal().max()))  # below any event
            self._solve_at(min(start, self.C_max), self.y * excess < 0.0)
        for event in range(1, _MOST_EVENTS * self.m + 1):
            if self.complete or self.C_max <= self.C or self._rounding(self.alpha) > _LOST:
                return
            self._step() if len(self.elbow.rows) else self._step_with_empty_elbow()
            if event % _REFRESH_EVERY == 0:
                self._refresh()
                if len(self.elbow.rows):
                    self._correct()
                    if self._is_wrong(_WRONG, 10.0):
                        self._solve_at(self.C)
        raise RuntimeError(f"the path has not ended after {event} events, at C={self.C:g}; lower C_max")

    def _step(self) -> None:
        """Go to the next event, or to the end."""
        self._correct()
        speeds, f, bias = motion = self._motion()
        allowed = np.array([self._rounding(self.alpha), _MET * float(self.alpha.max())])
        still, slopes = self._rounding(self.C * np.abs(speeds)), -self.y * (f + bias)
        state = self.side, self.w, self.C, self.alpha, speeds, self._slack()
        step, point = _next_event(*state, slopes, allowed, still)
        if step >= self.C_max - self.C:
            self.complete = point < 0
            self._advance(self.C_max - self.C if np.isfinite(self.C_max) else self.C, *motion)
            self._correct()
            return self._add_knot()
        self._advance(step, *motion)
        self._coincident += 1
        if step > _ZERO_STEP * self.C:
            self._add_knot()
            self._coincident, self._jump = 0, _JUMP
        self._change_side(point)
        if not len(self.elbow.rows):  # the bias is free, and jumps to the middle
            self._advance_with_empty_elbow(0.0)
        if self._coincident > _COINCIDENT:
            self._coincident, self._jump = 0, 10.0 * self._jump
            self._solve_at(self.C * (1.0 + self._jump))

    def _step_with_empty_elbow(self) -> None:
        """Go to where the interval of biases has shrunk to one value: there two points enter the elbow."""
        above, below = self._bounds_from_above_and_below()
        turns, speeds = self.y - self.f, -self._pull
        distances = np.subtract.outer(turns[above], turns[below])
        closing = -np.subtract.outer(speeds[above], speeds[below])
        still = self._rounding(self.w * self.share) - _SLACK
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(closing > still, np.maximum(distances, 0.0) / closing, np.inf)
        i, j = np.unravel_index(int(steps.argmin()), steps.shape)
        step = float(steps[i, j])
        if is_last := step >= self.C_max - self.C:
            self.complete = step == np.inf
            step = self.C_max - self.C if np.isfinite(self.C_max) else max(self.C, 1.0)
        self._advance_with_empty_elbow(step)
        if not is_last:
            self._enter(int(above[i]))
            self._enter(int(below[j]))

    def _solve_at(self, C: float, known_left: Any = slice(0)) -> None:
        """Continue from another solver's solution: at the start, and after too much rounding."""
        upper = C * self.w
        problem = classification(DenseGram(self.K), self.y, upper, bias=True)
        near = self.alpha[:, None] * (C / self.C) if self.C > 0.0 else None
        alpha = None if near is None else exact_finish(problem, 0, near[:, 0])
        if alpha is None:
            run = Run(problem, GreedyAdatron(), GapRule(1e-10, eager=True), max_iter=200, alpha=near)
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
        if self._is_wrong(_LOST, 100.0):
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
        """Recompute all outputs, so that rounding errors do not accumulate."""
        self.f, self._pull = self.K @ (self.y * self.alpha), self.K @ (self.y * self.w * self.share)

    def _add_knot(self) -> None:
        bias = self.bias - float(self._means @ (self.y * self.alpha))  # for the K given
        free = self.alpha[(self.side == ELBOW) | (self.side == PARKED)]
        self.knots.append(Knot(self.C, bias, self.side.copy(), free))

    def _slack(self) -> np.ndarray:
        return 1.0 - self.y * (self.f + self.bias)

    def _is_wrong(self, least: float, times_rounding: float) -> bool:
        """Whether some slack is on the wrong side by more than both limits."""
        g = self._slack()
        worst = np.where(self.side == LEFT, -g, np.where(self.side == RIGHT, g, np.abs(g))).max()
        return bool(worst > max(least, times_rounding * self._rounding(self.alpha)))

    def _rounding(self, alpha: np.ndarray) -> float:
        """The slack that rounding of the outputs of `alpha` may cause."""
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
        """The change of all outputs for changes d of the elbow's multipliers."""
        rows, f = self.elbow.rows, np.zeros(self.m)
        add_kept_rows(self.K, rows, self.y[rows] * d, f, 0, self.m)
        return f

    def _correct(self) -> None:
        """Take the slack of the elbow, and ``yᵀα``, back to 0 if they are not; within the bounds only."""
        rows, slack = self.elbow.rows, self._slack()[self.elbow.rows]
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
        """Let C grow to a knot; the bias is the middle of the interval that leaves no slack wrong."""
        self._advance(step, self.w * self.share, self._pull, 0.0)
        turns, (above, below) = self.y - self.f, self._bounds_from_above_and_below()
        self.bias = float(np.mean((turns[below].max(), turns[above].min())))
        self._add_knot()

    def _bounds_from_above_and_below(self) -> tuple[np.ndarray, np.ndarray]:
        """The points that need ``b ≤ y_i − f_i`` (LEFT and +1, RIGHT and −1), and ``b ≥ y_i − f_i``."""
        from_above = (self.side == LEFT) == (self.y > 0.0)
        return np.flatnonzero(from_above), np.flatnonzero(~from_above)

    def _change_side(self, row: int) -> None:
        """A point of the elbow goes to the bound it has met, any other to the elbow."""
        if self.side[row] != ELBOW:
            return self._enter(row)
        self._leave(row)
        rows, parked = self.elbow.rows, np.flatnonzero(self.side == PARKED)
        if len(rows) == 0 and len(parked):
            self._enter(int(parked[0]))
        elif len(rows) == 1 and not len(parked):  # it keeps α_i / C: at a bound it no longer holds the bias
            share = self.alpha[rows[0]] / (self.C * self.w[rows[0]])
            if min(share, 1.0 - share) <= _AT_BOUND:
                self._leave(int(rows[0]))

    def _enter(self, row: int) -> None:
        self._pull -= self.y[row] * self.w[row] * self.share[row] * self.K[row]
        self.side[row], self.share[row] = ELBOW, 0.0
        self.elbow.add(row)

    def _leave(self, row: int) -> None:
        bound = self.C * self.w[row]
        ends = (LEFT, 1.0, bound) if self.alpha[row] > 0.5 * bound else (RIGHT, 0.0, 0.0)
        self.side[row], self.share[row], self.alpha[row] = ends
        self.elbow.remove(row)
        self._pull += self.y[row] * self.w[row] * self.share[row] * self.K[row]
