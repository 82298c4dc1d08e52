"""Stopping rules: whether a column of a run has ended, and with which certificate.

A `Run` has one. `Rule` ends a column by the algorithm's own rule, for algorithms that do not aim at the
optimum of the dual; `GapRule` ends it by its duality gap, computed by the certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adatron.gram import REGIME, Gram, Regime
from adatron.solvers import Pause
from adatron.training.certificate import FAR, Certificate, certify, estimated_gap
from adatron.training.finish import exact_finish
from adatron.training.interior import interior_point
from adatron.training.records import Status

if TYPE_CHECKING:
    from adatron.training.run import Run

Verdict = tuple[Status, Certificate] | None  # None: the column goes on

_FINISH_FROM = 1e-3  # gap from which the exact finish is tried when tol is smaller
_SINGLE_GAP = 1e-4  # gap down to which float32 kernel values are trusted
_DIVERGED = 1e6  # violation, relative to that of the first epoch, that counts as divergence
_LOOK_AT_DIGITS = 16  # from this epoch on, at powers of two, look whether rounding is all that is left
_LAST_LOOK = 128  # from this epoch on, a gap that has hardly fallen proves it
_LEAST_TRY = 3_000  # epochs before a fit is given up
_INDEFINITE_EPOCHS = 1_000  # limit for indefinite kernels, for which there is no gap
_WORK_OF_AN_EPOCH = 2e5  # multiply-adds per row of a factorisation, if all of them take as long as an epoch
_EAGER_AT = (10, 100, 1_000, 10_000)  # epochs at which an eager rule tries the exact finish at any gap


class Rule:
    """Ends a column when the solver says so."""

    keeps_states = True  # whether a run keeps the states of columns that have ended
    # A rule that takes the epochs of a run itself, one or several, gives objective, margin and violation of
    # every live column, (n, B, 3).
    advance: Callable[[Run, Pause], np.ndarray] | None = None

    def __init__(self, *, indefinite: bool = False, regime: Regime = REGIME) -> None:
        self.indefinite, self.regime = indefinite, regime
        self.one_blas_thread_up_to = regime.one_blas_thread_up_to

    def begin(self, run: Run) -> None:
        """Set up the rule for the columns of a run."""

    def next_check(self, run: Run) -> int:
        """The epoch at which columns are judged again."""
        return run.epoch + max(1, run.epoch // 10)

    def judge(self, run: Run, place: int, column: int, violation: float) -> Verdict:
        """The verdict on a live column, None if it goes on."""
        if run.is_flagged("ended", place):
            status = Status.INDEFINITE_KERNEL if self.indefinite else Status.CONVERGED
        elif run.epoch >= run.max_iter:
            status = Status.MAX_ITER
        else:
            return None
        return status, certify(run.problem, column, run.state.alpha[:, place], None, self.regime)

    def at_a_limit(self, status: Status, certificate: Certificate) -> Status:
        """The status of a column that a limit ends."""
        return status

    def is_finished(self, column: int, certificate: Certificate) -> bool:
        """Whether a solution comes from the exact finish."""
        return False

    def advice(self, run: Run, column: int, status: Status) -> str:
        """Advice on a column, in addition to its status."""
        return ""

    def saved(self, run: Run) -> dict[str, Any]:
        """The state of the rule."""
        return {}

    def restore(self, run: Run, saved: dict[str, Any]) -> None:
        """Restore what `saved` returned."""


class GapRule(Rule):
    """Ends a column when its relative duality gap, recomputed from the kernel, is at most `tol`.

    `aim` is the part of `tol` to aim at; if a limit comes first, `tol` is enough. An `eager` rule
    tries the exact finish early, too, before the gap is small, and the interior point where the steps of a
    working-set method already took as long as that would. One that `may_give_up` ends a column when
    `max_iter` epochs would not suffice at the rate of its last ones.
    """

    keeps_states = False

    def __init__(
        self, tol: float, *, aim: float = 1.0, indefinite: bool = False, eager: bool = False,
        may_give_up: bool = False, regime: Regime = REGIME,
    ) -> None:  # fmt: skip
        super().__init__(indefinite=indefinite, regime=regime)
        self.allowed, self.tol, self.eager, self.may_give_up = tol, aim * tol, eager, may_give_up

    def begin(self, run: Run) -> None:
        n, problem = run.problem.n_columns, run.problem
        # Without p (one class) the free points lie on the boundary itself: every digit decides about them.
        is_large = problem.m > self.regime.finish_up_to
        self._stops_at_tol = self.tol >= _SINGLE_GAP and problem.has_margin and is_large
        self._finish_below = np.full(n, self.tol if self._stops_at_tol else max(self.tol, _FINISH_FROM))
        self._separable = np.zeros(n, dtype=bool)
        self._best: list[Certificate | None] = [None] * n
        self._finished: list[Certificate | None] = [None] * n
        self._gaps: list[list[tuple[int, float]]] = [[] for _ in range(n)]
        self._needed = [0] * n  # epochs that a column was given up for
        self._eager_at = list(_EAGER_AT) if self.eager and not problem.gram.evaluates_rows else []
        self._is_greedy = "stalled" in run.flags  # few epochs, so each is checked
        may_leap = self.eager and self._is_greedy and not self.indefinite and problem.has_margin
        leap_at = _epochs_of_a_leap(problem.gram.points, self.regime) if may_leap else np.inf
        # epoch from which on the interior point is tried, which a hard margin may not have
        self._leap_at = np.where(np.isinf(problem.upper).any(axis=0), np.inf, leap_at)
        if np.isfinite(self._leap_at).all():
            self._eager_at = []  # the finish alone would take longer

    def next_check(self, run: Run) -> int:
        wait = 1 if self._is_greedy else max(1, run.epoch // 10)
        return min([run.epoch + wait, *self._eager_at[:1]])

    def judge(self, run: Run, place: int, column: int, violation: float) -> Verdict:
        if self._eager_at and run.epoch >= self._eager_at[0]:
            self._eager_at.pop(0)
            self._finish_below[:] = np.inf
        alpha, f = run.iterate(place)
        first = run.traces[column].rows[0][-1]
        is_bounded = violation <= _DIVERGED * max(1.0, first) and np.isfinite(alpha).all()  # False for NaN
        if run.is_flagged("diverged", place) or not is_bounded:
            return self._judge_diverged(run, column, alpha)
        is_near = self._is_near(run, place, column)
        is_slow = self._leap_at[column] <= run.epoch < run.max_iter
        if is_near is False:
            return self._leap(run, column, alpha) if is_slow else self._judge_digits(run, column, alpha)
        is_single = run.problem.gram.is_single
        if is_near and not is_single and not self._stops_at_tol:
            finished = self._finish(run, column, alpha)  # this mostly ends the fit
            if finished is not None and finished.gap <= self.tol and self.tol >= np.finfo(float).eps:
                return Status.CONVERGED, finished
        certificate = certify(run.problem, column, alpha, f, self.regime)
        if is_single:
            return self._judge_single(run, place, certificate)
        best = self._best[column]
        if best is None or (certificate.gap, -certificate.dual) < (best.gap, -best.dual):
            self._best[column] = certificate
        if self.indefinite:
            ended = violation <= self.tol or run.epoch >= min(run.max_iter, _INDEFINITE_EPOCHS)
            return (Status.INDEFINITE_KERNEL, certificate) if ended else None
        verdict = self._judge_gap(run, column, certificate, alpha)
        if verdict is None and certificate.margin_interval[1] < self.tol * _radius(run, column):
            verdict = self._judge_margin(run, column, certificate, alpha)
        if verdict is None and run.is_flagged("stalled", place):
            self._finish_below[column] = np.inf  # steps no longer move anything; the finish may
            verdict = self._judge_gap(run, column, certificate, alpha)
            verdict = verdict or (Status.PRECISION_LIMIT, certificate)
        is_lost = verdict is not None and verdict[0] is Status.PRECISION_LIMIT
        if is_slow if verdict is None else is_lost and np.isfinite(self._leap_at[column]):
            verdict = self._leap(run, column, alpha) or verdict
        has_no_step = run.is_flagged("ended", place)
        if verdict is None and (has_no_step or self._is_hopeless(run, column, certificate.gap)):
            return Status.MAX_ITER, certificate
        if verdict is None and run.epoch >= run.max_iter:
            best = certificate if certificate.alpha.any() else self._best[column] or certificate
            return self.at_a_limit(Status.MAX_ITER, best), best
        return verdict

    def at_a_limit(self, status: Status, certificate: Certificate) -> Status:
        """A fit whose gap is small enough when a limit ends it has converged; one that is stopped has not."""
        met = status is not Status.STOPPED and not self.indefinite and certificate.gap <= self.allowed
        return Status.CONVERGED if met else status

    def is_finished(self, column: int, certificate: Certificate) -> bool:
        return self._finished[column] is certificate

    def advice(self, run: Run, column: int, status: Status) -> str:
        if status is Status.MAX_ITER and self._needed[column] > run.max_iter > run.epoch:
            needed = f"at the rate of its last epochs it would need {self._needed[column]:.1e} of them"
            return f"{needed}: use solver='auto', scale X, or set max_iter to go on"
        return ""

    def saved(self, run: Run) -> dict[str, Any]:
        return {
            "best": self._best, "finish_below": self._finish_below, "separable": self._separable,
            "gaps": [np.array(gaps, dtype=float).reshape(-1, 2) for gaps in self._gaps],
            "eager_at": list(self._eager_at), "is_exact": not run.problem.gram.is_single,
        }  # fmt: skip

    def restore(self, run: Run, saved: dict[str, Any]) -> None:
        self._best, self._eager_at = list(saved["best"]), list(saved["eager_at"])
        self._finish_below, self._separable = saved["finish_below"], saved["separable"]
        self._gaps = [[(int(epoch), gap) for epoch, gap in gaps.tolist()] for gaps in saved["gaps"]]
        if saved["is_exact"] and run.problem.gram.is_single:
            run.problem = replace(run.problem, gram=run.problem.gram.exact())

    def _finish(self, run: Run, column: int, alpha: np.ndarray) -> Certificate | None:
        found = exact_finish(run.problem, column, alpha, run.pause)
        known = None if found is None else certify(run.problem, column, found, None, self.regime)
        self._finished[column] = known
        return known

    def _leap(self, run: Run, column: int, alpha: np.ndarray) -> Verdict:
        """Solve a problem on which the solver is slow: by a short finish, or by the interior point; once."""
        self._leap_at[column] = np.inf

        def certified(solution: np.ndarray, *negligible: float) -> Certificate:
            return certify(run.problem, column, solution, None, self.regime, *negligible)

        def finished(start: np.ndarray) -> list[Certificate]:
            optimum = exact_finish(run.problem, column, start, run.pause, is_near=True)
            known = [] if optimum is None else [certified(optimum)]
            if optimum is not None and known[0].gap > self.tol:  # zeros are exact: what is small may matter
                known = [certified(optimum, 0.0)]
            self._finished[column] = known[0] if known else None
            return known

        known = finished(alpha) if run.problem.gram.points.factor is None else []
        if known and known[0].gap <= self.tol:
            return Status.CONVERGED, known[0]
        found = interior_point(run.problem, column, self.tol, run.pause)
        if found is None:
            return None
        known = finished(found[1]) + [certified(one, 0.0) for one in found]
        for certificate in known:
            if certificate.gap <= self.tol:
                return Status.CONVERGED, certificate
        known.append(certified(alpha))
        best = min(known, key=lambda certificate: certificate.gap)
        return Status.CONVERGED if best.gap <= self.allowed else Status.PRECISION_LIMIT, best

    def _judge_diverged(self, run: Run, column: int, alpha: np.ndarray) -> Verdict:
        best = self._best[column] or certify(run.problem, column, np.zeros_like(alpha), None, self.regime)
        if self.indefinite:
            return Status.INDEFINITE_KERNEL, best
        if self._is_greedy and run.problem.offset >= FAR:  # exact steps diverge by rounding alone
            return Status.PRECISION_LIMIT, best
        verdict = self._judge_margin(run, column, best, best.alpha)
        return verdict if verdict and verdict[0] is Status.NOT_SEPARABLE else (Status.DIVERGED, best)

    def _is_hopeless(self, run: Run, column: int, gap: float) -> bool:
        """Whether the gap, falling as in the last half of the epochs, would take more than `max_iter`.

        An optimistic forecast: gaps of the published algorithms fall ever more slowly.
        """
        gaps = self._gaps[column]
        gaps.append((run.epoch, gap))
        is_hard = bool(np.isinf(run.problem.upper[:, column]).any())  # its gap is 1 until it separates
        if not self.may_give_up or run.epoch < _LEAST_TRY or gap <= self.tol or is_hard:
            return False
        then, before = next(pair for pair in reversed(gaps) if pair[0] <= run.epoch // 2 or pair is gaps[0])
        fall = np.log(before / gap) / max(run.epoch - then, 1) if gap < before else 0.0
        needed = run.epoch + np.log(gap / self.tol) / max(fall, 1e-12)
        self._needed[column] = int(min(needed, 1e12))
        return bool(needed > run.max_iter)

    def _judge_digits(self, run: Run, column: int, alpha: np.ndarray) -> Verdict:
        """Check now and then, while the gap is large, whether rounding of kernel values hides the optimum."""
        is_due = run.epoch >= _LOOK_AT_DIGITS and run.epoch & (run.epoch - 1) == 0
        if not is_due or run.problem.gram.is_single or self.indefinite or run.problem.offset < FAR:
            return None
        certificate = certify(run.problem, column, alpha, None, self.regime)
        is_lost = certificate.rounding >= 1.0 or (run.epoch >= _LAST_LOOK and certificate.gap >= 0.5)
        return (Status.PRECISION_LIMIT, certificate) if is_lost else None

    def _is_near(self, run: Run, place: int, column: int) -> bool | None:
        """Whether the solver's outputs show a gap small enough to certify; None if they cannot tell."""
        ended = run.is_flagged("stalled", place) or run.epoch >= run.max_iter
        if ended or not self._is_greedy or np.isinf(run.problem.upper[:, column]).any():
            return None
        goal = max(self.tol, _SINGLE_GAP) if run.problem.gram.is_single else self._finish_below[column]
        return bool(estimated_gap(run.problem, column, *run.iterate(place)) <= goal)

    def _judge_single(self, run: Run, place: int, certificate: Certificate) -> Verdict:
        """A gap reached with float32 kernel values; if they are too coarse for tol, go on with float64."""
        if certificate.gap <= self.tol:
            return Status.CONVERGED, certificate
        if run.epoch >= run.max_iter:
            return self.at_a_limit(Status.MAX_ITER, certificate), certificate
        if certificate.rounding <= 0.5 * self.tol >= _SINGLE_GAP and not run.is_flagged("stalled", place):
            return None  # fine enough: a few more rounds
        run.problem = replace(run.problem, gram=run.problem.gram.exact())
        run.live_problem = run.problem.columns(run.live)
        run.state.f[:] = run.live_problem.outputs(run.state.alpha)
        return None

    def _judge_gap(self, run: Run, column: int, certificate: Certificate, alpha: np.ndarray) -> Verdict:
        if self._stops_at_tol and certificate.gap <= self.tol:
            return Status.CONVERGED, certificate
        if certificate.gap > self._finish_below[column]:
            return None
        finished = self._finish(run, column, alpha)
        best = finished if finished is not None and finished.gap <= certificate.gap + 1e-12 else certificate
        if best.gap <= self.tol and self.tol >= np.finfo(float).eps:
            return Status.CONVERGED, best
        if finished is not None and finished.gap < min(1.0, _rounding(run, column, finished)):
            return Status.PRECISION_LIMIT, best
        if best.gap - best.rounding <= self.tol:  # all that is left is what rounding may hide
            return Status.PRECISION_LIMIT, best
        self._finish_below[column] = max(self.tol, min(certificate.gap / 10.0, _FINISH_FROM))
        return None if finished is None else self._judge_margin(run, column, finished, alpha, finished)

    def _judge_margin(
        self, run: Run, column: int, certificate: Certificate, alpha: np.ndarray,
        finished: Certificate | None = None,
    ) -> Verdict:  # fmt: skip
        """Hard margin: if it must be below tol, and the exact finish finds none either, there is none."""
        if self._separable[column] or not np.isinf(run.problem.upper[:, column]).any():
            return None
        finished = finished or self._finish(run, column, alpha)
        if finished is None or finished.margin_interval[0] <= 0.0:
            bounds = [c.margin_interval[1] for c in (certificate, finished) if c is not None]
            is_none = min(bounds) < self.tol * _radius(run, column)
            return (Status.NOT_SEPARABLE, certificate) if is_none else None
        self._separable[column] = True
        return (Status.CONVERGED, finished) if finished.gap <= self.tol else None


def _epochs_of_a_leap(points: Gram, regime: Regime) -> float:
    """How many epochs on working sets take about as long as the interior point; inf if that is too long."""
    if points.factor is None and points.m > regime.lazy_up_to:
        return np.inf
    if points.factor is not None:
        return max(2.0, points.factor.shape[1] ** 2 / _WORK_OF_AN_EPOCH)
    return max(8.0, points.m**2 / _WORK_OF_AN_EPOCH)  # the first epochs, with lower bounds, are short


def _rounding(run: Run, column: int, certificate: Certificate) -> float:
    """A gap that rounding of the outputs alone may cause."""
    roots = np.sqrt(run.problem.diagonal)
    sizes = np.abs(certificate.alpha).reshape(len(roots), -1).sum(axis=1)
    output_error = 1e-13 * float(roots.max()) * float(sizes @ roots)
    upper = run.problem.upper[:, column]
    weight = float(upper.sum()) if np.isfinite(upper).all() else float(sizes.sum())
    return max(1e-9, weight * output_error / max(abs(certificate.dual), 1e-300))


def _radius(run: Run, column: int) -> float:
    """``max √K_ii`` over the points that take part."""
    return float(np.sqrt(run.problem.diagonal[run.problem.upper[:, column] > 0.0].max()))
