"""Equal rows of the same class as one row of greater weight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators.row_keys import row_bytes
from adatron.estimators.training_data import TrainingData
from adatron.gram import by_rows, kept_rows

__all__ = ["distinct_rows", "merge_equal_rows", "merged", "row_sums"]

_MOST_ROWS = 200_000  # beyond, looking for equal rows costs more than it is likely to save


def merge_equal_rows(data: TrainingData) -> TrainingData:
    """The same problem with each distinct (row, class) once; weights are summed."""
    return merged(data, *distinct_rows(data))


def distinct_rows(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Places of the distinct (row, class), and for every row its place among them."""
    owner = np.arange(len(data.codes))
    if len(owner) <= _MOST_ROWS:
        suspects = _equal_sums(data.X, data.codes)
        first: dict[tuple[int, bytes], int] = {}
        rows = data.X[suspects]
        owner[suspects] = [
            first.setdefault((c, row_bytes(rows, k)), i)
            for k, (i, c) in enumerate(zip(suspects.tolist(), data.codes[suspects].tolist(), strict=True))
        ]
    return np.unique(owner, return_inverse=True)


def merged(data: TrainingData, kept: np.ndarray, place: np.ndarray) -> TrainingData:
    """The distinct rows with the summed weights of their copies."""
    if len(kept) == len(place):
        return data
    weights = np.bincount(place, weights=data.weights)
    sample_weight = np.bincount(place, weights=data.sample_weight)
    return replace(
        data, X=kept_rows(data.X, kept), rows=data.rows[kept], codes=data.codes[kept],
        weights=weights, sample_weight=sample_weight,
    )  # fmt: skip


def _equal_sums(X: Any, codes: np.ndarray) -> np.ndarray:
    """Rows whose class and weighted sum another row has too: only these can be equal."""
    sums = row_sums(X)
    order = np.lexsort((sums, codes))
    same = (np.diff(sums[order]) == 0.0) & (np.diff(codes[order]) == 0)
    member = np.zeros(len(codes), dtype=bool)
    member[order[1:][same]] = member[order[:-1][same]] = True
    return np.flatnonzero(member)


def row_sums(X: Any) -> np.ndarray:
    """A random weighted sum of each row: equal for equal rows, and hardly ever for others."""
    return by_rows(_row_sums, X)


def _row_sums(X: Any) -> np.ndarray:
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    if sparse.issparse(X):
        return np.asarray(X @ weights)
    return np.einsum("ij,j->i", X, weights)  # not by BLAS, whose sums depend on the place of a row
