"""Memory: how much is available, how much was used, and a buffer that fits reuse."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import Any

import numpy as np

_CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
KEPT_BYTES = 256 * 2**20  # at most, between fits

_lock = Lock()
_kept: list[Buffer] = []  # one at most


def available_memory() -> int:
    """Return how many bytes may still be allocated, on this machine or in this container."""
    try:
        free = _entry("/proc/meminfo", "MemAvailable:")
        free = free or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError, AttributeError):
        free = 4 * 2**30  # unknown platform: a modest guess
    for files in _CGROUP_FILES:
        try:
            limit, usage = (int(_text(file)) for file in files)
        except (OSError, ValueError):  # absent, or "max": no limit
            continue
        free = min(free, max(limit - usage, 0))
    return free


def peak_memory() -> float:
    """Return the peak memory of this process in bytes; NaN if the system does not tell."""
    try:
        # not ru_maxrss, which starts at the size of the parent process
        return float(_entry("/proc/self/status", "VmHWM:") or "nan")
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def _entry(path: str, name: str) -> int | None:
    """Return the bytes of one entry of a file in /proc."""
    found = (line for line in _text(path).splitlines() if line.startswith(name))
    return next((int(line.split()[1]) * 1024 for line in found), None)


def _text(path: str) -> str:
    with open(path) as file:  # small fits read these files again and again
        return file.read()


@dataclass
class Buffer:
    """Uninitialised memory, and how much of it has been written to.

    The first write to fresh memory costs more than the kernel values written to it: the system clears every
    page, and a virtual machine may have to ask its host for it. Searches fit again and again, so one buffer
    of moderate size is kept for the next fit.
    """

    memory: np.ndarray
    touched: int = 0

    def array(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return the first part of the memory as an array."""
        return self.memory[: prod(shape) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)

    def leave(self, touched: int) -> None:
        """Keep the memory for the next fit; the caller has written `touched` bytes and holds no view."""
        self.touched = max(self.touched, touched)
        if self.touched <= KEPT_BYTES:
            with _lock:
                _kept[:] = [max([self, *_kept], key=lambda buffer: buffer.touched)]


def reused_buffer(size: int) -> Buffer:
    """Return a buffer of at least `size` bytes: the kept one if it is large enough."""
    with _lock:
        found = _kept.pop() if _kept else None
    if found is not None and len(found.memory) >= size:
        return found
    del found  # frees its memory before more is allocated
    return Buffer(np.empty(size, dtype=np.uint8))
