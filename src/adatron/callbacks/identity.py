"""Which fit a checkpoint belongs to: the estimator, its parameters, the data and the version."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from adatron import __version__
from adatron.estimators.dask_input import collection_digests, is_dask, on_client

__all__ = ["differences", "identity"]

# what may change between two parts of one fit
_FREE = frozenset({"time_limit", "max_iter", "verbose", "n_jobs", "cache_size"})


def identity(estimator: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """What must be the same when a fit goes on, as plain text."""
    parameters = estimator.get_params(deep=False)
    return {
        "adatron": __version__,
        "estimator": type(estimator).__name__,
        "parameters": {name: repr(value) for name, value in parameters.items() if name not in _FREE},
        "data": {"X": digest(X), "y": digest(y), "sample_weight": digest(sample_weight)},
    }


def differences(saved: Any, current: dict[str, Any]) -> list[str]:
    """What has changed, as parts of a sentence."""
    if not isinstance(saved, dict) or saved.keys() != current.keys():
        return ["it is of another kind of file"]
    found = [
        f"{name} was {saved[name]}, is {current[name]}"
        for name in ("adatron", "estimator")
        if saved[name] != current[name]
    ]
    for name in dict.fromkeys([*saved["parameters"], *current["parameters"]]):
        before, now = (side["parameters"].get(name, "absent") for side in (saved, current))
        if before != now:
            found.append(f"{name} was {before}, is {now}")
    return found + [
        f"{name} differs" for name, value in saved["data"].items() if current["data"][name] != value
    ]


def digest(values: Any) -> str:
    """SHA-256 of what the values are, whatever they are kept in; "" for None.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from adatron.callbacks.identity import digest
    >>> X = np.array([[0.0, 1.5], [2.0, 0.0]])
    >>> digest(X) == digest(X.tolist()), digest(X) == digest(sparse.csr_array(X)), digest(X) == digest(X + 1)
    (True, True, False)
    """
    if values is None:
        return ""
    found = hashlib.sha256()
    if is_dask(values) and values.ndim == 2:  # its rows stay where they are, whatever their partitions
        found.update(collection_digests(values).tobytes())
        return found.hexdigest()
    values = on_client(values)
    matrix: Any = values if sparse.issparse(values) else np.asarray(values)
    is_table = matrix.ndim == 2 and (sparse.issparse(matrix) or matrix.dtype.kind in "biuf")
    for part in _parts(sparse.csr_array(matrix)) if is_table else [matrix]:
        found.update(_bytes(part))
    return found.hexdigest()


def _parts(matrix: Any) -> list[np.ndarray]:
    """The same arrays for dense and sparse rows of the same values."""
    matrix = matrix.astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    shape = np.array(matrix.shape, dtype=np.int64)
    return [shape, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data]


def _bytes(array: np.ndarray) -> bytes:
    if array.dtype.kind in "biuf":
        return np.ascontiguousarray(array, dtype="<f8" if array.dtype.kind == "f" else "<i8").tobytes()
    return repr(array.tolist()).encode()
