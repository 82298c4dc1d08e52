"""Dask collections as training data, and lazy predictions for them.

Training data is checked partition by partition, and the rows stay on the workers. Labels, targets and weights
come to the client. Partitions become blocks of about equal size: large ones are cut, small ones joined, empty
ones left out, so that each thread has its share of a skewed table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from adatron.gram import REGIME, is_dask, keys_of_rows
from adatron.gram.cluster import RowBlocks, running_cluster
from adatron.numerics.reproducible import rows_at_once

_MEMORY_SHARE = 0.1  # part of the memory of a thread that one block of rows may take
# With many rows for each thread, several blocks for each even out the speeds of threads; but too many blocks
# would keep the scheduler busy.
_MANY_ROWS, _BLOCKS_PER_THREAD, _MOST_BLOCKS = 50_000, 4, 64

Method = TypeVar("Method", bound=Callable[..., Any])


class _Summary(NamedTuple):
    """What the client needs to know of a partition."""

    n_rows: int
    low: np.ndarray  # of each column
    high: np.ndarray
    n_bad: int  # NaN or infinite values
    first_bad: np.ndarray  # (1, 2): row and column, if there are any
    kind: str  # of the bad values


def dask_rows(estimator: Any, X: Any) -> tuple[RowBlocks, np.ndarray, np.ndarray]:
    """The rows of a Dask collection as checked float64 blocks, and the range of every column.

    Sets ``n_features_in_`` and ``feature_names_in_``.
    """
    refused = ""
    if not estimator._accepts_dask:
        refused = type(estimator).__name__
    elif isinstance(estimator.kernel, str) and estimator.kernel == "precomputed":
        refused = "kernel='precomputed'"
    elif estimator.multi_class == "crammer_singer":
        refused = "multi_class='crammer_singer'"
    if refused:
        other = "set multi_class='ovr' or 'ovo', or " if "multi_class" in refused else ""
        raise ValueError(f"{refused} takes rows in memory, got a Dask collection; {other}pass X.compute()")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a Dask collection of {X.ndim} dimension(s); reshape X")
    cluster = running_cluster()
    meta = X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))
    validate_data(estimator, meta, reset=True, skip_check_array=True)
    names, width = getattr(estimator, "feature_names_in_", None), estimator.n_features_in_
    parts, dtypes = _partitions(X)
    raw, numbers = cluster.client.compute(parts, retries=3), list(range(len(parts)))
    checked = cluster.map(_checked_block, raw, numbers, names, dtypes, width)
    found = cluster.gather(cluster.map(_summary_of, checked), numbers)
    lengths = [own.n_rows for own in found]
    if bad := [number for number, own in enumerate(found) if own.n_bad]:
        first = found[bad[0]]
        [[row, column]] = first.first_bad.tolist()
        row, n_bad = row + sum(lengths[: bad[0]]), sum(own.n_bad for own in found)
        raise not_finite(first.kind, n_bad, row, column, names, f" (partition {bad[0]})")
    if not sum(lengths):
        message = f"Found array with 0 sample(s) (shape=(0, {width})) while a minimum of 1 is required"
        raise ValueError(message)
    rows = RowBlocks(cluster, checked, lengths, width, numbers)
    low, high = np.min([own.low for own in found], axis=0), np.max([own.high for own in found], axis=0)
    return rows.rearranged(_even_bounds(estimator, rows)), low, high


def collection_digests(X: Any) -> np.ndarray:
    """A short key of every row of a collection, on this side."""
    cluster = running_cluster()
    raw = cluster.client.compute(_partitions(X)[0], retries=3)
    return np.concatenate(cluster.gather(cluster.map(_digests, raw), range(len(raw))))


def _digests(block: Any) -> np.ndarray:
    return keys_of_rows(np.ascontiguousarray(block, dtype=np.float64))


def _partitions(X: Any) -> tuple[list[Any], Any]:
    """Delayed partitions, and the types that the collection declares for their columns."""
    if hasattr(X, "columns"):
        return list(X.to_delayed()), tuple(map(str, X.dtypes))
    return list(X.rechunk({1: X.shape[1]}).to_delayed().ravel()), str(X.dtype)


def _checked_block(block: Any, number: int, names: Any, declared: Any, width: int) -> np.ndarray:
    """One partition as float64; an error names it."""
    where = f"partition {number} of X"
    if hasattr(block, "columns"):
        if names is not None and list(block.columns) != list(names):
            raise ValueError(
                f"{where} has the columns {list(block.columns)}, the others {list(names)}; make them equal"
            )
        found: Any = tuple(map(str, block.dtypes))
    else:
        found = str(getattr(block, "dtype", type(block).__name__))
    if getattr(block, "ndim", 0) != 2 or block.shape[1] != width:
        raise ValueError(f"{where} has shape {getattr(block, 'shape', None)}, expected {width} columns")
    if found != declared:
        raise ValueError(f"{where} has dtype {found}, the collection says {declared}; convert it with astype")
    try:
        return np.ascontiguousarray(block, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} has entries that are no numbers: {error}; encode these columns") from error


def _summary_of(block: np.ndarray) -> _Summary:
    low, high = block.min(axis=0, initial=np.inf), block.max(axis=0, initial=-np.inf)
    bad = np.argwhere(~np.isfinite(block))
    return _Summary(len(block), low, high, len(bad), bad[:1], "NaN" if np.isnan(block).any() else "infinity")


def not_finite(kind: str, n_bad: int, row: int, column: int, names: Any, part: str = "") -> ValueError:
    """What to raise for NaN and infinity in X, of which the first is at the row and column."""
    where = f"row {row}, column {column if names is None else repr(names[column])}{part}"
    found = f"{n_bad} value(s) are NaN or infinity, the first in {where}"
    return ValueError(f"Input X contains {kind}: {found}; impute or drop them")


def _even_bounds(estimator: Any, X: RowBlocks) -> np.ndarray:
    """Bounds of blocks of about as many rows each, which have room on a worker."""
    (m, width), cluster = X.shape, X.cluster
    widest = REGIME.most_columns  # numbers that will be kept for each row beside its features
    if estimator.rank is not None and estimator.rank >= 1:
        widest = int(estimator.rank)
    elif estimator.rank is None and not estimator._reads_blocks:
        widest = 0 if estimator.kernel == "linear" else m
    n_threads = sum(worker["threads"] for worker in cluster.workers)
    share = -(-m // n_threads)
    if share > _MANY_ROWS:
        share = -(-share // max(1, min(_BLOCKS_PER_THREAD, _MOST_BLOCKS // n_threads)))
    most = max(1, int(_MEMORY_SHARE * cluster.memory_of_thread / (8 * max(width, widest))))
    together = rows_at_once(m)
    n_groups = -(-m // together)
    n_blocks = -(-n_groups // max(1, min(-(-share // together), most // together)))
    return together * np.linspace(0, n_groups, n_blocks + 1).astype(np.int64)


def lazy_on_dask(method: Method) -> Method:
    """Let a method that takes rows and gives one result for each also take Dask collections.

    A `dask.array` gives a `dask.array`; a `dask.dataframe` gives a Series, or a DataFrame with a column for
    each class, with the index of the rows. Nothing is computed, and no `Client` is needed.
    """

    @wraps(method)
    def wrapped(self: Any, X: Any, *values: Any, **options: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *values, **options)
        check_is_fitted(self)
        bound = partial(_called, method, self, values, options)
        zeros = np.zeros((1, X.shape[1]))  # a row that passes the checks, to see what results look like
        if hasattr(X, "columns"):
            import pandas as pd

            one_row = pd.DataFrame(zeros, columns=X.columns, index=X._meta_nonempty.index[:1])
            return X.map_partitions(_with_index, bound, meta=_with_index(one_row, bound).iloc[:0])
        like, X = bound(zeros), X.rechunk({1: X.shape[1]})
        if like.ndim == 1:
            return X.map_blocks(bound, dtype=like.dtype, drop_axis=1)
        return X.map_blocks(bound, dtype=like.dtype, chunks=(X.chunks[0], (like.shape[1],)))

    return wrapped  # type: ignore[return-value]


def _called(method: Any, model: Any, values: tuple, options: dict[str, Any], X: Any) -> Any:
    return method(model, X, *values, **options)


def _with_index(rows: Any, function: Callable[..., np.ndarray]) -> Any:
    """``function(rows)`` as a Series or a DataFrame."""
    import pandas as pd

    values = function(rows)
    return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=rows.index)
