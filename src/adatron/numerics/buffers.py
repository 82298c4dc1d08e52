"""Memory for kernel rows that one fit leaves to the next.

Memory that a process has not touched before costs more than the kernel values that are written to it: the
system clears every page, and a virtual machine may have to ask its host for it. Searches fit again and again,
so a buffer of moderate size stays with the process until another fit takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import Any

import numpy as np

__all__ = ["MOST_SPARE", "Buffer", "spare_buffer"]

MOST_SPARE = 256 * 2**20  # bytes that may stay between fits

_lock = Lock()
_waiting: list[Buffer] = []  # one at most


@dataclass
class Buffer:
    """Uninitialised memory, and how much of it has been written to."""

    memory: np.ndarray
    touched: int = 0

    def array(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """The beginning of the memory as an array."""
        return self.memory[: prod(shape) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)

    def leave(self, touched: int) -> None:
        """Leave it to the next fit; whoever calls this has `touched` so many bytes, and holds no view."""
        self.touched = max(self.touched, touched)
        if self.touched <= MOST_SPARE:
            with _lock:
                _waiting[:] = [max(self, *_waiting, key=lambda b: b.touched)] if _waiting else [self]


def spare_buffer(size: int) -> Buffer:
    """A buffer of at least `size` bytes: the one that waits, if it is large enough.

    Examples
    --------
    >>> from adatron.numerics.buffers import spare_buffer
    >>> buffer = spare_buffer(800)
    >>> rows = buffer.array((10, 10), "float64")
    >>> del rows
    >>> buffer.leave(touched=800)
    >>> spare_buffer(400) is buffer
    True
    """
    with _lock:
        found = _waiting.pop() if _waiting else None
    if found is not None and len(found.memory) >= size:
        return found
    del found  # before more is asked for
    return Buffer(np.empty(size, dtype=np.uint8))
