"""Tiles of kernels that are not one matrix product: any kernel, sparse rows, the city-block distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from adatron.gram.row_source import as_dense
from adatron.kernels import Kernel, ProductForm, city_block_distances, squared_norms
from adatron.numerics.compiled import compiled
from adatron.numerics.exponential import exponentials
from adatron.numerics.threads import in_parallel

_ROWS = 64  # rows of a tile
_WIDTH = 512  # columns of one that is summed up at once

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
                    self._evaluate(left, self.columns, columns, values)
                    sums[part, g] += values @ weights[columns]

        return work

    def _write(self, left: np.ndarray, columns: np.ndarray, out: np.ndarray, n_threads: int) -> None:
        def work(start: int) -> None:
            part = slice(start, start + _ROWS)
            self._evaluate(left[part], columns, slice(0, out.shape[1]), out[part])

        in_parallel(work, range(0, len(out), _ROWS), n_threads)

    def _evaluate(self, left: np.ndarray, columns: np.ndarray, part: slice, tile: np.ndarray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            city_block_distances(left, columns, part.start, part.stop, tile)
            tile *= self.rate
            exponentials(tile)


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
def _add_products(first, indptr, indices, data, starts, members, values, scale, out):
    """Add ``scale ⟨x_i, z_j⟩``: every entry of x_i visits the rows that share its column."""
    for r in range(len(out)):
        line = out[r]
        for k in range(indptr[first + r], indptr[first + r + 1]):
            weight = scale * data[k]
            for t in range(starts[indices[k]], starts[indices[k] + 1]):
                line[members[t]] += weight * values[t]
