"""Keys of rows: equal for equal rows."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["row_bytes", "row_digests"]


def row_bytes(X: Any, i: int) -> bytes:
    """A key that equal rows share."""
    if sparse.issparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        stored = X.data[part] != 0.0
        return X.indices[part][stored].tobytes() + b"|" + X.data[part][stored].tobytes()
    if X.dtype.kind == "O":
        return repr(X[i]).encode()
    return (X[i] + 0.0).tobytes()  # −0.0 becomes 0.0


def row_digests(X: np.ndarray) -> np.ndarray:
    """Short keys of rows that live elsewhere, which equal rows share and hardly ever others."""
    keys = [blake2b(row_bytes(X, i), digest_size=16).digest() for i in range(len(X))]
    return np.array(keys, dtype="V16")
