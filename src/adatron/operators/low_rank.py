"""A kernel matrix approximated by a factor, ``K ≈ Z Zᵀ`` with Z of shape (m, r).

Both factors rest on some of the rows, the landmarks L, and extend to any x by ``z(x) = k(x, L) P``:

- *Nyström*: landmarks drawn at random, ``P = U S^(−½)`` from ``K_LL = U S Uᵀ``;
- *pivoted incomplete Cholesky* (Fine & Scheinberg 2001): the row with the largest error becomes the
  next landmark, until r of them are found or the trace error is small enough.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from adatron.exceptions import AdatronWarning
from adatron.kernels import Kernel
from adatron.operators.finite import check_finite
from adatron.operators.protocol import Rows
from adatron.operators.tiles import tile_evaluator
from adatron.threads import in_parallel, one_blas_thread, usable_threads

__all__ = ["LinearGram", "LowRankGram", "low_rank_gram", "nystroem", "nystroem_single", "pivoted_cholesky"]

_BLOCK = 4_000_000  # kernel values evaluated at a time
_MOST_COLUMNS = 2_000  # of a factor that only a tolerance would end
_ROWS_SINGLE = 1_024  # of a float32 factor built at a time
_FLOOR_SINGLE = 1e-6
_FLOOR = 1e-12  # eigenvalues and pivots below this part of the largest are dropped


class LowRankGram:
    """The kernel matrix ``Z Zᵀ`` of a factor; products and sweeps cost O(mr).

    Parameters
    ----------
    factor : array of shape (m, r)
    landmarks : array of int
        Rows whose kernel values the factor rests on.
    projection : array of shape (len(landmarks), r)
        ``z(x) = k(x, X[landmarks]) @ projection``.
    trace_error : float
        ``trace(K − Z Zᵀ) / trace(K)``.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Gaussian
    >>> from adatron.operators import low_rank_gram
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> gram = low_rank_gram(Gaussian(1.0), X, rank=1e-6)
    >>> gram.factor.shape[1] < 10, gram.trace_error < 1e-6
    (True, True)
    """

    has_entries = False

    def __init__(
        self, factor: np.ndarray, landmarks: np.ndarray, projection: np.ndarray, trace_error: float
    ) -> None:
        self.factor = np.ascontiguousarray(factor)
        self.landmarks, self.projection, self.trace_error = landmarks, projection, trace_error
        self.m = len(factor)

    def diagonal(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.factor, self.factor)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        V = np.asarray(V, dtype=self.factor.dtype)
        return np.asarray(((V.T @ self.factor) @ self.factor.T).T, dtype=np.float64)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        return self.factor[rows] @ (self.factor if cols is None else self.factor[cols]).T

    def restrict(self, rows: np.ndarray) -> LowRankGram:
        return LowRankGram(self.factor[rows], self.landmarks, self.projection, self.trace_error)


class LinearGram(LowRankGram):
    """The exact matrix of the linear kernel, ``X Xᵀ``: the rows themselves are its factor."""

    has_entries = True

    def __init__(self, X: np.ndarray) -> None:
        super().__init__(X, np.arange(0), np.empty((0, X.shape[1])), 0.0)

    def restrict(self, rows: np.ndarray) -> LinearGram:
        return LinearGram(self.factor[rows])


def low_rank_gram(kernel: Kernel, X: Any, rank: float, random_state: Any = None) -> LowRankGram:
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
    """
    m = X.shape[0]
    if rank < 1.0:
        return pivoted_cholesky(kernel, X, min(m, _MOST_COLUMNS), tolerance=float(rank))
    if rank > m:
        warnings.warn(
            f"rank={rank} is more than the {m} rows of X, so {m} is used", AdatronWarning, stacklevel=2
        )
    landmarks = np.sort((random_state or np.random.RandomState(0)).permutation(m)[: min(int(rank), m)])
    return nystroem(kernel, X, landmarks)


def nystroem(kernel: Kernel, X: Any, landmarks: np.ndarray) -> LowRankGram:
    """The Nyström factor for given landmarks; directions without substance are dropped."""
    L = X[landmarks]
    eigenvalues, vectors = np.linalg.eigh(check_finite(kernel(L, L), landmarks, landmarks))
    kept = eigenvalues > _FLOOR * eigenvalues[-1]
    projection = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    factor = np.empty((X.shape[0], projection.shape[1]))
    step = max(1, _BLOCK // len(landmarks))
    for start in range(0, len(factor), step):
        rows = np.arange(start, min(start + step, len(factor)))
        factor[rows] = check_finite(kernel(X[rows], L), rows, landmarks) @ projection
    return LowRankGram(factor, landmarks, projection, _trace_error(kernel, X, factor))


def nystroem_single(kernel: Kernel, X: Any, landmarks: np.ndarray) -> LowRankGram:
    """The Nyström factor in float32, built on all threads: half the memory, for many rows."""
    L = X[landmarks]
    with one_blas_thread():
        eigenvalues, vectors = np.linalg.eigh(kernel(L, L))
        kept = eigenvalues > _FLOOR_SINGLE * eigenvalues[-1]
        projection = vectors[:, kept] / np.sqrt(eigenvalues[kept])
        small = projection.astype(np.float32)
        factor = np.empty((X.shape[0], small.shape[1]), dtype=np.float32)
        tiles = tile_evaluator(kernel, L, np.float32)

        def work(start: int) -> None:
            rows = tiles.values(X[start : start + _ROWS_SINGLE])
            np.matmul(rows, small, out=factor[start : start + _ROWS_SINGLE])

        in_parallel(work, range(0, X.shape[0], _ROWS_SINGLE), usable_threads())
    return LowRankGram(factor, landmarks, projection, _trace_error(kernel, X, factor))


def pivoted_cholesky(kernel: Kernel, X: Any, rank: int, tolerance: float = 0.0) -> LowRankGram:
    """The pivoted incomplete Cholesky factor of at most `rank` columns."""
    error = np.array(kernel.diagonal(X), dtype=np.float64)
    trace = error.sum()
    factor, pivots = np.empty((X.shape[0], min(rank, 64))), []
    for j in range(rank):
        pivot = int(error.argmax())
        if error.sum() <= tolerance * trace or error[pivot] <= _FLOOR * trace / len(error):
            break
        if j == factor.shape[1]:
            factor = np.concatenate([factor, np.empty_like(factor)], axis=1)
        column = check_finite(kernel(X, X[[pivot]]), None, np.array([pivot]))[:, 0]
        column = column - factor[:, :j] @ factor[pivot, :j]
        factor[:, j] = column / np.sqrt(error[pivot])
        pivots.append(pivot)
        error = np.maximum(error - factor[:, j] ** 2, 0.0)
        error[pivots] = 0.0
    factor = factor[:, : len(pivots)]
    projection = solve_triangular(factor[pivots], np.eye(len(pivots)), lower=True).T
    return LowRankGram(factor, np.array(pivots), projection, float(error.sum() / trace))


def _trace_error(kernel: Kernel, X: Any, factor: np.ndarray) -> float:
    diagonal = kernel.diagonal(X)
    squares = np.einsum("ij,ij->i", factor, factor)
    return max(float(1.0 - squares.sum(dtype=np.float64) / diagonal.sum()), 0.0)
