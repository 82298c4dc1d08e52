"""Threads: limits for those of BLAS, and our own for code that releases the GIL.

We use as many as BLAS would, so ``OPENBLAS_NUM_THREADS``, `threadpoolctl` and joblib's limits for nested
parallelism apply to both. No thread outlives the call that starts it.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_holders = 0
_libraries: list[Any] = []  # of BLAS; finding them takes milliseconds, so it is done once
_limited: list[tuple[Any, int]] = []  # and how many threads each had
_threads = 1  # how many BLAS would use without the limit
_PROCESSORS = os.cpu_count() or 1  # a slow call, so it is made once
_IDLE = 1e-3  # seconds after which a processor counts as idle
_last_help = 0.0  # when threads last ended
_C: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
_can_move = hasattr(_C, "sched_getcpu") and hasattr(_C, "pthread_setaffinity_np")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread: right for many small products and factorisations.

    The number of threads belongs to the process; it is restored when the last holder leaves.
    """
    global _holders, _threads
    with _lock:
        if _holders == 0:
            _threads = _blas_threads()
            _limited[:] = [(library, n) for library in _libraries if (n := library.num_threads) != 1]
            for library, _ in _limited:
                _set_threads(library, 1)
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                for library, n in _limited:
                    _set_threads(library, n)


def _set_threads(library: Any, n: int) -> None:
    """Set a limit from any thread: from threadpoolctl 3.8 on only the first one that did so may."""
    take_control = getattr(library, "clear_controlling_thread", lambda force: None)
    take_control(force=True)
    library.set_num_threads(n)
    take_control(force=True)


def usable_threads() -> int:
    """Number of threads that a computation may use."""
    with _lock:
        return _threads if _holders else _blas_threads()


def _blas_threads() -> int:
    if not _libraries:
        _libraries.extend(ThreadpoolController().select(user_api="blas").lib_controllers)
    counts = [library.num_threads for library in _libraries]
    return max(1, min(max(counts, default=1), _PROCESSORS))


def in_parallel(work: Callable[[Any], Any], items: Iterable[Any], n_threads: int) -> None:
    """Call ``work(item)`` for every item on `n_threads` threads, including the calling one.

    After an exception the other threads stop at their next item, and it is raised here. On a busy machine
    a thread may start too late for any item; the call does not wait for it.
    """
    global _last_help
    todo = list(items)
    queue = iter(todo)  # each thread takes the next item
    finished: list[None] = []
    errors: list[BaseException] = []

    def take_items() -> None:
        try:
            for item in queue:
                work(item)
                finished.append(None)
                if errors:
                    break
        except BaseException as error:
            errors.append(error)

    were_idle = monotonic() - _last_help > _IDLE
    helpers = [_thread.allocate_lock() for _ in range(min(n_threads, len(todo)) - 1)]
    for done in helpers:
        done.acquire()
        _start(take_items, done, were_idle)
    try:  # the lines of `take_items`: a profile of a fit is one frame less deep
        for item in queue:
            work(item)
            finished.append(None)
            if errors:
                break
    except BaseException as error:
        if not helpers:
            raise
        errors.append(error)
    if len(finished) < len(todo):
        for done in helpers:
            try:
                done.acquire()
            except BaseException as error:  # Ctrl-C while waiting: the helpers end at their next item
                errors.append(error)
                done.acquire()
    _last_help = monotonic()
    if errors:
        raise errors[0]


def _start(work: Callable[[], None], done: Any, elsewhere: bool) -> None:
    """Call `work` in a new thread, then release `done`; with `elsewhere`, on another processor.

    Linux may start a thread where its parent runs although another processor is idle, and move it only with
    the next tick, milliseconds later; until then the two share one processor.
    """

    def run(placed: Any) -> None:
        with placed:
            work()
            done.release()

    # The low-level module, because `threading.Thread.start` waits until the new thread runs.
    with (placed := _thread.allocate_lock()):  # until then the thread cannot end
        thread = _thread.start_new_thread(run, (placed,))
        others = os.sched_getaffinity(0) - {_C.sched_getcpu()} if elsewhere and _can_move else set()
        if others:
            size = max(others) // 64 * 8 + 8  # bytes, in whole words
            mask = sum(1 << cpu for cpu in others).to_bytes(size, sys.byteorder)
            _C.pthread_setaffinity_np(ctypes.c_ulong(thread), ctypes.c_size_t(size), mask)
