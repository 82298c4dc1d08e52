"""Greedy Kernel-Adatron on working sets: the same optimum as Campbell & Cristianini 1998, section 3.

An epoch is one round. With ``v_i = y_i p_i − f_i`` a multiplier may *rise* (``y_i α_i`` can grow) or
*fall*; at the optimum no v that may rise exceeds the bias, and none that may fall is below it. A round

1. takes as bias b the middle between the largest v that may rise and the smallest that may fall (0
   without a bias), and as violation of a point its distance beyond b;
2. chooses a working set: the worst half of the last one, filled up with the worst violators of both
   kinds (with new violators only, the same few points would enter and leave for ever);
3. takes greedy steps in the working set until its violation is a tenth of the round's (a hundredth if
   the set is all points). Without a bias a step is the Adatron's, ``y_i α_i ← clip(y_i α_i + v_i/K_ii)``,
   of the point with the largest gain ``v_i²/K_ii``. With one it moves a pair, so that yᵀα stays: the point
   i that may rise with the largest v, and the j that may fall with the largest gain
   ``(v_i − v_j)²/(K_ii + K_jj − 2K_ij)``;
4. brings all outputs f up to date with the rows of the multipliers that moved.

Steps 2 to 4 touch few rows of the kernel matrix, so most of it is never evaluated. Bounds far above 1/K_ii
would be reached by many tiny steps. So they are first lowered, and raised tenfold, all multipliers with them,
whenever the violation is below that of α = 0; multipliers at their bound stay at it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from adatron.gram import PartialMatrix
from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem
from adatron.solvers.base import Pause
from adatron.solvers.greedy_steps import pair_steps, single_steps

_INNER = 0.1  # violation of the working set at which a round ends, relative to that of all points
_INNER_OF_ALL = 0.01  # the same when the working set is all points
_NOISE = 1e-6  # of the largest violation: smaller differences may be rounding, and are ignored
_FIRST_BOUND = 100.0  # in units of the violation of α = 0, times 1/K_ii
_FACTOR = 10.0
_STEPS = 20_000  # in one round, some 20 ms


class GreedyState(NamedTuple):
    alpha: np.ndarray  # (m, B)
    f: np.ndarray  # (m, B): K (y∘α)
    bias: np.ndarray  # (B,)
    member: np.ndarray  # (m, B): 1.0 in the last working set
    reach: np.ndarray  # (B,): part of the bounds that is in force
    stalled: np.ndarray  # (B,): 1.0 when a round moved nothing


@dataclass(frozen=True)
class GreedyAdatron:
    size: int = 1024  # points in a working set; a problem of up to twice as many is one working set
    needs: ClassVar[frozenset[str]] = frozenset({"entries"})

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> GreedyState:
        alpha, f = problem.start(feasible_start(problem, alpha))
        largest = (problem.upper * problem.diagonal[:, None]).max(axis=0)
        sizes = np.array([_violation_of_zero(problem, column) for column in range(problem.n_columns)])
        with_all = alpha.any(axis=0) | np.isinf(largest) | (sizes <= 0.0)  # a warm start or a hard margin
        reach = np.where(with_all, 1.0, np.minimum(1.0, _FIRST_BOUND * sizes / largest))
        bias, stalled = np.zeros((2, problem.n_columns))
        return GreedyState(alpha, f, bias, np.zeros_like(alpha), reach, stalled)

    def epoch(self, problem: DualProblem, state: GreedyState, pause: Pause) -> GreedyState:
        """One round of every column."""
        gram, points, has_bias = problem.gram, problem.gram.points, problem.has_bias
        whole = points.m <= 2 * self.size
        take_steps = pair_steps if has_bias else single_steps
        for column in range(problem.n_columns):
            pause()
            y, p, bounds = problem.y[:, column], problem.p[:, column], problem.upper[:, column]
            alpha, f, member = state.alpha[:, column], state.f[:, column], state.member[:, column]
            reach, (rise, fall) = state.reach[column], np.empty((2, problem.m))
            while True:
                upper, v = reach * bounds, y * p - f
                middle, violation = _violations(y, alpha, upper, v, has_bias, rise, fall)
                if reach == 1.0 or violation > _violation_of_zero(problem, column):
                    break
                factor = min(_FACTOR, 1.0 / reach)  # raise the bounds, α and f with them
                reach = state.reach[column] = 1.0 if factor < _FACTOR else factor * reach
                raised = reach * bounds
                alpha[:] = np.where(alpha >= upper, raised, np.minimum(factor * alpha, raised))
                f *= factor
            if violation <= 0.0:
                state.stalled[column], state.bias[column] = 1.0, middle
                continue
            rows: Any = slice(None) if whole else working_set(self.size, rise, fall, member)
            matrix = points.partial() if whole else PartialMatrix.whole(gram.block(rows, rows))
            inner, moved = (v[rows] - middle).astype(matrix.K.dtype), alpha[rows].copy()
            diagonal = problem.diagonal[rows].astype(matrix.K.dtype)
            goal, left = violation * (_INNER_OF_ALL if whole else _INNER), _STEPS
            while True:
                left -= take_steps(matrix, diagonal, inner, y[rows], moved, upper[rows], goal, left)
                if not matrix.is_full or left == 0:
                    break
                matrix = points.grow()
            step = y[rows] * (moved - alpha[rows])
            changed = step != 0.0
            if whole:
                f[:] = y * p - inner - middle
            elif changed.any():
                pause()
                outputs = np.zeros(problem.m)
                gram.add_rows(rows[changed], step[changed], outputs)
                f += outputs
            alpha[rows] = moved
            member[:] = 0.0
            member[rows] = 1.0
            state.stalled[column] = float(reach == 1.0 and not changed.any())
            state.bias[column] = _bias(y, p, upper, alpha, f, middle) if has_bias else 0.0
        return state


def feasible_start(problem: DualProblem, alpha: np.ndarray | None) -> np.ndarray | None:
    """A start with ``yᵀα = r``, which pairs of steps then keep; None where α = 0 is feasible.

    The heavier class is scaled down; what is still missing is put on the first points with ``y = +1``.
    """
    if not problem.has_bias or (alpha is None and not problem.equality):
        return alpha
    alpha = np.zeros_like(problem.y) if alpha is None else np.clip(alpha, 0.0, problem.upper)
    positive, r = problem.y > 0.0, problem.equality
    above, below = (np.where(side, alpha, 0.0).sum(axis=0) for side in (positive, ~positive))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(positive, (below + r) / above, (above - r) / below)
    alpha = np.where(alpha > 0.0, alpha * np.clip(shares, 0.0, 1.0), 0.0)
    if not r:
        return alpha
    room = np.where(positive, problem.upper - alpha, 0.0)
    before = np.cumsum(room, axis=0) - room
    return alpha + np.clip(-problem.imbalance(alpha) - before, 0.0, room)


def _violation_of_zero(problem: DualProblem, column: int) -> float:
    """How far α = 0 is from optimal, on either side of the bias."""
    y, p, upper = (array[:, column] for array in (problem.y, problem.p, problem.upper))
    above, below = _largest_of_sides(y, p, upper)
    return 0.5 * (above + below) if problem.has_bias else max(above, below)


@compiled
def _largest_of_sides(y, p, upper):
    above, below = -np.inf, -np.inf
    for i in range(len(y)):
        if upper[i] > 0.0 and y[i] > 0.0:
            above = max(above, p[i])
        elif upper[i] > 0.0 and y[i] < 0.0:
            below = max(below, p[i])
    return above, below


@compiled
def _violations(y, alpha, upper, v, has_bias, rise, fall):
    """Write the violation of each point that may rise, and that may fall; return the bias and the largest."""
    high, low = -np.inf, np.inf
    for i in range(len(y)):
        can_grow, can_shrink = alpha[i] < upper[i], alpha[i] > 0.0
        may_rise, may_fall = (can_grow, can_shrink) if y[i] > 0.0 else (can_shrink, can_grow)
        rise[i] = v[i] if may_rise else -np.inf
        fall[i] = -v[i] if may_fall else -np.inf
        high, low = max(high, rise[i]), min(low, -fall[i])
    if not has_bias:
        return 0.0, max(high, -low)
    if high == -np.inf or low == np.inf:  # no pair can move
        return 0.0, 0.0
    middle = 0.5 * (high + low)
    for i in range(len(y)):
        rise[i] -= middle
        fall[i] += middle
    return middle, high - low


def working_set(size: int, rise: np.ndarray, fall: np.ndarray, member: np.ndarray) -> np.ndarray:
    """The worst half of the last working set and the worst violators of both kinds, in order."""
    worst = np.maximum(rise, fall)
    noise = _NOISE * worst.max()
    candidates = np.flatnonzero((worst > 0.0) | (member > 0.0))
    worst, rise, fall = (np.floor(values[candidates] / noise) for values in (worst, rise, fall))
    chosen = np.zeros(len(candidates), dtype=bool)
    chosen[_top(np.where(member[candidates] > 0.0, worst, -np.inf), size // 2)] = True
    for values, share in ((rise, 0.5), (fall, 1.0), (rise, 1.0)):
        room = int((size - np.count_nonzero(chosen)) * share)
        chosen[_top(np.where(chosen | (values <= 0.0), -np.inf, values), room)] = True
    return candidates[chosen]


def _top(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the largest finite values, the first of equal ones."""
    finite = np.flatnonzero(values > -np.inf)
    if count >= len(finite) or count == 0:
        return finite[:count]
    own = values[finite]
    threshold = np.partition(own, len(own) - count)[len(own) - count]
    above = finite[own > threshold]
    return np.concatenate([above, finite[own == threshold][: count - len(above)]])


@compiled
def _bias(y, p, upper, alpha, f, middle):
    """The mean of v over free points, at the optimum all equal to the bias; the middle if there is none."""
    total, count = 0.0, 0
    for i in range(len(y)):
        if 0.0 < alpha[i] < upper[i]:
            total += y[i] * p[i] - f[i]
            count += 1
    return total / count if count else middle
