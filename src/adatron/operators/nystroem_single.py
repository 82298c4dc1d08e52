"""The Nyström factor of many rows: float32, built block by block on all threads, perhaps whitened.

A whitened factor is ``Z (M + 0.01 mean(λ) I)^(−½)``, M = ZᵀZ/m the second moments and λ their eigenvalues:
the r × r matrix goes into the projection, so the factor still costs one product per block. Models that are
linear in it are the same ones, but descent takes few steps to the best of them. What it changes is their
norm: a soft margin of given C is another one, so only those without C use it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.kernels import Kernel
from adatron.operators.factor_store import blocks_of_rows, check_memory, empty_factor
from adatron.operators.finite import check_finite
from adatron.operators.low_rank import LowRankGram, nystroem_projection, trace_error
from adatron.operators.protocol import Rows
from adatron.operators.tiles import TileEvaluator, tile_evaluator
from adatron.threads import in_parallel, one_blas_thread, usable_threads

__all__ = ["SingleGram", "factor_rows_single", "nystroem_single", "projection_single"]

_ROWS = 1_024  # of the factor built at a time
_ROWS_OF_A_PRODUCT = 4_096
_FLOOR = 1e-6  # eigenvalues below this part of the largest are dropped
_RIDGE = 0.01  # part of the mean eigenvalue that is added before whitening


class SingleGram(LowRankGram):
    """A factor in float32; products read it block by block, and add up their parts in float64."""

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        V = np.asarray(V, dtype=np.float32)
        starts = range(0, self.m, _ROWS_OF_A_PRODUCT)
        parts = np.empty((len(starts), *V.shape[1:], self.factor.shape[1]), dtype=np.float32)

        def work(start: int) -> None:
            part = slice(start, start + _ROWS_OF_A_PRODUCT)
            np.matmul(V[part].T, self.factor[part], out=parts[start // _ROWS_OF_A_PRODUCT])

        _on_all_threads(work, starts)
        return parts.sum(axis=0, dtype=np.float64).T

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        W = np.asarray(W, dtype=np.float32)
        outputs = np.empty((self.m, *W.shape[1:]), order="F")

        def work(start: int) -> None:
            part = slice(start, start + _ROWS_OF_A_PRODUCT)
            outputs[part] = self.factor[part] @ W

        _on_all_threads(work, range(0, self.m, _ROWS_OF_A_PRODUCT))
        return outputs

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.outputs_of(self.weights_of(V))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(super().block(rows, cols), dtype=np.float64)

    def restrict(self, rows: np.ndarray) -> SingleGram:
        factor = empty_factor((len(rows), self.factor.shape[1]), np.float32)
        for part in blocks_of_rows(len(rows)):
            factor[part] = self.factor[rows[part]]
        return SingleGram(factor, self.landmarks, self.projection, self.trace_error)


def nystroem_single(
    kernel: Kernel, X: Any, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> SingleGram:
    """The Nyström factor in float32 for given landmarks.

    Parameters
    ----------
    kernel : Kernel
    X : array, CSR matrix or whatever has a shape and gives arrays for slices and lists of rows
    landmarks : array of int
    whitened_on : array of int, optional
        Rows whose second moments whiten the factor; by default it is not whitened. The trace error is then
        that of these rows.
    """
    L = _in_double(X[landmarks])
    tiles, projection, error = projection_single(kernel, X, landmarks, L, whitened_on)
    with one_blas_thread():
        factor = _fill(empty_factor((X.shape[0], projection.shape[1]), np.float32), tiles, X, projection)
    error = trace_error(kernel, X, factor) if error is None else error
    return SingleGram(factor, landmarks, projection, error)


def projection_single(
    kernel: Kernel, X: Any, landmarks: np.ndarray, L: Any, whitened_on: np.ndarray | None = None
) -> tuple[TileEvaluator, np.ndarray, float | None]:
    """What evaluates k(·, L), the projection P of the factor ``k(X, L) P``, and the trace error if known."""
    r = len(landmarks)
    check_memory(5 * 8 * r * r, f"the kernel matrix of rank={r} landmarks", "lower rank")
    tiles = tile_evaluator(kernel, L, np.float32)
    with one_blas_thread():
        projection = nystroem_projection(kernel, L, landmarks, _FLOOR)
        if whitened_on is None:
            return tiles, projection, None
        moments, error = _moments(tiles, X, whitened_on, projection)
        return tiles, projection @ _whitening(moments), error


def _fill(factor: np.ndarray, tiles: TileEvaluator, X: Any, projection: np.ndarray) -> np.ndarray:
    """Write ``k(X, L) P``, block by block."""
    small = projection.astype(np.float32)

    def work(start: int) -> None:
        part = slice(start, min(start + _ROWS, len(factor)))
        values = check_finite(tiles.values(X[part]), np.arange(part.start, part.stop), None)
        np.matmul(values, small, out=factor[part])

    in_parallel(work, range(0, len(factor), _ROWS), usable_threads())
    return factor


def factor_rows_single(
    X: Any, kernel: Kernel, L: Any, projection: np.ndarray, n_threads: int = 1
) -> np.ndarray:
    """``k(X, L) P`` in float32."""
    small = projection.astype(np.float32)
    factor = np.empty((X.shape[0], small.shape[1]), dtype=np.float32)
    tiles = tile_evaluator(kernel, L, np.float32)

    def work(start: int) -> None:
        rows = tiles.values(X[start : start + _ROWS])
        np.matmul(rows, small, out=factor[start : start + _ROWS])

    in_parallel(work, range(0, X.shape[0], _ROWS), n_threads)
    return factor


def _moments(
    tiles: TileEvaluator, X: Any, rows: np.ndarray, projection: np.ndarray
) -> tuple[np.ndarray, float]:
    """``ZᵀZ/n`` of some rows, and the trace error of these."""
    total, size = np.zeros((projection.shape[1],) * 2), 0.0
    for block in blocks_of_rows(len(rows), 8 * _ROWS):
        part = X[rows[block]]
        Z = _fill(np.empty((part.shape[0], projection.shape[1]), np.float32), tiles, part, projection)
        total += Z.T @ Z
        size += float(tiles.kernel.diagonal(part).sum())
    return total / len(rows), max(1.0 - float(np.trace(total)) / size, 0.0)


def _whitening(moments: np.ndarray) -> np.ndarray:
    """``(M + ridge)^(−½)``, symmetric."""
    eigenvalues, vectors = np.linalg.eigh(moments)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    return (vectors / np.sqrt(eigenvalues + _RIDGE * eigenvalues.mean())) @ vectors.T


def _in_double(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _on_all_threads(work: Any, starts: range) -> None:
    with one_blas_thread():
        in_parallel(work, starts, usable_threads())
