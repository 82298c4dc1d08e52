"""Kernel values between the rows of matrices, tile by tile on all threads.

A tile is one matrix product and one pass of the kernel's function over it while it is in cache. The
tiles do not depend on the number of threads, so neither do the values. Rows with few entries are
multiplied without their zeros where that is cheaper, however they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from adatron.kernels import Kernel, ProductForm, city_block_distances, squared_norms
from adatron.numerics.compiled import compiled
from adatron.numerics.exponential import exponentials
from adatron.numerics.threads import in_parallel, usable_threads

_WIDTH = 512  # columns of a tile, more if it has few rows
_VALUES = 2**18  # of a tile with few rows: threads that often ask for the interpreter wait for one another
_FEW_VALUES = 2**16  # of a tile at least
_TILES = 4  # at least, where there are values enough: some for every thread
_FACTOR_VALUES, _MANY_VALUES = 2**18, 2**22  # of a part of a factor; of one that is worth a thread
_SQUARE = 128  # rows of a tile below the diagonal
_ROWS = 64  # rows of a tile of sparse rows


Groups: TypeAlias = "list[tuple[int, int, int]]"  # the number of a group of rows, its first row, its end


class TileEvaluator:
    """Kernel values between given rows and the rows of `X`, for any kernel; the base of the faster two."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any) -> None:
        self.kernel, self.X, self.dtype, self.m = kernel, X, np.dtype(dtype), X.shape[0]

    def fill(self, rows: Any, cols: Any, out: np.ndarray, n_threads: int, Z: Any = None) -> None:
        """Write ``K[rows][:, cols]``, all columns for None, into `out`; with other rows Z ``k(Z, X)``."""
        left, right = self.X[rows] if Z is None else Z, self.X if cols is None else self.X[cols]

        def work(start: int) -> None:
            out[start : start + _ROWS] = self.kernel(left[start : start + _ROWS], right)

        in_parallel(work, range(0, len(out), _ROWS), n_threads)

    def fill_whole(
        self, out: np.ndarray, n_threads: int, rows: np.ndarray | None = None, *, half: bool = False
    ) -> bool:
        """Write the kernel matrix of all rows, or of some, into `out`; whether it is known to be finite.

        With `half` what is above the diagonal is not needed.
        """
        self.fill(np.arange(self.m) if rows is None else rows, rows, out, n_threads)
        return False

    def values(self, Z: Any) -> np.ndarray:
        """``k(Z, X)`` for other rows Z, on this thread."""
        out = np.empty((Z.shape[0], self.m), dtype=self.dtype)
        self.fill(None, None, out, 1, Z)
        return out

    def summation(self, Z: Any, weights: np.ndarray, groups: Groups, sums: np.ndarray) -> Callable:
        """A function of some rows of Z that writes ``k(Z, X[group]) @ weights[group]`` of every group."""

        def work(part: slice) -> None:
            for g, start, stop in groups:
                sums[part, g] = self.kernel(Z[part], self.X[start:stop]) @ weights[start:stop]

        return work


class DenseTiles(TileEvaluator):
    """A kernel in product form on dense rows: ``[scale X, l] [X, r]ᵀ``, then the function."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, form: ProductForm) -> None:
        super().__init__(kernel, X, dtype)
        self.form, self.d = form, X.shape[1]
        # what most kernels end with, without a call in between
        self.finish = exponentials if form.function == "exp" else form.finish
        # |x − z|² of rows about their centre loses fewer digits
        self.centre = np.ravel(X.mean(axis=0)) if form.moves_with_data else np.zeros(self.d)
        self.right = self.factor(X, usable_threads() if X.shape[0] * self.d >= _MANY_VALUES else 1)

    def factor(self, X: Any, n_threads: int = 1) -> np.ndarray:
        """``[X, 1, o(X) + constant]``, the rows measured from the centre."""
        factor, squares = np.empty((X.shape[0], self.d + 2), dtype=self.dtype), np.empty(X.shape[0])
        step = max(1024, _FACTOR_VALUES // max(1, self.d))

        def work(start: int) -> None:
            part = slice(start, start + step)
            _move_to(self.centre, as_dense(X[part]), factor[part], squares[part])

        if len(squares) <= step:
            _move_to(self.centre, as_dense(X), factor, squares)
        else:
            in_parallel(work, range(0, len(squares), step), n_threads)
        factor[:, self.d] = 1.0
        factor[:, self.d + 1] = self.form.offsets(squares) + self.form.constant
        return factor

    def left(self, right: np.ndarray) -> np.ndarray:
        """``[scale X, o(X), 1]`` in the place of the right factor."""
        right[:, self.d :] = self.form.left(right[:, self.d :])
        right[:, : self.d] *= self.dtype.type(self.form.scale)
        return right

    def fill(self, rows: Any, cols: Any, out: np.ndarray, n_threads: int, Z: Any = None) -> None:
        left = self.left(self.right[rows] if Z is None else self.factor(Z))
        right = self.right if cols is None else self.right[cols]
        n = max(1, len(left))
        width = min(max(_WIDTH, _VALUES // n), max(64, _FEW_VALUES // n, len(right) // _TILES))

        def work(start: int) -> None:
            tile = out[:, start : start + width]
            with np.errstate(over="ignore", invalid="ignore"):  # whoever uses the values checks them
                np.matmul(left, right[start : start + width].T, out=tile)
                self.finish(tile)

        in_parallel(work, range(0, len(right), width), n_threads)

    def fill_whole(
        self, out: np.ndarray, n_threads: int, rows: np.ndarray | None = None, *, half: bool = False
    ) -> bool:
        """Half of the values are evaluated, the others are theirs."""
        right = self.right if rows is None else self.right[rows]
        left = self.left(right.copy())
        sums: list[float] = []

        def work(start: int) -> None:
            part = slice(start, start + _SQUARE)
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(left[part], right[: part.stop].T, out=out[part, : part.stop])
                self.finish(out[part, : part.stop])
                sums.append(out[part, : part.stop].sum())
            if not half:
                _mirror(out, start, min(part.stop, len(right)))

        in_parallel(work, range(0, len(right), _SQUARE)[::-1], n_threads)
        return bool(np.isfinite(sums).all())

    def tile(self, left: np.ndarray, part: slice) -> np.ndarray:
        """``k(Z, X[part])`` for the left factor of other rows Z."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.matmul(left, self.right[part].T)
            self.finish(values)
        return values

    def summation(self, Z: Any, weights: np.ndarray, groups: Groups, sums: np.ndarray) -> Callable:
        def work(part: slice) -> None:
            left = self.left(self.factor(Z[part]))
            with np.errstate(over="ignore", invalid="ignore"):
                for g, start, stop in groups:
                    for first in range(start, stop, _WIDTH):
                        columns = slice(first, min(first + _WIDTH, stop))
                        values = np.matmul(left, self.right[columns].T)
                        self.finish(values)
                        sums[part, g] += values @ weights[columns]

        return work


class SparseTiles(TileEvaluator):
    """A kernel in product form on sparse rows."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, form: ProductForm) -> None:
        super().__init__(kernel, as_csr(X), dtype)
        self.form = form
        self.extra = form.right(squared_norms(X)).astype(self.dtype)
        self.columns = sparse.csc_array(self.X)

    def fill(self, rows: Any, cols: Any, out: np.ndarray, n_threads: int, Z: Any = None) -> None:
        left = (self.X[rows], self.extra[rows]) if Z is None else self._prepared(Z)
        columns, extra = self.columns, self.extra
        if cols is not None:
            columns, extra = sparse.csc_array(self.X[cols]), self.extra[cols]
        self._multiply(left, columns, extra, out, n_threads)

    def summation(self, Z: Any, weights: np.ndarray, groups: Groups, sums: np.ndarray) -> Callable:
        is_all = len(groups) == 1 and groups[0][1:] == (0, self.m)
        columns = [self.columns if is_all else sparse.csc_array(self.X[a:b]) for _, a, b in groups]

        def work(part: slice) -> None:
            left = self._prepared(Z[part])
            for (g, start, stop), own in zip(groups, columns, strict=True):
                values = np.empty((left[0].shape[0], stop - start), dtype=self.dtype)
                self._multiply(left, own, self.extra[start:stop], values, 1)
                sums[part, g] = values @ weights[start:stop]

        return work

    def _prepared(self, Z: Any) -> tuple[Any, np.ndarray]:
        return as_csr(Z), self.form.right(squared_norms(Z)).astype(self.dtype)

    def _multiply(self, left: Any, columns: Any, extra: np.ndarray, out: np.ndarray, n_threads: int) -> None:
        rows, row_extra = left[0], self.form.left(left[1])

        def work(start: int) -> None:
            tile = out[start : start + _ROWS]
            np.matmul(row_extra[start : start + _ROWS], extra.T, out=tile)
            _add_products(
                start, rows.indptr, rows.indices, rows.data,
                columns.indptr, columns.indices, columns.data, self.form.scale, tile,
            )  # fmt: skip
            with np.errstate(over="ignore", invalid="ignore"):
                self.form.finish(tile)

        in_parallel(work, range(0, len(out), _ROWS), n_threads)


class CityBlockTiles(TileEvaluator):
    """The city-block kernel on dense rows: distances to many rows at once, then the exponential."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any) -> None:
        super().__init__(kernel, X, dtype)
        self.columns = np.ascontiguousarray(X.T, dtype=dtype)
        self.rate = self.dtype.type(-kernel.gamma)  # type: ignore[attr-defined]

    def fill(self, rows: Any, cols: Any, out: np.ndarray, n_threads: int, Z: Any = None) -> None:
        left = np.ascontiguousarray(self.X[rows] if Z is None else as_dense(Z), dtype=self.dtype)
        columns = self.columns if cols is None else np.ascontiguousarray(self.columns[:, cols])
        self._write(left, columns, out, n_threads)

    def summation(self, Z: Any, weights: np.ndarray, groups: Groups, sums: np.ndarray) -> Callable:
        def work(part: slice) -> None:
            left = np.ascontiguousarray(as_dense(Z[part]), dtype=self.dtype)
            for g, start, stop in groups:
                for first in range(start, stop, _WIDTH):
                    columns = slice(first, min(first + _WIDTH, stop))
                    values = np.empty((len(left), columns.stop - first), dtype=self.dtype)
                    self._write(left, np.ascontiguousarray(self.columns[:, columns]), values, 1)
                    sums[part, g] += values @ weights[columns]

        return work

    def _write(self, left: np.ndarray, columns: np.ndarray, out: np.ndarray, n_threads: int) -> None:
        def work(start: int) -> None:
            tile = out[start : start + _ROWS]
            with np.errstate(over="ignore", invalid="ignore"):
                city_block_distances(left[start : start + _ROWS], columns, tile)
                tile *= self.rate
                exponentials(tile)

        in_parallel(work, range(0, len(out), _ROWS), n_threads)


def as_dense(X: Any) -> np.ndarray:
    """Rows with their zeros."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


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
