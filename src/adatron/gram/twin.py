"""Every point twice, over a matrix that has it once: the twin variables of regression."""

from __future__ import annotations

import numpy as np

from adatron.gram.base import Gram, GramView, Rows

__all__ = ["TwinGram"]


class TwinGram(Gram):
    """The matrix ``[[K, K], [K, K]]`` of m points and their twins, of which only K exists.

    Rows are those of K, so a point and its twin share them in the cache; products fold the two
    halves before they multiply.

    Parameters
    ----------
    points : Gram
        K, of the m points.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram, TwinGram
    >>> gram = TwinGram(DenseGram(np.array([[2.0, 1.0], [1.0, 3.0]])))
    >>> gram.matmul(np.array([[1.0], [0.0], [0.0], [1.0]])).ravel()
    array([3., 4., 3., 4.])
    """

    copies = 2

    def __init__(self, points: Gram) -> None:
        self._points, self.m = points, 2 * points.m
        self.has_entries, self.is_single, self.cost = points.has_entries, points.is_single, points.cost
        self.evaluates_rows, self.has_own_threads = points.evaluates_rows, points.has_own_threads
        self.landmarks, self.is_elsewhere = points.landmarks, points.is_elsewhere

    @property
    def points(self) -> Gram:
        return self._points

    def diagonal(self) -> np.ndarray:
        return np.tile(self.points.diagonal(), 2)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return np.tile(self.points.matmul(self._folded(V)), (2, 1))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = np.arange(self.m)[rows] % self.points.m
        if cols is None:
            return np.tile(self.points.block(places), (1, 2))
        return self.points.block(places, places if cols is rows else cols % self.points.m)

    def restrict(self, rows: np.ndarray) -> GramView:
        return GramView(self, np.asarray(rows))

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        places, which = np.unique(rows % self.points.m, return_inverse=True)
        outputs = np.zeros(self.points.m)
        self.points.add_rows(places, np.bincount(which, weights), outputs)
        f.reshape(2, -1)[:] += outputs

    def exact(self) -> TwinGram:
        return TwinGram(self.points.exact())

    def exact_outputs(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        places, which = np.unique(rows % self.points.m, return_inverse=True)
        return self.points.exact_outputs(places, self._folded(weights))[which]

    def release(self) -> None:
        self.points.release()

    def cancel_twins(self, alpha: np.ndarray) -> np.ndarray:
        """The signs of a point and its twin are opposite, so w stays the same."""
        pairs = alpha.reshape(2, -1)
        return (pairs - pairs.min(axis=0)).ravel()

    def _folded(self, values: np.ndarray) -> np.ndarray:
        return values[: self.points.m] + values[self.points.m :]
