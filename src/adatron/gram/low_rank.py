"""Low-rank kernel matrices, ``K ≈ Z Zᵀ`` with Z of shape (m, r) in memory or in a file.

Approximations use some of the rows, the landmarks L, and extend to any x by ``z(x) = k(x, L) P``:

- *Nyström*: landmarks drawn at random, ``P = U S^(−½)`` from ``K_LL = U S Uᵀ``;
- *pivoted incomplete Cholesky* (Fine & Scheinberg 2001): the row with the largest error becomes the next
  landmark, until r of them are found or the trace error is small enough.

Many rows have a factor in float32, built block by block on all threads and perhaps whitened:
``Z (M + 0.01 mean(λ) I)^(−½)``, M = ZᵀZ/m the second moments and λ their eigenvalues. The r × r matrix goes
into the projection. The models that are linear in the factor stay the same, but descent reaches the best of
them in few steps. It does change their norm, and with it the meaning of C, so only methods
without C use it. The rows themselves are an exact factor of the linear kernel.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from adatron.exceptions import AdatronWarning
from adatron.gram.base import Gram, Rows, check_finite
from adatron.gram.regime import REGIME, Regime
from adatron.gram.row_source import BLOCK, fits_single, is_distributed, slices
from adatron.gram.tiles import tile_evaluator
from adatron.kernels import Kernel
from adatron.kernels.rounding import long_product
from adatron.numerics.memory import available_memory
from adatron.numerics.reproducible import rows_at_once, times, transposed_times
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

_SHARE = 0.7  # of the available memory that one factor may take
FLOOR, _SINGLE_FLOOR = 1e-12, 1e-6  # eigenvalues and pivots below this part of the largest are dropped
_ROWS = 1_024  # of a float32 factor built at a time, at most
_RIDGE = 0.01  # part of the mean eigenvalue that is added before whitening


class Basis(NamedTuple):
    """The landmarks and projection of a factor: ``z(x) = k(x, rows) @ projection`` for any x."""

    landmarks: np.ndarray  # places of the rows in the training set
    rows: Any  # array or CSR matrix
    projection: np.ndarray  # (len(landmarks), r)
    trace_error: float = np.nan  # ``trace(K − Z Zᵀ) / trace(K)`` once it is known


class LowRankGram(Gram):
    """The kernel matrix ``Z Zᵀ`` of a factor (m, r); products and sweeps cost O(mr).

    Products with a float32 factor are summed in float64, group by group of rows.
    """

    factor: np.ndarray

    def __init__(self, factor: np.ndarray, basis: Basis, has_entries: bool = False) -> None:
        self.factor, self.m, self.basis = np.ascontiguousarray(factor), len(factor), basis
        self.landmarks, self.landmark_rows, self.projection, self.trace_error = basis
        self.has_entries = has_entries

    @classmethod
    def linear(cls, X: np.ndarray) -> LowRankGram:
        """The exact matrix of the linear kernel, ``X Xᵀ``."""
        return cls(X, Basis(np.arange(0), X[:0], np.empty((0, X.shape[1])), 0.0), has_entries=True)

    def diagonal(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.factor, self.factor)

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        """``Zᵀ V`` for `V` of shape (m, B) or (m,)."""
        if self.has_entries:  # nothing that amplifies rounding runs on a cluster with the linear kernel
            return (V.T @ self.factor).T
        return transposed_times(self.factor, V, rows_at_once(self.m))

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        """``Z W`` for `W` of shape (r, B) or (r,)."""
        if self.has_entries:
            return (W.T @ self.factor.T).T
        return times(self.factor, W, rows_at_once(self.m))

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return self.outputs_of(self.weights_of(V))

    def long_outputs(self, weights: np.ndarray) -> np.ndarray | None:
        total = None if self.is_elsewhere else long_product(self.factor.T, weights)
        return None if total is None else long_product(self.factor, total)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        values = self.factor[rows] @ (self.factor if cols is None else self.factor[cols]).T
        return np.asarray(values, dtype=np.float64)

    def restrict(self, rows: np.ndarray) -> LowRankGram:
        factor = empty_factor((len(rows), self.factor.shape[1]), self.factor.dtype)
        for part in slices(len(rows), BLOCK):
            factor[part] = self.factor[rows[part]]
        return LowRankGram(factor, self.basis, self.has_entries)


def low_rank_gram(
    kernel: Kernel, X: Any, rank: float, random_state: Any = None, *, whitened: bool = False,
    regime: Regime = REGIME,
) -> LowRankGram:  # fmt: skip
    """Approximate the kernel matrix of the rows of `X`.

    An integer `rank` is the number of Nyström landmarks, which `random_state` draws; a number below 1 is the
    relative trace error at which pivoted incomplete Cholesky stops, with 2,000 columns at the latest. The
    factor of many rows may be `whitened`.
    """
    m = X.shape[0]
    if rank < 1.0:
        return pivoted_cholesky(kernel, X, min(m, regime.most_columns), float(rank))
    if rank > m:
        message = f"rank={rank} is more than the {m} rows of X, so {m} is used"
        warnings.warn(message, AdatronWarning, stacklevel=2)
    state = random_state or np.random.RandomState(0)
    landmarks = np.sort(state.permutation(m)[: min(int(rank), m)])
    if m <= regime.many_rows or not fits_single(kernel, X):
        return nystroem(kernel, X, landmarks)
    n_whitening = regime.rows_to_whiten * len(landmarks)
    whitened_on = np.sort(state.permutation(m)[:n_whitening]) if whitened else None
    return nystroem_single(kernel, X, landmarks, whitened_on)


def nystroem(kernel: Kernel, X: Any, landmarks: np.ndarray) -> LowRankGram:
    """The Nyström factor for given landmarks."""
    L = X[landmarks]
    return _gram_on(kernel, X, Basis(landmarks, L, _nystroem_projection(kernel, L, landmarks)))


def nystroem_single(
    kernel: Kernel, X: Any, landmarks: np.ndarray, whitened_on: np.ndarray | None = None
) -> LowRankGram:
    """The same in float32, whitened by the rows `whitened_on` if given; the trace error is then theirs."""
    L = _in_double(X[landmarks])
    with one_blas_thread():
        basis = Basis(landmarks, L, _nystroem_projection(kernel, L, landmarks, _SINGLE_FLOOR))
        if whitened_on is not None:
            basis = _whitened(kernel, X, basis, whitened_on)
    return _gram_on(kernel, X, basis, np.float32)


def _nystroem_projection(kernel: Kernel, L: Any, landmarks: np.ndarray, floor: float = FLOOR) -> np.ndarray:
    """P of the rows L: ``z(x) = k(x, L) P``; directions with negligible eigenvalues are dropped."""
    r = len(landmarks)
    check_memory(5 * 8 * r * r, f"the kernel matrix of rank={r} landmarks", "lower rank")
    eigenvalues, vectors = np.linalg.eigh(check_finite(kernel(L, L), landmarks, landmarks))
    kept = eigenvalues > floor * eigenvalues[-1]
    return vectors[:, kept] / np.sqrt(eigenvalues[kept])


def _whitened(kernel: Kernel, X: Any, basis: Basis, rows: np.ndarray) -> Basis:
    """P times ``(M + ridge)^(−½)``, M the second moments of some rows of the factor; their trace error."""
    moments, trace = np.zeros((basis.projection.shape[1],) * 2), 0.0
    for block in slices(len(rows), 8 * _ROWS):
        part = X[rows[block]]
        Z = factor_rows(part, kernel, basis, np.float32, _ROWS, n_threads=usable_threads())
        moments += Z.T @ Z
        trace += float(kernel.diagonal(part).sum())
    eigenvalues, vectors = np.linalg.eigh(moments / len(rows))
    eigenvalues = np.maximum(eigenvalues, 0.0)
    whitening = (vectors / np.sqrt(eigenvalues + _RIDGE * eigenvalues.mean())) @ vectors.T
    error = max(1.0 - float(np.trace(moments)) / trace, 0.0)
    return basis._replace(projection=basis.projection @ whitening, trace_error=error)


def pivoted_cholesky(kernel: Kernel, X: Any, rank: int, tolerance: float = 0.0) -> LowRankGram:
    """The pivoted incomplete Cholesky factor of at most `rank` columns."""
    if is_distributed(X):
        from adatron.gram.dask import dask_pivots

        pivots, error = dask_pivots(kernel, X, rank, tolerance), np.nan  # computed later
    else:
        pivots, error = _pivots(kernel, X, rank, tolerance)
    # not the columns from the search: predictions and clusters compute the same bits from the pivots
    L = X[pivots]
    return _gram_on(kernel, X, Basis(pivots, L, _cholesky_projection(kernel, L), error))


def _pivots(kernel: Kernel, X: Any, rank: int, tolerance: float) -> tuple[np.ndarray, float]:
    """Places of the pivots in the order they are found, and the relative trace error they leave."""
    error, pivots = np.array(kernel.diagonal(X), dtype=np.float64), []
    factor, trace = np.empty((X.shape[0], min(rank, 64))), error.sum()
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
    return np.array(pivots, dtype=np.int64), float(error.sum() / trace)


def _cholesky_projection(kernel: Kernel, L: Any) -> np.ndarray:
    """P of the pivots L in the order they were found: ``z(x) = k(x, L) P`` is the row of x in the factor."""
    K, error = np.asarray(kernel(L, L)), np.array(kernel.diagonal(L), dtype=np.float64)
    factor = np.zeros_like(K)
    for j in range(len(K)):
        factor[j:, j] = (K[j:, j] - factor[j:, :j] @ factor[j, :j]) / np.sqrt(error[j])
        error[j:] = np.maximum(error[j:] - factor[j:, j] ** 2, 0.0)
    return solve_triangular(factor, np.eye(len(K)), lower=True).T


def _gram_on(kernel: Kernel, X: Any, basis: Basis, dtype: Any = np.float64) -> LowRankGram:
    """The factor ``k(X, L) P`` where the rows are; a trace error that is not known is computed."""
    if is_distributed(X):
        from adatron.gram.dask import dask_factor

        return dask_factor(kernel, X, basis, dtype)
    with one_blas_thread():
        factor = factor_rows(X, kernel, basis, dtype, rows_at_once(X.shape[0]), n_threads=usable_threads())
    if np.isnan(basis.trace_error):
        explained = np.einsum("ij,ij->i", factor, factor).sum(dtype=np.float64)
        basis = basis._replace(trace_error=max(float(1.0 - explained / kernel.diagonal(X).sum()), 0.0))
    return LowRankGram(factor, basis._replace(rows=_in_double(basis.rows)))


def factor_rows(
    X: Any, kernel: Kernel, basis: Basis, dtype: Any, size: int, offset: int = 0, n_threads: int = 1
) -> np.ndarray:
    """``k(X, L) P``, `size` rows at a time; `offset` is the number of the first row in messages."""
    factor = empty_factor((X.shape[0], basis.projection.shape[1]), dtype)
    L, P, tiles = basis.rows, basis.projection, None
    if dtype == np.float32:
        size, P, tiles = min(size, _ROWS), P.astype(dtype), tile_evaluator(kernel, L, dtype)

    def work(part: slice) -> None:
        values = kernel(X[part], L) if tiles is None else tiles.values(X[part])
        check_finite(values, np.arange(part.start, part.stop) + offset, basis.landmarks)
        np.matmul(values, P, out=factor[part])

    in_parallel(work, slices(len(factor), size), n_threads)
    return factor


def _in_double(X: Any) -> Any:
    return X if sparse.issparse(X) or X.dtype.kind == "O" else np.asarray(X, dtype=np.float64)


def empty_factor(shape: tuple[int, int], dtype: Any) -> np.ndarray:
    """An uninitialised array: in memory if it fits, otherwise in a temporary file.

    The file is anonymous, or deleted when closed, so nothing remains if the process is killed. `tempfile`
    decides where it is: set ``TMPDIR`` to change that.
    """
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size <= _SHARE * available_memory():
        return np.empty(shape, dtype=dtype)
    place = tempfile.gettempdir()
    with tempfile.TemporaryFile(prefix="adatron-") as file:
        try:  # reserve the space now: a full disk while writing to mapped memory kills the process
            if size > shutil.disk_usage(place).free:
                raise OSError
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                os.ftruncate(file.fileno(), size)
        except OSError as error:
            raise OSError(
                f"the low-rank factor needs {_gb(size)}, more than the available memory "
                f"({_gb(available_memory())}) and the disk of {place} have; lower rank, or set TMPDIR to a "
                "larger disk"
            ) from error
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def check_memory(size: int, what: str, fix: str) -> None:
    """Raise an error if there is not enough memory for an allocation."""
    free = available_memory()
    if size > free:
        raise ValueError(f"{what} needs {_gb(size)} of memory, {_gb(free)} are available; {fix}")


def is_on_disk(factor: np.ndarray) -> bool:
    """Whether an array, or the one it is a view of, is in a file."""
    return isinstance(factor, np.memmap) or isinstance(factor.base, np.memmap | mmap)


def _gb(size: float) -> str:
    return f"{size / 2**30:,.1f} GB"
