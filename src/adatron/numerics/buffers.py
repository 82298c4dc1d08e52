"""Memory for kernel rows that one fit hands on to the next.

The first write to fresh memory costs more than the kernel values written to it: the system clears every page,
and a virtual machine may have to ask its host for it. Searches fit again and again, so one buffer of moderate
size is kept until another fit takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import Any

import numpy as np

__all__ = ["KEPT_BYTES", "Buffer", "reused_buffer"]

KEPT_BYTES = 256 * 2**20  # at most, between fits

_lock = Lock()
_kept: list[Buffer] = []  # one at most


@dataclass
class Buffer:
    """Uninitialised memory, and how much of it has been written to."""

    memory: np.ndarray
    touched: int = 0

    def array(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """The beginning of the memory as an array."""
        return self.memory[: prod(shape) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)

    def leave(self, touched: int) -> None:
        """Hand the memory to the next fit; the caller has written `touched` bytes and holds no view."""
        self.touched = max(self.touched, touched)
        if self.touched <= KEPT_BYTES:
            with _lock:
                _kept[:] = [max([self, *_kept], key=lambda buffer: buffer.touched)]


def reused_buffer(size: int) -> Buffer:
    """A buffer of at least `size` bytes: the kept one, if it is large enough."""
    with _lock:
        found = _kept.pop() if _kept else None
    if found is not None and len(found.memory) >= size:
        return found
    del found  # frees its memory before more is allocated
    return Buffer(np.empty(size, dtype=np.uint8))
