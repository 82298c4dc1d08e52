"""Threads of the BLAS library, which wait for one another when several processes share the cores."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@lru_cache(maxsize=1)
def _controller() -> Any:
    return ThreadpoolController()  # finding the libraries takes milliseconds, so it is done once


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread: right for many small products and factorisations.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.threads import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    return _controller().limit(limits=1, user_api="blas")
