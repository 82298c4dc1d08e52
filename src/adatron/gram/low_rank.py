"""A kernel matrix approximated by a factor, ``K ≈ Z Zᵀ`` with Z of shape (m, r).

Both factors rest on some of the rows, the landmarks L, and extend to any x by ``z(x) = k(x, L) P``:

- *Nyström*: landmarks drawn at random, ``P = U S^(−½)`` from ``K_LL = U S Uᵀ``;
- *pivoted incomplete Cholesky* (Fine & Scheinberg 2001): the row with the largest error becomes the
  next landmark, until r of them are found or the trace error is small enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from adatron.gram.factor_store import check_memory, empty_factor
from adatron.gram.finite import check_finite
from adatron.gram.protocol import Rows
from adatron.kernels import Kernel
from adatron.numerics.reproducible import groups, rows_at_once, times, transposed_times
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = [
    "FLOOR",
    "LinearGram",
    "LowRankGram",
    "cholesky_projection",
    "factor_rows",
    "nystroem",
    "nystroem_projection",
    "pivoted_cholesky",
    "trace_error",
]

FLOOR = 1e-12  # eigenvalues and pivots below this part of the largest are dropped


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
    >>> from adatron.gram import low_rank_gram
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

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        """``Zᵀ V`` for `V` of shape (m, B) or (m,)."""
        return transposed_times(self.factor, V, rows_at_once(self.m))

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        """``Z W`` for `W` of shape (r, B) or (r,)."""
        return times(self.factor, W, rows_at_once(self.m))

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.outputs_of(self.weights_of(V))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        return self.factor[rows] @ (self.factor if cols is None else self.factor[cols]).T

    def restrict(self, rows: np.ndarray) -> LowRankGram:
        return LowRankGram(self.factor[rows], self.landmarks, self.projection, self.trace_error)


class LinearGram(LowRankGram):
    """The exact matrix of the linear kernel, ``X Xᵀ``: the rows themselves are its factor."""

    has_entries = True

    def __init__(self, X: np.ndarray) -> None:
        super().__init__(X, np.arange(0), np.empty((0, X.shape[1])), 0.0)

    # A cluster's products have other bits, but nothing that amplifies them runs on one with this kernel.
    def weights_of(self, V: np.ndarray) -> np.ndarray:
        return (V.T @ self.factor).T

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        return (W.T @ self.factor.T).T

    def restrict(self, rows: np.ndarray) -> LinearGram:
        return LinearGram(self.factor[rows])


def nystroem(kernel: Kernel, X: Any, landmarks: np.ndarray) -> LowRankGram:
    """The Nyström factor for given landmarks; directions without substance are dropped."""
    r = len(landmarks)
    check_memory(5 * 8 * r * r, f"the kernel matrix of rank={r} landmarks", "lower rank")
    L = X[landmarks]
    projection = nystroem_projection(kernel, L, landmarks)
    factor = _all_rows(kernel, X, L, projection, landmarks)
    return LowRankGram(factor, landmarks, projection, trace_error(kernel, X, factor))


def nystroem_projection(
    kernel: Kernel, L: Any, landmarks: np.ndarray | None, floor: float = FLOOR
) -> np.ndarray:
    """P of the rows L: ``z(x) = k(x, L) P``."""
    eigenvalues, vectors = np.linalg.eigh(check_finite(kernel(L, L), landmarks, landmarks))
    kept = eigenvalues > floor * eigenvalues[-1]
    return vectors[:, kept] / np.sqrt(eigenvalues[kept])


def _all_rows(kernel: Kernel, X: Any, L: Any, projection: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    with one_blas_thread():
        return factor_rows(X, kernel, L, projection, landmarks, rows_at_once(X.shape[0]), usable_threads())


def factor_rows(
    X: Any, kernel: Kernel, L: Any, projection: np.ndarray, landmarks: np.ndarray,
    size: int, n_threads: int = 1, offset: int = 0,
) -> np.ndarray:  # fmt: skip
    """``k(X, L) P``, `size` rows at a time; `offset` is the number of the first row in messages."""
    factor = empty_factor((X.shape[0], projection.shape[1]), np.float64)

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
    projection = cholesky_projection(kernel, L)
    # not the columns found above: a cluster builds the same bits from the pivots, and so does a prediction
    factor = _all_rows(kernel, X, L, projection, places)
    return LowRankGram(factor, places, projection, float(error.sum() / trace))


def cholesky_projection(kernel: Kernel, L: Any) -> np.ndarray:
    """P of the pivots L in the order they were found: ``z(x) = k(x, L) P`` is the row of x in the factor."""
    K, error = np.asarray(kernel(L, L)), np.array(kernel.diagonal(L), dtype=np.float64)
    factor = np.zeros_like(K)
    for j in range(len(K)):
        factor[j:, j] = (K[j:, j] - factor[j:, :j] @ factor[j, :j]) / np.sqrt(error[j])
        error[j:] = np.maximum(error[j:] - factor[j:, j] ** 2, 0.0)
    return solve_triangular(factor, np.eye(len(K)), lower=True).T


def trace_error(kernel: Kernel, X: Any, factor: np.ndarray) -> float:
    """``trace(K − Z Zᵀ) / trace(K)``."""
    diagonal = kernel.diagonal(X)
    squares = np.einsum("ij,ij->i", factor, factor)
    return max(float(1.0 - squares.sum(dtype=np.float64) / diagonal.sum()), 0.0)
