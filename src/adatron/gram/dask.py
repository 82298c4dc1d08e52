"""The kernel matrix of rows that live on the workers of a Dask cluster.

`DaskLowRankGram` has the factor Z in blocks of rows: a product sends each block its part of V, sums
``Z_bᵀ V_b`` by a tree to w (r × B), and gathers ``Z_b w``. `DaskGram` has blocks of rows of the matrix
itself, and a product sends the whole of V (m × B) to each worker. Multipliers, signs and bounds stay with the
client: a few numbers for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from adatron.gram.base import Gram, Rows
from adatron.gram.cluster import same
from adatron.gram.dask_rows import RowBlocks
from adatron.gram.factors import (
    FLOOR,
    cholesky_projection,
    drawn_landmarks,
    factor_rows,
    fits_single,
    nystroem_projection,
    projection_single,
    rows_to_whiten_on,
)
from adatron.gram.low_rank import LowRankGram
from adatron.gram.regime import REGIME, Regime
from adatron.gram.tiles import check_finite, tile_evaluator
from adatron.kernels import Kernel, Linear
from adatron.numerics.reproducible import times
from adatron.numerics.threads import one_blas_thread

__all__ = ["DaskGram", "DaskLowRankGram", "dask_gram", "dask_single"]

_MEMORY_SHARE = 0.5  # part of the workers' memory that a whole kernel matrix may take
_PRODUCTS_KEPT = 3  # whose w is remembered
_ROWS_KEPT = 64 * 2**20  # bytes of rows of the factor that are kept on this side


class DaskLowRankGram(LowRankGram):
    """The kernel matrix ``Z Zᵀ`` of a factor (m, r) whose rows are on workers; products cost O(mr) there."""

    is_elsewhere = True

    def __init__(
        self, blocks: RowBlocks, landmarks: np.ndarray, landmark_rows: np.ndarray, projection: np.ndarray,
        trace_error: float,
    ) -> None:  # fmt: skip
        self.blocks, self.landmarks, self.landmark_rows = blocks, landmarks, landmark_rows
        self.projection, self.trace_error = projection, trace_error
        self.m, self.rank = blocks.shape
        self._diagonal: np.ndarray | None = None
        self._known = (np.empty(0, dtype=np.int64), np.empty((0, self.rank)))
        self._recent: list[tuple[np.ndarray, np.ndarray]] = []
        self._held: list[tuple[list[np.ndarray], list[Any]]] = []

    def diagonal(self) -> np.ndarray:
        if self._diagonal is None:
            self._diagonal = self.blocks.map_rows(_squared_lengths)
        return self._diagonal.copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """``K V``; also remembers ``w = Zᵀ V``, which an ensemble needs for its next stage."""
        w = self.blocks.transposed_times(V)
        futures = self.blocks.each("times", times, *self.blocks.alike(w, self.blocks.rows_at_once, 1))
        *parts, weights = self.blocks.cluster.gather([*futures, w], [*self.blocks.partitions, 0])
        self._recent = [*self._recent[1 - _PRODUCTS_KEPT :], (V.copy(), weights)]
        return self.blocks.joined(parts)

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        known = [pair for W, weights in reversed(self._recent) for pair in zip(W.T, weights.T, strict=True)]
        found = [next((w for old, w in known if np.array_equal(old, v)), None) for v in V.T]
        if any(w is None for w in found):
            return self.blocks.cluster.gather([self.blocks.transposed_times(V)])[0]
        return np.column_stack(found)  # type: ignore[arg-type]

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        rows = np.arange(self.m)[rows]
        left = self._rows(rows)
        if cols is None:
            return self.blocks.times(np.ascontiguousarray(left.T)).T
        return left @ (left if cols is rows else self._rows(np.asarray(cols))).T

    def _rows(self, rows: np.ndarray) -> np.ndarray:
        """Rows of the factor on this side; the exact finish asks for nearly the same ones again and again."""
        known, values = self._known
        missing = np.setdiff1d(rows, known)
        if len(missing):
            if 8 * self.rank * (len(known) + len(missing)) > _ROWS_KEPT:
                missing, known, values = np.unique(rows), known[:0], values[:0]
            known = np.concatenate([known, missing])
            values = np.concatenate([values, self.blocks[missing]])
            order = np.argsort(known)
            self._known = known, values = known[order], values[order]
        return values[np.searchsorted(known, rows)]

    def restrict(self, rows: np.ndarray) -> DaskLowRankGram:
        kept, landmarks = self.blocks.keep(np.asarray(rows)), (self.landmarks, self.landmark_rows)
        return DaskLowRankGram(kept, *landmarks, self.projection, self.trace_error)

    def visit(
        self, function: Callable[..., Any], V: np.ndarray, passes: Sequence[tuple[Any, np.ndarray]], rest: Any
    ) -> tuple[list[np.ndarray], Any, np.ndarray]:
        """Let w = Zᵀ V visit block after block, changing as it goes.

        Calls ``function(Z_b, fixed_b, moving_b, (w, rest)) → (moving_b, (w, rest))`` for every block of each
        of the `passes`, pairs of fixed arrays and one that moves. What is carried goes from worker to worker;
        blocks take turns, so this is as fast as one worker. Returns the arrays that moved, the rest, and Z w
        at the end.
        """
        rows, cluster, results = self.blocks, self.blocks.cluster, []
        carried = cluster.submit("carried", same, (rows.transposed_times(V), rest))
        for fixed, moving in passes:
            for block, own, part in zip(rows.blocks, self._fixed(fixed), rows.parts(moving), strict=True):
                results.append(cluster.submit("visit", function, block, own, part, carried))
                carried = cluster.submit("carried", itemgetter(1), results[-1])
        outputs = rows.each("times", _times_first, *rows.alike(carried, rows.rows_at_once))
        found = cluster.gather([*results, *outputs], rows.partitions * (len(passes) + 1))
        n = len(rows.blocks)
        moved = [rows.joined([new for new, _ in found[i : i + n]]) for i in range(0, len(results), n)]
        return moved, found[len(results) - 1][1][1], rows.joined(found[len(results) :])

    def _fixed(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Arrays that rarely change, once on the workers: a future for every block."""
        for before, futures in self._held:
            if len(before) == len(arrays) and all(map(np.array_equal, before, arrays)):
                return futures
        columns = [self.blocks.parts(array) for array in arrays]
        futures = self.blocks.cluster.map("fixed", same, list(zip(*columns, strict=True)))
        self._held = [*self._held[-1:], ([array.copy() for array in arrays], futures)]
        return futures


class DaskGram(Gram):
    """A whole kernel matrix K (m, m) whose rows are on workers: 8 m² bytes there."""

    is_elsewhere = True

    def __init__(self, blocks: RowBlocks) -> None:
        self.blocks, self.m = blocks, blocks.shape[0]

    def diagonal(self) -> np.ndarray:
        futures = self.blocks.each("diagonal", _diagonal_of, self.blocks.parts(np.arange(self.m)))
        return self.blocks.joined(self.blocks.cluster.gather(futures, self.blocks.partitions))

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.blocks.times(self.blocks.cluster.shared(np.ascontiguousarray(V)))

    def split_matmul(self, V: np.ndarray, pause: Callable[[], None]) -> tuple[np.ndarray, np.ndarray]:
        pause()
        both = self.blocks.map_rows(_split_product, self.blocks.cluster.shared(np.ascontiguousarray(V)))
        return both[:, 0], both[:, 1]

    def is_nonnegative(self) -> bool:
        return min(self.blocks.gathered("least", np.min)) >= 0.0

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        values = self.blocks[rows]
        return values if cols is None else values[:, cols]

    def restrict(self, rows: np.ndarray) -> DaskGram:
        rows = np.asarray(rows)
        kept = self.blocks.keep(rows)
        return DaskGram(kept.mapped("restrict", _columns_of, len(rows), rows))


def dask_gram(
    kernel: Kernel, X: RowBlocks, rank: float | None, random_state: Any, only_multiplies: bool,
    whitened: bool, regime: Regime = REGIME,
) -> tuple[Gram, str]:  # fmt: skip
    """The kernel matrix of rows on a cluster, as `choose_gram` asks for it, and why it is held so."""
    m, blocks = X.shape[0], f"in {len(X.blocks)} blocks"
    if rank is not None:
        gram = _low_rank(kernel, X, rank, random_state or np.random.RandomState(0), whitened, regime)
        where = f"{blocks} on {len(X.cluster.workers)} workers"
        reason = f"low rank: {m} × {gram.rank} {where}, relative trace error {gram.trace_error:.2g}"
        return gram, reason
    if only_multiplies:
        reason = f"dense: the {m} × {m} kernel matrix {blocks} on {len(X.cluster.workers)} workers"
        return _dense(kernel, X), reason
    if isinstance(kernel, Linear):  # the rows are the factor, the unit vectors their landmarks
        d = X.shape[1]
        linear = DaskLowRankGram(X, np.arange(0), np.eye(d), np.eye(d), 0.0)
        return linear, f"linear: the rows themselves {blocks} are a factor"
    raise ValueError(
        "this solver takes a Dask collection with a low-rank kernel only; set rank, e.g. rank=500, or "
        "solver='multiplicative' (or without a bias 'm3', 'munk') for the whole kernel matrix on the workers"
    )


def _low_rank(
    kernel: Kernel, X: RowBlocks, rank: float, state: Any, whitened: bool, regime: Regime
) -> DaskLowRankGram:
    """The same factor as `low_rank_gram` gives, block by block on the workers."""
    m = X.shape[0]
    if rank < 1.0:
        landmarks = _pivots(kernel, X, min(m, regime.most_columns), float(rank))
        L = X[landmarks]
        return _on_landmarks(kernel, X, landmarks, L, cholesky_projection(kernel, L))
    landmarks = drawn_landmarks(m, rank, state)
    if m > regime.many_rows and fits_single(kernel, X):
        whitened_on = rows_to_whiten_on(m, len(landmarks), state, whitened, regime)
        return dask_single(kernel, X, landmarks, whitened_on)
    L = X[landmarks]
    with one_blas_thread():
        projection = nystroem_projection(kernel, L, landmarks)
    return _on_landmarks(kernel, X, landmarks, L, projection)


def dask_single(
    kernel: Kernel, X: RowBlocks, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> DaskLowRankGram:
    """The factor that `nystroem_single` gives."""
    L = X[landmarks]
    _, projection, error = projection_single(kernel, X, landmarks, L, whitened_on)
    gram = _on_landmarks(kernel, X, landmarks, L, projection, np.float32)
    gram.trace_error = gram.trace_error if error is None else error
    return gram


def _dense(kernel: Kernel, X: RowBlocks) -> DaskGram:
    """The whole kernel matrix, in blocks of rows; an error if the workers have no room for it."""
    m = X.shape[0]
    room = sum(worker["memory"] for worker in X.cluster.workers)
    if 8 * m * m > _MEMORY_SHARE * room:
        raise ValueError(
            f"the {m} × {m} kernel matrix takes {8 * m * m / 2**30:,.1f} GB, more than half of the workers' "
            f"{room / 2**30:,.1f} GB; set rank, e.g. rank=500, with solver='multiplicative', 'rho' or "
            "'adatron'"
        )
    everything = X.cluster.submit("all-rows", np.concatenate, X.blocks)
    offsets = X.bounds[:-1].tolist()
    blocks = X.each("kernel-rows", _kernel_rows, *X.alike(kernel, everything), offsets)
    whole = RowBlocks(X.cluster, blocks, np.diff(X.bounds), m, X.partitions, None)
    if X.order is not None:
        whole = DaskGram(whole).restrict(X.order).blocks
    return DaskGram(whole)


def _on_landmarks(
    kernel: Kernel, X: RowBlocks, landmarks: np.ndarray, L: np.ndarray, projection: np.ndarray,
    dtype: Any = np.float64,
) -> DaskLowRankGram:  # fmt: skip
    """The factor ``k(X, L) P``, and its error."""
    values = X.cluster.shared((kernel, L, projection, landmarks))
    offsets = X.bounds[:-1].tolist()
    blocks = X.each("factor", _factor_block, *X.alike(dtype, values, X.rows_at_once), offsets)
    factor = RowBlocks(X.cluster, blocks, np.diff(X.bounds), projection.shape[1], X.partitions, X.order)
    traces = X.cluster.map("trace", _traces, X.blocks, blocks, [kernel] * len(blocks))
    total, explained = np.sum(X.cluster.gather(traces, X.partitions), axis=0)
    return DaskLowRankGram(factor, landmarks, L, projection, max(float(1.0 - explained / total), 0.0))


def _factor_block(X: np.ndarray, dtype: Any, values: tuple[Any, ...], size: int, offset: int) -> np.ndarray:
    kernel, L, projection, landmarks = values
    return factor_rows(X, kernel, L, projection, size, dtype=dtype, landmarks=landmarks, offset=offset)


def _traces(X: np.ndarray, Z: np.ndarray, kernel: Kernel) -> tuple[float, float]:
    return float(np.sum(kernel.diagonal(X))), float(_squared_lengths(Z).sum())


def _squared_lengths(Z: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", Z, Z, dtype=np.float64)


def _kernel_rows(X: np.ndarray, kernel: Kernel, everything: np.ndarray, offset: int) -> np.ndarray:
    values = tile_evaluator(kernel, everything, np.float64).values(X)
    return check_finite(values, np.arange(len(X)) + offset, None)


def _split_product(K: np.ndarray, V: np.ndarray) -> np.ndarray:
    above = np.maximum(K, 0.0) @ V
    return np.stack([above, above - K @ V], axis=1)


def _diagonal_of(K: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return K[np.arange(len(K)), columns]


def _columns_of(K: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return K[:, columns]


def _times_first(Z: np.ndarray, carried: tuple[np.ndarray, Any], size: int) -> np.ndarray:
    return times(Z, carried[0], size, 1)


class _Block(NamedTuple):
    """What a worker knows of its rows."""

    columns: np.ndarray  # (n_b, j) of the factor
    errors: np.ndarray  # (n_b,)


class _Worst(NamedTuple):
    """The row of a block with the largest error."""

    error: float
    place: int
    total: float  # of the errors of the block
    row: np.ndarray  # of X
    columns: np.ndarray  # of the factor


def _pivots(kernel: Kernel, X: RowBlocks, rank: int, tolerance: float) -> np.ndarray:
    """Places of at most `rank` pivots of incomplete Cholesky, fewer if the trace error falls to `tolerance`.

    Every round the row with the largest error becomes a pivot. A worker keeps the columns so far and the
    errors of its blocks; only the largest error and its row travel. The factor is built from the pivots
    afterwards, so that what a lost worker held is not r rounds away.
    """
    cluster, pivots = X.cluster, []
    states = X.each("pivot-start", _start, *X.alike(kernel))
    trace = 0.0
    for j in range(rank):
        worst = cluster.gather(cluster.map("pivot-worst", _worst, states, X.blocks), X.partitions)
        total, best = sum(own.total for own in worst), int(np.argmax([own.error for own in worst]))
        trace = trace if j else total
        if total <= tolerance * trace or worst[best].error <= FLOOR * trace / X.shape[0]:
            break
        pivots.append(int(X.bounds[best]) + worst[best].place)
        pivot = cluster.shared(worst[best])
        own = [worst[best].place if b == best else -1 for b in range(len(states))]
        states = cluster.map("pivot", _next, states, X.blocks, [kernel] * len(own), [pivot] * len(own), own)
    places = np.array(pivots, dtype=np.int64)
    return places if X.order is None else np.argsort(X.order)[places]


def _start(X: np.ndarray, kernel: Kernel) -> _Block:
    return _Block(np.empty((len(X), 0)), np.array(kernel.diagonal(X), dtype=np.float64))


def _worst(state: _Block, X: np.ndarray) -> _Worst:
    place = int(state.errors.argmax())
    total = float(state.errors.sum())
    return _Worst(float(state.errors[place]), place, total, X[[place]], state.columns[place])


def _next(state: _Block, X: np.ndarray, kernel: Kernel, pivot: _Worst, own: int) -> _Block:
    column = check_finite(kernel(X, pivot.row), None, np.array([pivot.place]))[:, 0]
    column = (column - state.columns @ pivot.columns) / np.sqrt(pivot.error)
    errors = np.maximum(state.errors - column**2, 0.0)
    if own >= 0:
        errors[own] = 0.0
    return _Block(np.column_stack([state.columns, column]), errors)
