"""The kernel matrix of rows that live on the workers of a Dask cluster.

`DaskLowRankGram` has the factor Z in blocks of rows: a product sends each block its part of V, sums
``Z_bᵀ V_b`` by a tree to w (r × B), and gathers ``Z_b w``. `DaskGram` has blocks of rows of the matrix
itself, and a product sends the whole of V (m × B) to each worker. Multipliers, signs and bounds stay with the
client: a few numbers for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adatron.gram.approximate import (
    MANY_ROWS,
    MOST_COLUMNS,
    drawn_landmarks,
    fits_single,
    rows_to_whiten_on,
)
from adatron.gram.dask_pivots import pivots_of
from adatron.gram.finite import check_finite
from adatron.gram.low_rank import (
    LowRankGram,
    cholesky_projection,
    factor_rows,
    nystroem_projection,
)
from adatron.gram.nystroem_single import factor_rows_single, projection_single
from adatron.gram.protocol import Rows
from adatron.gram.row_blocks import RowBlocks, times_block
from adatron.gram.tiles import tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.threads import one_blas_thread

__all__ = ["DaskGram", "DaskLowRankGram", "dask_dense", "dask_linear", "dask_low_rank", "dask_single"]

_OF_MEMORY = 0.5  # part of the workers' memory that a whole kernel matrix may take
_PRODUCTS_KEPT = 3  # whose w is remembered
_ROWS_KEPT = 64 * 2**20  # bytes of rows of the factor that are kept on this side


class DaskLowRankGram(LowRankGram):
    """The kernel matrix ``Z Zᵀ`` of a factor whose rows are on workers; products cost O(mr) there.

    Parameters
    ----------
    blocks : RowBlocks
        Z, shape (m, r).
    landmarks : array of int
    landmark_rows : array
        The rows themselves, so that nobody need fetch them again.
    projection : array of shape (len(landmark_rows), r)
    trace_error : float
    """

    def __init__(
        self,
        blocks: RowBlocks,
        landmarks: np.ndarray,
        landmark_rows: np.ndarray,
        projection: np.ndarray,
        trace_error: float,
    ) -> None:
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
        """``K V``; ``w = Zᵀ V`` comes along, as those who keep stages ask for it next."""
        w = self.blocks.transposed_times(V)
        futures = self.blocks.each("times", times_block, *self.blocks.alike(w, self.blocks.rows_at_once))
        *parts, weights = self.blocks.cluster.gather([*futures, w], [*self.blocks.partitions, 0])
        self._recent = [*self._recent[1 - _PRODUCTS_KEPT :], (V.copy(), weights)]
        return self.blocks.joined(parts)

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        found = [self._known_weights(V[:, b]) for b in range(V.shape[1])]
        if any(w is None for w in found):
            return self.blocks.cluster.gather([self.blocks.transposed_times(V)])[0]
        return np.column_stack(found)  # type: ignore[arg-type]

    def _known_weights(self, v: np.ndarray) -> np.ndarray | None:
        for V, weights in reversed(self._recent):
            for b in range(V.shape[1]):
                if np.array_equal(V[:, b], v):
                    return weights[:, b]
        return None

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
        return DaskLowRankGram(
            self.blocks.keep(np.asarray(rows)), self.landmarks, self.landmark_rows, self.projection,
            self.trace_error,
        )  # fmt: skip

    def visit(
        self, function: Callable[..., Any], V: np.ndarray, passes: Sequence[tuple[Any, np.ndarray]], rest: Any
    ) -> tuple[list[np.ndarray], Any, np.ndarray]:
        """Let w = Zᵀ V visit block after block, changing as it goes.

        Calls ``function(Z_b, fixed_b, moving_b, (w, rest)) → (moving_b, (w, rest))`` for every block of each
        of the `passes`, pairs of fixed arrays and one that moves. What is carried goes from worker to worker;
        blocks take turns, so this is as fast as one worker.

        Returns
        -------
        list of arrays that moved, the rest, and Z w at the end
        """
        rows, cluster, results = self.blocks, self.blocks.cluster, []
        carried = cluster.submit("carried", _pair, rows.transposed_times(V), rest)
        for fixed, moving in passes:
            for block, own, part in zip(rows.blocks, self._fixed(fixed), rows.parts(moving), strict=True):
                results.append(cluster.submit("visit", function, block, own, part, carried))
                carried = cluster.submit("carried", _second, results[-1])
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
        futures = self.blocks.cluster.map("fixed", _same_tuple, list(zip(*columns, strict=True)))
        self._held = [*self._held[-1:], ([array.copy() for array in arrays], futures)]
        return futures


class DaskGram:
    """A whole kernel matrix whose rows are on workers: 8 m² bytes there.

    Parameters
    ----------
    blocks : RowBlocks
        K, shape (m, m).
    """

    def __init__(self, blocks: RowBlocks) -> None:
        self.blocks, self.m = blocks, blocks.shape[0]

    def diagonal(self) -> np.ndarray:
        return self.blocks.joined(self._of_columns("diagonal", _diagonal_of, np.arange(self.m)))

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.blocks.times(self.blocks.cluster.shared(np.ascontiguousarray(V)))

    def split_matmul(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``K⁺ V`` and ``K⁻ V``, the positive and the negative entries of K apart."""
        both = self.blocks.map_rows(_split_product, self.blocks.cluster.shared(np.ascontiguousarray(V)))
        return both[:, 0], both[:, 1]

    @property
    def is_nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return min(self.blocks.gathered("least", np.min)) >= 0.0

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        values = self.blocks[rows]
        return values if cols is None else values[:, cols]

    def restrict(self, rows: np.ndarray) -> DaskGram:
        rows = np.asarray(rows)
        kept = self.blocks.keep(rows)
        return DaskGram(kept.mapped("restrict", _columns_of, len(rows), rows))

    def _of_columns(self, name: str, function: Callable[..., Any], columns: np.ndarray) -> list[Any]:
        futures = self.blocks.each(name, function, self.blocks.parts(columns))
        return self.blocks.cluster.gather(futures, self.blocks.partitions)


def dask_low_rank(
    kernel: Kernel, X: RowBlocks, rank: float, random_state: Any = None, *, whitened: bool = False
) -> DaskLowRankGram:
    """The same factor as `low_rank_gram` gives, block by block on the workers.

    Parameters
    ----------
    kernel : Kernel
    X : RowBlocks
    rank : int or float
        As in `low_rank_gram`; a number below 1 takes a round through the cluster for every column.
    random_state : RandomState, optional
        Draws the landmarks: the same rows as for the same data in memory.
    whitened : bool
        Whether the factor of many rows may be whitened.
    """
    m = X.shape[0]
    if rank >= 1.0:
        state = random_state or np.random.RandomState(0)
        landmarks = drawn_landmarks(m, rank, state)
        if m > MANY_ROWS and fits_single(kernel, X):
            return dask_single(kernel, X, landmarks, rows_to_whiten_on(m, len(landmarks), state, whitened))
        L = X[landmarks]
        with one_blas_thread():
            projection = nystroem_projection(kernel, L, landmarks)
        return _on_landmarks(kernel, X, landmarks, L, projection, factor_rows)
    landmarks = pivots_of(kernel, X, min(m, MOST_COLUMNS), float(rank))
    L = X[landmarks]
    return _on_landmarks(kernel, X, landmarks, L, cholesky_projection(kernel, L), factor_rows)


def dask_single(
    kernel: Kernel, X: RowBlocks, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> DaskLowRankGram:
    """The factor that `nystroem_single` gives."""
    L = X[landmarks]
    _, projection, error = projection_single(kernel, X, landmarks, L, whitened_on)
    gram = _on_landmarks(kernel, X, landmarks, L, projection, factor_rows_single)
    gram.trace_error = gram.trace_error if error is None else error
    return gram


def dask_linear(X: RowBlocks) -> DaskLowRankGram:
    """The exact matrix of the linear kernel: the rows are the factor, the unit vectors their landmarks."""
    d = X.shape[1]
    return DaskLowRankGram(X, np.arange(0), np.eye(d), np.eye(d), 0.0)


def dask_dense(kernel: Kernel, X: RowBlocks) -> DaskGram:
    """The whole kernel matrix, in blocks of rows; an error if the workers have no room for it."""
    m = X.shape[0]
    room = sum(worker["memory"] for worker in X.cluster.workers)
    if 8 * m * m > _OF_MEMORY * room:
        raise ValueError(
            f"the {m} × {m} kernel matrix takes {8 * m * m / 2**30:,.1f} GB, more than half of the workers' "
            f"{room / 2**30:,.1f} GB; set rank, e.g. rank=500, with solver='multiplicative', 'rho' or "
            "'adatron'"
        )
    everything = X.cluster.submit("all-rows", _joined_rows, X.blocks)
    offsets = X.bounds[:-1].tolist()
    blocks = X.each("kernel-rows", _kernel_rows, *X.alike(kernel, everything), offsets)
    whole = RowBlocks(X.cluster, blocks, np.diff(X.bounds), m, X.partitions, None)
    if X.order is not None:
        whole = DaskGram(whole).restrict(X.order).blocks
    return DaskGram(whole)


def _on_landmarks(
    kernel: Kernel, X: RowBlocks, landmarks: np.ndarray, L: np.ndarray, projection: np.ndarray, build: Any
) -> DaskLowRankGram:
    """The factor ``k(X, L) P``, and its error."""
    values = X.cluster.shared((kernel, L, projection, landmarks))
    offsets = X.bounds[:-1].tolist()
    blocks = X.each("factor", _factor_block, *X.alike(build, values, X.rows_at_once), offsets)
    factor = RowBlocks(X.cluster, blocks, np.diff(X.bounds), projection.shape[1], X.partitions, X.order)
    traces = X.cluster.map("trace", _traces, X.blocks, blocks, [kernel] * len(blocks))
    total, explained = np.sum(X.cluster.gather(traces, X.partitions), axis=0)
    return DaskLowRankGram(factor, landmarks, L, projection, max(float(1.0 - explained / total), 0.0))


def _factor_block(X: np.ndarray, build: Any, values: tuple[Any, ...], size: int, offset: int) -> np.ndarray:
    kernel, L, projection, landmarks = values
    if build is factor_rows:
        return factor_rows(X, kernel, L, projection, landmarks, size, offset=offset)
    return factor_rows_single(X, kernel, L, projection, size, offset)


def _traces(X: np.ndarray, Z: np.ndarray, kernel: Kernel) -> tuple[float, float]:
    return float(np.sum(kernel.diagonal(X))), float(_squared_lengths(Z).sum())


def _squared_lengths(Z: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", Z, Z, dtype=np.float64)


def _joined_rows(blocks: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(blocks)


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


def _pair(first: Any, second: Any) -> tuple[Any, Any]:
    return first, second


def _times_first(Z: np.ndarray, carried: tuple[np.ndarray, Any], size: int) -> np.ndarray:
    return times_block(Z, carried[0], size)


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _same_tuple(arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return arrays
