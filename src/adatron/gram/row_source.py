"""Rows of features wherever they are: arrays and sparse matrices here, or blocks on a cluster.

Whoever needs all rows uses these functions, and need not know which it has. ``X[rows]`` gives rows in memory
for either.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram.dask_rows import RowBlocks
from adatron.gram.low_rank import blocks_of_rows
from adatron.numerics.reproducible import (
    add_pairs,
    group_by_group,
    rounded,
    rows_at_once,
    transposed_times_pair,
)

__all__ = [
    "blockwise",
    "by_rows",
    "fetched_if",
    "is_distributed",
    "kept_rows",
    "keys_of_rows",
    "mapped_rows",
    "row_bytes",
    "row_keys",
    "weighted_sum",
]

_VALUES_AT_ONCE = 2**18  # of rows in memory


def is_distributed(X: Any) -> bool:
    """Whether rows live on a cluster."""
    return isinstance(X, RowBlocks)


def by_rows(function: Callable[..., np.ndarray], X: Any, *values: Any) -> np.ndarray:
    """``function(X, *values)``, which has one result for every row of `X` that depends on no other."""
    if isinstance(X, RowBlocks):
        return X.map_rows(function, *values)
    return group_by_group(function, X, max(1, _VALUES_AT_ONCE // max(1, prod(X.shape[1:]))), *values)


def blockwise(function: Callable[..., Any], X: Any, *values: Any) -> list[Any]:
    """``function(block, *values)`` of every block of rows, on this side."""
    if isinstance(X, RowBlocks):
        return X.gathered("blocks", function, *values)
    return [function(X[part], *values) for part in blocks_of_rows(X.shape[0])]


def mapped_rows(function: Callable[..., Any], X: Any, *values: Any) -> Any:
    """``function(X, *values)``, rows of the same width, where the rows are."""
    if isinstance(X, RowBlocks):
        return X.mapped("mapped", function, X.shape[1], *values)
    return function(X, *values)


def weighted_sum(
    weights: np.ndarray, X: Any, function: Callable[..., np.ndarray] | None = None, *values: Any
) -> np.ndarray:
    """``weights @ function(X, *values)``, or ``weights @ X``; many rows are looked at block by block."""
    if isinstance(X, RowBlocks):
        width = X.shape[1]
        return (X if function is None else X.mapped("terms", function, width, *values)).weighted_sum(weights)
    pairs, size = [], rows_at_once(X.shape[0])
    for part in blocks_of_rows(X.shape[0]):
        rows = X[part].astype(np.float64, copy=False)
        terms = rows if function is None else function(rows, *values)
        if not isinstance(terms, np.ndarray):  # sparse
            pairs.append(np.stack([np.ravel(weights[part] @ terms), np.zeros(X.shape[1])]))
        else:
            pairs.append(transposed_times_pair(terms, weights[part], size))
    return rounded(add_pairs(pairs))


def kept_rows(X: Any, rows: np.ndarray) -> Any:
    """Some of the rows of `X`, where they are; `X` itself if it is in memory and all are kept in order."""
    if isinstance(X, RowBlocks):
        return X.keep(rows)
    return X if len(rows) == X.shape[0] and np.array_equal(rows, np.arange(len(rows))) else X[rows]


def fetched_if(condition: bool, X: Any) -> Any:
    """Rows of a cluster brought into memory if a condition holds."""
    return X[:] if condition and isinstance(X, RowBlocks) else X


def row_keys(X: Any) -> list[bytes]:
    """A short key of every row, wherever it is, which equal rows share and hardly ever others."""
    return by_rows(keys_of_rows, X).tolist()


def keys_of_rows(X: Any) -> np.ndarray:
    """The same as an array, of rows in memory."""
    keys = [blake2b(row_bytes(X, i), digest_size=16).digest() for i in range(X.shape[0])]
    return np.array(keys, dtype="V16")


def row_bytes(X: Any, i: int) -> bytes:
    """What equal rows share."""
    if sparse.issparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        stored = X.data[part] != 0.0
        return X.indices[part][stored].tobytes() + b"|" + X.data[part][stored].tobytes()
    if X.dtype.kind == "O":
        return repr(X[i]).encode()
    return (X[i] + 0.0).tobytes()  # −0.0 becomes 0.0
