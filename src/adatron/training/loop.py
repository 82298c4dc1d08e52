"""The only epoch loop: every solver, every problem.

`rounds` advances several runs in turn, one epoch each, until all have ended; so whenever it is left
(a limit, a callback, Ctrl-C) every problem has had its share and the model is usable. Only when the
kernel matrices of all runs would take too much memory at once does it take them group by group.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from time import monotonic

import numpy as np

from adatron.solvers import Pause
from adatron.training.records import EpochRecord
from adatron.training.run import Run
from adatron.training.status import Status

__all__ = ["rounds"]


_HELD_AT_ONCE = 256 * 2**20  # bytes of kernel matrices


class _TimeUp(Exception):
    """Raised by ``pause`` in the middle of an epoch when the time limit has passed."""


def rounds(
    runs: list[Run], *, time_limit: float | None = None, n_threads: int = 1
) -> Iterator[list[EpochRecord]]:
    """Advance all runs by one epoch at a time, and give the records of each round.

    Parameters
    ----------
    runs : list of Run
    time_limit : float, optional
        Seconds, counted from now.
    n_threads : int
        Runs advanced at the same time.
    """
    deadline = np.inf if time_limit is None else monotonic() + time_limit
    left = Event()

    def pause() -> None:
        if left.is_set() or monotonic() >= deadline:
            raise _TimeUp

    with ThreadPoolExecutor(n_threads) as pool:
        while waiting := [run for run in runs if len(run.live)]:
            live = _group(waiting)
            try:
                yield _advance_all(live, pause, pool if n_threads > 1 else None)
            except _TimeUp:
                for run in waiting:
                    run.end(Status.TIME_LIMIT)
            except BaseException:
                left.set()  # threads still in an epoch end it at their next pause
                raise


def _group(runs: list[Run]) -> list[Run]:
    """The first runs whose matrices are held together: all of them if they are small."""
    if len(runs) == 1:
        return runs
    costs = np.cumsum([getattr(run.problem.gram, "cost", 0) for run in runs])
    return runs[: max(1, int(np.searchsorted(costs, _HELD_AT_ONCE, side="right")))]


def _advance_all(runs: list[Run], pause: Pause, pool: ThreadPoolExecutor | None) -> list[EpochRecord]:
    if pool is None or len(runs) == 1:
        parts = [run.advance(pause) for run in runs]
    else:
        tasks = [pool.submit(run.advance, pause) for run in runs]
        wait(tasks)
        parts = [task.result() for task in tasks]
    return [record for part in parts for record in part]
