"""Features brought to a common scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram import REGIME, Regime, blockwise, mapped_rows, weighted_sum

__all__ = ["DividedRows", "divided_by", "divided_in_blocks", "feature_scales"]

_CONSTANT = 1e-10  # deviation, relative to the largest value, below which a feature is constant


def feature_scales(X: Any, weights: np.ndarray, *, divide: bool = True) -> tuple[np.ndarray, float]:
    """What to divide every feature by, and the mean squared distance to the mean that results.

    A feature is divided by its standard deviation. One with two values only is divided by half their
    distance, as if both were equally frequent: rare marks would otherwise dwarf everything else. Constant
    features stay as they are. Sparse rows have the scales of the same rows with their zeros filled in.
    Unless they are to be divided, all features stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.estimators.scaling import feature_scales
    >>> feature_scales(np.array([[0.0, 5.0, 1.0], [4.0, 5.0, 0.0], [8.0, 5.0, 0.0]]), np.ones(3))[0].round(2)
    array([3.27, 1.  , 0.5 ])
    """
    share = weights / weights.sum()
    moments = _sparse_moments if sparse.issparse(X) else _dense_moments
    spread, low, high, two_valued = moments(X, share)
    varies = (high > low) & (spread > _CONSTANT * np.maximum(np.abs(low), np.abs(high)))
    scales = np.where(varies & divide, np.where(two_valued, 0.5 * (high - low), spread), 1.0)
    return scales, float((spread[varies] / scales[varies]) @ (spread[varies] / scales[varies])) or 1.0


def _dense_moments(X: Any, share: np.ndarray) -> tuple[np.ndarray, ...]:
    """Standard deviation, least and largest value of every feature; whether it has no others."""
    ends = blockwise(_ends, X)
    low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    largest = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(float).tiny)
    mean = weighted_sum(share, X, np.divide, largest)  # no overflow
    variance = weighted_sum(share, X, _squared_distances, mean, largest)
    two_valued = np.all(blockwise(_has_no_others, X, low, high), axis=0)
    return largest * np.sqrt(variance), low, high, two_valued


def _ends(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.min(axis=0), X.max(axis=0)


def _squared_distances(X: np.ndarray, centre: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return (X / unit - centre) ** 2


def _has_no_others(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ((low == X) | (high == X)).all(axis=0)


def _sparse_moments(X: Any, share: np.ndarray) -> tuple[np.ndarray, ...]:
    mean = np.asarray(share @ X)
    spread = np.sqrt(np.maximum(np.asarray(share @ X.multiply(X)) - mean**2, 0.0))
    low, high = (np.asarray(extreme(axis=0).todense()).ravel() for extreme in (X.min, X.max))
    at_end = (low[X.indices] == X.data) | (high[X.indices] == X.data)
    others = np.bincount(X.indices, weights=~at_end, minlength=X.shape[1])
    has_zeros = np.bincount(X.indices, minlength=X.shape[1]) < X.shape[0]
    return spread, low, high, (others == 0) & (~has_zeros | (low == 0.0) | (high == 0.0))


def divided_by(X: Any, scales: np.ndarray) -> Any:
    """Rows with every feature divided by its scale."""
    if sparse.issparse(X):
        return sparse.csr_array(X.multiply(1.0 / scales))
    return mapped_rows(np.divide, X, scales)


def divided_in_blocks(X: Any, scales: np.ndarray, regime: Regime = REGIME) -> Any:
    """Like `divided_by`, but scales each block of many rows when it is read."""
    is_large = isinstance(X, np.ndarray) and X.shape[0] > regime.many_rows
    return DividedRows(X, scales) if is_large else divided_by(X, scales)


@dataclass(frozen=True)
class DividedRows:
    """Rows of which blocks are scaled when they are read, so that there is no second copy of all.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.estimators.scaling import DividedRows
    >>> DividedRows(np.array([[2.0, 9.0], [4.0, 6.0]]), np.array([2.0, 3.0]))[1:]
    array([[2., 2.]])
    """

    X: np.ndarray
    scales: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.X.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        return np.asarray(self.X[rows] / self.scales, dtype=np.float64)
