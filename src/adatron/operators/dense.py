"""The whole kernel matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dsymv

from adatron.operators.protocol import Rows
from adatron.operators.rows import add_kept_rows

__all__ = ["DenseGram"]

_FEW = 3  # columns up to which a symmetric product for each is faster than one general product


class DenseGram:
    """A kernel matrix held as one array, float64 unless `dtype` says otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.operators import DenseGram
    >>> gram = DenseGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.matmul(np.ones((2, 1))).ravel()
    array([3., 4.])
    """

    def __init__(self, K: np.ndarray, dtype: Any = np.float64) -> None:
        self._K = np.ascontiguousarray(K, dtype=dtype)
        self.m = self._K.shape[0]

    def diagonal(self) -> np.ndarray:
        return self._K.diagonal().copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        if self._K.dtype == np.float32:  # columns of float64 stay contiguous
            return (np.asarray(V.T, dtype=np.float32) @ self._K).T.astype(np.float64)
        if V.shape[1] > _FEW or self.m == 0:
            return self._K @ V
        # Symmetric products read half of the matrix, and products with few vectors are all reading.
        products = np.empty(V.shape, order="F")
        for b in range(V.shape[1]):
            products[:, b] = dsymv(1.0, self._K.T, V[:, b], lower=1)
        return products

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """``f += Σ weights_k K[rows_k]``."""
        add_kept_rows(self._K, rows, weights, f, 0, self.m)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        if cols is None:
            return self._K[rows]
        return self._K[rows][:, cols] if isinstance(rows, slice) else self._K[np.ix_(rows, cols)]

    def restrict(self, rows: np.ndarray) -> DenseGram:
        return DenseGram(self._K[np.ix_(rows, rows)], self._K.dtype)
