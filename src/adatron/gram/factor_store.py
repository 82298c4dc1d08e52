"""Where a factor is kept: in memory, or in a file when it does not fit."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from mmap import mmap

import numpy as np

from adatron.numerics.memory import available_memory

__all__ = ["blocks_of_rows", "check_memory", "empty_factor", "is_on_disk"]

_SHARE = 0.7  # of the available memory that one factor may take
_BLOCK = 65_536  # rows that are looked at together


def blocks_of_rows(m: int, size: int = _BLOCK) -> Iterator[slice]:
    """The rows of a table in blocks, in order."""
    return (slice(start, min(start + size, m)) for start in range(0, m, size))


def empty_factor(shape: tuple[int, int], dtype: type) -> np.ndarray:
    """An array to be filled: in memory if it fits there, else in a temporary file.

    The file has no name, or loses it when closed, so nothing is left of it whatever happens to the process.
    It lies where `tempfile` puts it: ``TMPDIR`` decides.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram.factor_store import empty_factor, is_on_disk
    >>> is_on_disk(empty_factor((10, 3), np.float32))
    False
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size <= _SHARE * available_memory():
        return np.empty(shape, dtype=dtype)
    with tempfile.TemporaryFile(prefix="adatron-") as file:
        _reserve(file.fileno(), size)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def _reserve(descriptor: int, size: int) -> None:
    """Take the room now: to run out of it later, while writing to mapped memory, kills the process."""
    place = tempfile.gettempdir()
    try:
        if size > shutil.disk_usage(place).free:
            raise OSError
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            os.ftruncate(descriptor, size)
    except OSError as error:
        raise OSError(
            f"the low-rank factor needs {_gb(size)}, more than the available memory "
            f"({_gb(available_memory())}) and the disk of {place} have; lower rank, or set TMPDIR to a "
            "larger disk"
        ) from error


def check_memory(size: int, what: str, fix: str) -> None:
    """Raise before memory is asked for that is not there."""
    free = available_memory()
    if size > free:
        raise ValueError(f"{what} needs {_gb(size)} of memory, {_gb(free)} are available; {fix}")


def is_on_disk(factor: np.ndarray) -> bool:
    """Whether an array is kept in a file, or is a view of one that is."""
    return isinstance(factor, np.memmap) or isinstance(factor.base, np.memmap | mmap)


def _gb(size: float) -> str:
    return f"{size / 2**30:,.1f} GB"
