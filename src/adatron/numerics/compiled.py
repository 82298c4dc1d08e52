"""Compile hot loops with numba; a broken disk cache costs speed, never the fit.

Rules for functions under ``@compiled``: module level, plain arrays and scalars, no functions or objects as
arguments (those are never cached on disk), chunks of at most about 100 ms so that Ctrl-C works. Sums may be
reordered, but NaN and infinity behave as usual, and dividing by zero gives them.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core import config
from numba.extending import register_jitable

IS_COMPILED = not getattr(config, "DISABLE_JIT", False)  # false under NUMBA_DISABLE_JIT=1
_ARITHMETIC: dict[str, Any] = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
_OPTIONS: dict[str, Any] = {"nogil": True, **_ARITHMETIC}


def compiled_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only ``@compiled`` functions call."""
    return register_jitable(**_ARITHMETIC)(function)


def ordered_part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `compiled_part`, but keeps the order of every sum: for arithmetic whose rounding matters."""
    return register_jitable(error_model="numpy", fastmath={"contract"})(function)


class compiled:
    """``numba.njit`` with a disk cache that may be missing, read-only or corrupt."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.__doc__, self.__name__ = function, function.__doc__, function.__name__
        self._cache_works = False
        try:
            self._call = numba.njit(cache=True, **_OPTIONS)(function)
        except RuntimeError:  # numba found no writable place for a cache
            self._call = numba.njit(**_OPTIONS)(function)
            self._cache_works = True

    def __call__(self, *args: Any) -> Any:
        if self._cache_works:
            return self._call(*args)
        try:
            result = self._call(*args)
        except Exception:
            # Reading or writing the cache failed before anything ran; any other error occurs again.
            self._call = numba.njit(**_OPTIONS)(self.function)
            result = self._call(*args)
        self._cache_works = True
        return result
