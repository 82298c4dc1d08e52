"""From an enclosing ball to clusters: rows are connected where the segment between them stays inside.

In feature space the ball is one piece; where its surface comes back to the space of the rows it may be
several contours (Ben-Hur, Horn, Siegelmann & Vapnik 2001). Whether x lies inside is a matter of its
output ``f(x) = Σ α_i k(x_i, x)`` alone, for ``k(x, x) = 1``: inside is ``f(x) ≥ level``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from adatron.clustering.edges import Edges, candidate_edges
from adatron.gram import expand
from adatron.kernels import Gaussian
from adatron.training import DualSolution

__all__ = ["Contour", "DistinctRows", "cluster_labels", "contour_of"]

_FRINGE = 1.0 / 3.0  # part of the level above which rows around a cluster belong to it
_POINTS_AT_ONCE = 2**22  # numbers in the points of segments that are evaluated together
_FIRST_BATCH = 256  # edges


@dataclass(frozen=True)
class Contour:
    """The surface of a ball, seen in the space of the rows."""

    kernel: Gaussian
    vectors: np.ndarray
    coefficients: np.ndarray  # of the vectors, sum 1
    level: float  # output on the surface
    tol: float  # part of the level that the solution leaves open

    def outputs(self, X: np.ndarray, precision: type = np.float64) -> np.ndarray:
        return expand(self.kernel, X, self.vectors, self.coefficients[:, None], precision)[:, 0]

    @cached_property
    def precision(self) -> type:
        """Float32 where its rounding of the exponent ``γ|x − z|²`` is far below what `tol` leaves open."""
        radius = np.linalg.norm(self.vectors - self.vectors.mean(axis=0), axis=1).max()
        rounding = 8.0 * np.finfo(np.float32).eps * self.kernel.gamma * radius**2
        return np.float32 if 10.0 * rounding <= self.tol else np.float64

    def is_inside(self, outputs: np.ndarray) -> np.ndarray:
        return outputs >= self.level * (1.0 - self.tol)


def contour_of(kernel: Gaussian, X: np.ndarray, solution: DualSolution, tol: float) -> Contour:
    """The contour of a solution of `enclosing_ball`, on whose surface ``½ k(x, x) − f = bias``."""
    support = np.flatnonzero(solution.alpha)
    return Contour(kernel, X[support], solution.alpha[support], 0.5 - solution.bias, tol)


class DistinctRows:
    """The different rows of X and the pairs to test: a row that occurs often is not its own neighbour."""

    def __init__(self, X: np.ndarray, n_neighbors: int) -> None:
        self.X, inverse, self.counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
        self.inverse = inverse.ravel()
        self.edges = candidate_edges(self.X, n_neighbors)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean of a value of all rows over the equal ones."""
        return np.bincount(self.inverse, values, len(self.X)) / self.counts


def cluster_labels(
    contour: Contour, rows: DistinctRows, alpha: np.ndarray, outputs: np.ndarray, n_samples: int, share: float
) -> np.ndarray:
    """A cluster for every row of X, −1 for outliers.

    Parameters
    ----------
    contour : Contour
    rows : DistinctRows
    alpha : array of shape (m,)
        Multipliers of all rows of X.
    outputs : array of shape (n_distinct,)
        Of the distinct rows.
    n_samples : int
        Points tested on each segment.
    share : float
        Part of the rows inside below which a component is no cluster.
    """
    inside = contour.is_inside(outputs)
    component = np.where(inside, _components(contour, rows, inside, n_samples), -1)
    cluster = _large(component, rows.counts, share)
    fringe = replace(contour, level=_FRINGE * contour.level)
    without_itself = outputs - rows.mean(alpha)  # a lonely row must not vouch for itself
    loose = (cluster < 0) & fringe.is_inside(without_itself)
    return _numbered(_attached(fringe, rows.X, cluster, loose, n_samples)[rows.inverse])


def _large(component: np.ndarray, counts: np.ndarray, share: float) -> np.ndarray:
    """Components with enough rows; −1 for the rest."""
    names, inverse = np.unique(component, return_inverse=True)
    sizes = np.bincount(inverse, counts)
    sizes[names < 0] = 0.0
    return np.where((sizes >= max(share * sizes.sum(), min(2, counts.sum())))[inverse], component, -1)


def _attached(
    fringe: Contour, X: np.ndarray, cluster: np.ndarray, loose: np.ndarray, n_samples: int
) -> np.ndarray:
    """Loose rows join the cluster of the nearest row that has one, if the way there stays in the fringe."""
    core, loose = np.flatnonzero(cluster >= 0), np.flatnonzero(loose)
    if len(core) and len(loose):
        _, nearest = NearestNeighbors(n_neighbors=1).fit(X[core]).kneighbors(X[loose])
        found = _connected(fringe, X, Edges(loose, core[nearest[:, 0]]), n_samples)
        cluster[found.first] = cluster[found.second]
    return cluster


def _components(contour: Contour, rows: DistinctRows, inside: np.ndarray, n_samples: int) -> np.ndarray:
    """Component of every distinct row; short edges go first, and spare the long ones within a component."""
    edges = rows.edges.where(inside[rows.edges.first] & inside[rows.edges.second])
    component = np.arange(len(inside))
    start, size = 0, max(_FIRST_BATCH, len(inside))
    while start < len(edges):
        batch = edges.where(np.arange(start, min(start + size, len(edges))))
        batch = batch.where(component[batch.first] != component[batch.second])
        found = _connected(contour, rows.X, batch, n_samples)
        component = _joined(component, found)
        start, size = start + size, 2 * size
    return component


def _connected(contour: Contour, X: np.ndarray, edges: Edges, n_samples: int) -> Edges:
    """The edges whose segments stay inside; most that do not leave it at the middle."""
    fractions = np.arange(1, n_samples + 1) / (n_samples + 1)
    order = np.argsort(np.abs(fractions - 0.5), kind="stable")
    for some in (fractions[order[:1]], fractions[order[1:]]):
        if len(some) and len(edges):
            edges = edges.where(_stay_inside(contour, X, edges, some))
    return edges


def _stay_inside(contour: Contour, X: np.ndarray, edges: Edges, fractions: np.ndarray) -> np.ndarray:
    """Whether all points at `fractions` of each segment are inside, from few large kernel evaluations."""
    kept = np.empty(len(edges), dtype=bool)
    step = max(1, _POINTS_AT_ONCE // (X.shape[1] * len(fractions)))
    for start in range(0, len(edges), step):
        part = slice(start, start + step)
        begin, end = X[edges.first[part], None], X[edges.second[part], None]
        points = begin + fractions[None, :, None] * (end - begin)
        outputs = contour.outputs(points.reshape(-1, X.shape[1]), contour.precision)
        kept[part] = contour.is_inside(outputs).reshape(-1, len(fractions)).all(axis=1)
    return kept


def _joined(component: np.ndarray, edges: Edges) -> np.ndarray:
    m = len(component)
    ends = component[edges.first], component[edges.second]
    graph = sparse.coo_array((np.ones(len(edges)), ends), shape=(m, m))
    return connected_components(graph, directed=False)[1][component]


def _numbered(cluster: np.ndarray) -> np.ndarray:
    """Clusters 0, 1, … in the order in which they first occur; −1 stays."""
    names, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    numbers = np.full(len(names), -1)
    order = np.argsort(first[names >= 0])
    numbers[np.flatnonzero(names >= 0)[order]] = np.arange(len(order))
    return numbers[inverse]
