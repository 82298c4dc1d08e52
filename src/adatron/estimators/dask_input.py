"""Dask collections as training data: checked partition by partition, the rows stay on the workers.

Labels, targets and weights come to the client. Partitions become blocks of about equal size: large ones are
cut, small ones joined, empty ones left out, so that each thread has its share of a skewed table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from adatron.gram import REGIME, keys_of_rows
from adatron.gram.cluster import Cluster, running_cluster
from adatron.gram.dask_rows import RowBlocks
from adatron.numerics.reproducible import rows_at_once

__all__ = ["collection_digests", "dask_rows", "is_dask", "on_client"]

_MEMORY_SHARE = 0.1  # part of the memory of a thread that one block of rows may take
_MANY_ROWS = 50_000  # of a thread, from which more blocks than threads even out their speeds
_PER_THREAD = 4  # blocks then,
_MOST_BLOCKS = 64  # unless they become so many that the scheduler is kept busy with them


class _Facts(NamedTuple):
    """What the client needs to know of a partition."""

    n_rows: int
    low: np.ndarray  # of each column
    high: np.ndarray
    n_bad: int  # NaN or infinite values
    first_bad: tuple[int, int, str]  # row, column, kind


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection; Dask is not imported to find out."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def on_client(values: Any) -> Any:
    """Labels or weights, computed if they are a Dask collection."""
    if not is_dask(values):
        return values
    cluster = running_cluster()
    return np.asarray(cluster.gather([cluster.client.compute(values, retries=3)])[0])


def collection_digests(X: Any) -> np.ndarray:
    """A short key of every row of a collection, on this side."""
    cluster = running_cluster()
    parts, _ = _partitions(X)
    raw = cluster.client.compute(parts, retries=3)
    return np.concatenate(cluster.gather(cluster.map("digest", _digests, raw), range(len(parts))))


def _digests(block: Any) -> np.ndarray:
    return keys_of_rows(np.ascontiguousarray(block, dtype=np.float64))


def dask_rows(estimator: Any, X: Any) -> tuple[RowBlocks, np.ndarray, np.ndarray]:
    """The rows of a Dask collection as checked float64 blocks, and the range of every column.

    Sets ``n_features_in_`` and ``feature_names_in_``.
    """
    if not getattr(estimator, "_accepts_dask", False):
        raise ValueError(
            f"{type(estimator).__name__} takes rows in memory, got a Dask collection; pass X.compute()"
        )
    if isinstance(estimator.kernel, str) and estimator.kernel == "precomputed":
        raise ValueError(
            "kernel='precomputed' takes a matrix in memory, got a Dask collection; pass X.compute()"
        )
    if getattr(estimator, "multi_class", "") == "crammer_singer":
        raise ValueError(
            "multi_class='crammer_singer' takes rows in memory, got a Dask collection; set "
            "multi_class='ovr' or 'ovo', or pass X.compute()"
        )
    cluster = running_cluster()
    names = _feature_names(estimator, X)
    parts, declared = _partitions(X)
    raw = cluster.client.compute(parts, retries=3)
    numbers, width = list(range(len(parts))), estimator.n_features_in_
    same = [[value] * len(parts) for value in (names, declared, width)]
    checked = cluster.map("check", _checked_block, raw, numbers, *same)
    facts = cluster.gather(cluster.map("facts", _facts_of, checked), numbers)
    _check_finite(facts, names)
    lengths = [own.n_rows for own in facts]
    if not sum(lengths):
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {width})) while a minimum of 1 is required."
        )
    present = [own for own in facts if own.n_rows]
    low, high = np.min([f.low for f in present], axis=0), np.max([f.high for f in present], axis=0)
    return _in_even_blocks(cluster, checked, lengths, width, _widest(estimator, sum(lengths))), low, high


def _widest(estimator: Any, m: int) -> int:
    """Numbers that will be kept for each row beside its features."""
    rank = getattr(estimator, "rank", REGIME.most_columns)
    if rank is None:
        return 0 if estimator.kernel == "linear" else m
    return int(rank) if rank >= 1 else REGIME.most_columns


def _feature_names(estimator: Any, X: Any) -> list[str] | None:
    """Names of the columns, if they have any."""
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a Dask collection with {X.ndim} dimension(s) instead; reshape X"
        )
    meta = X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))
    validate_data(estimator, meta, reset=True, skip_check_array=True)
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def _partitions(X: Any) -> tuple[list[Any], Any]:
    """Delayed partitions, and the types that the collection declares for their columns."""
    if hasattr(X, "columns"):
        return list(X.to_delayed()), [str(dtype) for dtype in X.dtypes]
    return list(X.rechunk({1: X.shape[1]}).to_delayed().ravel()), str(X.dtype)


def _checked_block(block: Any, number: int, names: list[str] | None, declared: Any, width: int) -> np.ndarray:
    """One partition as float64; an error names it."""
    where = f"partition {number} of X"
    if hasattr(block, "columns"):
        if names is not None and list(block.columns) != names:
            raise ValueError(
                f"{where} has the columns {list(block.columns)}, the others {names}; make them equal"
            )
        found: Any = [str(dtype) for dtype in block.dtypes]
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


def _facts_of(block: np.ndarray) -> _Facts:
    bad = ~np.isfinite(block)
    if not len(block):
        return _Facts(0, np.empty(0), np.empty(0), 0, (0, 0, ""))
    first = (0, 0, "")
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        first = (row, column, "NaN" if np.isnan(block).any() else "infinity")
    return _Facts(len(block), block.min(axis=0), block.max(axis=0), int(bad.sum()), first)


def _check_finite(facts: list[_Facts], names: list[str] | None) -> None:
    bad = [number for number, own in enumerate(facts) if own.n_bad]
    if not bad:
        return
    row, column, kind = facts[bad[0]].first_bad
    row += sum(own.n_rows for own in facts[: bad[0]])
    raise ValueError(
        f"Input X contains {kind}: {sum(own.n_bad for own in facts)} value(s) are NaN or infinity, the first "
        f"in row {row}, column {column if names is None else repr(names[column])} (partition {bad[0]}); "
        "impute or drop them"
    )


def _in_even_blocks(
    cluster: Cluster, parts: list[Any], lengths: list[int], width: int, widest: int
) -> RowBlocks:
    """Blocks of about as many rows each, from pieces of one or several partitions."""
    total = sum(lengths)
    share = -(-total // cluster.n_threads)
    if share > _MANY_ROWS:
        share = -(-share // max(1, min(_PER_THREAD, _MOST_BLOCKS // cluster.n_threads)))
    most = max(1, int(_MEMORY_SHARE * cluster.memory_of_thread / (8 * max(width, widest))))
    together = rows_at_once(total)
    n_groups = -(-total // together)
    n_blocks = -(-n_groups // max(1, min(-(-share // together), most // together)))
    bounds = together * np.linspace(0, n_groups, n_blocks + 1).astype(np.int64)
    return RowBlocks.of_pieces(cluster, parts, lengths, width, range(len(parts)), bounds)
