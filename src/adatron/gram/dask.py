"""The kernel matrix of rows that live on the workers of a Dask cluster.

`DaskLowRankGram` has the factor Z in blocks of rows: a product sends each block its part of V, sums
``Z_bᵀ V_b`` by a tree to w (r × B), and gathers ``Z_b w``. `DaskGram` has blocks of rows of the matrix
itself, and a product sends the whole of V (m × B) to each worker. Multipliers, signs and bounds stay with the
client: a few numbers for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from adatron.gram.base import Gram, Rows, check_finite
from adatron.gram.cluster import RowBlocks, same
from adatron.gram.low_rank import FLOOR, Basis, LowRankGram, factor_rows, low_rank_gram
from adatron.gram.regime import REGIME, Regime
from adatron.gram.tiles import tile_evaluator
from adatron.kernels import Kernel, Linear
from adatron.numerics.reproducible import times

_MEMORY_SHARE = 0.5  # part of the workers' memory that a whole kernel matrix may take
_PRODUCTS_KEPT = 3  # products of which w is remembered
_ROWS_KEPT = 64 * 2**20  # bytes of rows of the factor that the client keeps


class DaskLowRankGram(LowRankGram):
    """The kernel matrix ``Z Zᵀ`` of a factor (m, r) whose rows are on workers; products cost O(mr) there."""

    is_elsewhere, has_entries = True, False

    def __init__(self, blocks: RowBlocks, basis: Basis) -> None:
        self.blocks, self.basis, self.m = blocks, basis, blocks.shape[0]
        self.landmarks, self.landmark_rows, self.projection, self.trace_error = basis
        self._diagonal: np.ndarray | None = None
        self._known = (np.empty(0, dtype=np.int64), np.empty((0, blocks.shape[1])))
        self._recent: list[tuple[np.ndarray, np.ndarray]] = []
        self._held: list[tuple[list[np.ndarray], list[Any]]] = []

    def diagonal(self) -> np.ndarray:
        if self._diagonal is None:
            self._diagonal = self.blocks.map_rows(_squared_lengths)
        return self._diagonal.copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """``K V``; also remembers ``w = Zᵀ V``, which an ensemble needs for its next stage."""
        w = self.blocks.transposed_times(V)
        futures = self.blocks.each(times, w, self.blocks.rows_at_once, 1)
        *parts, weights = self.blocks.cluster.gather([*futures, w], [*self.blocks.partitions, 0])
        self._recent = [*self._recent[1 - _PRODUCTS_KEPT :], (V.copy(), weights)]
        return np.concatenate(parts)

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        known = [pair for W, weights in reversed(self._recent) for pair in zip(W.T, weights.T, strict=True)]
        found = [next((w for old, w in known if np.array_equal(old, v)), None) for v in V.T]
        if any(w is None for w in found):
            return self.blocks.cluster.gather([self.blocks.transposed_times(V)])[0]
        return np.column_stack(found)  # type: ignore[arg-type]

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        return self.blocks.times(np.ascontiguousarray(W))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        left = self._rows(np.arange(self.m)[rows])
        if cols is None:
            return self.blocks.times(np.ascontiguousarray(left.T)).T
        return left @ self._rows(np.asarray(cols)).T

    def _rows(self, rows: np.ndarray) -> np.ndarray:
        """Rows of the factor, cached in this process: the exact finish asks for many of them repeatedly."""
        known, values = self._known
        missing = np.setdiff1d(rows, known)
        if len(missing):
            if 8 * values.shape[1] * (len(known) + len(missing)) > _ROWS_KEPT:
                missing, known, values = np.unique(rows), known[:0], values[:0]
            known = np.concatenate([known, missing])
            values = np.concatenate([values, self.blocks[missing]])
            order = np.argsort(known)
            self._known = known, values = known[order], values[order]
        return values[np.searchsorted(known, rows)]

    def restrict(self, rows: np.ndarray) -> DaskLowRankGram:
        return DaskLowRankGram(self.blocks.keep(np.asarray(rows)), self.basis)

    def visit(self, function: Callable, V: np.ndarray, passes: list, rest: tuple) -> tuple:
        """Let w = Zᵀ V visit block after block, changing as it goes.

        Calls ``function(Z_b, fixed_b, moving_b, (w, rest)) → (moving_b, (w, rest))`` for every block of each
        of the `passes`, pairs of fixed arrays and one that changes. (w, rest) goes from worker to worker;
        blocks take turns, so this is as fast as one worker. Returns the arrays that changed, the rest, and
        Z w at the end.
        """
        rows, cluster, results = self.blocks, self.blocks.cluster, []
        carried = cluster.submit(same, (rows.transposed_times(V), rest))
        for fixed, moving in passes:
            for block, own, part in zip(rows.blocks, self._fixed(fixed), rows.parts(moving), strict=True):
                results.append(cluster.submit(function, block, own, part, carried))
                carried = cluster.submit(itemgetter(1), results[-1])
        outputs = rows.each(times, cluster.submit(itemgetter(0), carried), rows.rows_at_once, 1)
        found = cluster.gather([*results, *outputs], rows.partitions * (len(passes) + 1))
        n = len(rows.blocks)
        moved = [np.concatenate([new for new, _ in found[i : i + n]]) for i in range(0, len(results), n)]
        return moved, found[len(results) - 1][1][1], np.concatenate(found[len(results) :])

    def _fixed(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Send arrays that rarely change to the workers once: a future for every block."""
        for before, futures in self._held:
            if len(before) == len(arrays) and all(map(np.array_equal, before, arrays)):
                return futures
        columns = [self.blocks.parts(array) for array in arrays]
        futures = self.blocks.cluster.map(same, list(zip(*columns, strict=True)))
        self._held = [*self._held[-1:], ([array.copy() for array in arrays], futures)]
        return futures


class DaskGram(Gram):
    """A whole kernel matrix K (m, m) whose rows are on workers: 8 m² bytes there."""

    is_elsewhere = True

    def __init__(self, blocks: RowBlocks) -> None:
        self.blocks, self.m = blocks, blocks.shape[0]

    def diagonal(self) -> np.ndarray:
        return np.concatenate(self.blocks.gathered(np.diagonal, self.blocks.bounds[:-1].tolist()))

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.blocks.times(self.blocks.cluster.shared(np.ascontiguousarray(V)))

    def split_matmul(self, V: np.ndarray, pause: Callable[[], None]) -> tuple[np.ndarray, np.ndarray]:
        pause()
        both = self.blocks.map_rows(_split_product, self.blocks.cluster.shared(np.ascontiguousarray(V)))
        return both[:, 0], both[:, 1]

    def is_nonnegative(self) -> bool:
        return min(self.blocks.gathered(np.min)) >= 0.0

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        values = self.blocks[rows]
        return values if cols is None else values[:, cols]

    def restrict(self, rows: np.ndarray) -> DaskGram:
        rows = np.asarray(rows)
        return DaskGram(self.blocks.keep(rows).mapped(np.take, len(rows), rows, 1))


def dask_gram(
    kernel: Kernel, X: RowBlocks, rank: float | None, random_state: Any, only_multiplies: bool,
    whitened: bool, regime: Regime = REGIME,
) -> tuple[Gram, str]:  # fmt: skip
    """The kernel matrix of rows on a cluster for `choose_gram`, and the reason for its kind."""
    (m, d), blocks = X.shape, f"in {len(X.blocks)} blocks"
    if rank is not None:
        gram = low_rank_gram(kernel, X, rank, random_state, whitened=whitened, regime=regime)
        size = f"{m} × {gram.projection.shape[1]} {blocks} on {len(X.cluster.workers)} workers"
        return gram, f"low rank: {size}, relative trace error {gram.trace_error:.2g}"
    if only_multiplies:
        whole, room = 8 * m * m / 2**30, sum(worker["memory"] for worker in X.cluster.workers) / 2**30
        if whole > _MEMORY_SHARE * room:
            raise ValueError(
                f"the {m} × {m} kernel matrix takes {whole:,.1f} GB, more than half of the workers' "
                f"{room:,.1f} GB; set rank, e.g. rank=500 (solver='multiplicative', 'rho' or 'adatron')"
            )
        everything = X.cluster.submit(np.concatenate, X.blocks)
        K = X.mapped(_kernel_rows, m, kernel, everything, X.bounds[:-1].tolist())
        return DaskGram(K), f"dense: the {m} × {m} kernel matrix {blocks} on {len(X.cluster.workers)} workers"
    if isinstance(kernel, Linear):  # the rows are the factor, the unit vectors their landmarks
        linear = DaskLowRankGram(X, Basis(np.arange(0), np.eye(d), np.eye(d), 0.0))
        return linear, f"linear: the rows themselves {blocks} are a factor"
    raise ValueError(
        "this solver takes a Dask collection with a low-rank kernel only; set rank, e.g. rank=500, or "
        "solver='multiplicative' (or without a bias 'm3', 'munk') for the whole kernel matrix on the workers"
    )


def dask_factor(kernel: Kernel, X: RowBlocks, basis: Basis, dtype: Any) -> DaskLowRankGram:
    """The factor ``k(X, L) P`` block by block on the workers; a trace error that is not known is computed."""
    offsets, width = X.bounds[:-1].tolist(), basis.projection.shape[1]
    factor = X.mapped(factor_rows, width, kernel, X.cluster.shared(basis), dtype, X.rows_at_once, offsets)
    if np.isnan(basis.trace_error):
        total, explained = np.sum(X.gathered(_traces, factor.blocks, kernel), axis=0)
        basis = basis._replace(trace_error=max(float(1.0 - explained / total), 0.0))
    return DaskLowRankGram(factor, basis)


# What workers do with a block of rows of the features X, of the factor Z or of the kernel matrix K


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


_State: TypeAlias = tuple[np.ndarray, np.ndarray]  # columns of the factor so far, and errors of the rows


class _Worst(NamedTuple):
    """The row of a block with the largest error."""

    error: float
    place: int
    total: float  # of the errors of the block
    row: np.ndarray  # of X
    columns: np.ndarray  # of the factor


def dask_pivots(kernel: Kernel, X: RowBlocks, rank: int, tolerance: float) -> np.ndarray:
    """Places of at most `rank` pivots of incomplete Cholesky, fewer if the trace error falls to `tolerance`.

    Every round the row with the largest error becomes a pivot. A worker keeps the columns so far, and the
    errors of its blocks; only the largest error and its row are sent. The factor is built from the pivots
    afterwards, so that the data of a lost worker can be recomputed without all r rounds.
    """
    states, pivots, trace = X.each(_start, kernel), [], 0.0
    for j in range(rank):
        worst = X.gathered(_worst, states)
        total, best = sum(own.total for own in worst), int(np.argmax([own.error for own in worst]))
        trace = trace if j else total
        if total <= tolerance * trace or worst[best].error <= FLOOR * trace / X.shape[0]:
            break
        pivots.append(int(X.bounds[best]) + worst[best].place)
        own = [worst[best].place if b == best else -1 for b in range(len(states))]
        states = X.each(_next, states, kernel, X.cluster.shared(worst[best]), own)
    return np.array(pivots, dtype=np.int64)


def _start(X: np.ndarray, kernel: Kernel) -> _State:
    return np.empty((len(X), 0)), np.array(kernel.diagonal(X), dtype=np.float64)


def _worst(X: np.ndarray, state: _State) -> _Worst:
    columns, errors = state
    place = int(errors.argmax())
    return _Worst(float(errors[place]), place, float(errors.sum()), X[[place]], columns[place])


def _next(X: np.ndarray, state: _State, kernel: Kernel, pivot: _Worst, own: int) -> _State:
    columns, errors = state
    column = check_finite(kernel(X, pivot.row), None, np.array([pivot.place]))[:, 0]
    column = (column - columns @ pivot.columns) / np.sqrt(pivot.error)
    errors = np.maximum(errors - column**2, 0.0)
    if own >= 0:
        errors[own] = 0.0
    return np.column_stack([columns, column]), errors
