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

from adatron.gram.factor_store import blocks_of_rows, check_memory, empty_factor
from adatron.gram.finite import check_finite
from adatron.gram.low_rank import LowRankGram, nystroem_projection, trace_error
from adatron.gram.protocol import Rows
from adatron.gram.tiles import TileEvaluator, tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.reproducible import groups, rows_at_once
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = ["SingleGram", "factor_rows_single", "nystroem_single", "projection_single"]

_ROWS = 1_024  # of the factor built at a time, at most
_FLOOR = 1e-6  # eigenvalues below this part of the largest are dropped
_RIDGE = 0.01  # part of the mean eigenvalue that is added before whitening


class SingleGram(LowRankGram):
    """A factor in float32; products read it group by group of rows, and add up their parts in float64."""

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
        factor = empty_factor((X.shape[0], projection.shape[1]), np.float32)
        _fill(factor, tiles, X, projection, rows_at_once(X.shape[0]), usable_threads())
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


def factor_rows_single(
    X: Any, kernel: Kernel, L: Any, projection: np.ndarray, size: int, offset: int = 0
) -> np.ndarray:
    """``k(X, L) P`` in float32, on this thread; `offset` is the number of the first row in messages."""
    factor = np.empty((X.shape[0], projection.shape[1]), dtype=np.float32)
    return _fill(factor, tile_evaluator(kernel, L, np.float32), X, projection, size, 1, offset)


def _fill(
    factor: np.ndarray, tiles: TileEvaluator, X: Any, projection: np.ndarray,
    size: int, n_threads: int, offset: int = 0,
) -> np.ndarray:  # fmt: skip
    """Write ``k(X, L) P``, some rows at a time."""
    small = projection.astype(np.float32)

    def work(part: slice) -> None:
        values = tiles.values(X[part])
        check_finite(values, np.arange(part.start, part.stop) + offset, None)
        np.matmul(values, small, out=factor[part])

    in_parallel(work, groups(len(factor), min(size, _ROWS)), n_threads)
    return factor


def _moments(
    tiles: TileEvaluator, X: Any, rows: np.ndarray, projection: np.ndarray
) -> tuple[np.ndarray, float]:
    """``ZᵀZ/n`` of some rows, and the trace error of these."""
    total, size = np.zeros((projection.shape[1],) * 2), 0.0
    for block in blocks_of_rows(len(rows), 8 * _ROWS):
        part = X[rows[block]]
        Z = np.empty((part.shape[0], projection.shape[1]), np.float32)
        _fill(Z, tiles, part, projection, _ROWS, usable_threads())
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
