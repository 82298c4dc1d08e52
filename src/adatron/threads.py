"""Threads of the BLAS library, which wait for one another when several processes share the cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = Lock()
_holders = 0
_controller: Any = None  # finding the libraries takes milliseconds, so it is done once
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread: right for many small products and factorisations.

    The number of threads belongs to the process; it is restored when the last holder leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.threads import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    global _controller, _holders, _limit
    with _lock:
        if _holders == 0:
            _controller = _controller or ThreadpoolController()
            _limit = _controller.limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limit.restore_original_limits()
