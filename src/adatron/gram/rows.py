"""Rows of the kernel matrix for working sets: evaluated when first needed, the latest used kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from adatron.gram.expand import expand, expand_among
from adatron.gram.finite import check_finite
from adatron.gram.protocol import Rows
from adatron.gram.tiles import DenseTiles, TileEvaluator, tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.buffers import Buffer, spare_buffer
from adatron.numerics.compiled import compiled
from adatron.numerics.threads import in_parallel, usable_threads

__all__ = ["RowGram", "add_kept_rows"]

_CHUNK = 1024  # rows evaluated at a time, enough for a fast product
_FEWEST = 64  # rows kept however small the cache
_SAMPLE = 32  # rows of a spot check at a time
_STRETCH = 4096  # outputs updated at a time, so that they stay in cache
_CHEAP = 128  # features up to which a kernel value costs about as much as to write it to memory and read it
_SHORT = 0.125  # part of the rows that a cache holds at least to be of use
_TILE = 2**17  # values that are not kept at a time


class RowGram:
    """A kernel matrix whose rows are kept in a bounded cache; the longest unused leave first.

    Values have the precision of `dtype`, sums are float64. `exact` is the same matrix in float64.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    cache_bytes : int
        Bound on the memory for kept rows.
    dtype : float32 or float64

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> from adatron.gram import RowGram
    >>> gram = RowGram(Linear(), np.array([[1.0], [2.0]]), cache_bytes=16)
    >>> gram.block(np.array([1]))
    array([[2., 4.]], dtype=float32)
    """

    def __init__(self, kernel: Kernel, X: Any, cache_bytes: int, dtype: Any = np.float32) -> None:
        self.kernel, self.X, self.m = kernel, X, X.shape[0]
        self.dtype, self.cache_bytes = np.dtype(dtype), int(cache_bytes)
        self.capacity = min(self.m, max(_FEWEST, self.cache_bytes // (self.dtype.itemsize * self.m)))
        self.at_once = max(1, min(_CHUNK, self.capacity // 4))  # rows asked for, and held aside, at a time
        self.n_threads = usable_threads()
        self._buffer: Buffer | None = None
        self._used = 0  # slots
        self.release()

    def release(self) -> None:
        """Forget all rows and what evaluates them; both come back when needed."""
        buffer, touched = self._buffer, self._used * self.m * self.dtype.itemsize
        self._tiles: TileEvaluator | None = None
        self._kept: np.ndarray | None = None
        self._spare: Any = None  # for rows whose slots are not side by side
        self._slot = np.full(self.m, -1)
        self._owner = np.full(self.capacity, -1)
        self._last_use = np.zeros(self.capacity, dtype=np.int64)
        self._clock = self._used = 0
        self._buffer = None
        if buffer is not None:
            buffer.leave(touched)

    @property
    def cost(self) -> int:
        """Bytes held at most."""
        return self.capacity * self.m * self.dtype.itemsize

    @property
    def is_single(self) -> bool:
        """Whether kernel values are float32."""
        return self.dtype == np.float32

    @property
    def tiles(self) -> TileEvaluator:
        if self._tiles is None:
            self._tiles = tile_evaluator(self.kernel, self.X, self.dtype)
        return self._tiles

    def exact(self) -> RowGram:
        """The same matrix in float64, this one's rows forgotten."""
        self.release()
        return RowGram(self.kernel, self.X, self.cache_bytes, np.float64)

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def exact_outputs(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``K[rows] @ weights`` with kernel values in float64."""
        support = np.flatnonzero(weights)
        vectors, coefficients = self.X[support], weights[support]
        if not np.array_equal(rows, np.arange(self.m)):
            return expand(self.kernel, self.X[rows], vectors, coefficients[:, None])[:, 0]
        outputs, others = np.empty(self.m), np.flatnonzero(weights == 0.0)
        outputs[support] = expand_among(self.kernel, vectors, coefficients)
        outputs[others] = expand(self.kernel, self.X[others], vectors, coefficients[:, None])[:, 0]
        return outputs

    def restrict(self, rows: np.ndarray) -> RowGram:
        return RowGram(self.kernel, self.X[rows], self.cache_bytes, self.dtype)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        rows = np.arange(self.m)[rows] if isinstance(rows, slice) else np.asarray(rows)
        if cols is rows and self._is_cheap:
            return self._square(rows)
        cached = self._slot[rows] >= 0
        if cols is not None and cached.any():
            return self._mixed(rows, cached, cols)
        out = np.empty((len(rows), self.m if cols is None else len(cols)), dtype=self.dtype)
        for part in _chunks(np.arange(len(rows))):
            self.tiles.fill(rows[part], cols, out[part[0] : part[-1] + 1], self.n_threads)
        return check_finite(out, rows, cols)

    def _square(self, rows: np.ndarray) -> np.ndarray:
        """The block of a working set; to evaluate half of it costs less than to gather it from kept rows."""
        out = np.empty((len(rows), len(rows)), dtype=self.dtype)
        is_finite = self.tiles.fill_whole(out, self.n_threads, rows)
        return out if is_finite else check_finite(out, rows, rows)

    def _mixed(self, rows: np.ndarray, cached: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """A block of which some rows are in the cache."""
        out = np.empty((len(rows), len(cols)), dtype=self.dtype)
        known, kept = np.flatnonzero(cached), self._kept
        slots = self._slot[rows[known]]

        def work(start: int) -> None:
            part = slice(start, start + _SAMPLE)
            _gather(kept, slots[part], cols, out, known[part])

        in_parallel(work, range(0, len(known), _SAMPLE), self.n_threads)
        new = np.flatnonzero(~cached)
        if cols is rows and len(new):  # K is symmetric: what is known of cached rows is known of columns
            among = self.block(rows[new], rows[new])
            parts = [(k, min(k + _SAMPLE, len(new))) for k in range(0, len(new), _SAMPLE)]
            in_parallel(lambda part: _complete(out, known, new, among, *part), parts, self.n_threads)
        elif len(new):
            out[new] = self.block(rows[new], cols)
        return out

    def matmul(self, V: np.ndarray) -> np.ndarray:
        result = np.zeros((self.m, V.shape[1]), order="F")
        for rows in _chunks(np.flatnonzero(np.any(V != 0.0, axis=1)), self.at_once):
            for b in range(V.shape[1]):
                self.add_rows(rows, np.ascontiguousarray(V[rows, b]), result[:, b])
        return result

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """``f += Σ weights_k K[rows_k]``."""
        for part in _chunks(np.arange(len(rows)), self.at_once):
            if self.forgets:
                self._add_unkept(rows[part], weights[part], f)
            else:
                self._add(self.keep(rows[part]), weights[part], f)

    @property
    def forgets(self) -> bool:
        """Whether rows are not worth keeping: most would have left when they are needed again."""
        return self.capacity < _SHORT * self.m and self._is_cheap

    @property
    def _is_cheap(self) -> bool:
        return isinstance(self.tiles, DenseTiles) and self.X.shape[1] <= _CHEAP

    def _add_unkept(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """Tiles are added while they are in cache, and never written to memory."""
        tiles, places = cast(DenseTiles, self.tiles), np.arange(len(rows))
        left, width = tiles.prepared(self.X[rows]), max(64, _TILE // len(rows))

        def work(start: int) -> None:
            part = slice(start, min(start + width, self.m))
            add_kept_rows(tiles.tile(left, part), places, weights, f[part], 0, part.stop - start)

        in_parallel(work, range(0, self.m, width), self.n_threads)

    def keep(self, rows: np.ndarray) -> np.ndarray:
        """Slots of the cache that hold some rows, at most `at_once` of them."""
        self._clock += 1
        present = self._slot[rows] >= 0
        self._last_use[self._slot[rows[present]]] = self._clock
        missing = rows[~present]
        if len(missing):
            slots = self._slots_for(len(missing))
            self._evaluate(missing, slots)
            self._last_use[slots] = self._clock
        return self._slot[rows]

    def _slots_for(self, n: int) -> np.ndarray:
        """Slots never used before, or those unused for longest."""
        if self._used + n <= self.capacity:
            self._used += n
            return np.arange(self._used - n, self._used)
        self._used = self.capacity  # from now on by age alone: a slot beyond may hold a row of this request
        return np.sort(np.argpartition(self._last_use, n - 1)[:n])

    def _evaluate(self, rows: np.ndarray, slots: np.ndarray) -> None:
        if self._kept is None:
            self._buffer = spare_buffer(self.cost)
            self._kept = self._buffer.array((self.capacity, self.m), self.dtype)
        gone = self._owner[slots]
        self._slot[gone[gone >= 0]] = -1
        together = slots[-1] - slots[0] == len(slots) - 1
        if not together and self._spare is None:
            self._spare = np.empty((self.at_once, self.m), dtype=self.dtype)
        out = self._kept[slots[0] : slots[-1] + 1] if together else self._spare[: len(rows)]
        self.tiles.fill(rows, None, out, self.n_threads)
        if not together:
            self._kept[slots] = out
        self._slot[rows], self._owner[slots] = slots, rows

    def _add(self, slots: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        kept = self._kept
        stretches = [(start, min(start + _STRETCH, self.m)) for start in range(0, self.m, _STRETCH)]
        in_parallel(lambda part: add_kept_rows(kept, slots, weights, f, *part), stretches, self.n_threads)


@compiled
def add_kept_rows(kept, slots, weights, f, first, last):
    """``f[first:last] += Σ_k weights_k kept[slots_k, first:last]``, four rows at a time."""
    part = f[first:last]
    n = len(slots)
    for k in range(0, n - 3, 4):
        a, b = kept[slots[k]][first:last], kept[slots[k + 1]][first:last]
        c, d = kept[slots[k + 2]][first:last], kept[slots[k + 3]][first:last]
        wa, wb, wc, wd = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for j in range(len(part)):
            part[j] += wa * a[j] + wb * b[j] + wc * c[j] + wd * d[j]
    for k in range(n - n % 4, n):
        a, wa = kept[slots[k]][first:last], weights[k]
        for j in range(len(part)):
            part[j] += wa * a[j]


@compiled
def _gather(kept, slots, cols, out, places):
    for k in range(len(slots)):
        row, target = kept[slots[k]], out[places[k]]
        for j in range(len(cols)):
            target[j] = row[cols[j]]


@compiled
def _complete(out, known, new, among, first, last):
    """Fill the new rows of a symmetric block from its known rows and the values among the new ones."""
    for k in range(first, last):
        target = out[new[k]]
        for j in range(len(known)):
            target[known[j]] = out[known[j], new[k]]
        for j in range(len(new)):
            target[new[j]] = among[k, j]


def _chunks(indices: np.ndarray, size: int = _CHUNK) -> Iterator[np.ndarray]:
    for start in range(0, len(indices), size):
        yield indices[start : start + size]
