"""Low-rank factors of kernel matrices.

- *Nyström*: landmarks drawn at random, ``P = U S^(−½)`` from ``K_LL = U S Uᵀ``;
- *pivoted incomplete Cholesky* (Fine & Scheinberg 2001): the row with the largest error becomes the
  next landmark, until r of them are found or the trace error is small enough.

Many rows have a factor in float32, built block by block on all threads and perhaps whitened:
``Z (M + 0.01 mean(λ) I)^(−½)``, M = ZᵀZ/m the second moments and λ their eigenvalues. The r × r matrix goes
into the projection. Models that are linear in the factor are the same ones, but descent takes few steps to
the best of them. What changes is their norm: a soft margin of given C is another one, so only those without
C use it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from adatron.exceptions import AdatronWarning
from adatron.gram.low_rank import LowRankGram, blocks_of_rows, check_memory, empty_factor
from adatron.gram.regime import REGIME, Regime
from adatron.gram.row_source import by_rows
from adatron.gram.tiles import TileEvaluator, check_finite, tile_evaluator
from adatron.kernels import Kernel
from adatron.numerics.reproducible import groups, rows_at_once
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = [
    "FLOOR",
    "cholesky_projection",
    "drawn_landmarks",
    "factor_rows",
    "fits_single",
    "low_rank_gram",
    "nystroem",
    "nystroem_projection",
    "nystroem_single",
    "pivoted_cholesky",
    "projection_single",
    "rows_to_whiten_on",
]

FLOOR, _SINGLE_FLOOR = 1e-12, 1e-6  # eigenvalues and pivots below this part of the largest are dropped
_ROWS = 1_024  # of a float32 factor built at a time, at most
_RIDGE = 0.01  # part of the mean eigenvalue that is added before whitening
_LARGE = 1e30  # kernel values beyond, or below its inverse, are left to float64


def low_rank_gram(
    kernel: Kernel,
    X: Any,
    rank: float,
    random_state: Any = None,
    *,
    whitened: bool = False,
    regime: Regime = REGIME,
) -> LowRankGram:
    """Approximate the kernel matrix of the rows of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    rank : int or float
        An integer is the number of Nyström landmarks; a number below 1 is the relative trace error at
        which pivoted incomplete Cholesky stops, with 2,000 columns at the latest.
    random_state : RandomState, optional
        Draws the landmarks.
    whitened : bool
        Whether the factor of many rows may be whitened.
    regime : Regime
    """
    m = X.shape[0]
    if rank < 1.0:
        return pivoted_cholesky(kernel, X, min(m, regime.most_columns), tolerance=float(rank))
    state = random_state or np.random.RandomState(0)
    landmarks = drawn_landmarks(m, rank, state)
    if m > regime.many_rows and fits_single(kernel, X):
        chosen = rows_to_whiten_on(m, len(landmarks), state, whitened, regime)
        return nystroem_single(kernel, X, landmarks, chosen)
    return nystroem(kernel, X, landmarks)


def nystroem(kernel: Kernel, X: Any, landmarks: np.ndarray) -> LowRankGram:
    """The Nyström factor for given landmarks."""
    r, L = len(landmarks), X[landmarks]
    check_memory(5 * 8 * r * r, f"the kernel matrix of rank={r} landmarks", "lower rank")
    return _gram_on(kernel, X, landmarks, L, nystroem_projection(kernel, L, landmarks))


def drawn_landmarks(m: int, rank: float, random_state: Any = None) -> np.ndarray:
    """Places of `rank` of m rows, drawn at random, in their order."""
    if rank > m:
        message = f"rank={rank} is more than the {m} rows of X, so {m} is used"
        warnings.warn(message, AdatronWarning, stacklevel=3)
    return np.sort((random_state or np.random.RandomState(0)).permutation(m)[: min(int(rank), m)])


def rows_to_whiten_on(
    m: int, rank: int, random_state: Any, whitened: bool, regime: Regime = REGIME
) -> np.ndarray | None:
    """Places of the rows whose second moments whiten a factor, drawn at random, in their order."""
    return np.sort(random_state.permutation(m)[: regime.rows_to_whiten * rank]) if whitened else None


def fits_single(kernel: Kernel, X: Any) -> bool:
    """Whether kernel values can neither overflow nor vanish in float32."""
    diagonal = np.asarray(by_rows(kernel.diagonal, X))
    return bool(diagonal.max() < _LARGE and diagonal.min() > 1.0 / _LARGE)


def nystroem_projection(
    kernel: Kernel, L: Any, landmarks: np.ndarray | None, floor: float = FLOOR
) -> np.ndarray:
    """P of the rows L: ``z(x) = k(x, L) P``; directions without substance are dropped."""
    eigenvalues, vectors = np.linalg.eigh(check_finite(kernel(L, L), landmarks, landmarks))
    kept = eigenvalues > floor * eigenvalues[-1]
    return vectors[:, kept] / np.sqrt(eigenvalues[kept])


def _gram_on(
    kernel: Kernel, X: Any, landmarks: np.ndarray, L: Any, projection: np.ndarray, error: float | None = None
) -> LowRankGram:
    """The float64 factor ``k(X, L) P``."""
    with one_blas_thread():
        size = rows_at_once(X.shape[0])
        factor = factor_rows(X, kernel, L, projection, size, landmarks=landmarks, n_threads=usable_threads())
    error = _trace_error(kernel, X, factor) if error is None else error
    return LowRankGram(factor, landmarks, _in_double(L), projection, error)


def factor_rows(
    X: Any, kernel: Kernel, L: Any, projection: np.ndarray, size: int,
    *, dtype: Any = np.float64, landmarks: np.ndarray | None = None, n_threads: int = 1, offset: int = 0,
) -> np.ndarray:  # fmt: skip
    """``k(X, L) P``, `size` rows at a time; `offset` is the number of the first row in messages."""
    factor = empty_factor((X.shape[0], projection.shape[1]), dtype)
    if dtype == np.float32:
        return _fill(factor, tile_evaluator(kernel, L, dtype), X, projection, size, n_threads, offset)

    def work(part: slice) -> None:
        rows = np.arange(part.start, part.stop)
        factor[part] = check_finite(kernel(X[part], L), rows + offset, landmarks) @ projection

    in_parallel(work, groups(len(factor), size), n_threads)
    return factor


def pivoted_cholesky(kernel: Kernel, X: Any, rank: int, tolerance: float = 0.0) -> LowRankGram:
    """The pivoted incomplete Cholesky factor of at most `rank` columns."""
    error = np.array(kernel.diagonal(X), dtype=np.float64)
    trace = error.sum()
    factor, pivots = np.empty((X.shape[0], min(rank, 64))), []
    for j in range(rank):
        pivot = int(error.argmax())
        if error.sum() <= tolerance * trace or error[pivot] <= FLOOR * trace / len(error):
            break
        if j == factor.shape[1]:
            fix = "give a number of landmarks as rank, or a larger error"
            check_memory(2 * factor.nbytes, f"a factor with the trace error rank={tolerance:g}", fix)
            factor = np.concatenate([factor, np.empty_like(factor)], axis=1)
        column = check_finite(kernel(X, X[[pivot]]), None, np.array([pivot]))[:, 0]
        column = column - factor[:, :j] @ factor[pivot, :j]
        factor[:, j] = column / np.sqrt(error[pivot])
        pivots.append(pivot)
        error = np.maximum(error - factor[:, j] ** 2, 0.0)
        error[pivots] = 0.0
    places, L = np.array(pivots, dtype=np.int64), X[pivots]
    # not the columns found above: a cluster builds the same bits from the pivots, and so does a prediction
    return _gram_on(kernel, X, places, L, cholesky_projection(kernel, L), float(error.sum() / trace))


def cholesky_projection(kernel: Kernel, L: Any) -> np.ndarray:
    """P of the pivots L in the order they were found: ``z(x) = k(x, L) P`` is the row of x in the factor."""
    K, error = np.asarray(kernel(L, L)), np.array(kernel.diagonal(L), dtype=np.float64)
    factor = np.zeros_like(K)
    for j in range(len(K)):
        factor[j:, j] = (K[j:, j] - factor[j:, :j] @ factor[j, :j]) / np.sqrt(error[j])
        error[j:] = np.maximum(error[j:] - factor[j:, j] ** 2, 0.0)
    return solve_triangular(factor, np.eye(len(K)), lower=True).T


def nystroem_single(
    kernel: Kernel, X: Any, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> LowRankGram:
    """The Nyström factor in float32 for given landmarks.

    Parameters
    ----------
    kernel : Kernel
    X : array, CSR matrix or whatever has a shape and gives arrays for slices and lists of rows
    landmarks : array of int
    whitened_on : array of int, optional
        Rows whose second moments whiten the factor; by default it is not whitened. The trace error is then
        that of these rows.
    """
    L = _in_double(X[landmarks])
    tiles, projection, error = projection_single(kernel, X, landmarks, L, whitened_on)
    with one_blas_thread():
        factor = empty_factor((X.shape[0], projection.shape[1]), np.float32)
        _fill(factor, tiles, X, projection, rows_at_once(X.shape[0]), usable_threads())
    error = _trace_error(kernel, X, factor) if error is None else error
    return LowRankGram(factor, landmarks, L, projection, error)


def projection_single(
    kernel: Kernel, X: Any, landmarks: np.ndarray, L: Any, whitened_on: np.ndarray | None = None
) -> tuple[TileEvaluator, np.ndarray, float | None]:
    """What evaluates k(·, L), the projection P of the factor ``k(X, L) P``, and the trace error if known."""
    r = len(landmarks)
    check_memory(5 * 8 * r * r, f"the kernel matrix of rank={r} landmarks", "lower rank")
    tiles = tile_evaluator(kernel, L, np.float32)
    with one_blas_thread():
        projection = nystroem_projection(kernel, L, landmarks, _SINGLE_FLOOR)
        if whitened_on is None:
            return tiles, projection, None
        total, size = np.zeros((projection.shape[1],) * 2), 0.0
        for block in blocks_of_rows(len(whitened_on), 8 * _ROWS):
            part = X[whitened_on[block]]
            Z = np.empty((part.shape[0], projection.shape[1]), np.float32)
            _fill(Z, tiles, part, projection, _ROWS, usable_threads())
            total += Z.T @ Z
            size += float(kernel.diagonal(part).sum())
        error = max(1.0 - float(np.trace(total)) / size, 0.0)
        return tiles, projection @ _whitening(total / len(whitened_on)), error


def _fill(
    factor: np.ndarray, tiles: TileEvaluator, X: Any, projection: np.ndarray,
    size: int, n_threads: int, offset: int = 0,
) -> np.ndarray:  # fmt: skip
    """Write ``k(X, L) P`` in float32, some rows at a time."""
    small = projection.astype(np.float32)

    def work(part: slice) -> None:
        values = tiles.values(X[part])
        check_finite(values, np.arange(part.start, part.stop) + offset, None)
        np.matmul(values, small, out=factor[part])

    in_parallel(work, groups(len(factor), min(size, _ROWS)), n_threads)
    return factor


def _whitening(moments: np.ndarray) -> np.ndarray:
    """``(M + ridge)^(−½)``, symmetric."""
    eigenvalues, vectors = np.linalg.eigh(moments)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    return (vectors / np.sqrt(eigenvalues + _RIDGE * eigenvalues.mean())) @ vectors.T


def _trace_error(kernel: Kernel, X: Any, factor: np.ndarray) -> float:
    """``trace(K − Z Zᵀ) / trace(K)``."""
    diagonal = kernel.diagonal(X)
    squares = np.einsum("ij,ij->i", factor, factor)
    return max(float(1.0 - squares.sum(dtype=np.float64) / diagonal.sum()), 0.0)


def _in_double(X: Any) -> Any:
    return X if sparse.issparse(X) or X.dtype.kind == "O" else np.asarray(X, dtype=np.float64)
