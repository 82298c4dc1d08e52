"""Data as users have it, checked once; everything behind works on float64 arrays or CSR."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from adatron.exceptions import AdatronWarning

__all__ = ["check_labels", "check_predict_X", "check_sample_weight", "check_training_X"]


def check_training_X(estimator: Any, X: Any) -> Any:
    """Validated training data; sets ``n_features_in_`` and ``feature_names_in_``."""
    return _checked(estimator, X, reset=True, ensure_min_samples=1)


def check_predict_X(estimator: Any, X: Any) -> Any:
    """Validated data to predict for; no rows are allowed and give an empty result."""
    return _checked(estimator, X, reset=False, ensure_min_samples=0)


def _checked(estimator: Any, X: Any, *, reset: bool, ensure_min_samples: int) -> Any:
    _check_sparse_structure(X)
    _check_dtype(X)
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples,
        )
    except (ValueError, TypeError) as error:
        place = _first_unconvertible(X)
        if place is None:
            raise
        raise type(error)(f"{error} (X, {place}); encode that column as numbers") from error
    if sparse.issparse(checked):
        checked = sparse.csr_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()
            checked.sum_duplicates()
    _check_finite(estimator, checked)
    return checked


def _check_sparse_structure(X: Any) -> None:
    """Indices outside the matrix crash compiled code elsewhere: refuse them here."""
    if not sparse.issparse(X):
        return
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
            if np.any(np.diff(X.indptr) < 0):
                raise ValueError("index pointer values must not decrease")
        elif X.format == "coo" and X.nnz:
            for indices, length in zip((X.row, X.col), X.shape, strict=True):
                if indices.min() < 0 or indices.max() >= length:
                    raise ValueError("an index lies outside the matrix")
    except ValueError as error:
        raise ValueError(f"X is a corrupt sparse matrix: {error}; rebuild it") from error


def _check_dtype(X: Any) -> None:
    dtype: Any = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind in ("m", "M"):
        raise ValueError(f"X has dtype {dtype}, which is no number; convert times to numbers first")
    if kind == "u" and dtype.itemsize == 8 and isinstance(X, np.ndarray) and X.size and X.max() > 2**53:
        warnings.warn(
            "X has uint64 values above 2**53 that float64 rounds; subtract an offset first",
            AdatronWarning,
            stacklevel=5,
        )


def _first_unconvertible(X: Any) -> str | None:
    """Where the first entry is that cannot become a number."""
    names = [str(c) for c in X.columns] if hasattr(X, "columns") else None
    try:
        table = np.asarray(X, dtype=object)
    except (ValueError, TypeError):
        return None
    if table.ndim != 2:
        return None
    for j in range(table.shape[1]):
        for i in range(table.shape[0]):
            try:
                float(table[i, j])
            except (TypeError, ValueError):
                return f"row {i}, column {names[j] if names else j}: {table[i, j]!r}"
    return None


def _check_finite(estimator: Any, X: Any) -> None:
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    bad = ~np.isfinite(values)
    if sparse.issparse(X):
        coo = X.tocoo()
        row, column = int(coo.row[bad.argmax()]), int(coo.col[bad.argmax()])
    else:
        row, column = (int(i) for i in np.argwhere(bad)[0])
    kind = "NaN" if np.isnan(values[bad]).any() else "infinity"
    names = getattr(estimator, "feature_names_in_", None)
    where = f"row {row}, column {column if names is None else repr(names[column])}"
    raise ValueError(
        f"Input X contains {kind}: {int(bad.sum())} value(s) are NaN or infinity, the first in {where}; "
        "impute or drop them"
    )


def check_labels(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Classes in sorted order, and the index of each label among them."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if any(label is None for label in y.tolist()):
        raise ValueError("y contains None; drop the rows without a label")
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise ValueError(f"y mixes labels of types {kinds}; use one type for all classes") from error
    return classes, codes


def check_sample_weight(sample_weight: Any, m: int) -> np.ndarray:
    """Weights as float64, one for each row; None is all ones."""
    if sample_weight is None:
        return np.ones(m)
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(m, weights)
    try:
        weights = weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers: {error}") from error
    if weights.shape != (m,):
        raise ValueError(f"sample_weight must have shape ({m},), got {weights.shape}")
    for bad, what in ((~np.isfinite(weights), "NaN or infinite"), (weights < 0.0, "negative")):
        if bad.any():
            i = int(bad.argmax())
            raise ValueError(
                f"sample_weight must be finite and >= 0; {int(bad.sum())} value(s) are {what}, "
                f"the first is {weights[i]} at row {i}"
            )
    return weights
