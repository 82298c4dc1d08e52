"""One problem under way: its epochs, its records and its solutions."""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers import Pause, Solver, take_columns
from adatron.training.certificate import Certificate
from adatron.training.judging import Judged
from adatron.training.records import EpochRecord, measure
from adatron.training.solution import DualSolution
from adatron.training.status import Status

__all__ = ["Run"]

_EAGER_AT = (10, 100, 1_000, 10_000)  # epochs at which an eager run tries it whatever the gap
_LIMITS = (Status.MAX_ITER, Status.TIME_LIMIT, Status.STOPPED)
_REFRESH_EVERY = 1_000  # epochs after which f is recomputed, so that rounding cannot pile up


class Run(Judged):
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
    aim : float
        Part of `tol` that is aimed at; where a limit comes first, `tol` will do.
    may_give_up : bool
        Whether a column may end early when `max_iter` epochs would not suffice at the rate of its last ones.
    """

    one_blas_thread_up_to = 3_000  # points: several threads would mostly wait for one another
    is_watched = True  # somebody looks at every epoch; otherwise a run may take several at once

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
        aim: float = 1.0,
        may_give_up: bool = False,
    ) -> None:
        self.first, self.began = first, monotonic()
        super().__init__(problem, solver, tol, max_iter, alpha, indefinite, aim, may_give_up)
        self._eager_at = list(_EAGER_AT) if eager and not hasattr(problem.gram, "keep") else []
        self.solutions: list[DualSolution | None] = [None] * problem.n_columns
        self._next_check = 1
        self.left_at: tuple[np.ndarray, Any] | None = None  # columns and state when a limit ended them

    def advance(self, pause: Pause) -> list[EpochRecord]:
        """One epoch of every live column; columns that have ended leave."""
        self.state = self.solver.epoch(self._live_problem, self.state, pause)
        self.epoch += 1
        if self.epoch % _REFRESH_EVERY == 0:
            self.state.f[:] = self._outputs()
        records = self._record(self._measure()[None])
        self._check_if_due(records, pause)
        return records

    def _check_if_due(self, records: list[EpochRecord], pause: Pause) -> None:
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

    def _measure(self) -> np.ndarray:
        """Objective, margin and violation of every live column."""
        return measure(self._live_problem, self.state)

    def end(self, status: Status) -> None:
        """End the live columns as they are."""
        for place, column in enumerate(self.live.tolist()):
            if self.solutions[column] is None:
                certificate = self._certify(column, *self._iterate(place))
                self._close(column, self._status_at(status, certificate), certificate)
        self._remember_limited()
        self._leave(np.zeros(len(self.live), dtype=bool))

    def _status_at(self, status: Status, certificate: Certificate) -> Status:
        """A limit that comes when the gap is small enough already is no failure."""
        met = status is Status.TIME_LIMIT and not self.indefinite and certificate.gap <= self.allowed
        return Status.CONVERGED if met else status

    def snapshot(self) -> list[DualSolution]:
        """The solutions so far, certified where they stand."""
        current = list(self.solutions)
        for place, column in enumerate(self.live.tolist()):
            if current[column] is None:
                certificate = self._certify(column, *self._iterate(place))
                current[column] = self._solution(column, Status.STOPPED, certificate)
        return [solution for solution in current if solution is not None]

    def _record(self, values: np.ndarray) -> list[EpochRecord]:
        """Note the last epochs, of which `values` (n, B, 3) were measured; the records of the last one."""
        n, now = len(values), monotonic() - self.began
        records = []
        for place, column in enumerate(self.live.tolist()):
            bias, trace = float(self.state.bias[place]), self.traces[column]
            before = trace.rows[-1][1] if trace.rows else 0.0
            for t, (objective, margin, violation) in enumerate(values[:, place].tolist(), start=1):
                # taken together, they took as long as one another
                epoch, seconds = self.epoch - n + t, now - (n - t) * (now - before) / n
                trace.add((epoch, seconds, objective, margin, bias, violation))
            number = self.first + column
            records.append(
                EpochRecord(number, self.epoch, now, objective, margin, bias, violation, self._now)
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
            self._remember_limited()
            self._leave(staying)

    def _remember_limited(self) -> None:
        """Keep the state of columns that a limit has ended, should the fit be taken up again."""
        ended = [self.solutions[column] for column in self.live.tolist()]
        limited = np.array([own is not None and own.status in _LIMITS for own in ended], dtype=bool)
        if limited.any():
            self.left_at = self.live[limited], take_columns(self.state, limited)

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
            certificate.plain_gap,
            self._finished[column] is certificate,
            self._advice(column, certificate, status),
            self._trace(column, status),
        )

    def _trace(self, column: int, status: Status) -> list[tuple[float, ...]]:
        rows = self.traces[column].rows
        if status in (Status.DIVERGED, Status.INDEFINITE_KERNEL):  # may have overflowed
            return [tuple(np.nan_to_num(row).tolist()) for row in rows]
        return rows

    def _advice(self, column: int, certificate: Certificate, status: Status) -> str:
        if status is Status.MAX_ITER and self.needed[column] > self.max_iter > self.epoch:
            return (
                f"at the rate of its last epochs it would need {self.needed[column]:.1e} of them: use "
                "solver='auto', scale X, or set max_iter to go on"
            )
        if status is not Status.DIVERGED:
            return ""
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
