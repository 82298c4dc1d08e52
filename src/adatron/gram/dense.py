"""The whole kernel matrix in memory, or its lower half."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dsymv

from adatron.gram.base import Gram, Rows
from adatron.gram.tiles import check_finite, tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.compiled import IS_COMPILED, compiled, compiled_part
from adatron.numerics.threads import one_blas_thread, usable_threads

__all__ = ["FEW_COLUMNS", "DenseGram", "add_kept_rows", "symmetric_product"]

FEW_COLUMNS = 3  # up to which a symmetric product for each is faster than one general product
_FEW_ROWS = 1_000  # up to which one thread multiplies as fast as several


class DenseGram(Gram):
    """A kernel matrix held as one array, float64 unless `dtype` says otherwise.

    Parameters
    ----------
    K : array of shape (m, m)
    dtype : float32 or float64
    is_half : bool
        Whether only what is on and below the diagonal counts; products are then summed in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> gram = DenseGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> gram.matmul(np.ones((2, 1))).ravel()
    array([3., 4.])
    """

    is_whole = True

    def __init__(self, K: np.ndarray, dtype: Any = np.float64, *, is_half: bool = False) -> None:
        self._K = np.ascontiguousarray(K, dtype=dtype)
        self.m, self.nbytes, self.is_half = self._K.shape[0], self._K.nbytes, is_half
        # where one thread multiplies as fast as several
        self.lower_half = self._K if is_half or self.m <= _FEW_ROWS else None

    @classmethod
    def half_of(cls, kernel: Kernel, X: Any) -> DenseGram:
        """The lower half of a kernel matrix in float32, evaluated on all threads."""
        K = np.empty((X.shape[0], X.shape[0]), dtype=np.float32)
        with one_blas_thread():
            is_finite = tile_evaluator(kernel, X, np.float32).fill_whole(K, usable_threads(), half=True)
        if not is_finite:
            check_finite(np.tril(K), None, None)
        return cls(K, np.float32, is_half=True)

    def diagonal(self) -> np.ndarray:
        return self._K.diagonal().copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        is_single = self._K.dtype == np.float32
        if (V.shape[1] > FEW_COLUMNS and not self.is_half) or self.m == 0:
            if is_single:  # columns of float64 stay contiguous
                return (np.asarray(V.T, dtype=np.float32) @ self._K).T.astype(np.float64)
            return self._K @ V
        # Symmetric products read half of the matrix, and products with few vectors are all reading.
        products = np.empty(V.shape, order="F")
        for b in range(V.shape[1]):
            if is_single:
                _call_symmetric_product(self._K, np.ascontiguousarray(V[:, b]), products[:, b])
            else:
                products[:, b] = dsymv(1.0, self._K.T, V[:, b], lower=1)
        return products

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        if self.is_half:
            super().add_rows(rows, weights, f)
        else:
            add_kept_rows(self._K, rows, weights, f, 0, self.m)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        if self.is_half:
            places = np.arange(self.m)
            i, j = places[rows][:, None], places[slice(None) if cols is None else cols]
            return self._K[np.maximum(i, j), np.minimum(i, j)]
        if cols is None:
            return self._K[rows]
        return self._K[rows][:, cols] if isinstance(rows, slice) else self._K[np.ix_(rows, cols)]

    def restrict(self, rows: np.ndarray) -> DenseGram:
        return DenseGram(self.block(rows, rows), self._K.dtype)


@compiled
def add_kept_rows(kept, slots, weights, f, first, last):
    """``f[first:last] += Σ_k weights_k kept[slots_k, first:last]``, four rows at a time."""
    part = f[first:last]
    n = len(slots)
    for k in range(0, n - 3, 4):
        a, b = kept[slots[k]][first:last], kept[slots[k + 1]][first:last]
        c, d = kept[slots[k + 2]][first:last], kept[slots[k + 3]][first:last]
        wa, wb, wc, wd = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for j in range(len(part)):
            part[j] += wa * a[j] + wb * b[j] + wc * c[j] + wd * d[j]
    for k in range(n - n % 4, n):
        a, wa = kept[slots[k]][first:last], weights[k]
        for j in range(len(part)):
            part[j] += wa * a[j]


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
