"""Rows of features wherever they are: arrays and sparse matrices here, or blocks on a cluster.

Code that needs all rows uses these functions for either kind. ``X[rows]`` gives rows in memory for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from adatron.kernels import Kernel
from adatron.numerics.reproducible import rounded_sum, rows_at_once, transposed_times_pair

BLOCK = 65_536  # rows that are looked at together
_VALUES_AT_ONCE = 2**18  # of rows in memory
_LARGE = 1e30  # larger kernel values, or smaller ones than its inverse, need float64


class DistributedRows:
    """Base class of rows on a cluster; the subclass is in `gram.cluster`."""

    shape: tuple[int, int]


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection; Dask is not imported to find out."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def on_client(values: Any) -> Any:
    """Labels or weights, computed if they are a Dask collection."""
    if not is_dask(values):
        return values
    from adatron.gram.cluster import running_cluster

    cluster = running_cluster()
    return np.asarray(cluster.gather([cluster.client.compute(values, retries=3)])[0])


def is_distributed(X: Any) -> bool:
    """Whether rows live on a cluster."""
    return isinstance(X, DistributedRows)


def slices(m: int, size: int) -> Iterator[slice]:
    """m rows in parts of `size`, in order; the last may be shorter."""
    return (slice(start, min(start + size, m)) for start in range(0, m, size))


def group_by_group(X: Any, function: Callable[..., Any], size: int, *values: Any) -> np.ndarray:
    """``function(X, *values)``, one result per row, evaluated `size` rows at a time."""
    if X.shape[0] <= size:
        return np.asarray(function(X, *values))
    return np.concatenate([function(X[part], *values) for part in slices(X.shape[0], size)])


def by_rows(function: Callable[..., np.ndarray], X: Any, *values: Any) -> np.ndarray:
    """``function(X, *values)``, one result per row that depends on this row alone."""
    if is_distributed(X):
        return X.map_rows(function, *values)
    return group_by_group(X, function, max(1, _VALUES_AT_ONCE // max(1, prod(X.shape[1:]))), *values)


def blockwise(function: Callable[..., Any], X: Any, *values: Any) -> list[Any]:
    """``function(block, *values)`` of every block of rows, in this process."""
    if is_distributed(X):
        return X.gathered(function, *values)
    return [function(X[part], *values) for part in slices(X.shape[0], BLOCK)]


def mapped_rows(function: Callable[..., Any], X: Any, *values: Any) -> Any:
    """``function(X, *values)``, rows of the same width, where the rows are."""
    return X.mapped(function, X.shape[1], *values) if is_distributed(X) else function(X, *values)


def weighted_sum(weights: np.ndarray, X: Any, function: Callable | None = None, *values: Any) -> np.ndarray:
    """``weights @ function(X, *values)``, or ``weights @ X``; many rows are read block by block."""
    if is_distributed(X):
        terms = X if function is None else mapped_rows(function, X, *values)
        return X.cluster.gather([terms.transposed_times(weights)])[0]
    pairs, size = [], rows_at_once(X.shape[0])
    for part in slices(X.shape[0], BLOCK):
        rows = X[part].astype(np.float64, copy=False)
        terms = rows if function is None else function(rows, *values)
        if sparse.issparse(terms):
            pairs.append(np.stack([np.ravel(weights[part] @ terms), np.zeros(X.shape[1])]))
        else:
            pairs.append(transposed_times_pair(terms, weights[part], size))
    return rounded_sum(pairs)


def fits_single(kernel: Kernel, X: Any) -> bool:
    """Whether kernel values can neither overflow nor vanish in float32."""
    if kernel.traits.unit_diagonal:
        return True
    diagonal = np.asarray(by_rows(kernel.diagonal, X))
    return bool(diagonal.max() < _LARGE and diagonal.min() > 1.0 / _LARGE)


def kept_rows(X: Any, rows: np.ndarray) -> Any:
    """Some of the rows of `X`, where they are; `X` itself if it is in memory and all are kept in order."""
    if is_distributed(X):
        return X.keep(rows)
    return X if len(rows) == X.shape[0] and np.array_equal(rows, np.arange(len(rows))) else X[rows]


def fetched_if(condition: bool, X: Any) -> Any:
    """Rows of a cluster brought into memory if a condition holds."""
    return X[:] if condition and is_distributed(X) else X


def row_keys(X: Any) -> list[bytes]:
    """A hash of every row, wherever it is."""
    return by_rows(keys_of_rows, X).tolist()


def keys_of_rows(X: Any) -> np.ndarray:
    """The hashes of rows in memory, as an array."""
    rows = (row_bytes(X, i) for i in range(X.shape[0]))
    return np.array([blake2b(row, digest_size=16).digest() for row in rows], dtype="V16")


def row_bytes(X: Any, i: int) -> bytes:
    """The bytes of a row; equal for equal rows."""
    if sparse.issparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        stored = X.data[part] != 0.0
        return X.indices[part][stored].tobytes() + b"|" + X.data[part][stored].tobytes()
    if X.dtype.kind == "O":
        return repr(X[i]).encode()
    return (X[i] + 0.0).tobytes()  # −0.0 becomes 0.0


def as_dense(X: Any) -> np.ndarray:
    """Rows with their zeros."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
