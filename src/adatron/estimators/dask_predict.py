"""Predictions for Dask collections: lazy, partition by partition."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.dask_input import is_dask

__all__ = ["lazy_on_dask"]

Method = TypeVar("Method", bound=Callable[..., Any])


def lazy_on_dask(method: Method) -> Method:
    """Let a method that takes rows and gives one result for each also take Dask collections.

    A `dask.array` gives a `dask.array`; a `dask.dataframe` gives a Series, or a DataFrame with a column for
    each class, with the index of the rows. Nothing is computed, and no `Client` is needed.
    """

    @wraps(method)
    def wrapped(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return method(self, X)
        check_is_fitted(self)
        like = method(self, _one_row(self, X))
        if hasattr(X, "columns"):
            meta = _with_index(like, X._meta_nonempty.index[:1])
            return X.map_partitions(_of_partition, method, self, meta=meta.iloc[:0])
        X = X.rechunk({1: X.shape[1]})
        if like.ndim == 1:
            return X.map_blocks(_of_block, method, self, dtype=like.dtype, drop_axis=1)
        return X.map_blocks(_of_block, method, self, dtype=like.dtype, chunks=(X.chunks[0], (like.shape[1],)))

    return wrapped  # type: ignore[return-value]


def _one_row(estimator: Any, X: Any) -> Any:
    """A row that passes the checks, to see what results look like."""
    zeros = np.zeros((1, X.shape[1]))
    if not hasattr(X, "columns"):
        return zeros
    import pandas as pd

    return pd.DataFrame(zeros, columns=X.columns)


def _of_block(block: np.ndarray, method: Any, estimator: Any) -> np.ndarray:
    return method(estimator, block)


def _of_partition(part: Any, method: Any, estimator: Any) -> Any:
    return _with_index(method(estimator, part), part.index)


def _with_index(values: np.ndarray, index: Any) -> Any:
    import pandas as pd

    return pd.Series(values, index=index) if values.ndim == 1 else pd.DataFrame(values, index=index)
