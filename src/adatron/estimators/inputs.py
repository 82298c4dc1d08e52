"""Data as users have it, checked once; everything behind works on float64 arrays or CSR."""

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from adatron.estimators.dask import dask_rows, not_finite
from adatron.estimators.parameters import is_precomputed
from adatron.exceptions import AdatronWarning, warn_user
from adatron.gram import is_dask, on_client
from adatron.kernels import CallableKernel, Kernel
from adatron.numerics.compiled import compiled
from adatron.tables import TableEncoder, needs_encoding
from adatron.tables.matching import in_order

_LARGEST_TARGET = 1e100  # beyond, squares of sums of targets overflow
_FEW_CLASSES = 20  # up to which the target cannot be meant as a regression
_UNEQUAL = 1e10  # ratio of the widths of two columns from which float64 all but loses the narrow one


def check_training_X(estimator: Any, X: Any) -> Any:
    """Validated training data; sets ``n_features_in_`` and ``feature_names_in_``."""
    kernel = estimator.kernel
    if estimator._encodes_tables:
        vars(estimator).pop("encoder_", None)
        if isinstance(kernel, str) and not is_precomputed(kernel) and needs_encoding(X):
            encoder = TableEncoder()
            rows = encoder.fit_transform(X)
            vars(estimator).pop("feature_names_in_", None)
            names = ("n_features_in_", "feature_names_in_")  # those of the table's columns
            vars(estimator).update({name: vars(encoder)[name] for name in names if name in vars(encoder)})
            estimator.encoder_ = encoder
            return rows
    if is_dask(X):
        X, low, high = dask_rows(estimator, X)
    else:
        if (objects := _objects(kernel, X)) is not None:
            return objects
        X = _validated(estimator, X, reset=True, ensure_min_samples=1)
        if sparse.issparse(X):
            low, high = (np.ravel(end(axis=0).toarray()) for end in (X.min, X.max))
        else:
            low, high = X[0].copy(), X[0].copy()
            _widen(X, low, high)
        if not np.isfinite([low, high]).all():
            _check_finite(estimator, X)
    if isinstance(kernel, str) and kernel != "precomputed" and not estimator._scales_features:
        _warn_of_unequal_columns(estimator, low, high)
    return X


def _warn_of_unequal_columns(estimator: Any, low: np.ndarray, high: np.ndarray) -> None:
    """Warn where one column varies so much more than another that the kernel hardly sees the latter."""
    with np.errstate(over="ignore"):
        width = high - low
    varied = np.flatnonzero(width > 1e-12 * np.maximum(np.abs(low), np.abs(high)))  # more than rounding
    if len(varied) and width[varied].max() >= _UNEQUAL * width[varied].min():
        wide, narrow = varied[width[varied].argmax()], varied[width[varied].argmin()]
        names = vars(estimator).get("feature_names_in_", range(len(low)))
        warn_user(
            f"column {names[wide]!r} of X varies {width[wide] / width[narrow]:.0e} times more than column "
            f"{names[narrow]!r}, which hardly counts beside it; scale X (e.g. with StandardScaler)",
            AdatronWarning,
        )


@compiled
def _widen(X, low, high):
    """The range of every column in one pass over memory; NaN stays at the lower end."""
    for i in range(X.shape[0]):
        row = X[i]
        for j in range(len(row)):
            low[j] = row[j] if row[j] < low[j] or row[j] != row[j] else low[j]
            high[j] = row[j] if row[j] > high[j] else high[j]


def check_predict_X(estimator: Any, X: Any, *, allow_nan: bool = False) -> Any:
    """Validated data to predict for; no rows are allowed and give an empty result."""
    if estimator._encoder is not None:
        return estimator._encoder.transform(X)
    names = vars(estimator).get("feature_names_in_")
    if names is not None and estimator._encodes_tables:
        X = in_order(X, names.tolist())
    if is_precomputed(estimator.kernel):
        shape, n = X.shape if sparse.issparse(X) else np.shape(X), estimator.n_features_in_
        if len(shape) == 2 and shape[1] != n:
            raise ValueError(
                f"kernel='precomputed' needs the kernel values of X with every training row: got shape "
                f"{shape}, expected {(shape[0], n)}"
            )
    vectors: Any = vars(estimator).get("support_vectors_")
    if vectors is not None and vectors.dtype.kind == "O":  # trained on objects
        return np.asarray(X, dtype=object) if vectors.ndim == 2 else _as_objects(X)
    X = _validated(estimator, X, reset=False, ensure_min_samples=0)
    with np.errstate(over="ignore", invalid="ignore"):
        values = X.data if sparse.issparse(X) else X
        if not (np.isfinite(values.sum()) or (allow_nan and not np.isinf(values).any())):
            _check_finite(estimator, X)
    return X


def _objects(kernel: Any, X: Any) -> np.ndarray | None:
    """What only a kernel function can compare, such as text, as an array of objects; None for numbers."""
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
    return _as_objects(X) if rows.dtype.kind in "UST" or not are_numbers else None


def _as_objects(X: Any) -> np.ndarray:
    objects = np.empty(len(X), dtype=object)
    objects[:] = list(X)
    return objects


def _validated(estimator: Any, X: Any, **limits: Any) -> Any:
    """float64 rows or a canonical CSR matrix, not yet known to be finite."""
    is_ready = type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.flags.c_contiguous
    if is_ready and X.size and limits["reset"]:  # scikit-learn would only note the width, and take longer
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return X
    if sparse.issparse(X):
        _check_sparse_structure(X)
    dtype: Any = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind in ("m", "M"):
        raise ValueError(f"X has dtype {dtype}, which is no number; convert times to numbers first")
    if kind == "u" and dtype.itemsize == 8 and isinstance(X, np.ndarray) and X.size and X.max() > 2**53:
        message = "X has uint64 values above 2**53 that float64 rounds; subtract an offset first"
        warn_user(message, AdatronWarning)
    # many float32 rows behind a low-rank kernel are converted block by block, when they are read
    reads_blocks = estimator._reads_blocks or estimator.rank is not None
    is_long = getattr(X, "shape", (0,))[:1] > (estimator._regime.many_rows,)
    dtypes = [np.float64, np.float32] if reads_blocks and is_long else np.float64
    try:
        checked = validate_data(
            estimator, X, accept_sparse="csr", dtype=dtypes, order="C", ensure_all_finite=False, **limits
        )
    except (ValueError, TypeError) as error:
        if "Complex data" in str(error):
            message = "Complex data not supported: X has complex values; pass real numbers, e.g. X.real"
            raise ValueError(message) from error
        if (place := _first_unconvertible(X)) is None:
            raise
        way_out = "at fit it held numbers only"
        if limits["reset"]:
            pipeline = f"make_pipeline(TableEncoder(), {type(estimator).__name__}())"
            way_out = f"encode that column as numbers, e.g. by {pipeline} with adatron.tables.TableEncoder"
        raise type(error)(f"{error} (X, {place}); {way_out}") from error
    if sparse.issparse(checked):
        checked = sparse.csr_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()
            checked.sum_duplicates()
    return checked


def _check_sparse_structure(X: Any) -> None:
    """Indices outside the matrix crash compiled code elsewhere: refuse them here."""
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


def _first_unconvertible(X: Any) -> str | None:
    """The place of the first entry that cannot become a number."""
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
    bad = ~np.isfinite(values)
    if not bad.any():  # only a sum overflowed, or another thread has changed X since
        return
    row, column = divmod(int(bad.argmax()), X.shape[1])
    if sparse.issparse(X):
        row, column = (int(places[bad.argmax()]) for places in X.tocoo().coords)
    kind = "NaN" if np.isnan(values[bad]).any() else "infinity"
    raise not_finite(kind, int(bad.sum()), row, column, vars(estimator).get("feature_names_in_"))


def check_labels(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Classes in sorted order, and the index of each label among them."""
    y = on_client(y)
    if isinstance(y, list | tuple) or getattr(getattr(y, "dtype", None), "kind", None) == "O":
        # before numpy turns 1 and "a" into "1" and "a": text and numbers have no common order
        present = (label for label in y if not _is_missing(label))
        kinds = {"str" if isinstance(label, str) else type(label).__name__ for label in present}
        if "str" in kinds and len(kinds) > 1:
            raise ValueError(f"y mixes labels of types {sorted(kinds)}; use one type for all classes")
    y = _one_for_each_row(X, y, "label")
    if y.dtype.kind == "O":
        plain = np.array(y.tolist())  # of their own type
        y = plain if plain.ndim == 1 and plain.dtype.kind in "bif" else y
        odd = {type(label).__name__ for label in y if not isinstance(label, str)}
        if y.dtype.kind == "O" and odd:
            names = ", ".join(sorted(odd))
            raise ValueError(f"Unknown label type: {names}; use text or numbers, such as y.astype(str)")
    classes = np.unique(y) if y.dtype.kind in "bif" else None
    if classes is None or len(classes) > _FEW_CLASSES or np.any(classes % 1):
        check_classification_targets(y)  # few whole numbers are classes without a closer look
        classes = np.unique(y)
    return classes, np.searchsorted(classes, y)  # np.unique would sort all labels for it


def check_targets(X: Any, y: Any) -> np.ndarray:
    """Targets of a regression as float64."""
    y = _one_for_each_row(X, on_client(y), "target")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex values; pass real numbers, e.g. y.real")
    try:
        targets = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers for a regression: {error}") from error
    _check_no_missing(targets, "target")
    if np.abs(targets).max(initial=0.0) > _LARGEST_TARGET:
        row = int(np.abs(targets).argmax())
        raise ValueError(f"y must be within ±{_LARGEST_TARGET:g}, got {targets[row]} in row {row}; scale y")
    return targets


def check_groups(groups: Any, y: Any) -> np.ndarray:
    """Groups of rows as an array, all known; as many as there are targets."""
    groups, y = column_or_1d(on_client(groups)), on_client(y)
    if hasattr(y, "__len__") and len(y) != len(groups):
        raise ValueError(f"groups must have a value for each row, {len(y)} in all; got {len(groups)}")
    _check_no_missing(groups, "group", "groups")
    return groups


def _one_for_each_row(X: Any, y: Any, what: str) -> np.ndarray:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "bif":
        y = column_or_1d(y, warn=True)
    if X.shape[0] != len(y):
        sizes = f"X has {X.shape[0]} rows, y has {len(y)} {what}s"
        raise ValueError(f"X and y have inconsistent numbers of samples: {sizes}")
    _check_no_missing(y, what)
    return y


def _check_no_missing(y: np.ndarray, what: str, name: str = "y") -> None:
    missing = np.zeros(len(y), dtype=bool)
    if y.dtype.kind in "fmM":
        missing = ~np.isfinite(y)
    if y.dtype.kind == "O":
        missing[:] = [_is_missing(label) for label in y]
    if missing.any():
        row = int(missing.argmax())
        known = {"nan": "NaN", "inf": "infinity", "-inf": "infinity", "NaT": "NaT"}
        kind = known.get(str(y[row]), repr(y[row]))
        raise ValueError(
            f"Input {name} contains {kind}: {int(missing.sum())} {what}(s) are missing, the first in row "
            f"{row}; drop the rows without a {what}"
        )


def _is_missing(label: Any) -> bool:
    """None, NaN and pandas' NA: whatever is not equal to itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # NA has no truth value
        return True
    except ValueError:  # an array is no label, but it is not missing either
        return False


def check_sample_weight(sample_weight: Any, m: int) -> np.ndarray:
    """Weights as float64, one for each row; None is all ones."""
    if sample_weight is None:
        return np.ones(m)
    weights = np.asarray(on_client(sample_weight))
    if weights.dtype.kind == "c":
        raise ValueError("sample_weight must be real numbers, got complex ones")
    try:
        weights = (weights if weights.ndim else np.full(m, weights)).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers: {error}") from error
    if weights.shape != (m,):
        raise ValueError(f"sample_weight must have shape ({m},), got {weights.shape}")
    is_finite = np.isfinite(weights)
    if is_finite.all() and not (weights > 0.0).any():
        message = "all samples have zero or negative weights. At least one must be positive."
        raise ValueError(f"Invalid input - {message}")
    bad, what = (weights < 0.0, "negative") if is_finite.all() else (~is_finite, "NaN or infinite")
    if bad.any():
        raise ValueError(
            f"sample_weight must be finite and >= 0; {int(bad.sum())} value(s) are {what}, "
            f"the first is {weights[bad][0]} at row {int(bad.argmax())}"
        )
    return weights
