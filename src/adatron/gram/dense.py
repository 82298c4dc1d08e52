"""Kernel matrices in memory: whole, as lower triangle, or row by row on demand, also by compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsymv

from adatron.gram.base import FUNCTIONS, Gram, PartialMatrix, Rows, add_kept_rows, check_finite
from adatron.gram.row_source import as_dense
from adatron.gram.tiles import usable_form, whole_matrix
from adatron.kernels import Kernel, squared_norms
from adatron.kernels.rounding import long_expansion, long_product
from adatron.numerics.compiled import IS_COMPILED, compiled, compiled_part, ordered_part
from adatron.numerics.exponential import exponential

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
        return cls(whole_matrix(kernel, X, np.float32, half=True), np.float32, is_half=True)

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


@compiled_part
def row_of(i, matrix):
    """Row i of a `PartialMatrix`, evaluated if it is missing; there must be room for it."""
    if matrix.place[i] < 0:
        row = _begun_row(i, matrix)
        columns, scale = matrix.columns, matrix.numbers[0]
        for k in range(columns.shape[0]):
            weight, column = scale * columns[k, i], columns[k]
            for j in range(len(row)):
                row[j] += weight * column[j]
        _finish_row(row, matrix.function, matrix.numbers)
    return matrix.K[matrix.place[i]]


@compiled_part
def evaluate_pair(a, b, matrix):
    """Evaluate two missing rows in little more time than one, which is that of reading all points."""
    row, other = _begun_row(a, matrix), _begun_row(b, matrix)
    _add_products(a, b, matrix.columns, matrix.numbers[0], row, other)
    _finish_row(row, matrix.function, matrix.numbers)
    _finish_row(other, matrix.function, matrix.numbers)


@ordered_part
def _add_products(a, b, columns, scale, row, other):
    """Add the products of points a and b with all points; sums are those of `row_of`, four at a time."""
    whole = columns.shape[0] - columns.shape[0] % 4
    for k in range(0, whole, 4):
        p, q, r, s = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        pa, qa, ra, sa = scale * p[a], scale * q[a], scale * r[a], scale * s[a]
        pb, qb, rb, sb = scale * p[b], scale * q[b], scale * r[b], scale * s[b]
        for j in range(len(row)):
            row[j] = (((row[j] + pa * p[j]) + qa * q[j]) + ra * r[j]) + sa * s[j]
            other[j] = (((other[j] + pb * p[j]) + qb * q[j]) + rb * r[j]) + sb * s[j]
    for k in range(whole, columns.shape[0]):
        weight, another, column = scale * columns[k, a], scale * columns[k, b], columns[k]
        for j in range(len(row)):
            row[j] += weight * column[j]
            other[j] += another * column[j]


@compiled_part
def _begun_row(i, matrix):
    """The next free row for the values of point i, with what does not depend on products."""
    row, offsets = matrix.K[matrix.filled[0]], matrix.offsets
    for j in range(len(row)):
        row[j] = offsets[i] + offsets[j] + matrix.numbers[1]
    matrix.place[i] = matrix.filled[0]
    matrix.filled[0] += 1
    return row


@compiled_part
def _finish_row(row, function, numbers):
    """From the sums to the kernel values."""
    if function == 1:
        for j in range(len(row)):
            row[j] = exponential(row[j])
    elif function == 2:
        for j in range(len(row)):
            row[j] = row[j] ** numbers[2]
    elif function == 3:
        for j in range(len(row)):
            row[j] = np.tanh(row[j])
    elif function == 4:
        for j in range(len(row)):
            row[j] = exponential(-np.sqrt(max(-row[j], 0.0)))


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
