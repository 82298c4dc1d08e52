"""Kernel matrices in memory: whole, as lower triangle, or row by row on demand."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsymv

from adatron.gram.base import FUNCTIONS, Gram, PartialMatrix, Rows, add_kept_rows, check_finite
from adatron.gram.compiled_rows import row_of
from adatron.gram.row_source import as_dense
from adatron.gram.tiles import tile_evaluator, usable_form, whole_matrix
from adatron.kernels import Kernel, squared_norms
from adatron.kernels.rounding import long_expansion, long_product
from adatron.numerics.compiled import IS_COMPILED, compiled, compiled_part
from adatron.numerics.threads import one_blas_thread, usable_threads

FEW_COLUMNS = 3  # up to this many, one symmetric product per column is faster than a general product
_FEW_ROWS = 1_000  # up to this many, one thread multiplies as fast as several
_FIRST_ROOM = 512  # rows; memory that is not written to costs nothing
_DENSE_AT_MOST = 2**26  # bytes that sparse rows may take when filled up


class DenseGram(Gram):
    """A kernel matrix held as one array, float64 unless `dtype` says otherwise.

    With `is_half` only the lower triangle is used, and products are summed in float64.
    """

    is_whole = True

    def __init__(self, K: np.ndarray, dtype: Any = np.float64, *, is_half: bool = False) -> None:
        self._K = np.ascontiguousarray(K, dtype=dtype)
        self.m, self.nbytes, self.is_half = self._K.shape[0], self._K.nbytes, is_half
        # where one thread multiplies as fast as several
        self.lower_half = self._K if is_half or self.m <= _FEW_ROWS else None

    @classmethod
    def half_of(cls, kernel: Kernel, X: Any) -> DenseGram:
        """Evaluate the lower triangle of a kernel matrix in float32, on all threads."""
        K = np.empty((X.shape[0], X.shape[0]), dtype=np.float32)
        with one_blas_thread():
            is_finite = tile_evaluator(kernel, X, np.float32).fill_whole(K, usable_threads(), half=True)
        if not is_finite:
            check_finite(np.tril(K), None, None)
        return cls(K, np.float32, is_half=True)

    @property
    def is_exact(self) -> bool:
        return self._K.dtype == np.float64

    def diagonal(self) -> np.ndarray:
        return self._K.diagonal().copy()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        is_single = self._K.dtype == np.float32
        if (V.shape[1] > FEW_COLUMNS and not self.is_half) or self.m == 0:
            if is_single:  # columns of float64 stay contiguous
                return (np.asarray(V.T, dtype=np.float32) @ self._K).T.astype(np.float64)
            return self._K @ V
        # A symmetric product reads half of the matrix; with few vectors reading is the whole cost.
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

    def long_outputs(self, weights: np.ndarray) -> np.ndarray | None:
        return long_product(self._K, weights) if self.is_exact and not self.is_half else None

    def restrict(self, rows: np.ndarray) -> DenseGram:
        return DenseGram(self.block(rows, rows), self._K.dtype)


class LazyGram(Gram):
    """A float64 kernel matrix of few points, evaluated row by row on demand.

    Compiled code may evaluate rows by itself. `release` frees them, so that the matrices of many problems
    need not be in memory together.
    """

    has_own_threads = True

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.X = kernel.split(X)
        self.m, self.cost = X.shape[0], 8 * X.shape[0] ** 2
        self._partial: PartialMatrix | None = None

    def partial(self) -> PartialMatrix:
        if self._partial is not None:
            return self._partial
        is_wide = sparse.issparse(self.X) and 8 * self.X.shape[0] * self.X.shape[1] > _DENSE_AT_MOST
        form = None if is_wide else usable_form(self.kernel, self.X, np.float64)
        if form is None:
            self._partial = PartialMatrix.whole(whole_matrix(self.kernel, self.X))
            return self._partial
        X, room = as_dense(self.X), min(self.m, max(_FIRST_ROOM, self.m // 8))
        X = X - X.mean(axis=0) if form.moves_with_data else X
        columns, offsets = np.ascontiguousarray(X.T, dtype=np.float64), form.offsets(squared_norms(X))
        self._partial = PartialMatrix(
            np.empty((room, self.m)), np.full(self.m, -1), np.array([0]), columns, offsets,
            FUNCTIONS.index(form.function), np.array([form.scale, form.constant, form.degree], np.float64),
        )  # fmt: skip
        return self._partial

    def grow(self, room: int = 0) -> PartialMatrix:
        """Twice the room for rows, or as much as asked for."""
        old = self.partial()
        K = np.empty((min(self.m, max(room, 2 * len(old.K))), self.m))
        K[: old.filled[0]] = old.K[: old.filled[0]]
        self._partial = old._replace(K=K)
        return self._partial

    def release(self) -> None:
        self._partial = None

    def _places(self, rows: np.ndarray) -> np.ndarray:
        """Where some rows are, once they are there."""
        partial = self.partial()
        missing = rows[partial.place[rows] < 0]
        if len(missing):
            needed = int(partial.filled[0]) + len(missing)
            partial = partial if needed <= len(partial.K) else self.grow(needed)
            _evaluate(missing, partial)
            check_finite(partial.K[partial.place[missing]], missing, None)
        return partial.place[rows]

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        result = np.zeros((self.m, V.shape[1]), order="F")
        for b in range(V.shape[1]):
            rows = np.flatnonzero(V[:, b])
            self.add_rows(rows, V[rows, b], result[:, b])
        return result

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        places = self._places(rows)
        add_kept_rows(self.partial().K, places, weights, f, 0, self.m)

    def long_outputs(self, weights: np.ndarray) -> np.ndarray | None:
        return long_expansion(self.kernel, self.X, weights)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = self._places(np.arange(self.m)[rows])
        return self.partial().K[places if cols is None else np.ix_(places, cols)]

    def restrict(self, rows: np.ndarray) -> LazyGram:
        return LazyGram(self.kernel, self.X[rows])


@compiled
def _evaluate(rows, matrix):
    for i in rows:
        if matrix.place[i] < 0:  # `rows` may name one twice
            row_of(i, matrix)


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
    for i in range(len(v)):  # the rest: squares on the diagonal, and the last rows
        first = i - i % 4 if i < whole else 0
        for j in range(first, i):
            out[i] += K[i, j] * v[j]
            out[j] += K[i, j] * v[i]
        out[i] += K[i, i] * v[i]


def _product_of_parts(K, v, out):
    """Like `_product_by_fours`, with NumPy: for when compilation is off."""
    lower = np.tril(K).astype(np.float64)
    out[:] = lower @ v + np.tril(lower, -1).T @ v


symmetric_product = _product_by_fours if IS_COMPILED else _product_of_parts
_call_symmetric_product = compiled(symmetric_product)
