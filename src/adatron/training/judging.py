"""The one stopping rule: whether a column has ended, and with what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers import Pause, Solver
from adatron.training.certificate import FAR, Certificate, certify, estimated_gap, is_single
from adatron.training.finish import exact_finish
from adatron.training.records import History
from adatron.training.status import Status

__all__ = ["Judged"]

_FINISH_FROM = 1e-3  # gap from which the exact finish is tried when tol is smaller
_FINISH_UP_TO = 1_000  # multipliers up to which it is tried even where the gap is small enough without
_SINGLE_GAP = 1e-4  # gap down to which float32 kernel values are trusted
_DIVERGED = 1e6  # violation, relative to that of the first epoch, from which there is no way back
_LOOK_AT_DIGITS = 16  # epoch from which on, at powers of two, a fit may turn out to be below rounding
_LAST_LOOK = 128  # epoch from which on a gap that hardly has fallen is proof enough of that
_LEAST_TRY = 3_000  # epochs before a fit is given up
_INDEFINITE_EPOCHS = 1_000  # no gap can end a fit with an indefinite kernel


class Judged:
    """The state of a `Run` as far as its columns are judged by it."""

    def __init__(
        self,
        problem: DualProblem,
        solver: Solver,
        tol: float,
        max_iter: int,
        alpha: np.ndarray | None,
        indefinite: bool,
        aim: float = 1.0,
        may_give_up: bool = False,
    ) -> None:
        self.problem, self.solver, self.max_iter = problem, solver, max_iter
        self.may_give_up = may_give_up
        self._gaps: list[list[tuple[int, float]]] = [[] for _ in range(problem.n_columns)]
        self.needed = [0] * problem.n_columns  # epochs that a column was given up for
        self.allowed, self.tol = tol, aim * tol
        self.indefinite, self.epoch = indefinite, 0
        self.live = np.arange(problem.n_columns)
        self.traces = [History() for _ in range(problem.n_columns)]
        self._live_problem = problem
        # Without p (one class) the free points lie on the boundary itself: every digit decides about them.
        is_tolerant = self.tol >= _SINGLE_GAP and bool(np.any(getattr(problem, "p", 1.0)))
        self._does_with_tol = is_tolerant and problem.m > _FINISH_UP_TO
        finish_from = self.tol if self._does_with_tol else max(self.tol, _FINISH_FROM)
        self._finish_below = np.full(problem.n_columns, finish_from)
        self._separable = np.zeros(problem.n_columns, dtype=bool)
        self._best: list[Certificate | None] = [None] * problem.n_columns
        self._finished: list[Certificate | None] = [None] * problem.n_columns
        self._pause: Pause = lambda: None
        self.state = solver.init(problem, alpha)
        self._is_greedy = hasattr(self.state, "stalled")  # few epochs, each worth a look

    def _outputs(self) -> np.ndarray:
        """f of the live columns, from scratch."""
        return self._live_problem.gram.matmul(self._live_problem.y * self.state.alpha)

    def _iterate(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """α and f of one live column."""
        return self.state.alpha[..., place], self.state.f[..., place]

    def _certify(self, column: int, alpha: np.ndarray, f: np.ndarray | None = None) -> Certificate:
        return certify(self.problem, column, alpha, f)

    def _exact_finish(self, column: int, alpha: np.ndarray) -> np.ndarray | None:
        return exact_finish(self.problem, column, alpha, self._pause)

    def _flagged(self, name: str, place: int | None = None) -> bool:
        """Whether the solver itself says that a column has diverged or ended."""
        flags = getattr(self.state, name, None)
        return flags is not None and bool(flags.any() if place is None else flags[place])

    def _judge(self, place: int, column: int, violation: float) -> tuple[Status, Certificate] | None:
        """Whether a column has ended, and with what."""
        alpha, f = self._iterate(place)
        first = self.traces[column].rows[0][-1]
        is_bounded = violation <= _DIVERGED * max(1.0, first) and np.isfinite(alpha).all()  # False for NaN
        if self._flagged("diverged", place) or not is_bounded:
            best = self._best[column] or self._certify(column, np.zeros_like(alpha))
            if self.indefinite:
                return Status.INDEFINITE_KERNEL, best
            if self._is_greedy and self.problem.offset >= FAR:  # exact steps diverge by rounding alone
                return Status.PRECISION_LIMIT, best
            verdict = self._judge_margin(column, best, self._finish_if_hard(column, best.alpha))
            return verdict if verdict and verdict[0] is Status.NOT_SEPARABLE else (Status.DIVERGED, best)
        is_near = self._is_near(place, column)
        if is_near is False:
            return self._judge_digits(column, alpha)
        if is_near and not is_single(self.problem.gram) and not self._does_with_tol:
            finished = self._finish(column, alpha)  # which is likely to have the last word
            if finished is not None and finished.gap <= self.tol and self.tol >= np.finfo(float).eps:
                return Status.CONVERGED, finished
        certificate = self._certify(column, alpha, f)
        if is_single(self.problem.gram):
            return self._judge_single(place, certificate)
        if self.indefinite:
            self._keep_best(column, certificate)
            ended = violation <= self.tol or self.epoch >= min(self.max_iter, _INDEFINITE_EPOCHS)
            return (Status.INDEFINITE_KERNEL, certificate) if ended else None
        self._keep_best(column, certificate)
        verdict = self._judge_gap(column, certificate, alpha)
        if verdict is None and certificate.margin_interval[1] < self.tol * self._radius(column):
            verdict = self._judge_margin(column, certificate, self._finish_if_hard(column, alpha))
        if verdict is None and self._flagged("stalled", place):
            self._finish_below[column] = np.inf  # steps no longer move anything; the finish may
            verdict = self._judge_gap(column, certificate, alpha) or (Status.PRECISION_LIMIT, certificate)
        if verdict is None and self._flagged("ended", place):
            return Status.MAX_ITER, certificate  # the algorithm has no further step to make
        if verdict is None and self._is_hopeless(column, certificate.gap):
            return Status.MAX_ITER, certificate
        if verdict is None and self.epoch >= self.max_iter:
            best = certificate if certificate.alpha.any() else self._best[column] or certificate
            return self._at_the_last_epoch(best), best
        return verdict

    def _is_hopeless(self, column: int, gap: float) -> bool:
        """Whether a gap that goes on falling as it did since half as many epochs needs more than all.

        That is a kind forecast: gaps of the published algorithms fall ever more slowly.
        """
        gaps = self._gaps[column]
        gaps.append((self.epoch, gap))
        is_hard = bool(np.isinf(self.problem.upper[:, column]).any())  # its gap is 1 until it separates
        if not self.may_give_up or self.epoch < _LEAST_TRY or gap <= self.tol or is_hard:
            return False
        then, before = next(pair for pair in reversed(gaps) if pair[0] <= self.epoch // 2 or pair is gaps[0])
        fall = np.log(before / gap) / max(self.epoch - then, 1) if gap < before else 0.0
        needed = self.epoch + np.log(gap / self.tol) / max(fall, 1e-12)
        self.needed[column] = int(min(needed, 1e12))
        return bool(needed > self.max_iter)

    def _judge_digits(self, column: int, alpha: np.ndarray) -> tuple[Status, Certificate] | None:
        """Now and then while the gap is large: whether float64 kernel values can tell anything at all."""
        is_due = self.epoch >= _LOOK_AT_DIGITS and self.epoch & (self.epoch - 1) == 0
        if not is_due or is_single(self.problem.gram) or self.indefinite:
            return None
        if self.problem.offset < FAR:
            return None
        certificate = self._certify(column, alpha)
        is_lost = certificate.rounding >= 1.0 or (self.epoch >= _LAST_LOOK and certificate.gap >= 0.5)
        return (Status.PRECISION_LIMIT, certificate) if is_lost else None

    def _at_the_last_epoch(self, certificate: Certificate) -> Status:
        """A fit that aims below tol, and is not there yet, has converged all the same."""
        met = self.allowed > self.tol and certificate.gap <= self.allowed
        return Status.CONVERGED if met else Status.MAX_ITER

    def _is_near(self, place: int, column: int) -> bool | None:
        """Whether the solver's own outputs show a gap worth a certificate; None where only that can tell."""
        ended = self._flagged("stalled", place) or self.epoch >= self.max_iter
        if ended or not self._is_greedy or np.isinf(self.problem.upper[:, column]).any():
            return None
        goal = max(self.tol, _SINGLE_GAP) if is_single(self.problem.gram) else self._finish_below[column]
        return bool(estimated_gap(self.problem, column, *self._iterate(place)) <= goal)

    def _judge_single(self, place: int, certificate: Certificate) -> tuple[Status, Certificate] | None:
        """A gap reached with float32 kernel values; if they are too coarse for tol, go on with float64."""
        if certificate.gap <= self.tol:
            return Status.CONVERGED, certificate
        if self.epoch >= self.max_iter:
            return self._at_the_last_epoch(certificate), certificate
        if certificate.rounding <= 0.5 * self.tol >= _SINGLE_GAP and not self._flagged("stalled", place):
            return None  # fine enough: a few more rounds
        gram: Any = self.problem.gram
        self.problem = replace(self.problem, gram=gram.exact())
        self._live_problem = self.problem.columns(self.live)
        self.state.f[:] = self._outputs()
        return None

    def _keep_best(self, column: int, certificate: Certificate) -> None:
        best = self._best[column]
        if best is None or (certificate.gap, -certificate.dual) < (best.gap, -best.dual):
            self._best[column] = certificate

    def _judge_gap(
        self, column: int, certificate: Certificate, alpha: np.ndarray
    ) -> tuple[Status, Certificate] | None:
        if self._does_with_tol and certificate.gap <= self.tol:
            return Status.CONVERGED, certificate
        if certificate.gap > self._finish_below[column]:
            return None
        finished = self._finish(column, alpha)
        best = finished if finished is not None and finished.gap <= certificate.gap + 1e-12 else certificate
        if best.gap <= self.tol and self.tol >= np.finfo(float).eps:
            return Status.CONVERGED, best
        if finished is not None and finished.gap < min(1.0, self._rounding(column, finished)):
            return Status.PRECISION_LIMIT, best
        if best.gap - best.rounding <= self.tol:  # all that is left is what rounding may hide
            return Status.PRECISION_LIMIT, best
        self._finish_below[column] = max(self.tol, min(certificate.gap / 10.0, _FINISH_FROM))
        return None if finished is None else self._judge_margin(column, finished, finished)

    def _judge_margin(
        self, column: int, certificate: Certificate, finished: Certificate | None
    ) -> tuple[Status, Certificate] | None:
        """Hard margin: one that must be smaller than tol, and that the finish does not find, is none."""
        if not self._may_be_inseparable(column):
            return None
        if finished is None or finished.margin_interval[0] <= 0.0:
            bounds = [c.margin_interval[1] for c in (certificate, finished) if c is not None]
            is_none = min(bounds) < self.tol * self._radius(column)
            return (Status.NOT_SEPARABLE, certificate) if is_none else None
        self._separable[column] = True
        return (Status.CONVERGED, finished) if finished.gap <= self.tol else None

    def _may_be_inseparable(self, column: int) -> bool:
        return not self._separable[column] and bool(np.isinf(self.problem.upper[:, column]).any())

    def _finish_if_hard(self, column: int, alpha: np.ndarray) -> Certificate | None:
        return self._finish(column, alpha) if self._may_be_inseparable(column) else None

    def _rounding(self, column: int, certificate: Certificate) -> float:
        """A gap that rounding of the outputs alone may cause."""
        roots = np.sqrt(self.problem.diagonal)
        sizes = np.abs(certificate.alpha).reshape(len(roots), -1).sum(axis=1)
        output_error = 1e-13 * float(roots.max()) * float(sizes @ roots)
        upper = self.problem.upper[:, column]
        weight = float(upper.sum()) if np.isfinite(upper).all() else float(sizes.sum())
        return max(1e-9, weight * output_error / max(abs(certificate.dual), 1e-300))

    def _radius(self, column: int) -> float:
        """``max √K_ii`` over the points that take part."""
        return float(np.sqrt(self.problem.diagonal[self.problem.upper[:, column] > 0.0].max()))

    def _finish(self, column: int, alpha: np.ndarray) -> Certificate | None:
        finished = self._exact_finish(column, alpha)
        self._finished[column] = None if finished is None else self._certify(column, finished)
        return self._finished[column]
