"""Kernel values between the rows of matrices, tile by tile on all threads.

A tile is one matrix product and one pass of the kernel's function over it while it is in cache. The
tiles do not depend on the number of threads, so neither do the values. Rows with few entries are
multiplied without their zeros where that is cheaper, however they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram.base import check_finite
from adatron.gram.row_source import as_dense, slices
from adatron.gram.tile_kinds import CityBlockTiles, Groups, SparseTiles, TileEvaluator
from adatron.kernels import Kernel, ProductForm, squared_norms
from adatron.numerics.compiled import compiled
from adatron.numerics.exponential import exponentials
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

_WIDTH = 512  # columns of a tile, more if it has few rows
_VALUES = 2**18  # of a tile with few rows: threads that often ask for the interpreter wait for one another
_FEW_VALUES = 2**16  # of a tile at least
_TILES = 4  # at least, where there are values enough: some for every thread
_FACTOR_VALUES, _MANY_VALUES = 2**18, 2**22  # of a part of a factor; of one that is worth a thread
_SQUARE = 128  # rows of a tile below the diagonal
_ONE_TILE = 1_000  # rows up to which a matrix is evaluated at once
_SPARSE_STEP = 30.0  # cost of one scattered multiply-add, in multiply-adds of a matrix product
_WORTH_A_LOOK = 2**20  # values of dense rows whose zeros may be worth leaving out
_SAMPLE = 512  # rows in which they are looked for
_DIGITS_TO_LOSE = 0.4  # part of the digits of an exponent that cancellation may take
_DENSE_AT_MOST = 2**30  # bytes that sparse rows may take when filled up
_MOST_ROWS, _FEWEST_ROWS, _PARTS = 512, 64, 16  # of an expansion at a time; parts at least


class DenseTiles(TileEvaluator):
    """A kernel in product form on dense rows: ``[scale X, l] [X, r]ᵀ``, then the function."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, form: ProductForm) -> None:
        self.kernel, self.X, self.dtype, self.m = kernel, X, np.dtype(dtype), X.shape[0]
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

        def work(part: slice) -> None:
            _move_to(self.centre, as_dense(X[part]), factor[part], squares[part])

        if len(squares) <= step:
            _move_to(self.centre, as_dense(X), factor, squares)
        else:
            in_parallel(work, slices(len(squares), step), n_threads)
        factor[:, self.d] = 1.0
        factor[:, self.d + 1] = self.form.offsets(squares) + self.form.constant
        return factor

    def left(self, right: np.ndarray) -> np.ndarray:
        """``[scale X, o(X), 1]`` in place of the right factor."""
        right[:, self.d :] = self.form.left(right[:, self.d :])
        right[:, : self.d] *= self.dtype.type(self.form.scale)
        return right

    def fill(self, rows: Any, cols: Any, out: np.ndarray, n_threads: int, Z: Any = None) -> None:
        left = self.left(self.right[rows] if Z is None else self.factor(Z))
        right = self.right if cols is None else self.right[cols]
        n = max(1, len(left))
        width = min(max(_WIDTH, _VALUES // n), max(64, _FEW_VALUES // n, len(right) // _TILES))

        def work(part: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # whoever uses the values checks them
                np.matmul(left, right[part].T, out=out[:, part])
                self.finish(out[:, part])

        in_parallel(work, slices(len(right), width), n_threads)

    def fill_whole(
        self, out: np.ndarray, n_threads: int, rows: np.ndarray | None = None, *, half: bool = False
    ) -> bool:
        """Half of the values are evaluated, the others are theirs."""
        right = self.right if rows is None else self.right[rows]
        left = self.left(right.copy())
        sums: list[float] = []

        def work(part: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(left[part], right[: part.stop].T, out=out[part, : part.stop])
                self.finish(out[part, : part.stop])
                sums.append(out[part, : part.stop].sum())
            if not half:
                _mirror(out, part.start, part.stop)

        in_parallel(work, list(slices(len(right), _SQUARE))[::-1], n_threads)
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


class WeightedTiles(TileEvaluator):
    """A kernel with weights of features: rows are multiplied by them, then its tiles are those without."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any) -> None:
        super().__init__(kernel, X, dtype)
        plain, weighted = kernel.split(X)
        self.plain = tile_evaluator(plain, weighted, dtype)

    def fill(self, rows: Any, cols: Any, out: np.ndarray, n_threads: int, Z: Any = None) -> None:
        self.plain.fill(rows, cols, out, n_threads, None if Z is None else self.kernel.split(Z)[1])

    def fill_whole(
        self, out: np.ndarray, n_threads: int, rows: np.ndarray | None = None, *, half: bool = False
    ) -> bool:
        return self.plain.fill_whole(out, n_threads, rows, half=half)

    def summation(self, Z: Any, weights: np.ndarray, groups: Groups, sums: np.ndarray) -> Callable:
        return self.plain.summation(self.kernel.split(Z)[1], weights, groups, sums)


def tile_evaluator(kernel: Kernel, X: Any, dtype: Any) -> TileEvaluator:
    """The cheapest way to evaluate a kernel against the rows of `X`."""
    if kernel.split()[0] is not kernel:
        return WeightedTiles(kernel, X, dtype)
    if kernel.uses_city_block and not sparse.issparse(X):
        return CityBlockTiles(kernel, X, dtype)
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
    return (DenseTiles if is_cheaper_dense and has_room else SparseTiles)(kernel, X, dtype, form)


def usable_form(kernel: Kernel, X: Any, dtype: Any) -> ProductForm | None:
    """The product form, unless it would cancel too many digits of the exponents of a narrow Gaussian."""
    form = kernel.product_form
    if form is None or not form.moves_with_data:
        return form
    with np.errstate(over="ignore", invalid="ignore"):
        largest = -float(np.min(form.offsets(squared_norms(X)), initial=0.0))
    return form if largest <= np.finfo(dtype).eps ** -_DIGITS_TO_LOSE else None


def whole_matrix(kernel: Kernel, X: Any, dtype: Any = np.float64, *, half: bool = False) -> np.ndarray:
    """The kernel matrix of the rows of `X`, or its lower half, on all threads; values must be finite."""
    m = X.shape[0]
    with one_blas_thread():
        if m <= _ONE_TILE and not half:
            return check_finite(np.asarray(kernel(X, X), dtype=dtype), None, None)
        K = np.empty((m, m), dtype=dtype)
        is_finite = tile_evaluator(kernel, X, dtype).fill_whole(K, usable_threads(), half=half)
    return K if is_finite else check_finite(np.tril(K) if half else K, None, None)


def expand(
    kernel: Kernel, X: Any, vectors: Any, coefficients: np.ndarray, dtype: Any = np.float64,
    groups: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """``k(X, vectors) @ coefficients`` (n, B), all columns from the same kernel values, in bounded memory.

    Kernel values have the precision `dtype`, sums are float64. `groups` are boundaries of groups of vectors
    that are summed apart; the result then has shape (n, G, B).
    """
    bounds = [0, len(coefficients)] if groups is None else groups.tolist()
    result = np.zeros((X.shape[0], len(bounds) - 1, coefficients.shape[1]))
    if len(coefficients) and X.shape[0]:
        if sparse.issparse(X) != sparse.issparse(vectors):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
        tiles = tile_evaluator(kernel, vectors, dtype)
        weights = np.ascontiguousarray(coefficients, dtype=dtype)
        parts = slices(len(result), min(_MOST_ROWS, max(_FEWEST_ROWS, len(result) // _PARTS)))
        spans = [(g, first, last) for g, (first, last) in enumerate(pairwise(bounds)) if last > first]
        with one_blas_thread():
            in_parallel(tiles.summation(X, weights, spans, result), parts, usable_threads())
    return result[:, 0] if groups is None else result


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
