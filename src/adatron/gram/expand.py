"""Kernel expansions ``Σ_i coef_i k(x_i, x)`` of many rows x, tile by tile on all threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram.tiles import DenseTiles, tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = ["expand", "expand_among"]

_ROWS, _FEWEST = 512, 64  # of X at a time
_PARTS = 16  # at least, where there are rows enough: some for every thread
_SQUARE = 256  # vectors of a tile of their own matrix


def expand(
    kernel: Kernel,
    X: Any,
    vectors: Any,
    coefficients: np.ndarray,
    dtype: Any = np.float64,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """``k(X, vectors) @ coefficients``, all columns from the same kernel values, in bounded memory.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (n, d)
    vectors : array or CSR matrix, shape (m, d)
    coefficients : array of shape (m, B)
    dtype : float32 or float64
        Precision of the kernel values; sums are float64.
    groups : array of shape (G + 1,), optional
        Boundaries of groups of vectors that are summed apart; the result then has shape (n, G, B).
    """
    bounds = np.array([0, len(coefficients)]) if groups is None else groups
    result = np.zeros((X.shape[0], len(bounds) - 1, coefficients.shape[1]))
    if len(coefficients) and X.shape[0]:
        if sparse.issparse(X) != sparse.issparse(vectors):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
        tiles = tile_evaluator(kernel, vectors, dtype)
        weights = np.ascontiguousarray(coefficients, dtype=dtype)
        length = min(_ROWS, max(_FEWEST, len(result) // _PARTS))

        def work(start: int) -> None:
            part = slice(start, start + length)
            rows = tiles.prepared(X[part])
            for g, (first, last) in enumerate(pairwise(bounds.tolist())):
                if last > first:
                    result[part, g] = tiles.times(rows, weights, first, last)

        with one_blas_thread():
            in_parallel(work, range(0, len(result), length), usable_threads())
    return result[:, 0] if groups is None else result


def expand_among(kernel: Kernel, vectors: Any, coefficients: np.ndarray) -> np.ndarray:
    """``k(vectors, vectors) @ coefficients`` for one column: each pair of vectors is evaluated once."""
    if not len(coefficients):
        return np.zeros(0)
    tiles = tile_evaluator(kernel, vectors, np.float64)
    if not isinstance(tiles, DenseTiles):
        return expand(kernel, vectors, vectors, coefficients[:, None])[:, 0]
    rows, n = tiles.prepared(vectors), len(coefficients)
    starts = range(0, n, _SQUARE)
    outputs, mirrored = np.zeros(n), np.zeros((len(starts), n))

    def work(start: int) -> None:
        part = slice(start, min(start + _SQUARE, n))
        for first in range(0, part.stop, _SQUARE):
            columns = slice(first, min(first + _SQUARE, n))
            tile = tiles.tile(rows[part], columns)
            outputs[part] += tile @ coefficients[columns]
            if first < start:
                mirrored[start // _SQUARE, columns] = coefficients[part] @ tile

    with one_blas_thread():
        in_parallel(work, starts[::-1], usable_threads())
    return outputs + mirrored.sum(axis=0)
