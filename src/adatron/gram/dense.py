"""The whole kernel matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dsymv

from adatron.gram.protocol import Rows
from adatron.gram.rows import add_kept_rows
from adatron.numerics.compiled import IS_COMPILED, compiled, compiled_part

__all__ = ["FEW_COLUMNS", "DenseGram", "products_with_half", "symmetric_product"]

FEW_COLUMNS = 3  # up to which a symmetric product for each is faster than one general product
_FEW_ROWS = 1_000  # up to which one thread multiplies as fast as several


class DenseGram:
    """A kernel matrix held as one array, float64 unless `dtype` says otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> gram = DenseGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.matmul(np.ones((2, 1))).ravel()
    array([3., 4.])
    """

    def __init__(self, K: np.ndarray, dtype: Any = np.float64) -> None:
        self._K = np.ascontiguousarray(K, dtype=dtype)
        self.m, self.nbytes = self._K.shape[0], self._K.nbytes

    @property
    def lower_half(self) -> np.ndarray | None:
        """An array with the values below the diagonal, if one thread multiplies them as fast as several."""
        return self._K if self.m <= _FEW_ROWS else None

    def diagonal(self) -> np.ndarray:
        return self._K.diagonal().copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        is_single = self._K.dtype == np.float32
        if V.shape[1] > FEW_COLUMNS or self.m == 0:
            if is_single:  # columns of float64 stay contiguous
                return (np.asarray(V.T, dtype=np.float32) @ self._K).T.astype(np.float64)
            return self._K @ V
        # Symmetric products read half of the matrix, and products with few vectors are all reading.
        if is_single:
            return products_with_half(self._K, V)
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


def products_with_half(K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """``K V`` from the lower half of K, multiplied and added in float64."""
    products = np.empty(V.shape, order="F")
    for b in range(V.shape[1]):
        _call_symmetric_product(K, np.ascontiguousarray(V[:, b]), products[:, b])
    return products


@compiled_part
def _product_by_fours(K, v, out):
    """``K v`` from the lower half of K, four rows at a time, multiplied and added in float64."""
    whole = len(v) - len(v) % 4
    out[:] = 0.0
    for i in range(0, whole, 4):
        a, b, c, d = K[i], K[i + 1], K[i + 2], K[i + 3]
        va, vb, vc, vd = v[i], v[i + 1], v[i + 2], v[i + 3]
        sa, sb, sc, sd = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            ka, kb, kc, kd = float(a[j]), float(b[j]), float(c[j]), float(d[j])
            sa, sb, sc, sd = sa + ka * v[j], sb + kb * v[j], sc + kc * v[j], sd + kd * v[j]
            out[j] += ka * va + kb * vb + (kc * vc + kd * vd)
        out[i], out[i + 1], out[i + 2], out[i + 3] = sa, sb, sc, sd
    for i in range(len(v)):  # what is left: squares on the diagonal, and the last rows
        first = i - i % 4 if i < whole else 0
        for j in range(first, i):
            out[i] += K[i, j] * v[j]
            out[j] += K[i, j] * v[i]
        out[i] += K[i, i] * v[i]


def _product_of_parts(K, v, out):
    """The same without a loop over values, for where nothing is compiled."""
    lower = np.tril(K).astype(np.float64)
    out[:] = lower @ v + np.tril(lower, -1).T @ v


symmetric_product = _product_by_fours if IS_COMPILED else _product_of_parts
_call_symmetric_product = compiled(symmetric_product)
