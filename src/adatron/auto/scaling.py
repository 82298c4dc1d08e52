"""Features as the search sees them: centred, divided by their deviation, smoothly clipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from adatron.gram import blockwise, mapped_rows, weighted_sum

_CONSTANT = 1e-10  # deviation, relative to the largest value, below which a feature is constant
CLIP = 5.0  # deviations
_DENSE_BYTES = 2**28  # that sparse rows may take when filled up
_FEW_FEATURES = 1_000  # up to which sparse rows are no text


@dataclass(frozen=True, eq=False)
class Scaler:
    """A map from rows as they were given to scaled features.

    Sparse rows of many features, such as text, are only divided by their lengths; constant features are left
    out. With neither `centre` nor `is_text`, rows stay as they are: a `TableEncoder` has scaled them.
    """

    centre: np.ndarray | None = None  # (d,): mean, or the middle of two values, in `unit`s
    scale: np.ndarray | None = None  # (d,): standard deviation, or half the distance of two values
    unit: np.ndarray | None = None  # (d,): largest size, so that nothing overflows
    kept: np.ndarray | None = None  # places of the features that vary
    is_text: bool = False

    def __post_init__(self) -> None:
        parts, is_sound = (self.centre, self.scale, self.unit, self.kept), type(self.is_text) is bool
        if any(part is not None for part in parts):
            centre, scale, unit, kept = (np.asarray(part) for part in parts)
            is_sound &= not self.is_text and centre.shape == scale.shape == unit.shape and centre.ndim == 1
            is_sound &= kept.dtype.kind == "i" and kept.ndim == 1 and len(kept) > 0
            is_sound &= bool(kept.min(initial=0) >= 0 and kept.max(initial=0) < len(centre))
            is_sound &= bool(scale.min() > 0.0 and unit.min() > 0.0)
        if not is_sound:
            raise ValueError("the parts of a scaler do not belong together")

    def __call__(self, X: Any) -> Any:
        if self.is_text:
            return sparse.csr_array(normalize(sparse.csr_array(X)))
        if sparse.issparse(X):
            X = X.toarray()
        if self.centre is None:
            return X
        return mapped_rows(scaled, X, self.centre, self.scale, self.unit, self.kept)


def scaled(X: Any, centre: Any, scale: Any, unit: Any, kept: np.ndarray) -> np.ndarray:
    """Kept features less their centre, in deviations, smoothly clipped."""
    z = X[:, kept].astype(np.float64) / unit[kept]
    z -= centre[kept]
    z /= scale[kept]
    z /= np.sqrt(1.0 + (z / CLIP) ** 2)
    return np.nan_to_num(z, copy=False, nan=0.0)  # a value that is missing counts as the centre


def scaler_for(X: Any, weights: np.ndarray) -> Scaler:
    """The scaler that suits the rows.

    A feature with only two values is divided by half their distance, as if both were equally frequent: rare
    marks would otherwise dwarf everything else.
    """
    if sparse.issparse(X):
        if X.shape[1] > _FEW_FEATURES or 8 * X.shape[0] * X.shape[1] > _DENSE_BYTES:
            return Scaler(is_text=True)
        X = X.toarray()
    share = weights / weights.sum()
    ends = blockwise(lambda X: (X.min(axis=0), X.max(axis=0)), X)
    low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    unit = np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(float).tiny)
    mean = weighted_sum(share, X, np.divide, unit)
    spread = np.sqrt(weighted_sum(share, X, _squares, mean, unit))
    at_ends = blockwise(_is_at_an_end, X, low, high)
    two_valued = np.all(at_ends, axis=0)
    low, high = low / unit, high / unit
    kept = np.flatnonzero((high > low) & (spread > _CONSTANT))
    centre = np.where(two_valued, 0.5 * (low + high), mean)
    scale = np.where(two_valued, 0.5 * (high - low), spread)
    return Scaler(centre, np.where(scale > 0.0, scale, 1.0), unit, kept if len(kept) else np.arange(1))


def _squares(X: Any, mean: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return (X / unit - mean) ** 2


def _is_at_an_end(X: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ((low == X) | (high == X)).all(axis=0)
