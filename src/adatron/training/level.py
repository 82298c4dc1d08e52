"""Training of ν-formulations: a search for the level at which Σα is what it shall be.

Σα rises piecewise linearly with the level. Mixing the solutions of a level below and one above so that Σα is
right gives a feasible α; once both are on the same piece, it is the optimum. `LevelSearch` solves one level
in an epoch, by any solver and to a tenth of the present gap; the exact finish uses exact solutions.

The certificate needs no level. With a bias, the primal has one term for each sign of y, ``−½ total a + Σ u_i
max(0, p_i + a − y_i f_i)`` with a = λ ∓ b, and the best a of each is a quantile of the ``y_i f_i − p_i``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from adatron.gram import REGIME, Regime
from adatron.problems import LevelProblem
from adatron.solvers import Pause, Solver
from adatron.training.certificate import Certificate, best_bias, certify, precise_sum
from adatron.training.finish import exact_finish
from adatron.training.rule import GapRule
from adatron.training.run import Run

_RATIO, _NEAR_RATIO = 2.0, 1.001  # of two levels, while all tried are on the same side
_LARGEST_RATIO = 256.0
_FIRST = 1e-3  # ε after 0, in units of the targets
_BEYOND, _HALF_WAY = 0.1, 0.05  # parts of a step, and of the distance of two ends
_FINER = 0.1  # gap at which a level is solved, as part of the present one
_COARSEST, _FINEST = 1e-2, 1e-13
_SAME = 1e-13  # relative difference of sums, or of levels, that counts as none
_VANISHING = 1e-7  # level, in units of the kernel, below which there is no margin
_LEVELS = 60  # that the exact finish tries at most


@dataclass
class _Bracket:
    """The nearest solutions whose sums are below and above the total: the two ends."""

    problem: LevelProblem
    ratio: float
    levels: np.ndarray  # (2,); NaN where there is no end yet
    alphas: np.ndarray  # (2, m)
    values: np.ndarray  # (2,): objectives without the level
    last: int = -1  # which end was found last

    def add(self, level: float, alpha: np.ndarray) -> float:
        """Note a solution; return the next level to try.

        The objectives of both ends are lines in the level. On one piece they meet half-way, and a secant
        finds the level; otherwise they meet near a jump of Σα, if there is one.
        """
        side, total = int(alpha.sum() > self.problem.total), self.problem.total
        again, self.last = side == self.last, side
        signed = (self.problem.y[:, 0] * alpha)[:, None]
        square = float(np.sum(signed * self.problem.gram.matmul(signed)))
        self.levels[side], self.alphas[side] = level, alpha
        self.values[side] = float(self.problem.p[:, 0] @ alpha) - 0.5 * square
        if not self.has_both:
            return self._beyond(level, side)
        (low, high), (below, above) = self.levels.tolist(), self.alphas
        first, second = self.values.tolist()
        rise = max(float(above.sum() - below.sum()), 1e-300)
        meeting, middle, width = (first - second) / rise, 0.5 * (low + high), abs(high - low)
        if not abs(meeting - middle) < 0.5 * width:
            return middle
        if abs(meeting - middle) < _HALF_WAY * width and not again:
            return low + (high - low) * float(total - below.sum()) / rise
        beyond = meeting + again * _BEYOND * (meeting - level)  # to bring the other end near, too
        return beyond if abs(beyond - middle) < 0.5 * width else 0.5 * (meeting + (low, high)[1 - side])

    def _beyond(self, level: float, side: int) -> float:
        """A level further on, while all tried are on the same side: another multiple of the last one."""
        ratio, top = self.ratio, self.problem.top
        self.ratio = min(ratio**4 if ratio < _RATIO else ratio**2, _LARGEST_RATIO)
        if np.isinf(top):
            return level * ratio if side == 0 else level / ratio
        if side == 0:  # ε falls
            return top if ratio == _LARGEST_RATIO else level / ratio
        return level * ratio or -_FIRST * float(np.abs(self.problem.p).max())

    @property
    def has_both(self) -> bool:
        return not np.isnan(self.levels).any()

    @property
    def is_one_piece(self) -> bool:
        """Whether both ends have the same free multipliers, or nothing is between them."""
        (below, above), upper = self.alphas, self.problem.upper[:, 0]
        same = ((below > 0.0) == (above > 0.0)) & ((below < upper) == (above < upper))
        return self.has_both and (bool(same.all()) or _is_same(*self.levels.tolist()))

    def mixed(self, alpha: np.ndarray) -> np.ndarray:
        """The mixture of both ends that has the right sum; α itself if there is one end only."""
        if not self.has_both:
            return alpha
        below, above = self.alphas
        sums = float(below.sum()), float(above.sum())
        share = (self.problem.total - sums[0]) / max(sums[1] - sums[0], 1e-300)
        return below + min(share, 1.0) * (above - below)


class LevelState(NamedTuple):
    alpha: np.ndarray  # (m, 1)
    f: np.ndarray  # (m, 1): K (y∘α)
    bias: np.ndarray  # (1,)
    level: np.ndarray  # (1,)
    following: np.ndarray  # (1,): the next level to try
    ratio: np.ndarray  # (1,)
    last: np.ndarray  # (1,): which end was found last
    ends: np.ndarray  # (2, m, 1): α of the ends
    levels: np.ndarray  # (2, 1): of the ends; NaN where there is none
    values: np.ndarray  # (2, 1): objectives of the ends
    known: np.ndarray  # (3, 1): gap and objective of α, and the size that the gap is relative to
    ended: np.ndarray  # (1,): 1.0 where no other level is left to try


@dataclass(frozen=True)
class LevelSearch:
    """Solves one level in an epoch."""

    solver: Solver
    max_iter: int
    may_give_up: bool = False
    indefinite: bool = False
    regime: Regime = REGIME
    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: LevelProblem, alpha: np.ndarray | None = None) -> LevelState:
        alpha = np.zeros_like(problem.y) if alpha is None else np.clip(alpha, 0.0, problem.upper)
        start = certify(problem, 0, alpha[:, 0], None, self.regime)
        levels, zero, ends = np.full((2, 1), np.nan), np.zeros(1), np.zeros((2, problem.m, 1))
        first = start.level or 0.1 * problem.total * float(problem.diagonal.mean()) * np.isinf(problem.top)
        return LevelState(
            start.alpha[:, None], start.f[:, None], np.array([start.bias]), np.array([start.level]),
            np.array([first]), np.array([_RATIO]), zero - 1.0, ends, levels, levels.copy(),
            _known(start)[:, None], zero,
        )  # fmt: skip

    def epoch(self, problem: LevelProblem, state: LevelState, pause: Pause) -> LevelState:
        level, alpha = float(state.following[0]), state.alpha
        gap, dual, size = state.known[:, 0]
        inner_size = max(abs(dual + level * problem.total), size, 1e-300)
        tol = float(np.clip(_FINER * gap * size / inner_size, _FINEST, _COARSEST))
        options: dict[str, Any] = {"may_give_up": self.may_give_up, "indefinite": self.indefinite}
        rule = GapRule(tol, eager=True, regime=self.regime, **options)
        run = Run(problem.at(level), self.solver, rule, max_iter=self.max_iter, alpha=alpha, releases=False)
        while len(run.live):
            run.advance(pause)
        found: Any = run.solutions[0]
        ends = state.levels[:, 0], state.ends[:, :, 0], state.values[:, 0]  # which the bracket updates
        bracket = _Bracket(problem, float(state.ratio[0]), *ends, int(state.last[0]))
        following = bracket.add(level, found.alpha)
        best = certify(problem, 0, bracket.mixed(found.alpha), None, self.regime)
        state.alpha[:, 0], state.f[:, 0], state.bias[0] = best.alpha, best.f, best.bias
        state.level[0], state.ratio[0], state.last[0] = best.level, bracket.ratio, bracket.last
        state.known[:, 0] = _known(best)
        is_at_top = level >= problem.top and found.alpha.sum() <= problem.total
        least = _VANISHING * problem.total * float(problem.diagonal.max()) if np.isinf(problem.top) else 0.0
        state.following[0] = max(following, 0.5 * least) if least else following
        is_lost = 0.0 < level < least and np.isnan(bracket.levels[0])
        state.ended[0] = float(is_at_top or is_lost or _is_same(level, following))
        return state


@exact_finish.register(LevelProblem)
def _finish(
    problem: LevelProblem, column: int, alpha: np.ndarray, pause: Pause = lambda: None
) -> np.ndarray | None:
    level = certify(problem, 0, alpha).level
    bracket = _Bracket(problem, _NEAR_RATIO, np.full(2, np.nan), np.zeros((2, problem.m)), np.zeros(2))
    for _ in range(_LEVELS):
        found = exact_finish(problem.at(level), 0, alpha, pause)
        if found is None:
            return None
        found = problem.gram.cancel_twins(found)
        following = bracket.add(level, found)
        is_at_top = level >= problem.top and found.sum() <= problem.total
        if is_at_top or _is_same(float(found.sum()), problem.total):
            return found
        if bracket.is_one_piece or _is_same(level, following):
            return bracket.mixed(found)
        level, alpha = following, found
    return None


@certify.register(LevelProblem)
def _certify(
    problem: LevelProblem, column: int, alpha: np.ndarray, outputs: Any = None, regime: Regime = REGIME
) -> Certificate:
    y, p, upper = problem.y[:, 0], problem.p[:, 0], problem.upper[:, 0]
    alpha = _with_total(problem, problem.gram.cancel_twins(np.asarray(alpha, dtype=np.float64)))
    first = problem.gram.matmul((y * alpha)[:, None])[:, 0]
    inner = certify(problem.at(_best_level(problem, first)[0]), 0, alpha, first, regime)
    alpha, f = inner.alpha, inner.f
    level, interval = _best_level(problem, f)
    bias = 0.5 * (interval[0] + interval[1])
    slack = p + level - y * (f + bias)
    terms = np.where(slack > 0.0, (upper - alpha) * slack, -alpha * slack)
    difference = precise_sum(terms) + level * (precise_sum(alpha) - problem.total)
    dual = precise_sum(p * alpha) - 0.5 * precise_sum(alpha * y * f)
    primal = dual + max(difference, 0.0)
    size = max(abs(primal), abs(dual))
    rounding = inner.rounding * max(abs(inner.primal), abs(inner.dual)) / size if size > 0.0 else 0.0
    gap = max(difference, 0.0) / size + rounding if size > 0.0 else 0.0
    return replace(
        inner, alpha=alpha, f=f, bias=bias, bias_interval=interval, gap=float(gap), primal=primal, dual=dual,
        rounding=rounding, level=level,
    )  # fmt: skip


def _best_level(problem: LevelProblem, f: np.ndarray) -> tuple[float, tuple[float, float]]:
    """The level that minimises the primal for outputs f, and the interval of biases that do so with it."""
    y, p, upper, total = problem.y[:, 0], problem.p[:, 0], problem.upper[:, 0], problem.total
    turns, ones, zeros = y * f - p, np.ones(problem.m), np.zeros(problem.m)
    lowest = 0.0 if np.isinf(problem.top) else -np.inf

    def thresholds(rows: np.ndarray, share: float) -> tuple[float, float]:
        ends = best_bias(turns[rows], ones[rows], zeros[rows], upper[rows], share)
        return -max(ends), -min(ends)

    if not problem.has_bias:
        level = float(np.mean(thresholds(ones > 0.0, total)))
        return min(max(level, lowest), problem.top), (0.0, 0.0)
    above, below = thresholds(y > 0.0, 0.5 * total), thresholds(y < 0.0, 0.5 * total)  # λ − b and λ + b
    level = 0.25 * (sum(above) + sum(below))
    if not lowest <= level <= problem.top:
        level = min(max(level, lowest), problem.top)
        ends = best_bias(f, y, p + level, upper)
        return level, (min(ends), max(ends))
    ends = max(level - above[1], below[0] - level), min(level - above[0], below[1] - level)
    return level, (min(ends), max(ends))


def _known(certificate: Certificate) -> np.ndarray:
    """Gap, objective and the size that the gap is relative to."""
    return np.array([certificate.gap, certificate.dual, max(abs(certificate.primal), abs(certificate.dual))])


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME * max(abs(one), abs(other))


def _with_total(problem: LevelProblem, alpha: np.ndarray) -> np.ndarray:
    """α within its bounds, in balance and with the right sum, or a smaller one where that is allowed."""
    y, upper, total = problem.y[:, 0], problem.upper[:, 0], problem.total
    alpha = np.clip(alpha, 0.0, upper)
    groups = [(y > 0.0, 0.5 * total), (y < 0.0, 0.5 * total)] if problem.has_bias else [(y != 0.0, total)]
    if np.isfinite(problem.top):  # twins may rise together without any effect: a smaller sum will do
        least = min(total, *(len(groups) * float(alpha[rows].sum()) for rows, _ in groups))
        groups = [(rows, least / len(groups)) for rows, _ in groups]
    for rows, goal in groups:
        own, missing = alpha[rows], goal - float(alpha[rows].sum())
        room = upper[rows] - own
        if missing < 0.0:
            alpha[rows] = own * (goal / own.sum())
        elif missing > 0.0:
            taken = np.where(own > 0.0, room, 0.0)  # zeros stay zero if the others have enough room
            room = taken if taken.sum() >= missing else room
            alpha[rows] = own + room * min(missing / max(float(room.sum()), 1e-300), 1.0)
    return alpha
