"""A kernel matrix whose rows are evaluated on demand and cached."""

from __future__ import annotations

from threading import Lock
from typing import Any, cast

import numpy as np

from adatron.gram.base import Gram, GramView, Rows, add_kept_rows, check_finite
from adatron.gram.dense import LazyGram
from adatron.gram.regime import REGIME, Regime
from adatron.gram.row_source import slices
from adatron.gram.tiles import DenseTiles, TileEvaluator, expand, tile_evaluator
from adatron.kernels import Kernel
from adatron.kernels.rounding import long_expansion
from adatron.numerics.compiled import compiled
from adatron.numerics.memory import Buffer, reused_buffer
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

_CHUNK = 1024  # rows evaluated at a time, enough for a fast product
_FEWEST = 64  # rows kept however small the cache
_SAMPLE = 32  # rows of a spot check at a time
_STRETCH = 4096  # outputs updated at a time, so that they stay in cache
_CHEAP = 128  # up to this many features, evaluating a value costs about as much as writing and reading it
_SHORT = 0.125  # part of the rows below which a cache is of no use
_TILE = 2**17  # values evaluated at a time when rows are not cached
_AMONG = 256  # vectors per tile of their own kernel matrix


class RowGram(Gram):
    """A kernel matrix whose rows are kept in a cache of at most `cache_bytes`.

    Working sets use some rows again and again: the least recently used are evicted first. A sweep visits
    all rows in turn and would then always miss the next one: with `keeps_first` the first rows stay.
    Values have the precision of `dtype`, sums are float64.
    """

    evaluates_rows = has_own_threads = True

    def __init__(
        self, kernel: Kernel, X: Any, cache_bytes: int, dtype: Any = np.float32, *, keeps_first: bool = False,
        regime: Regime = REGIME,
    ) -> None:  # fmt: skip
        self.regime = regime
        self.kernel, self.X, self.m = kernel, X, X.shape[0]
        self.dtype, self.cache_bytes, self.keeps_first = np.dtype(dtype), int(cache_bytes), keeps_first
        self.is_single = self.dtype == np.float32
        fewest = 0 if keeps_first else _FEWEST
        self.capacity = min(self.m, max(fewest, self.cache_bytes // (self.dtype.itemsize * self.m)))
        self.cost = 0 if keeps_first else self.capacity * self.m * self.dtype.itemsize
        # rows asked for, and held aside, at a time
        self.at_once = _CHUNK // 4 if keeps_first else max(1, min(_CHUNK, self.capacity // 4))
        self.n_threads = usable_threads()
        self._buffer: Buffer | None = None
        self._used = 0  # slots
        self._lock = Lock()
        self.release()

    def release(self) -> None:
        """Free all rows and the evaluator; both are created again on demand."""
        buffer, touched = self._buffer, self._used * self.m * self.dtype.itemsize
        self._tiles: TileEvaluator | None = None
        self._kept: np.ndarray | None = None
        self._scratch: Any = None  # for rows whose slots are not adjacent
        self._slot = np.full(self.m, -1)
        self._owner = np.full(self.capacity, -1)
        self._last_use = np.zeros(self.capacity, dtype=np.int64)
        self._clock = self._used = 0
        self._buffer = None
        if buffer is not None:
            buffer.leave(touched)

    @property
    def tiles(self) -> TileEvaluator:
        if self._tiles is None:
            self._tiles = tile_evaluator(self.kernel, self.X, self.dtype)
            self._are_cheap = isinstance(self._tiles, DenseTiles) and self.X.shape[1] <= _CHEAP
        return self._tiles

    def exact(self) -> RowGram:
        self.release()
        return RowGram(self.kernel, self.X, self.cache_bytes, np.float64, regime=self.regime)

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def exact_outputs(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(weights)
        vectors, coefficients = self.X[support], weights[support]
        if not np.array_equal(rows, np.arange(self.m)):
            return expand(self.kernel, self.X[rows], vectors, coefficients[:, None])[:, 0]
        outputs, others = np.empty(self.m), np.flatnonzero(weights == 0.0)
        outputs[support] = _expand_among(self.kernel, vectors, coefficients)
        outputs[others] = expand(self.kernel, self.X[others], vectors, coefficients[:, None])[:, 0]
        return outputs

    def long_outputs(self, weights: np.ndarray) -> np.ndarray | None:
        return long_expansion(self.kernel, self.X, weights)

    def restrict(self, rows: np.ndarray) -> Gram:
        if self.keeps_first:  # the cache is shared
            return GramView(self, np.asarray(rows))
        return row_gram(self.kernel, self.X[rows], self.cache_bytes, not self.is_single, self.regime)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        is_square = cols is rows
        rows = np.arange(self.m)[rows] if isinstance(rows, slice) else np.asarray(rows)
        if self.keeps_first:
            self._keep_while_there_is_room(rows)
        tiles = self.tiles
        if is_square and self._are_cheap and not self.keeps_first:
            # evaluating half of it costs less than gathering cached rows
            out = np.empty((len(rows), len(rows)), dtype=self.dtype)
            is_finite = tiles.fill_whole(out, self.n_threads, rows)
            return out if is_finite else check_finite(out, rows, rows)
        cached = self._slot[rows] >= 0
        if cached.any() and (cols is not None or self.keeps_first):
            return self._mixed(rows, cached, rows if is_square else cols)
        out = np.empty((len(rows), self.m if cols is None else len(cols)), dtype=self.dtype)
        for part in slices(len(rows), _CHUNK):
            tiles.fill(rows[part], cols, out[part], self.n_threads)
        return check_finite(out, rows, cols)

    def _mixed(self, rows: np.ndarray, cached: np.ndarray, cols: np.ndarray | None) -> np.ndarray:
        """A block of which some rows are in the cache."""
        known, kept = np.flatnonzero(cached), cast(np.ndarray, self._kept)
        slots, new = self._slot[rows[known]], np.flatnonzero(~cached)
        if cols is None and len(new) == 0 and (np.diff(slots) == 1).all():
            return kept[slots[0] : slots[-1] + 1]  # a view: nothing is copied
        out = np.empty((len(rows), self.m if cols is None else len(cols)), dtype=self.dtype)
        columns = np.arange(self.m) if cols is None else cols

        def gather(part: slice) -> None:
            _gather(kept, slots[part], columns, out, known[part])

        def complete(part: slice) -> None:
            _complete(out, known, new, among, part.start, part.stop)

        in_parallel(gather, slices(len(known), _SAMPLE), self.n_threads)
        if cols is rows and len(new):  # K is symmetric: cached rows give columns as well
            among = self.block(rows[new], rows[new])
            in_parallel(complete, slices(len(new), _SAMPLE), self.n_threads)
        elif len(new):
            out[new] = self.block(rows[new], cols)
        return out

    def matmul(self, V: np.ndarray) -> np.ndarray:
        result = np.zeros((self.m, V.shape[1]), order="F")
        used = np.flatnonzero(np.any(V != 0.0, axis=1))
        for part in slices(len(used), self.at_once):
            rows = used[part]
            if self.keeps_first:
                result += self.block(rows).T @ V[rows]
                continue
            slots = None if self.forgets else self.keep(rows)
            for b in range(V.shape[1]):
                weights = np.ascontiguousarray(V[rows, b])
                if slots is None:
                    self._add_unkept(rows, weights, result[:, b])
                else:
                    self._add(slots, weights, result[:, b])
        return result

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        if self.keeps_first:
            super().add_rows(rows, weights, f)
            return
        for part in slices(len(rows), self.at_once):
            if self.forgets:
                self._add_unkept(rows[part], weights[part], f)
            else:
                self._add(self.keep(rows[part]), weights[part], f)

    def _add(self, slots: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        def work(part: slice) -> None:
            add_kept_rows(self._kept, slots, weights, f, part.start, part.stop)

        in_parallel(work, slices(self.m, _STRETCH), self.n_threads)

    @property
    def forgets(self) -> bool:
        """Whether rows are not cached: most would be evicted before they are needed again."""
        return self.capacity < _SHORT * self.m and isinstance(self.tiles, DenseTiles) and self._are_cheap

    def _add_unkept(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """Add tiles while they are in the processor's cache, without storing them."""
        tiles, places = cast(DenseTiles, self.tiles), np.arange(len(rows))
        left, width = tiles.left(tiles.factor(self.X[rows])), max(64, _TILE // len(rows))

        def work(part: slice) -> None:
            add_kept_rows(tiles.tile(left, part), places, weights, f[part], 0, part.stop - part.start)

        in_parallel(work, slices(self.m, width), self.n_threads)

    def keep(self, rows: np.ndarray) -> np.ndarray:
        """Slots of the cache that hold some rows, at most `at_once` of them."""
        self._clock += 1
        present = self._slot[rows] >= 0
        self._last_use[self._slot[rows[present]]] = self._clock
        missing = rows[~present]
        if len(missing):
            if self._kept is None:
                self._buffer = reused_buffer(self.capacity * self.m * self.dtype.itemsize)
                self._kept = self._buffer.array((self.capacity, self.m), self.dtype)
            slots = self._slots_for(len(missing))
            gone = self._owner[slots]
            self._slot[gone[gone >= 0]] = -1
            are_together = slots[-1] - slots[0] == len(slots) - 1
            if not are_together and self._scratch is None:
                self._scratch = np.empty((self.at_once, self.m), dtype=self.dtype)
            out = self._kept[slots[0] : slots[-1] + 1] if are_together else self._scratch[: len(missing)]
            self.tiles.fill(missing, None, out, self.n_threads)
            if not are_together:
                self._kept[slots] = out
            self._slot[missing], self._owner[slots], self._last_use[slots] = slots, missing, self._clock
        return self._slot[rows]

    def _keep_while_there_is_room(self, rows: np.ndarray) -> None:
        with self._lock:  # pairs of classes share the cache, and may be trained by several threads
            missing = np.unique(rows[self._slot[rows] < 0])[: self.capacity - self._used]
            for part in slices(len(missing), self.at_once):
                slots = self.keep(missing[part])
                check_finite(cast(np.ndarray, self._kept)[slots[0] : slots[-1] + 1], missing[part], None)

    def _slots_for(self, n: int) -> np.ndarray:
        """Slots never used before, or those unused for longest."""
        if self._used + n <= self.capacity:
            self._used += n
            return np.arange(self._used - n, self._used)
        self._used = self.capacity  # from now on evict by age: a later slot may hold a row of this request
        return np.sort(np.argpartition(self._last_use, n - 1)[:n])


def row_gram(kernel: Kernel, X: Any, cache_bytes: int, precise: bool, regime: Regime = REGIME) -> Any:
    """The matrix for a method that reads few rows; a small one may be evaluated completely."""
    m = X.shape[0]
    if 8 * m * m <= min(cache_bytes, 8 * regime.lazy_up_to**2):
        return LazyGram(kernel, X)
    in_double = precise or m <= regime.single_from
    return RowGram(kernel, X, cache_bytes, np.float64 if in_double else np.float32, regime=regime)


def _expand_among(kernel: Kernel, vectors: Any, coefficients: np.ndarray) -> np.ndarray:
    """``k(vectors, vectors) @ coefficients`` for one column: each pair of vectors is evaluated once."""
    if not len(coefficients):
        return np.zeros(0)
    tiles = tile_evaluator(kernel, vectors, np.float64)
    if not isinstance(tiles, DenseTiles):
        return expand(kernel, vectors, vectors, coefficients[:, None])[:, 0]
    left, parts = tiles.left(tiles.factor(vectors)), list(slices(len(coefficients), _AMONG))
    outputs, mirrored = np.zeros(len(coefficients)), np.zeros((len(parts), len(coefficients)))

    def work(number: int) -> None:
        rows = parts[number]
        for columns in parts[: number + 1]:
            tile = tiles.tile(left[rows], columns)
            outputs[rows] += tile @ coefficients[columns]
            if columns is not rows:
                mirrored[number, columns] = coefficients[rows] @ tile

    with one_blas_thread():
        in_parallel(work, range(len(parts))[::-1], usable_threads())
    return outputs + mirrored.sum(axis=0)


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
