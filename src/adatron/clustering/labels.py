"""From an enclosing ball to clusters: rows are connected where the segment between them stays inside.

In feature space the ball is one piece; where its surface comes back to the space of the rows it may be
several contours (Ben-Hur, Horn, Siegelmann & Vapnik 2001). Whether x lies inside is a matter of its
output ``f(x) = Σ α_i k(x_i, x)`` alone, for ``k(x, x) = 1``: inside is ``f(x) ≥ level``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from adatron.gram import expand
from adatron.kernels import Gaussian
from adatron.training import DualSolution

__all__ = ["DistinctRows", "LabelSettings", "cluster_labels"]

_COMPLETE_UP_TO = 300  # rows; the tests of all pairs of more would take longer than the ball
_FRINGE = 1.0 / 3.0  # part of the level above which rows around a cluster belong to it
_POINTS_AT_ONCE = 2**22  # numbers in the points of segments that are evaluated together
_FIRST_BATCH = 256  # edges


class LabelSettings(NamedTuple):
    """How rows are connected, and which components are clusters."""

    n_neighbors: int  # of each row to which a connection is tested
    n_samples: int  # points tested on each segment
    share: float  # part of the rows inside below which a component is no cluster
    tol: float  # part of the level that the solution leaves open


class DistinctRows:
    """The different rows of X and the pairs to test: a row that occurs often is not its own neighbour."""

    def __init__(self, X: np.ndarray, n_neighbors: int) -> None:
        self.X = X
        self.distinct, inverse, self.counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
        self.inverse = inverse.ravel()
        self.edges = _candidate_edges(self.distinct, n_neighbors)


def _candidate_edges(X: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Pairs of rows of `X` that may turn out to be connected, shape (n_edges, 2), the closest first.

    All pairs of few rows, near neighbours of many.
    """
    m = len(X)
    if m <= _COMPLETE_UP_TO:
        low, high = np.triu_indices(m, 1)
        lengths = np.linalg.norm(X[low] - X[high], axis=1)
    else:
        distances, neighbours = NearestNeighbors(n_neighbors=min(n_neighbors, m - 1)).fit(X).kneighbors()
        rows, others = np.repeat(np.arange(m), neighbours.shape[1]), neighbours.ravel()
        low, high = np.minimum(rows, others), np.maximum(rows, others)
        _, once = np.unique(low * m + high, return_index=True)  # neighbours of each other are one pair
        low, high, lengths = low[once], high[once], distances.ravel()[once]
    return np.column_stack([low, high])[np.argsort(lengths, kind="stable")]


@dataclass(frozen=True)
class _Contour:
    """The surface of a ball, seen in the space of the rows."""

    kernel: Gaussian
    vectors: np.ndarray
    coefficients: np.ndarray  # of the vectors, sum 1
    level: float  # output on the surface
    tol: float

    def outputs(self, X: np.ndarray, precision: type = np.float64) -> np.ndarray:
        return expand(self.kernel, X, self.vectors, self.coefficients[:, None], precision)[:, 0]

    def is_inside(self, outputs: np.ndarray) -> np.ndarray:
        return outputs >= self.level * (1.0 - self.tol)

    @cached_property
    def precision(self) -> type:
        """Float32 where its rounding of the exponent ``γ|x − z|²`` is far below what `tol` leaves open."""
        radius = np.linalg.norm(self.vectors - self.vectors.mean(axis=0), axis=1).max()
        rounding = 8.0 * np.finfo(np.float32).eps * self.kernel.gamma * radius**2
        return np.float32 if 10.0 * rounding <= self.tol else np.float64

    def connected(self, X: np.ndarray, edges: np.ndarray, n_samples: int) -> np.ndarray:
        """The edges whose segments stay inside, from few large kernel evaluations."""
        fractions = np.arange(1, n_samples + 1) / (n_samples + 1)
        fractions = fractions[np.argsort(np.abs(fractions - 0.5), kind="stable")]
        for some in (fractions[:1], fractions[1:]):  # most edges that leave do so at the middle
            if not len(some):
                continue
            stays = np.empty(len(edges), dtype=bool)
            step = max(1, _POINTS_AT_ONCE // (X.shape[1] * len(some)))
            for start in range(0, len(edges), step):
                part = slice(start, start + step)
                begin, end = X[edges[part, 0], None], X[edges[part, 1], None]
                points = begin + some[None, :, None] * (end - begin)
                outputs = self.outputs(points.reshape(-1, X.shape[1]), self.precision)
                stays[part] = self.is_inside(outputs).reshape(-1, len(some)).all(axis=1)
            edges = edges[stays]
        return edges


def cluster_labels(
    kernel: Gaussian, rows: DistinctRows, solution: DualSolution, settings: LabelSettings
) -> tuple[np.ndarray, np.ndarray]:
    """A cluster for every row of X, −1 for outliers; also the output of every row.

    `solution` is one of `enclosing_ball` for all rows of X, equal ones included.
    """
    support = np.flatnonzero(solution.alpha)
    level = 0.5 - solution.bias  # on the surface ½ k(x, x) − f = bias
    contour = _Contour(kernel, rows.X[support], solution.alpha[support], level, settings.tol)
    outputs = contour.outputs(rows.distinct)
    inside = contour.is_inside(outputs)
    component = _components(contour, rows, inside, settings.n_samples)

    sizes = np.bincount(component[inside], rows.counts[inside], len(inside))
    is_large = sizes >= max(settings.share * sizes.sum(), min(2, len(rows.X)))
    cluster = np.where(inside & is_large[component], component, -1)

    # Other rows join the cluster of the nearest row that has one, if the way there stays in the fringe.
    fringe = replace(contour, level=_FRINGE * contour.level)
    multipliers = np.bincount(rows.inverse, solution.alpha, len(inside)) / rows.counts
    loose = (cluster < 0) & fringe.is_inside(outputs - multipliers)  # a lonely row must not vouch for itself
    core, loose = np.flatnonzero(cluster >= 0), np.flatnonzero(loose)
    if len(core) and len(loose):
        X = rows.distinct
        _, nearest = NearestNeighbors(n_neighbors=1).fit(X[core]).kneighbors(X[loose])
        ways = fringe.connected(X, np.column_stack([loose, core[nearest[:, 0]]]), settings.n_samples)
        cluster[ways[:, 0]] = cluster[ways[:, 1]]

    # Clusters 0, 1, … in the order in which they first occur in X.
    cluster = cluster[rows.inverse]
    names, first = np.unique(cluster[cluster >= 0], return_index=True)
    numbers = np.full(len(inside) + 1, -1)  # the last one stays: it is that of cluster −1
    numbers[names[np.argsort(first)]] = np.arange(len(names))
    return numbers[cluster], outputs[rows.inverse]


def _components(contour: _Contour, rows: DistinctRows, inside: np.ndarray, n_samples: int) -> np.ndarray:
    """Component of every distinct row; short edges go first, and spare the long ones within a component."""
    m = len(inside)
    component = np.arange(m)
    edges = rows.edges[inside[rows.edges].all(axis=1)]
    start, size = 0, max(_FIRST_BATCH, m)
    while start < len(edges):
        batch = edges[start : start + size]
        batch = batch[component[batch[:, 0]] != component[batch[:, 1]]]
        found = component[contour.connected(rows.distinct, batch, n_samples)]
        graph = sparse.coo_array((np.ones(len(found)), (found[:, 0], found[:, 1])), shape=(m, m))
        component = connected_components(graph, directed=False)[1][component]
        start, size = start + size, 2 * size
    return component
