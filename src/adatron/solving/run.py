"""One problem under way: its epochs, its records and the one stopping rule."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers import Pause, Solver, take_columns
from adatron.solving.certificate import Certificate, certify, estimated_gap, is_single
from adatron.solving.finish import exact_finish
from adatron.solving.records import EpochRecord, History, measure
from adatron.solving.solution import DualSolution
from adatron.solving.status import Status

__all__ = ["Run"]

_FINISH_FROM = 1e-3  # gap from which the exact finish is tried when tol is smaller
_EAGER_AT = (10, 100, 1_000, 10_000)  # epochs at which an eager run tries it whatever the gap
_SINGLE_GAP = 1e-4  # gap down to which float32 kernel values are trusted
_REFRESH_EVERY = 1_000  # epochs after which f is recomputed, so that rounding cannot pile up
_DIVERGED = 1e6  # violation, relative to that of the first epoch, from which there is no way back
_INDEFINITE_EPOCHS = 1_000  # no gap can end a fit with an indefinite kernel


class Run:
    """One `DualProblem` on its way to its solutions.

    Parameters
    ----------
    problem : DualProblem
    solver : Solver
    tol : float
        Relative duality gap at which a column has converged.
    max_iter : int
        Epochs at most.
    alpha : array of shape (m, B), optional
        Warm start.
    indefinite : bool
        Whether the kernel is known not to be positive semi-definite.
    eager : bool
        Whether the exact finish is also tried early, before the gap is small.
    first : int
        Number of the first column among all problems of the fit.
    """

    def __init__(
        self,
        problem: DualProblem,
        solver: Solver,
        *,
        tol: float,
        max_iter: int,
        alpha: np.ndarray | None = None,
        indefinite: bool = False,
        eager: bool = False,
        first: int = 0,
    ) -> None:
        self.problem, self.solver, self.tol, self.max_iter = problem, solver, tol, max_iter
        self.indefinite, self.first = indefinite, first
        self._eager_at = list(_EAGER_AT) if eager and not hasattr(problem.gram, "keep") else []
        self.live = np.arange(problem.n_columns)
        self.solutions: list[DualSolution | None] = [None] * problem.n_columns
        self.traces = [History() for _ in range(problem.n_columns)]
        self.epoch, self.began = 0, monotonic()
        self._next_check = 1
        self._live_problem = problem
        self._finish_below = np.full(problem.n_columns, max(tol, _FINISH_FROM))
        self._separable = np.zeros(problem.n_columns, dtype=bool)
        self._best: list[Certificate | None] = [None] * problem.n_columns
        self._finished: list[Certificate | None] = [None] * problem.n_columns
        self._pause: Pause = lambda: None
        self.state = solver.init(problem, alpha)
        self._is_greedy = hasattr(self.state, "stalled")  # few epochs, each worth a look

    def advance(self, pause: Pause) -> list[EpochRecord]:
        """One epoch of every live column; columns that have ended leave."""
        self.state = self.solver.epoch(self._live_problem, self.state, pause)
        self.epoch += 1
        if self.epoch % _REFRESH_EVERY == 0:
            self.state.f[:] = self._outputs()
        records = self._record()
        if (
            self.epoch >= min(self._next_check, self.max_iter)
            or self._flagged("diverged")
            or self._flagged("ended")
            or self._flagged("stalled")
        ):
            self._pause = pause
            self._check(records)
            wait = 1 if self._is_greedy else max(1, self.epoch // 10)
            self._next_check = min([self.epoch + wait, *self._eager_at[:1]])
        return records

    def _outputs(self) -> np.ndarray:
        """f from scratch."""
        return self._live_problem.gram.matmul(self._live_problem.y * self.state.alpha)

    def _measure(self) -> np.ndarray:
        """Objective, margin and violation of every live column."""
        return measure(self._live_problem, self.state)

    def _certify(self, column: int, alpha: np.ndarray, f: np.ndarray | None = None) -> Certificate:
        return certify(self.problem, column, alpha, f)

    def _exact_finish(self, column: int, alpha: np.ndarray) -> np.ndarray | None:
        return exact_finish(self.problem, column, alpha, self._pause)

    def _iterate(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """α and f of one live column."""
        return self.state.alpha[..., place], self.state.f[..., place]

    def _flagged(self, name: str, place: int | None = None) -> bool:
        """Whether the solver itself says that a column has diverged or ended."""
        flags = getattr(self.state, name, None)
        return flags is not None and bool(flags.any() if place is None else flags[place])

    def end(self, status: Status) -> None:
        """End the live columns as they are."""
        for place, column in enumerate(self.live.tolist()):
            if self.solutions[column] is None:
                certificate = self._certify(column, *self._iterate(place))
                self._close(column, self._status_at(status, certificate), certificate)
        self._leave(np.zeros(len(self.live), dtype=bool))

    def _status_at(self, status: Status, certificate: Certificate) -> Status:
        """A limit that comes when the gap is small enough already is no failure."""
        met = status is Status.TIME_LIMIT and not self.indefinite and certificate.gap <= self.tol
        return Status.CONVERGED if met else status

    def snapshot(self) -> list[DualSolution]:
        """The solutions so far, certified where they stand."""
        current = list(self.solutions)
        for place, column in enumerate(self.live.tolist()):
            if current[column] is None:
                certificate = self._certify(column, *self._iterate(place))
                current[column] = self._solution(column, Status.STOPPED, certificate)
        return [solution for solution in current if solution is not None]

    def _record(self) -> list[EpochRecord]:
        seconds = monotonic() - self.began
        values = self._measure()
        records = []
        for place, column in enumerate(self.live.tolist()):
            objective, margin, violation = values[place].tolist()
            bias = float(self.state.bias[place])
            self.traces[column].add((self.epoch, seconds, objective, margin, bias, violation))
            number = self.first + column
            records.append(
                EpochRecord(number, self.epoch, seconds, objective, margin, bias, violation, self._now)
            )
        return records

    def _now(self, problem: int) -> tuple[float, int]:
        """Gap and number of support vectors of one problem of the fit, ended or not."""
        column = problem - self.first
        solution = self.solutions[column]
        if solution is not None:
            return solution.gap, _n_support(solution.alpha)
        alpha = self._iterate(int(np.flatnonzero(self.live == column)[0]))[0]
        return self._certify(column, alpha).gap, _n_support(alpha)

    def _check(self, records: list[EpochRecord]) -> None:
        if self._eager_at and self.epoch >= self._eager_at[0]:
            self._eager_at.pop(0)
            self._finish_below[:] = np.inf
        staying = np.ones(len(self.live), dtype=bool)
        for place, column in enumerate(self.live.tolist()):
            verdict = self._judge(place, column, records[place].violation)
            if verdict is not None:
                self._close(column, *verdict)
                staying[place] = False
        if not staying.all():
            self._leave(staying)

    def _judge(self, place: int, column: int, violation: float) -> tuple[Status, Certificate] | None:
        """Whether a column has ended, and with what."""
        alpha, f = self._iterate(place)
        first = self.traces[column].rows[0][-1]
        is_bounded = violation <= _DIVERGED * max(1.0, first) and np.isfinite(alpha).all()  # False for NaN
        if self._flagged("diverged", place) or not is_bounded:
            best = self._best[column] or self._certify(column, np.zeros_like(alpha))
            if self.indefinite:
                return Status.INDEFINITE_KERNEL, best
            verdict = self._judge_margin(column, best, self._finish_if_hard(column, best.alpha))
            return verdict if verdict and verdict[0] is Status.NOT_SEPARABLE else (Status.DIVERGED, best)
        is_near = self._is_near(place, column)
        if is_near is False:
            return None
        if is_near and not is_single(self.problem.gram):  # then the finish is likely to have the last word
            finished = self._finish(column, alpha)
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
        if verdict is None and self.epoch >= self.max_iter:
            return Status.MAX_ITER, certificate if certificate.alpha.any() else self._best[
                column
            ] or certificate
        return verdict

    def _is_near(self, place: int, column: int) -> bool | None:
        """Whether the solver's own outputs show a gap worth a certificate; None where only that can tell."""
        ended = self._flagged("stalled", place) or self.epoch >= self.max_iter
        if ended or not self._is_greedy or np.isinf(self.problem.upper[:, column]).any():
            return None
        goal = max(self.tol, _SINGLE_GAP) if is_single(self.problem.gram) else self._finish_below[column]
        return estimated_gap(self.problem, column, *self._iterate(place)) <= goal

    def _judge_single(self, place: int, certificate: Certificate) -> tuple[Status, Certificate] | None:
        """A gap reached with float32 kernel values; if they are too coarse for tol, go on with float64."""
        if certificate.gap <= self.tol:
            return Status.CONVERGED, certificate
        if self.epoch >= self.max_iter:
            return Status.MAX_ITER, certificate
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
        if certificate.gap > self._finish_below[column]:
            return None
        finished = self._finish(column, alpha)
        best = finished if finished is not None and finished.gap <= certificate.gap + 1e-12 else certificate
        if best.gap <= self.tol and self.tol >= np.finfo(float).eps:
            return Status.CONVERGED, best
        if finished is not None and finished.gap < min(1.0, self._rounding(column, finished)):
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

    def _close(self, column: int, status: Status, certificate: Certificate) -> None:
        self.solutions[column] = self._solution(column, status, certificate)

    def _solution(self, column: int, status: Status, certificate: Certificate) -> DualSolution:
        return DualSolution(
            certificate.alpha,
            certificate.bias,
            status,
            self.epoch,
            certificate.gap,
            monotonic() - self.began,
            certificate.bias_interval,
            certificate.margin_interval,
            self._finished[column] is certificate,
            self._advice(column, certificate) if status is Status.DIVERGED else "",
            self._trace(column, status),
        )

    def _trace(self, column: int, status: Status) -> list[tuple[float, ...]]:
        rows = self.traces[column].rows
        if status in (Status.DIVERGED, Status.INDEFINITE_KERNEL):  # may have overflowed
            return [tuple(np.nan_to_num(row).tolist()) for row in rows]
        return rows

    def _advice(self, column: int, certificate: Certificate) -> str:
        advice = getattr(self.solver, "advice", None)
        return "" if advice is None else advice(self.problem, column, certificate.alpha)

    def _leave(self, staying: np.ndarray) -> None:
        if staying.any():
            self._live_problem = self._live_problem.columns(staying)
            self.state = take_columns(self.state, staying)
        self.live = self.live[staying]
        if not len(self.live):
            getattr(self.problem.gram, "release", lambda: None)()


def _n_support(alpha: np.ndarray) -> int:
    """Points with any multiplier other than 0."""
    return int(np.count_nonzero(alpha.reshape(len(alpha), -1).any(axis=1)))
