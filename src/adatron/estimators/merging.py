"""Equal rows of the same class as one row of greater weight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators.training_data import TrainingData

__all__ = ["merge_equal_rows", "row_bytes"]

_MOST_ROWS = 200_000  # beyond, looking for equal rows costs more than it is likely to save


def merge_equal_rows(data: TrainingData) -> TrainingData:
    """The same problem with each distinct (row, class) once; weights are summed."""
    if len(data.codes) > _MOST_ROWS:
        return data
    first: dict[tuple[int, bytes], int] = {}
    owner = np.array(
        [first.setdefault((c, row_bytes(data.X, i)), i) for i, c in enumerate(data.codes.tolist())]
    )
    kept, place = np.unique(owner, return_inverse=True)
    if len(kept) == len(owner):
        return data
    weights = np.bincount(place, weights=data.weights)
    sample_weight = np.bincount(place, weights=data.sample_weight)
    return replace(
        data, X=data.X[kept], rows=data.rows[kept], codes=data.codes[kept],
        weights=weights, sample_weight=sample_weight,
    )  # fmt: skip


def row_bytes(X: Any, i: int) -> bytes:
    """A key that equal rows share."""
    if sparse.issparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        stored = X.data[part] != 0.0
        return X.indices[part][stored].tobytes() + b"|" + X.data[part][stored].tobytes()
    return (X[i] + 0.0).tobytes()  # −0.0 becomes 0.0
