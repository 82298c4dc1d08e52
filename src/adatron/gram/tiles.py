"""Kernel values between the rows of matrices, tile by tile on all threads.

A tile is one matrix product and one pass of the kernel's function over it while it is in cache. The
tiles do not depend on the number of threads, so neither do the values. Rows with few entries are
multiplied without their zeros where that is cheaper, however they are stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.exceptions import KernelError
from adatron.kernels import Kernel, ProductForm, squared_norms
from adatron.numerics.compiled import compiled
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = [
    "DenseTiles",
    "TileEvaluator",
    "as_csr",
    "as_dense",
    "check_finite",
    "tile_evaluator",
    "usable_form",
    "whole_matrix",
]

_WIDTH = 512  # columns of a tile, more if it has few rows
_VALUES = 2**18  # of a tile with few rows: threads that often ask for the interpreter wait for one another
_FEW_VALUES = 2**16  # of a tile at least
_TILES = 4  # at least, where there are values enough: some for every thread
_FACTOR_VALUES, _MANY_VALUES = 2**18, 2**22  # of a part of a factor; of one that is worth a thread
_SQUARE = 128  # rows of a tile below the diagonal
_ONE_TILE = 1_000  # rows up to which a matrix is evaluated at once
_ROWS = 64  # rows of a tile of sparse rows
_SPARSE_STEP = 30.0  # cost of one scattered multiply-add, in multiply-adds of a matrix product
_WORTH_A_LOOK = 2**20  # values of dense rows whose zeros may be worth leaving out
_SAMPLE = 512  # rows in which they are looked for
_DIGITS_TO_LOSE = 0.4  # part of the digits of an exponent that cancellation may take
_DENSE_AT_MOST = 2**30  # bytes that sparse rows may take when filled up


class TileEvaluator:
    """Kernel values between given rows and the rows of `X`, for any kernel; the base of the faster two."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any) -> None:
        self.kernel, self.X, self.dtype, self.m = kernel, X, np.dtype(dtype), X.shape[0]

    def fill(self, rows: np.ndarray, cols: np.ndarray | None, out: np.ndarray, n_threads: int) -> None:
        """Write ``K[rows][:, cols]`` (all columns for None) into `out`."""
        self._fill(self.X[rows], self.X if cols is None else self.X[cols], out, n_threads)

    def fill_whole(
        self, out: np.ndarray, n_threads: int, rows: np.ndarray | None = None, *, half: bool = False
    ) -> bool:
        """Write the kernel matrix of all rows, or of some, into `out`; whether it is known to be finite.

        With `half` what is above the diagonal is not needed.
        """
        self.fill(np.arange(self.m) if rows is None else rows, rows, out, n_threads)
        return False

    def times(self, Z: Any, weights: np.ndarray, start: int, stop: int) -> np.ndarray:
        """``k(Z, X[start:stop]) @ weights[start:stop]`` on this thread, summed in float64."""
        return np.asarray(self.kernel(Z, self.X[start:stop]) @ weights[start:stop], dtype=np.float64)

    def prepared(self, Z: Any) -> Any:
        """What `times` wants in place of other rows Z."""
        return Z

    def values(self, Z: Any) -> np.ndarray:
        """``k(Z, X)`` for other rows Z, on this thread."""
        out = np.empty((Z.shape[0], self.m), dtype=self.dtype)
        self._fill(Z, self.X, out, 1)
        return out

    def _fill(self, left: Any, right: Any, out: np.ndarray, n_threads: int) -> None:
        def work(start: int) -> None:
            out[start : start + _ROWS] = self.kernel(left[start : start + _ROWS], right)

        in_parallel(work, range(0, len(out), _ROWS), n_threads)


class DenseTiles(TileEvaluator):
    """A kernel in product form on dense rows: ``[scale X, l] [X, r]ᵀ``, then the function."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, form: ProductForm) -> None:
        super().__init__(kernel, X, dtype)
        self.form, self.d = form, X.shape[1]
        # |x − z|² of rows about their centre loses fewer digits
        self.centre = np.ravel(X.mean(axis=0)) if form.moves_with_data else np.zeros(self.d)
        self.right = self._factor(X, usable_threads() if X.shape[0] * self.d >= _MANY_VALUES else 1)

    def _factor(self, X: Any, n_threads: int = 1) -> np.ndarray:
        factor = np.empty((X.shape[0], self.d + 2), dtype=self.dtype)

        def work(start: int) -> None:
            part = slice(start, start + step)
            squares = np.empty(len(factor[part]))
            _move_to(self.centre, as_dense(X[part]), factor[part], squares)
            factor[part, self.d :] = self.form.right(squares)

        step = max(1024, _FACTOR_VALUES // max(1, self.d))
        in_parallel(work, range(0, X.shape[0], step), n_threads)
        return factor

    def fill(self, rows: np.ndarray, cols: np.ndarray | None, out: np.ndarray, n_threads: int) -> None:
        self._fill(self.right[rows], self.right if cols is None else self.right[cols], out, n_threads)

    def fill_whole(
        self, out: np.ndarray, n_threads: int, rows: np.ndarray | None = None, *, half: bool = False
    ) -> bool:
        """Half of the values are evaluated, the others are theirs."""
        right = self.right if rows is None else self.right[rows]
        left = self._left(right.copy())
        sums: list[float] = []

        def work(start: int) -> None:
            part = slice(start, start + _SQUARE)
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(left[part], right[: part.stop].T, out=out[part, : part.stop])
                self.form.finish(out[part, : part.stop])
                sums.append(out[part, : part.stop].sum())
            if not half:
                _mirror(out, start, min(part.stop, len(right)))

        in_parallel(work, range(0, len(right), _SQUARE)[::-1], n_threads)
        return bool(np.isfinite(sums).all())

    def prepared(self, Z: Any) -> np.ndarray:
        return self._left(self._factor(Z))

    def values(self, Z: Any) -> np.ndarray:
        out = np.empty((Z.shape[0], self.m), dtype=self.dtype)
        self._fill(self._factor(Z), self.right, out, 1)
        return out

    def times(self, Z: Any, weights: np.ndarray, start: int, stop: int) -> np.ndarray:
        result = np.zeros((len(Z), weights.shape[1]))
        for first in range(start, stop, _WIDTH):
            part = slice(first, min(first + _WIDTH, stop))
            with np.errstate(over="ignore", invalid="ignore"):
                result += self.tile(Z, part) @ weights[part]
        return result

    def tile(self, Z: np.ndarray, part: slice) -> np.ndarray:
        """``k(Z, X[part])`` for prepared rows Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.matmul(Z, self.right[part].T)
            self.form.finish(values)
        return values

    def _left(self, left: np.ndarray) -> np.ndarray:
        left[:, self.d :] = self.form.left(left[:, self.d :])
        left[:, : self.d] *= self.dtype.type(self.form.scale)
        return left

    def _fill(self, left: np.ndarray, right: np.ndarray, out: np.ndarray, n_threads: int) -> None:
        left = self._left(left)
        n = max(1, len(left))
        width = min(max(_WIDTH, _VALUES // n), max(64, _FEW_VALUES // n, len(right) // _TILES))

        def work(start: int) -> None:
            tile = out[:, start : start + width]
            with np.errstate(over="ignore", invalid="ignore"):  # whoever uses the values checks them
                np.matmul(left, right[start : start + width].T, out=tile)
                self.form.finish(tile)

        in_parallel(work, range(0, len(right), width), n_threads)


class _SparseTiles(TileEvaluator):
    """A kernel in product form on sparse rows."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, form: ProductForm) -> None:
        super().__init__(kernel, as_csr(X), dtype)
        self.form = form
        self.extra = form.right(squared_norms(X)).astype(self.dtype)
        self.columns = sparse.csc_array(self.X)

    def fill(self, rows: np.ndarray, cols: np.ndarray | None, out: np.ndarray, n_threads: int) -> None:
        left = self.X[rows], self.extra[rows]
        if cols is None:
            self._fill(left, (self.columns, self.extra), out, n_threads)
        else:
            self._fill(left, (sparse.csc_array(self.X[cols]), self.extra[cols]), out, n_threads)

    def prepared(self, Z: Any) -> Any:
        return as_csr(Z), self.form.right(squared_norms(Z)).astype(self.dtype)

    def values(self, Z: Any) -> np.ndarray:
        out = np.empty((Z.shape[0], self.m), dtype=self.dtype)
        self._fill(self.prepared(Z), (self.columns, self.extra), out, 1)
        return out

    def times(self, Z: Any, weights: np.ndarray, start: int, stop: int) -> np.ndarray:
        values = np.empty((Z[0].shape[0], stop - start), dtype=self.dtype)
        columns = self.columns if stop - start == self.m else sparse.csc_array(self.X[start:stop])
        self._fill(Z, (columns, self.extra[start:stop]), values, 1)
        return np.asarray(values @ weights[start:stop], dtype=np.float64)

    def _fill(self, left: Any, right: Any, out: np.ndarray, n_threads: int) -> None:
        (rows, row_extra), (columns, column_extra) = left, right
        row_extra = self.form.left(row_extra)

        def work(start: int) -> None:
            tile = out[start : start + _ROWS]
            np.matmul(row_extra[start : start + _ROWS], column_extra.T, out=tile)
            _add_products(
                start, rows.indptr, rows.indices, rows.data,
                columns.indptr, columns.indices, columns.data, self.form.scale, tile,
            )  # fmt: skip
            with np.errstate(over="ignore", invalid="ignore"):
                self.form.finish(tile)

        in_parallel(work, range(0, len(out), _ROWS), n_threads)


@compiled
def _move_to(centre, X, out, squares):
    """Rows measured from the centre, in the precision of `out`, and their squared lengths."""
    for i in range(len(squares)):
        row, target, total = X[i], out[i], 0.0
        for j in range(len(row)):
            x = row[j] - centre[j]
            total += x * x
            target[j] = x
        squares[i] = total


@compiled
def _mirror(K, start, stop):
    """Copy what is below the diagonal in rows `start` to `stop` to its place above it."""
    for first in range(0, stop, 8):  # few lines at a time, so that they stay in cache
        for i in range(start, stop):
            for j in range(first, min(first + 8, i)):
                K[j, i] = K[i, j]


@compiled
def _add_products(first, indptr, indices, data, starts, members, values, scale, out):
    """Add ``scale ⟨x_i, z_j⟩``: every entry of x_i visits the rows that share its column."""
    for r in range(len(out)):
        line = out[r]
        for k in range(indptr[first + r], indptr[first + r + 1]):
            weight = scale * data[k]
            for t in range(starts[indices[k]], starts[indices[k] + 1]):
                line[members[t]] += weight * values[t]


def usable_form(kernel: Kernel, X: Any, dtype: Any) -> ProductForm | None:
    """The product form, unless it would cancel too many digits of the exponents of a narrow Gaussian."""
    form = kernel.product_form
    if form is None or not form.moves_with_data:
        return form
    with np.errstate(over="ignore", invalid="ignore"):
        largest = -float(np.min(form.offsets(squared_norms(X)), initial=0.0))
    return form if largest <= np.finfo(dtype).eps ** -_DIGITS_TO_LOSE else None


def as_csr(X: Any) -> Any:
    """Rows without their zeros."""
    if sparse.issparse(X):
        return sparse.csr_array(X)
    ends = np.concatenate([[0], np.cumsum(np.count_nonzero(X, axis=1))])
    indices, data = np.zeros(ends[-1], dtype=np.int32), np.zeros(ends[-1], dtype=X.dtype)
    _store(X, ends, indices, data)
    return sparse.csr_array((data, indices, ends), shape=X.shape)


@compiled
def _store(X, ends, indices, data):
    """Entries that are not zero, in the room there is: another thread may change X."""
    for i in range(X.shape[0]):
        k = ends[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0.0 and k < ends[i + 1]:
                indices[k], data[k] = j, X[i, j]
                k += 1


def as_dense(X: Any) -> np.ndarray:
    """Rows with their zeros."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def tile_evaluator(kernel: Kernel, X: Any, dtype: Any) -> TileEvaluator:
    """The cheapest way to evaluate a kernel against the rows of `X`."""
    form = usable_form(kernel, X, dtype)
    if form is None:
        return TileEvaluator(kernel, X, dtype)
    m, d = X.shape
    if sparse.issparse(X):
        shares = np.bincount(X.indices, minlength=d) / m
    elif m * d < _WORTH_A_LOOK:
        return DenseTiles(kernel, X, dtype, form)
    else:
        shares = np.mean(X[:: -(-m // _SAMPLE)] != 0.0, axis=0)
    is_cheaper_dense = _SPARSE_STEP * float(shares @ shares) > d
    has_room = np.dtype(dtype).itemsize * m * d <= _DENSE_AT_MOST
    return (DenseTiles if is_cheaper_dense and has_room else _SparseTiles)(kernel, X, dtype, form)


def whole_matrix(kernel: Kernel, X: Any, dtype: Any = np.float64) -> np.ndarray:
    """The kernel matrix of the rows of `X`, on all threads; values must be finite."""
    m = X.shape[0]
    if m <= _ONE_TILE:
        with one_blas_thread():
            return check_finite(np.asarray(kernel(X, X), dtype=dtype), None, None)
    K = np.empty((m, m), dtype=dtype)
    with one_blas_thread():
        is_finite = tile_evaluator(kernel, X, dtype).fill_whole(K, usable_threads())
    return K if is_finite else check_finite(K, None, None)


def check_finite(values: np.ndarray, rows: np.ndarray | None, cols: np.ndarray | None) -> np.ndarray:
    """Return `values` unless one is NaN or infinite: say which rows before training starts on nonsense."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass; a sum can overflow by itself, hence the second look
            return values
    bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0:
        return values
    i, j = bad[0]
    row = i if rows is None else rows[i]
    col = j if cols is None else cols[j]
    raise KernelError(
        f"the kernel value is {values[i, j]} for rows {row} and {col} of X ({len(bad)} such values); "
        "scale X (e.g. with StandardScaler) or change the kernel's parameters"
    )
