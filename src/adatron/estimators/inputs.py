"""Data as users have it, checked once; everything behind works on float64 arrays or CSR.

Only many rows behind a low-rank kernel stay float32 if they are: they are converted block by block.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from adatron.estimators.dask import dask_rows
from adatron.estimators.kernel_choice import is_precomputed
from adatron.exceptions import AdatronWarning
from adatron.gram import REGIME, is_dask, on_client
from adatron.kernels import CallableKernel, Kernel
from adatron.numerics.compiled import compiled

__all__ = ["check_labels", "check_predict_X", "check_sample_weight", "check_targets", "check_training_X"]

_LARGEST_TARGET = 1e100  # beyond, squares of sums of targets overflow
_FEW_CLASSES = 20  # up to which nobody could mean a regression
_UNEQUAL = 1e10  # ratio of the widths of two columns from which float64 all but loses the narrow one


def check_training_X(estimator: Any, X: Any) -> Any:
    """Validated training data; sets ``n_features_in_`` and ``feature_names_in_``."""
    if is_dask(X):
        X, low, high = dask_rows(estimator, X)
    elif (objects := _objects(estimator, X)) is not None:
        return objects
    else:
        X = _checked(estimator, X, reset=True, ensure_min_samples=1)
        low, high = _column_ranges(X)
    kernel = getattr(estimator, "kernel", "rbf")
    scales_itself = getattr(estimator, "_scales_features", False)
    if isinstance(kernel, str) and kernel != "precomputed" and not scales_itself:
        _warn_of_unequal_scales(estimator, low, high)
    return X


def check_predict_X(estimator: Any, X: Any) -> Any:
    """Validated data to predict for; no rows are allowed and give an empty result."""
    kernel = getattr(estimator, "kernel", "rbf")
    if is_precomputed(kernel):
        _check_kernel_columns(X, estimator.n_features_in_)
    vectors: Any = getattr(estimator, "support_vectors_", None)
    if vectors is not None and vectors.dtype.kind == "O":  # trained on objects
        return np.asarray(X, dtype=object) if vectors.ndim == 2 else _as_objects(X)
    return _checked(estimator, X, reset=False, ensure_min_samples=0)


def _objects(estimator: Any, X: Any) -> np.ndarray | None:
    """What only a kernel function can compare, such as text, as an array of objects; None for numbers."""
    kernel = getattr(estimator, "kernel", "rbf")
    is_function = isinstance(kernel, CallableKernel) or (callable(kernel) and not isinstance(kernel, Kernel))
    if not is_function or sparse.issparse(X):
        return None
    try:
        rows = np.asarray(X)
    except ValueError:  # sequences of unequal lengths
        return _as_objects(X)
    if rows.ndim == 2:
        is_text = rows.dtype.kind in "OUSTmM" and _first_unconvertible(rows) is not None
        return rows.astype(object) if is_text else None
    are_numbers = rows.dtype.kind != "O" or all(isinstance(item, Real) for item in rows)
    if rows.dtype.kind in "UST" or not are_numbers:
        return _as_objects(X)
    return None


def _as_objects(X: Any) -> np.ndarray:
    objects = np.empty(len(X), dtype=object)
    objects[:] = list(X)
    return objects


def _checked(estimator: Any, X: Any, *, reset: bool, ensure_min_samples: int) -> Any:
    _check_sparse_structure(X)
    _check_dtype(X)
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=_precisions(estimator, X),
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples,
        )
    except (ValueError, TypeError) as error:
        raise _explained(error, X) from error
    if sparse.issparse(checked):
        checked = sparse.csr_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()
            checked.sum_duplicates()
    _check_finite(estimator, checked)
    return checked


def _precisions(estimator: Any, X: Any) -> Any:
    """What is not converted: many float32 rows that are only ever read block by block stay as they are."""
    reads_blocks = getattr(estimator, "_reads_blocks", False) or getattr(estimator, "rank", None) is not None
    rows, regime = getattr(X, "shape", (0,))[:1], getattr(estimator, "_regime", REGIME)
    return [np.float64, np.float32] if reads_blocks and rows > (regime.many_rows,) else np.float64


def _check_kernel_columns(K: Any, n_training_rows: int) -> None:
    shape = K.shape if sparse.issparse(K) else np.shape(K)
    if len(shape) == 2 and shape[1] != n_training_rows:
        raise ValueError(
            f"kernel='precomputed' needs the kernel values of X with every training row: got shape {shape}, "
            f"expected {(shape[0], n_training_rows)}"
        )


def _explained(error: ValueError | TypeError, X: Any) -> Exception:
    """The same error with the place and the fix, where scikit-learn's message lacks them."""
    if "Complex data" in str(error):
        return ValueError("Complex data not supported: X has complex values; pass real numbers, e.g. X.real")
    place = _first_unconvertible(X)
    return error if place is None else type(error)(f"{error} (X, {place}); encode that column as numbers")


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
        message = "X has uint64 values above 2**53 that float64 rounds; subtract an offset first"
        warnings.warn(message, AdatronWarning, stacklevel=5)


def _first_unconvertible(X: Any) -> str | None:
    """Where the first entry is that cannot become a number."""
    names = list(X.columns) if hasattr(X, "columns") else None
    try:
        table = np.asarray(X, dtype=object)
    except (ValueError, TypeError):
        return None
    for j, i in np.ndindex(table.shape[::-1] if table.ndim == 2 else (0,)):
        try:
            float(table[i, j])
        except (TypeError, ValueError):
            return f"row {i}, column {repr(names[j]) if names else j}: {table[i, j]!r}"
    return None


def _check_finite(estimator: Any, X: Any) -> None:
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    bad = ~np.isfinite(values)
    if not bad.any():  # only the sum overflowed, or another thread has changed X since
        return
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


def _warn_of_unequal_scales(estimator: Any, low: np.ndarray, high: np.ndarray) -> None:
    """In every kernel a column that varies 1e10 times more than another drowns it."""
    with np.errstate(over="ignore"):
        width = high - low
    varied = np.flatnonzero(width > 1e-12 * np.maximum(np.abs(low), np.abs(high)))  # more than rounding
    if len(varied) == 0 or width[varied].max() < _UNEQUAL * width[varied].min():
        return
    wide, narrow = varied[width[varied].argmax()], varied[width[varied].argmin()]
    names = getattr(estimator, "feature_names_in_", range(len(low)))
    warnings.warn(
        f"column {names[wide]!r} of X varies {width[wide] / width[narrow]:.0e} times more than column "
        f"{names[narrow]!r}, which hardly counts beside it; scale X (e.g. with StandardScaler)",
        AdatronWarning,
        stacklevel=5,
    )


def _column_ranges(X: Any) -> tuple[np.ndarray, np.ndarray]:
    if sparse.issparse(X):
        return np.ravel(X.min(axis=0).toarray()), np.ravel(X.max(axis=0).toarray())
    low, high = X[0].copy(), X[0].copy()
    _widen(X, low, high)
    return low, high


@compiled
def _widen(X, low, high):
    """Both ends in one pass over memory."""
    for i in range(X.shape[0]):
        row = X[i]
        for j in range(len(row)):
            low[j] = row[j] if row[j] < low[j] else low[j]
            high[j] = row[j] if row[j] > high[j] else high[j]


def check_labels(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Classes in sorted order, and the index of each label among them."""
    y = on_client(y)
    _check_one_type(y)  # before numpy turns 1 and "a" into "1" and "a"
    y = _one_for_each_row(X, y, "label")
    _check_no_missing(y, "label")
    if y.dtype.kind == "O":
        y = _plain(y)
    classes = _sorted_classes(y)
    return classes, np.searchsorted(classes, y)  # np.unique would sort all labels for it


def _sorted_classes(y: np.ndarray) -> np.ndarray:
    """The distinct labels; few whole numbers are classes without a closer look."""
    if y.dtype.kind not in "bif":
        check_classification_targets(y)
        return np.unique(y)
    classes = np.unique(y)
    if len(classes) > _FEW_CLASSES or np.any(classes % 1):
        check_classification_targets(y)
    return classes


def check_targets(X: Any, y: Any) -> np.ndarray:
    """Targets of a regression as float64."""
    y = _one_for_each_row(X, on_client(y), "target")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex values; pass real numbers, e.g. y.real")
    _check_no_missing(y, "target")
    try:
        targets = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers for a regression: {error}") from error
    _check_no_missing(targets, "target")
    if np.abs(targets).max(initial=0.0) > _LARGEST_TARGET:
        row = int(np.abs(targets).argmax())
        raise ValueError(f"y must be within ±{_LARGEST_TARGET:g}, got {targets[row]} in row {row}; scale y")
    return targets


def _one_for_each_row(X: Any, y: Any, what: str) -> np.ndarray:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if X.shape[0] != len(y):
        raise ValueError(
            f"X and y have inconsistent numbers of samples: X has {X.shape[0]} rows, y has {len(y)} {what}s"
        )
    return y


def _check_one_type(y: Any) -> None:
    """Text and numbers in one list have no common order."""
    if not isinstance(y, list | tuple) and getattr(getattr(y, "dtype", None), "kind", None) != "O":
        return
    present = (label for label in y if not _is_missing(label))
    kinds = {"str" if isinstance(label, str) else type(label).__name__ for label in present}
    if "str" in kinds and len(kinds) > 1:
        raise ValueError(f"y mixes labels of types {sorted(kinds)}; use one type for all classes")


def _check_no_missing(y: np.ndarray, what: str) -> None:
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in y], dtype=bool)
    else:
        return
    if missing.any():
        row = int(missing.argmax())
        kind = {"nan": "NaN", "inf": "infinity", "-inf": "infinity"}.get(str(y[row]), repr(y[row]))
        raise ValueError(
            f"Input y contains {kind}: {int(missing.sum())} {what}(s) are missing, the first in row {row}; "
            f"drop the rows without a {what}"
        )


def _is_missing(label: Any) -> bool:
    """None, NaN and pandas' NA: whatever is not equal to itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # NA has no truth value
        return True
    except ValueError:  # an array is no label, but it is not missing either
        return False


def _plain(y: np.ndarray) -> np.ndarray:
    """Labels kept as objects, as an array of their own type."""
    plain = np.array(y.tolist())
    return plain if plain.ndim == 1 and plain.dtype.kind in "bif" else y


def check_sample_weight(sample_weight: Any, m: int) -> np.ndarray:
    """Weights as float64, one for each row; None is all ones."""
    if sample_weight is None:
        return np.ones(m)
    weights = np.asarray(on_client(sample_weight))
    if weights.ndim == 0:
        weights = np.full(m, weights)
    if weights.dtype.kind == "c":
        raise ValueError("sample_weight must be real numbers, got complex ones")
    try:
        weights = weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers: {error}") from error
    if weights.shape != (m,):
        raise ValueError(f"sample_weight must have shape ({m},), got {weights.shape}")
    if np.isfinite(weights).all() and not (weights > 0.0).any():
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. At least one must be positive."
        )
    for bad, what in ((~np.isfinite(weights), "NaN or infinite"), (weights < 0.0, "negative")):
        if bad.any():
            i = int(bad.argmax())
            raise ValueError(
                f"sample_weight must be finite and >= 0; {int(bad.sum())} value(s) are {what}, "
                f"the first is {weights[i]} at row {i}"
            )
    return weights
