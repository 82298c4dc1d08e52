"""A problem being solved, and the epoch loop.

`rounds` advances several runs in turn, one epoch each, until all have ended. So whenever it is interrupted
(a limit, a callback, Ctrl-C), every problem has had its share and the model is usable. Runs whose kernel
matrices would take too much memory together are advanced group by group.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, fields
from itertools import accumulate
from threading import Event
from time import monotonic
from typing import Any

import numpy as np

from adatron.problems import DualProblem
from adatron.solvers import MultiplicativeUpdating, Pause, Solver, take_columns
from adatron.training.certificate import Certificate, certify
from adatron.training.records import HISTORY_FIELDS, DualSolution, EpochRecord, Status
from adatron.training.rule import Rule

_FLAGS = frozenset({"diverged", "ended", "stalled"})
_LIMITS = (Status.MAX_ITER, Status.TIME_LIMIT, Status.STOPPED)
_REFRESH_EVERY = 1_000  # epochs after which f is recomputed, so that rounding cannot pile up


@dataclass
class History:
    """At most `limit` records: every epoch up to half of them, then ever fewer.

    Beyond ``limit / 2`` epochs, a record is kept when its epoch is some per cent later than the one
    kept before; the percentage doubles whenever the records become too many. The newest is always there.

    >>> from adatron.training import History
    >>> history = History(limit=8)
    >>> for epoch in range(1, 101):
    ...     history.add((epoch,))
    >>> [row[0] for row in history.rows]
    [1, 2, 3, 4, 9, 21, 48, 100]
    """

    limit: int = 2_000
    rows: list[tuple[float, ...]] = field(default_factory=list)
    growth: float = 0.0  # a record is kept if its epoch is this many times that of the last one

    def __post_init__(self) -> None:
        self.growth = self.growth or 1.0 + 10.0 / self.limit

    def add(self, row: tuple[float, ...]) -> None:
        """Add the row of the newest epoch, which stands first in it."""
        if len(self.rows) > self.limit // 2 and self.rows[-1][0] < self.growth * self.rows[-2][0]:
            self.rows.pop()  # it was there as the newest only
        if len(self.rows) >= self.limit:
            half = self.limit // 2
            self.rows = self.rows[:half] + self.rows[half + 1 :: 2]
            self.growth = 1.0 + 2.0 * (self.growth - 1.0)
        self.rows.append(row)


class Run:
    """A problem, a solver for it, and a rule that says when to stop.

    It takes at most `max_iter` epochs, perhaps from the multipliers `alpha`; `first` is the number of its
    first column among all problems of the fit. A run that `releases` frees the kernel values at its end.
    """

    def __init__(
        self, problem: Any, solver: Solver, rule: Rule, *, max_iter: int, alpha: np.ndarray | None = None,
        first: int = 0, releases: bool = True,
    ) -> None:  # fmt: skip
        self.problem, self.solver, self.rule = problem, solver, rule
        self.max_iter, self.first, self.began, self.epoch = max_iter, first, monotonic(), 0
        self.releases = releases
        self.is_watched = True  # every epoch is looked at; otherwise several may be taken at once
        self.live = np.arange(problem.n_columns)  # columns that have not ended
        self.live_problem: DualProblem = problem  # their problems
        self.state: Any = solver.init(problem, alpha)  # the solver's, of these columns
        self.flags = _FLAGS & frozenset(self.state._fields)  # what it says of them
        self.solutions: list[DualSolution | None] = [None] * problem.n_columns  # of those that have ended
        self.last: dict[int, Any] = {}  # and their states
        self.traces = [History() for _ in range(problem.n_columns)]
        self.pause: Pause = lambda: None
        self._next_check = 1
        rule.begin(self)

    def advance(self, pause: Pause) -> list[EpochRecord]:
        """One epoch of every live column, or several; columns that have ended leave."""
        self.pause = pause
        if self.rule.advance is not None:
            measures = self.rule.advance(self, pause)
        else:
            self.state = self.solver.epoch(self.live_problem, self.state, pause)
            if (self.epoch + 1) % _REFRESH_EVERY == 0:
                self.state.f[:] = self.live_problem.outputs(self.state.alpha)
            measures = self.live_problem.measure(self.state)[None]
        self.epoch += len(measures)
        records = self._record(measures)
        is_flagged = any(getattr(self.state, name).any() for name in self.flags)
        if self.epoch >= min(self._next_check, self.max_iter) or is_flagged:
            staying = np.ones(len(self.live), dtype=bool)
            for place, column in enumerate(self.live.tolist()):
                verdict = self.rule.judge(self, place, column, records[place].violation)
                if verdict is not None:
                    self._close(place, column, *verdict)
                    staying[place] = False
            self._leave(staying)
            self._next_check = self.rule.next_check(self)
        return records

    def is_flagged(self, name: str, place: int) -> bool:
        """Whether the solver itself says that a column has diverged, ended or stalled."""
        return name in self.flags and bool(getattr(self.state, name)[place])

    def iterate(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """α and f of one live column."""
        return self.state.alpha[..., place], self.state.f[..., place]

    def end(self, status: Status) -> None:
        """End the live columns as they are."""
        for place, column in enumerate(self.live.tolist()):
            if self.solutions[column] is None:  # it may have ended just before Ctrl-C
                certificate = self._certificate(place, column)
                self._close(place, column, self.rule.at_a_limit(status, certificate), certificate)
        self._leave(np.zeros(len(self.live), dtype=bool))

    def snapshot(self) -> list[DualSolution]:
        """The solutions so far, certified where they stand."""
        current = list(self.solutions)
        for place, column in enumerate(self.live.tolist()):
            if current[column] is None:
                current[column] = self._solution(column, Status.STOPPED, self._certificate(place, column))
        return [solution for solution in current if solution is not None]

    def column_state(self, column: int) -> Any:
        """The state of one column, ended or not."""
        return self.last.get(column) or take_columns(self.state, np.flatnonzero(self.live == column))

    def saved(self) -> dict[str, Any]:
        """All that changes in a run, as nested plain values and arrays.

        Columns that a limit has ended count as under way: another limit may let them go on.
        """
        state, live = self.state, self.live
        limited = [c for c, own in enumerate(self.solutions) if own is not None and own.status in _LIMITS]
        if limited:
            live = np.array(sorted({*live.tolist(), *limited}))
            parts = [self.column_state(column) for column in live.tolist()]
            state = type(state)(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))
        ended = {c: own for c, own in self.last.items() if c not in live}
        return {
            "epoch": self.epoch, "seconds": monotonic() - self.began, "next_check": self._next_check,
            "live": live, "state": state._asdict(), "last": {c: own._asdict() for c, own in ended.items()},
            "traces": _as_plain(self.traces),
            "solutions": [_as_plain(own) if c not in live else None for c, own in enumerate(self.solutions)],
            "rule": {name: _as_plain(value) for name, value in self.rule.saved(self).items()},
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on where another run of the same problem, solver and settings was saved."""
        if saved["state"].keys() != self.state._asdict().keys():
            raise ValueError("the saved run has another state than this one: it belongs to another solver")
        if len(saved["state"]["alpha"]) != len(self.state.alpha):
            raise ValueError("the saved run has another number of rows")
        kind = type(self.state)
        self.epoch, self.began = saved["epoch"], monotonic() - saved["seconds"]
        self._next_check, self.live = saved["next_check"], saved["live"]
        self.state = kind(**{name: np.asfortranarray(array) for name, array in saved["state"].items()})
        self.last = {column: kind(**own) for column, own in saved["last"].items()}
        self.traces, self.solutions = _from_plain(saved["traces"]), _from_plain(saved["solutions"])
        self.rule.restore(self, {name: _from_plain(value) for name, value in saved["rule"].items()})
        is_whole = len(self.live) in (0, self.problem.n_columns)
        self.live_problem = self.problem if is_whole else self.problem.columns(self.live)

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
            measured = objective, margin, bias, violation
            records.append(EpochRecord(self.first + column, self.epoch, now, *measured, self._now))
        return records

    def _now(self, problem: int) -> tuple[float, int]:
        """Gap and number of support vectors of one problem of the fit, ended or not."""
        column = problem - self.first
        known: Any = self.solutions[column]
        alpha = self.iterate(int(np.flatnonzero(self.live == column)[0]))[0] if known is None else known.alpha
        gap = (known or certify(self.problem, column, alpha, None, self.rule.regime)).gap
        return gap, int(np.count_nonzero(alpha.reshape(len(alpha), -1).any(axis=1)))

    def _certificate(self, place: int, column: int) -> Certificate:
        return certify(self.problem, column, *self.iterate(place), self.rule.regime)

    def _close(self, place: int, column: int, status: Status, certificate: Certificate) -> None:
        self.solutions[column] = self._solution(column, status, certificate)
        if self.rule.keeps_states or status in _LIMITS:  # a fit that a limit has ended may be taken up again
            self.last[column] = take_columns(self.state, np.array([place]))

    def _solution(self, column: int, status: Status, certificate: Certificate) -> DualSolution:
        trace = self.traces[column].rows
        advice = self.rule.advice(self, column, status)
        if status in (Status.DIVERGED, Status.INDEFINITE_KERNEL):  # may have overflowed
            trace = [tuple(np.nan_to_num(row).tolist()) for row in trace]
        if status is Status.DIVERGED and isinstance(self.solver, MultiplicativeUpdating):
            advice = self.solver.advice(self.problem, column, certificate.alpha)
        return DualSolution(
            certificate.alpha, certificate.bias, status, self.epoch, certificate.gap,
            monotonic() - self.began, certificate.bias_interval, certificate.margin_interval,
            certificate.plain_gap, certificate.is_exact, self.rule.is_finished(column, certificate),
            advice, trace, certificate.level,
        )  # fmt: skip

    def _leave(self, staying: np.ndarray) -> None:
        if staying.all():
            return
        if staying.any():
            self.live_problem = self.live_problem.columns(staying)
            self.state = take_columns(self.state, staying)
        self.live = self.live[staying]
        if not len(self.live) and self.releases:
            self.problem.gram.release()


def _as_plain(value: Any) -> Any:
    """Certificates, solutions and histories as dictionaries that say what they are."""
    if isinstance(value, list):
        return [_as_plain(item) for item in value]
    if not isinstance(value, Certificate | DualSolution | History):
        return value
    plain = {"": type(value).__name__} | {f.name: getattr(value, f.name) for f in fields(value)}
    for name in plain.keys() & {"rows", "trace"}:
        plain[name] = np.array(plain[name], dtype=float).reshape(-1, len(HISTORY_FIELDS))
    return plain | ({"status": value.status.name} if isinstance(value, DualSolution) else {})


def _from_plain(value: Any) -> Any:
    """The inverse of `_as_plain`."""
    if isinstance(value, list):
        return [_from_plain(item) for item in value]
    if not isinstance(value, dict) or "" not in value:
        return value
    content = {name: item for name, item in value.items() if name != ""}
    for name in content.keys() & {"rows", "trace"}:  # the first entry of a row is the epoch
        content[name] = [(int(row[0]), *row[1:]) for row in content[name].tolist()]
    if "status" in content:
        content["status"] = Status[content["status"]]
    kinds: dict[str, Any] = {kind.__name__: kind for kind in (Certificate, DualSolution, History)}
    return kinds[value[""]](**content)


class _TimeUp(Exception):
    """Raised by ``pause`` in the middle of an epoch when the time limit has passed."""


def rounds(
    runs: list[Run], *, time_limit: float | None = None, n_threads: int = 1
) -> Iterator[list[EpochRecord]]:
    """Advance all runs by one epoch at a time, and give the records of each round.

    `n_threads` runs are advanced at once; the `time_limit` counts from now, in seconds.
    """
    deadline = np.inf if time_limit is None else monotonic() + time_limit
    left = Event()

    def pause() -> None:
        if left.is_set() or monotonic() >= deadline:
            raise _TimeUp

    with ThreadPoolExecutor(n_threads) if n_threads > 1 else nullcontext() as pool:
        while waiting := [run for run in runs if len(run.live)]:
            # the first runs whose matrices fit together: all of them if they are small
            costs = list(accumulate(run.problem.gram.cost for run in waiting))
            most = waiting[0].rule.regime.held_at_once
            live = waiting[: max(1, bisect_right(costs, most))]
            records: list[EpochRecord] = []
            try:
                if pool is None or len(live) == 1:
                    for run in live:
                        records += run.advance(pause)
                else:
                    tasks = [pool.submit(run.advance, pause) for run in live]
                    wait(tasks)
                    for task in tasks:
                        records += task.result()
                yield records
            except _TimeUp:
                for run in waiting:
                    run.end(Status.TIME_LIMIT)
            except BaseException:
                left.set()  # threads still in an epoch end it at their next pause
                raise


def solved(runs: list[Run]) -> list[DualSolution]:
    """The solutions of all columns of all runs, advanced to their ends."""
    for _ in rounds(runs):
        pass
    return [solution for run in runs for solution in run.snapshot()]
