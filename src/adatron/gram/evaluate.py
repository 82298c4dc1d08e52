"""Which tiles serve a kernel; whole kernel matrices and expansions made of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram.base import check_finite
from adatron.gram.tiles import CityBlockTiles, DenseTiles, Groups, SparseTiles, TileEvaluator
from adatron.kernels import Kernel, ProductForm, squared_norms
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

_ONE_TILE = 1_000  # rows up to which a matrix is evaluated at once
_SPARSE_STEP = 30.0  # cost of one scattered multiply-add, in multiply-adds of a matrix product
_WORTH_A_LOOK = 2**20  # values of dense rows whose zeros may be worth leaving out
_SAMPLE = 512  # rows in which they are looked for
_DIGITS_TO_LOSE = 0.4  # part of the digits of an exponent that cancellation may take
_DENSE_AT_MOST = 2**30  # bytes that sparse rows may take when filled up
_MOST_ROWS, _FEWEST_ROWS, _PARTS = 512, 64, 16  # of an expansion at a time; parts at least


class WeightedTiles(TileEvaluator):
    """A kernel with weights of features: rows are multiplied by them, then its tiles are those without."""

    def __init__(self, kernel: Kernel, X: Any, dtype: Any) -> None:
        super().__init__(kernel, X, dtype)
        self.plain = tile_evaluator(*kernel.split(X), dtype)

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


def whole_matrix(kernel: Kernel, X: Any, dtype: Any = np.float64) -> np.ndarray:
    """The kernel matrix of the rows of `X`, on all threads; values must be finite."""
    m = X.shape[0]
    with one_blas_thread():
        if m <= _ONE_TILE:
            return check_finite(np.asarray(kernel(X, X), dtype=dtype), None, None)
        K = np.empty((m, m), dtype=dtype)
        is_finite = tile_evaluator(kernel, X, dtype).fill_whole(K, usable_threads())
    return K if is_finite else check_finite(K, None, None)


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
        n, length = len(result), min(_MOST_ROWS, max(_FEWEST_ROWS, len(result) // _PARTS))
        parts = [slice(start, min(start + length, n)) for start in range(0, n, length)]
        spans = [(g, first, last) for g, (first, last) in enumerate(pairwise(bounds)) if last > first]
        with one_blas_thread():
            in_parallel(tiles.summation(X, weights, spans, result), parts, usable_threads())
    return result[:, 0] if groups is None else result
