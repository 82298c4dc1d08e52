"""Half of a kernel matrix, which is all of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.gram.dense import DenseGram, products_with_half
from adatron.gram.finite import check_finite
from adatron.gram.protocol import Rows
from adatron.gram.tiles import tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.threads import one_blas_thread, usable_threads

__all__ = ["HalfGram"]


class HalfGram:
    """A kernel matrix of float32 values below the diagonal, for products with few columns in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> from adatron.gram import HalfGram
    >>> gram = HalfGram(Linear(), np.array([[1.0], [2.0]]))
    >>> gram.matmul(np.ones((2, 1))).ravel()
    array([3., 6.])
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.m = X.shape[0]
        self.lower_half = np.empty((self.m, self.m), dtype=np.float32)
        self.nbytes = self.lower_half.nbytes
        with one_blas_thread():
            tiles = tile_evaluator(kernel, X, np.float32)
            is_finite = tiles.fill_whole(self.lower_half, usable_threads(), half=True)
        if not is_finite:
            check_finite(np.tril(self.lower_half), None, None)

    def diagonal(self) -> np.ndarray:
        return self.lower_half.diagonal().copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return products_with_half(self.lower_half, V)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = np.arange(self.m)
        i, j = places[rows][:, None], places[slice(None) if cols is None else cols]
        return self.lower_half[np.maximum(i, j), np.minimum(i, j)]

    def restrict(self, rows: np.ndarray) -> DenseGram:
        return DenseGram(self.block(rows, rows), np.float32)
