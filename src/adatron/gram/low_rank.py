"""A kernel matrix known by a factor, ``K ≈ Z Zᵀ`` with Z of shape (m, r), in memory or in a file.

Approximations rest on some of the rows, the landmarks L, and extend to any x by ``z(x) = k(x, L) P``;
`adatron.gram.factors` builds them. The rows themselves are an exact factor of the linear kernel.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np

from adatron.gram.base import Gram, Rows
from adatron.gram.row_source import BLOCK, slices
from adatron.numerics.memory import available_memory
from adatron.numerics.reproducible import rows_at_once, times, transposed_times

_SHARE = 0.7  # of the available memory that one factor may take


class Basis(NamedTuple):
    """What a factor rests on: ``z(x) = k(x, rows) @ projection`` for any x."""

    landmarks: np.ndarray  # places of the rows in the training set
    rows: Any  # array or CSR matrix
    projection: np.ndarray  # (len(landmarks), r)
    trace_error: float = np.nan  # ``trace(K − Z Zᵀ) / trace(K)`` once it is known


class LowRankGram(Gram):
    """The kernel matrix ``Z Zᵀ`` of a factor (m, r); products and sweeps cost O(mr).

    A float32 factor is multiplied group by group of rows, whose parts are added up in float64.
    """

    factor: np.ndarray

    def __init__(self, factor: np.ndarray, basis: Basis, has_entries: bool = False) -> None:
        self.factor, self.m, self.basis = np.ascontiguousarray(factor), len(factor), basis
        self.landmarks, self.landmark_rows, self.projection, self.trace_error = basis
        self.has_entries = has_entries

    @classmethod
    def linear(cls, X: np.ndarray) -> LowRankGram:
        """The exact matrix of the linear kernel, ``X Xᵀ``."""
        return cls(X, Basis(np.arange(0), X[:0], np.empty((0, X.shape[1])), 0.0), has_entries=True)

    def diagonal(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.factor, self.factor)

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        """``Zᵀ V`` for `V` of shape (m, B) or (m,)."""
        if self.has_entries:  # nothing that amplifies rounding runs on a cluster with the linear kernel
            return (V.T @ self.factor).T
        return transposed_times(self.factor, V, rows_at_once(self.m))

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        """``Z W`` for `W` of shape (r, B) or (r,)."""
        if self.has_entries:
            return (W.T @ self.factor.T).T
        return times(self.factor, W, rows_at_once(self.m))

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.outputs_of(self.weights_of(V))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        values = self.factor[rows] @ (self.factor if cols is None else self.factor[cols]).T
        return np.asarray(values, dtype=np.float64)

    def restrict(self, rows: np.ndarray) -> LowRankGram:
        factor = empty_factor((len(rows), self.factor.shape[1]), self.factor.dtype)
        for part in slices(len(rows), BLOCK):
            factor[part] = self.factor[rows[part]]
        return LowRankGram(factor, self.basis, self.has_entries)


def empty_factor(shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """An array to be filled: in memory if it fits there, else in a temporary file.

    The file has no name, or loses it when closed, so nothing is left of it whatever happens to the process.
    It lies where `tempfile` puts it: ``TMPDIR`` decides.
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size <= _SHARE * available_memory():
        return np.empty(shape, dtype=dtype)
    place = tempfile.gettempdir()
    with tempfile.TemporaryFile(prefix="adatron-") as file:
        try:  # take the room now: to run out of it later, while writing to mapped memory, kills the process
            if size > shutil.disk_usage(place).free:
                raise OSError
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                os.ftruncate(file.fileno(), size)
        except OSError as error:
            raise OSError(
                f"the low-rank factor needs {_gb(size)}, more than the available memory "
                f"({_gb(available_memory())}) and the disk of {place} have; lower rank, or set TMPDIR to a "
                "larger disk"
            ) from error
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


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
