"""Pairs of rows whose connection is tested: all pairs of few rows, near neighbours of many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

__all__ = ["Edges", "candidate_edges", "neighbour_distances"]

_COMPLETE_UP_TO = 300  # rows; the tests of all pairs of more would take longer than the ball


@dataclass(frozen=True)
class Edges:
    """Pairs of rows, the closest first: what they join need not be tested again."""

    first: np.ndarray
    second: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    def where(self, kept: np.ndarray) -> Edges:
        """Some of the pairs, in the same order."""
        return Edges(self.first[kept], self.second[kept])


def candidate_edges(X: np.ndarray, n_neighbors: int) -> Edges:
    """Pairs of different rows of `X`, no row twice, that may turn out to be connected.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.clustering.edges import candidate_edges
    >>> edges = candidate_edges(np.array([[0.0], [5.0], [6.0]]), n_neighbors=12)
    >>> list(zip(edges.first.tolist(), edges.second.tolist()))
    [(1, 2), (0, 1), (0, 2)]
    """
    m = len(X)
    if m <= _COMPLETE_UP_TO:
        first, second = np.triu_indices(m, 1)
        lengths = np.linalg.norm(X[first] - X[second], axis=1)
    else:
        first, second, lengths = _neighbour_pairs(X, n_neighbors)
    order = np.argsort(lengths, kind="stable")
    return Edges(first[order], second[order])


def _neighbour_pairs(X: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m = len(X)
    lengths, neighbours = _neighbours(X, n_neighbors)
    rows = np.repeat(np.arange(m), neighbours.shape[1])
    others = neighbours.ravel()
    low, high = np.minimum(rows, others), np.maximum(rows, others)
    _, once = np.unique(low * m + high, return_index=True)  # neighbours of each other are one pair
    return low[once], high[once], lengths.ravel()[once]


def neighbour_distances(X: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Distance of every row of `X` to its `n_neighbors`-th neighbour."""
    return _neighbours(X, n_neighbors)[0][:, -1]


def _neighbours(X: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    return NearestNeighbors(n_neighbors=min(n_neighbors, len(X) - 1)).fit(X).kneighbors()
