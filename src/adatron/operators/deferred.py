"""The whole kernel matrix of a small problem, from its first use to its release."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.kernels import Kernel
from adatron.operators.dense import DenseGram
from adatron.operators.finite import check_finite
from adatron.operators.protocol import Rows
from adatron.operators.tiles import tile_evaluator

__all__ = ["DeferredGram"]


class DeferredGram:
    """A dense kernel matrix that is evaluated when first needed.

    For one of many problems, such as a pair of classes: their matrices need not exist all at once.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> from adatron.operators import DeferredGram
    >>> DeferredGram(Linear(), np.array([[1.0], [2.0]])).block(np.array([1]))
    array([[2., 4.]])
    """

    def __init__(self, kernel: Kernel, X: Any, n_threads: int = 1) -> None:
        self.kernel, self.X, self.m, self.n_threads = kernel, X, X.shape[0], n_threads
        self._dense: DenseGram | None = None

    @property
    def cost(self) -> int:
        """Bytes held while in use."""
        return 8 * self.m * self.m

    @property
    def dense(self) -> DenseGram:
        if self._dense is None:
            K = np.empty((self.m, self.m))
            tile_evaluator(self.kernel, self.X, np.float64).fill(np.arange(self.m), None, K, self.n_threads)
            self._dense = DenseGram(check_finite(K, None, None))
        return self._dense

    def release(self) -> None:
        """Forget the matrix; it comes back when needed."""
        self._dense = None

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.dense.matmul(V)

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        self.dense.add_rows(rows, weights, f)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        return self.dense.block(rows, cols)

    def restrict(self, rows: np.ndarray) -> DeferredGram:
        return DeferredGram(self.kernel, self.X[rows], self.n_threads)
