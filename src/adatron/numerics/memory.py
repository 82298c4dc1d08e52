"""How much memory there is (the machine's, or the container's if that is less), and how much was used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["available_memory", "peak_memory"]

_CGROUP_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int:
    """Bytes that may still be allocated on the machine and in the control group."""
    free = _machine_memory()
    for files in _CGROUP_FILES:
        try:
            limit, usage = (int(Path(file).read_text()) for file in files)
        except (OSError, ValueError):  # absent, or "max": no limit
            continue
        free = min(free, max(limit - usage, 0))
    return free


def peak_memory() -> float:
    """The most bytes that this process has used so far; NaN where the system does not say."""
    try:
        # not ru_maxrss, which begins at the size of the process that started this one
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
    """Bytes of an entry of a file of /proc."""
    found = (line for line in Path(path).read_text().splitlines() if line.startswith(name))
    return next((int(line.split()[1]) * 1024 for line in found), None)


def _machine_memory() -> int:
    try:
        free = _entry("/proc/meminfo", "MemAvailable:")
        return free if free is not None else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError, AttributeError):
        return 4 * 2**30  # unknown platform: a modest guess
