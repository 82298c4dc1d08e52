"""Rows of the kernel matrix evaluated on demand, as many of them kept as memory allows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from adatron.gram.finite import check_finite
from adatron.gram.protocol import GramOperator, Rows
from adatron.kernels import Kernel

__all__ = ["BlockedGram"]

_CHUNK = 256  # rows evaluated at a time: enough for a fast product, short enough for Ctrl-C


class BlockedGram:
    """A kernel matrix whose rows are evaluated in blocks and kept in a bounded cache.

    The first rows asked for stay. A sweep visits all rows in turn, and a cache that forgets the
    oldest would then always forget the row it needs next.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    cache_bytes : int
        Bound on the memory for kept rows.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> from adatron.gram import BlockedGram
    >>> gram = BlockedGram(Linear(), np.array([[1.0], [2.0]]), cache_bytes=16)
    >>> gram.block(np.array([1]))
    array([[2., 4.]])
    """

    def __init__(self, kernel: Kernel, X: Any, cache_bytes: int) -> None:
        self.kernel, self.X, self.m = kernel, X, X.shape[0]
        capacity = min(self.m, int(cache_bytes) // (8 * self.m))
        self._kept = np.empty((capacity, self.m))
        self._slot = np.full(self.m, -1)
        self._used = 0
        self._lock = threading.Lock()

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return _product(self, V)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        rows = np.arange(self.m)[rows] if isinstance(rows, slice) else np.asarray(rows)
        with self._lock:
            self._keep(rows[self._slot[rows] < 0])
            slots = self._slot[rows]
            if (slots >= 0).all():
                return self._from_cache(slots, cols)
        return self._mixed(rows, slots, cols)

    def restrict(self, rows: np.ndarray) -> RestrictedGram:
        return RestrictedGram(self, np.asarray(rows))

    def _from_cache(self, slots: np.ndarray, cols: np.ndarray | None) -> np.ndarray:
        if cols is not None:
            return self._kept[np.ix_(slots, cols)]
        if len(slots) and (np.diff(slots) == 1).all():
            return self._kept[slots[0] : slots[-1] + 1]  # a view: nothing is copied
        return self._kept[slots]

    def _mixed(self, rows: np.ndarray, slots: np.ndarray, cols: np.ndarray | None) -> np.ndarray:
        values = np.empty((len(rows), self.m if cols is None else len(cols)))
        cached = slots >= 0
        values[cached] = self._from_cache(slots[cached], cols)
        missing = np.flatnonzero(~cached)
        for part in _chunks(missing):
            values[part] = self._evaluate(rows[part], cols)
        return values

    def _keep(self, missing: np.ndarray) -> None:
        room = len(self._kept) - self._used
        for rows in _chunks(np.unique(missing)[:room]):
            self._kept[self._used : self._used + len(rows)] = self._evaluate(rows, None)
            self._slot[rows] = np.arange(self._used, self._used + len(rows))
            self._used += len(rows)

    def _evaluate(self, rows: np.ndarray, cols: np.ndarray | None) -> np.ndarray:
        values = self.kernel(self.X[rows], self.X if cols is None else self.X[cols])
        return check_finite(values, rows, cols)


class RestrictedGram:
    """Some of the points of an operator; rows come from, and stay in, its cache."""

    def __init__(self, parent: GramOperator, rows: np.ndarray) -> None:
        self.parent, self.rows, self.m = parent, rows, len(rows)

    def diagonal(self) -> np.ndarray:
        return self.parent.diagonal()[self.rows]

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return _product(self, V)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        return self.parent.block(self.rows[rows], self.rows if cols is None else self.rows[cols])

    def restrict(self, rows: np.ndarray) -> RestrictedGram:
        return RestrictedGram(self.parent, self.rows[rows])


def _product(gram: BlockedGram | RestrictedGram, V: np.ndarray) -> np.ndarray:
    """``K V`` from the rows that belong to non-zero entries: K is symmetric, columns are rows."""
    result = np.zeros((gram.m, V.shape[1]))
    for rows in _chunks(np.flatnonzero(np.any(V != 0.0, axis=1))):
        result += gram.block(rows).T @ V[rows]
    return result


def _chunks(indices: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(indices), _CHUNK):
        yield indices[start : start + _CHUNK]
