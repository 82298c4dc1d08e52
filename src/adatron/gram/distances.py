"""Gaussian kernel matrices of many widths from squared distances that are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.gram.dense import DenseGram
from adatron.gram.tiles import as_dense, tile_evaluator
from adatron.kernels import Linear
from adatron.numerics.exponential import exponentials
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = ["GaussianFamily"]

_ROWS = 256  # of a tile
_WORTH_THREADS = 700  # rows


class GaussianFamily:
    """The kernel matrices ``exp(−γ|x_i − x_j|²)`` of the rows of `X` for any γ, in float32.

    The matrix of one width takes the place of the last.
    """

    def __init__(self, X: Any) -> None:
        self.m = X.shape[0]
        self.distances = squared_distances(X)
        self._matrix: np.ndarray | None = None

    def gram(self, gamma: float) -> DenseGram:
        """The kernel matrix of one width."""
        if self._matrix is None:
            self._matrix = np.empty_like(self.distances)
        K, factor = self._matrix, np.float32(-gamma)

        def work(start: int) -> None:
            tile = K[start : start + _ROWS]
            np.multiply(self.distances[start : start + _ROWS], factor, out=tile)
            exponentials(tile)

        in_parallel(work, range(0, self.m, _ROWS), _threads(self.m))
        return DenseGram(K, np.float32)


def _threads(m: int) -> int:
    return usable_threads() if m > _WORTH_THREADS else 1


def squared_distances(X: Any) -> np.ndarray:
    """``|x_i − x_j|²`` in float32, from inner products of centred rows."""
    if not hasattr(X, "indptr"):
        X = as_dense(X) - X.mean(axis=0)  # fewer digits cancel
    m = X.shape[0]
    result = np.empty((m, m), dtype=np.float32)
    with one_blas_thread():
        tiles = tile_evaluator(Linear(), X, np.float32)
        norms = np.asarray((X.multiply(X) if hasattr(X, "indptr") else X * X).sum(axis=1)).ravel()
        norms = norms.astype(np.float32)
        tiles.fill(np.arange(m), None, result, _threads(m))

    def work(start: int) -> None:
        tile = result[start : start + _ROWS]
        tile *= np.float32(-2.0)
        tile += norms
        tile += norms[start : start + _ROWS, None]
        np.maximum(tile, 0.0, out=tile)

    in_parallel(work, range(0, m, _ROWS), _threads(m))
    np.fill_diagonal(result, 0.0)
    return result
