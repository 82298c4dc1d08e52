"""Every point twice, over an operator that has it once: the twin variables of regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.gram.blocked import RestrictedGram
from adatron.gram.protocol import GramOperator, Rows

__all__ = ["TwinGram", "cancel_twins", "distinct"]

# What an operator may have or not, and its twins then have too.
_SHARED = frozenset({"cost", "has_entries", "is_single", "keep", "release"})


class TwinGram:
    """The matrix ``[[K, K], [K, K]]`` of m points and their twins, of which only K exists.

    Rows are those of K, so a point and its twin share them in the cache; products fold the two
    halves before they multiply.

    Parameters
    ----------
    points : GramOperator
        K, of the m points.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram, TwinGram
    >>> gram = TwinGram(DenseGram(np.array([[2.0, 1.0], [1.0, 3.0]])))
    >>> gram.matmul(np.array([[1.0], [0.0], [0.0], [1.0]])).ravel()
    array([3., 4., 3., 4.])
    """

    def __init__(self, points: GramOperator) -> None:
        self.points, self.m = points, 2 * points.m

    def __getattr__(self, name: str) -> Any:
        if name in _SHARED:
            return getattr(self.points, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def diagonal(self) -> np.ndarray:
        return np.tile(self.points.diagonal(), 2)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return np.tile(self.points.matmul(self._folded(V)), (2, 1))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = np.arange(self.m)[rows] % self.points.m
        if cols is None:
            return np.tile(self.points.block(places), (1, 2))
        return self.points.block(places, places if cols is rows else cols % self.points.m)

    def restrict(self, rows: np.ndarray) -> RestrictedGram:
        return RestrictedGram(self, np.asarray(rows))

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """``f += Σ weights_k K[rows_k]``."""
        places, which = np.unique(rows % self.points.m, return_inverse=True)
        folded, outputs = np.bincount(which, weights), np.zeros(self.points.m)
        add_rows = getattr(self.points, "add_rows", None)
        if add_rows is None:
            outputs += folded @ self.points.block(places)
        else:
            add_rows(places, folded, outputs)
        f.reshape(2, -1)[:] += outputs

    def exact(self) -> TwinGram:
        """The same matrix with kernel values in float64."""
        points: Any = self.points
        return TwinGram(points.exact())

    def exact_outputs(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``K[rows] @ weights`` with kernel values in float64."""
        points: Any = self.points
        places, which = np.unique(rows % points.m, return_inverse=True)
        return points.exact_outputs(places, self._folded(weights))[which]

    def _folded(self, values: np.ndarray) -> np.ndarray:
        return values[: self.points.m] + values[self.points.m :]


def distinct(gram: GramOperator) -> tuple[GramOperator, int]:
    """The operator of the distinct points, and how often each of them stands in `gram`."""
    return (gram.points, 2) if isinstance(gram, TwinGram) else (gram, 1)


def cancel_twins(gram: GramOperator, alpha: np.ndarray) -> np.ndarray:
    """α without what a point and its twin, whose signs are opposite, have in common: w stays the same."""
    if not isinstance(gram, TwinGram):
        return alpha
    pairs = alpha.reshape(2, -1)
    return (pairs - pairs.min(axis=0)).ravel()
