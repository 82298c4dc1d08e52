"""Clusters from an enclosing ball, how they split as the width σ falls, and the choice of σ and ν.

In feature space a ball is one piece; in the space of the rows its surface may be several contours. As
``k(x, x) = 1``, x lies inside if its output ``f(x) = Σ α_i k(x_i, x)`` is at least a level. Rows are
connected where the segment between them stays inside.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from adatron.estimators.parameters import as_random_state
from adatron.exceptions import KernelError
from adatron.gram import Regime, RowGram, expand
from adatron.kernels import Gaussian
from adatron.problems import enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import DualSolution, GapRule, Run, solved

_STEP, _WIDTHS_AT_MOST = 2.0**0.25, 24  # of σ: half an octave of σ²
_NEIGHBOURS = 12  # the narrowest kernel reaches about this many of the other rows
_LEAST_PART = 0.1  # of the grid: clusters that appear less often are ignored
_ALIKE = 0.75  # adjusted Rand index from which clusters differ only in their outliers
_ROUNDING = 64 * np.finfo(float).eps  # a spread below this part of the mean is rounding
_MAX_ITER, _CACHE = 10_000, 2**26  # epochs, and bytes of kernel values
_FRINGE = 1.0 / 3.0  # part of the level above which rows around a cluster belong to it
_POINTS_AT_ONCE = 2**22  # numbers in the points of segments that are evaluated together


class Settings(NamedTuple):
    """How rows are connected, and which components are clusters."""

    n_neighbors: int  # of each row to which a connection is tested
    n_samples: int  # points tested on each segment
    share: float  # part of the rows inside below which a component is no cluster
    tol: float  # part of the level that the solution leaves open
    regime: Regime


@dataclass(frozen=True)
class ClusterPath:
    """Clusterings of the same rows for falling widths of the kernel.

    Parameters
    ----------
    sigmas, nus : array of shape (n_sigmas,) and (n_nus,), the widths falling
    labels : array of shape (n_nus, n_sigmas, n_rows), −1 for outliers
    rows : array of shape (n_rows,), the rows of X that took part

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.clustering import ClusterPath
    >>> labels = np.array([[[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, -1]]])
    >>> path = ClusterPath(np.array([4.0, 2.0, 1.0]), np.array([0.1]), labels, np.arange(4))
    >>> path.n_clusters, path.outlier_share, path.choice()
    (array([[1, 2, 2]]), array([[0.  , 0.  , 0.25]]), (0, 1))
    """

    sigmas: np.ndarray
    nus: np.ndarray
    labels: np.ndarray
    rows: np.ndarray

    @property
    def n_clusters(self) -> np.ndarray:
        """Number of clusters for every ν and σ."""
        return self.labels.max(axis=2) + 1

    @property
    def outlier_share(self) -> np.ndarray:
        """Part of the rows that are outliers, for every ν and σ."""
        return np.mean(self.labels < 0, axis=2)

    def choice(self) -> tuple[int, int]:
        """Indices of the chosen ν and σ: the middle of the longest stretch with the usual clusters.

        Usual are the most frequent clusters from 2 on, or a single one where those are rare. Of the ν for
        which they hold for most σ, the smallest is taken.

        Returns
        -------
        nu, sigma : int
        """
        usual = _usual(self.labels.reshape(-1, self.labels.shape[2])).reshape(self.labels.shape[:2])
        nu = int(usual.sum(axis=1).argmax())
        steps = np.diff(np.concatenate([[False], usual[nu], [False]]).astype(np.int8))
        begins, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
        longest = int((ends - begins).argmax())
        return nu, int(begins[longest] + ends[longest] - 1) // 2


def _usual(settings: np.ndarray) -> np.ndarray:
    """Which of the settings, one in each row of labels, give the usual clusters.

    Equal numbers are not enough: narrow kernels also cut a piece off one of two clusters that touch.
    """
    counts = settings.max(axis=1) + 1
    alike: list[list[int]] = []
    for i in np.flatnonzero(counts >= 2).tolist():
        for group in alike:
            first = group[0]
            if counts[first] == counts[i] and adjusted_rand_score(settings[first], settings[i]) >= _ALIKE:
                group.append(i)
                break
        else:
            alike.append([i])
    largest = max(alike, key=len, default=[])
    if len(largest) >= _LEAST_PART * len(settings):
        return np.isin(np.arange(len(settings)), largest)
    return counts == (1 if (counts == 1).any() else counts.min())


def cluster_path(X: np.ndarray, sigmas: Any, nus: Any, settings: Settings, random_state: Any) -> ClusterPath:
    """Cluster the rows of `X`, or 1,500 of them if there are more, for every ν and σ (None: `_widths`)."""
    places, most = np.arange(len(X)), settings.regime.cluster_path_rows
    if len(X) > most:
        places = np.sort(as_random_state(random_state).choice(len(X), most, replace=False))
        X = X[places]
    sigmas = _widths(X) if sigmas is None else sigmas
    rows = DistinctRows(X, settings)
    labels = np.empty((len(nus), len(sigmas), len(X)), dtype=np.int64)
    for j, sigma in enumerate(sigmas):
        kernel = Gaussian.of_width(float(sigma))
        for i, nu in enumerate(nus):
            # float32 is enough to compare settings; the final fit is as exact as any other
            problem = enclosing_ball(RowGram(kernel, X, _CACHE, np.float32), np.ones(len(X)), float(nu))
            run = Run(problem, GreedyAdatron(), GapRule(settings.tol), max_iter=_MAX_ITER)
            labels[i, j], _ = cluster_labels(kernel, rows, solved([run])[0])
    return ClusterPath(sigmas, nus, labels, places)


def _widths(X: np.ndarray) -> np.ndarray:
    """From the spread of the rows down to the distance of near neighbours."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.square(X - X.mean(axis=0)).sum(axis=1).mean())  # β, as for gamma="mean"
    if not np.isfinite(spread):
        raise KernelError("the variance of X overflows float64; scale X (e.g. with StandardScaler)")
    if spread <= max(_ROUNDING * float(np.abs(X).max()), np.finfo(float).tiny ** 0.5) ** 2:
        return np.ones(1)  # all rows are equal: any width gives one cluster
    distinct = np.unique(X, axis=0)
    n_neighbors = max(1, min(_NEIGHBOURS, len(distinct) // 10))
    distances, _ = NearestNeighbors(n_neighbors=n_neighbors).fit(distinct).kneighbors()
    nearest = float(np.median(distances[:, -1]))
    steps = np.log(max(np.sqrt(spread) / nearest, 1.0)) / np.log(_STEP)
    return np.sqrt(0.5 * spread) * _STEP ** -np.arange(min(int(steps) + 1, _WIDTHS_AT_MOST))


class DistinctRows:
    """The distinct rows of X, and pairs to test, closest first: all of few rows, neighbours of many."""

    def __init__(self, X: np.ndarray, settings: Settings) -> None:
        self.X, self.settings = X, settings
        self.distinct, inverse, self.counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
        self.inverse, rows, m = inverse.ravel(), self.distinct, len(self.distinct)
        if m <= settings.regime.all_edges_up_to:
            low, high = np.triu_indices(m, 1)
            lengths = np.linalg.norm(rows[low] - rows[high], axis=1)
        else:
            nearest = NearestNeighbors(n_neighbors=min(settings.n_neighbors, m - 1)).fit(rows)
            distances, neighbours = nearest.kneighbors()
            own, others = np.repeat(np.arange(m), neighbours.shape[1]), neighbours.ravel()
            low, high = np.minimum(own, others), np.maximum(own, others)
            _, once = np.unique(low * m + high, return_index=True)  # neighbours of each other are one pair
            low, high, lengths = low[once], high[once], distances.ravel()[once]
        self.edges = np.column_stack([low, high])[np.argsort(lengths, kind="stable")]


class _Contour:
    """The surface of a ball, seen in the space of the rows."""

    def __init__(self, kernel: Gaussian, rows: DistinctRows, solution: DualSolution):
        support = np.flatnonzero(solution.alpha)
        self.kernel, self.vectors, self.coefficients = kernel, rows.X[support], solution.alpha[support]
        self.level = 0.5 - solution.bias  # on the surface ½ k(x, x) − f = bias
        self.rows, self.settings = rows.distinct, rows.settings
        radius = np.linalg.norm(self.vectors - self.vectors.mean(axis=0), axis=1).max()
        rounding = 8.0 * np.finfo(np.float32).eps * kernel.gamma * radius**2  # of the exponent γ|x − z|²
        self.precision = np.float32 if 10.0 * rounding <= self.settings.tol else np.float64

    def outputs(self, X: np.ndarray, precision: type = np.float64) -> np.ndarray:
        return expand(self.kernel, X, self.vectors, self.coefficients[:, None], precision)[:, 0]

    def is_inside(self, outputs: np.ndarray, part: float = 1.0) -> np.ndarray:
        """Whether outputs are at least that part of the level."""
        return outputs >= part * self.level * (1.0 - self.settings.tol)

    def connected(self, edges: np.ndarray, part: float = 1.0) -> np.ndarray:
        """The edges whose segments stay inside, from few large kernel evaluations."""
        n, d = self.settings.n_samples, self.rows.shape[1]
        fractions = np.arange(1, n + 1) / (n + 1)
        fractions = fractions[np.argsort(np.abs(fractions - 0.5), kind="stable")]
        for some in filter(len, (fractions[:1], fractions[1:])):  # most edges that leave do so at the middle
            stays, step = np.empty(len(edges), dtype=bool), max(1, _POINTS_AT_ONCE // (d * len(some)))
            for start in range(0, len(edges), step):
                batch = slice(start, start + step)
                begin, end = self.rows[edges[batch, 0], None], self.rows[edges[batch, 1], None]
                points = begin + some[None, :, None] * (end - begin)
                inside = self.is_inside(self.outputs(points.reshape(-1, d), self.precision), part)
                stays[batch] = inside.reshape(-1, len(some)).all(axis=1)
            edges = edges[stays]
        return edges

    def components(self, edges: np.ndarray) -> np.ndarray:
        """Component of every distinct row; after short edges, long ones within a component need no test."""
        m, component = len(self.rows), np.arange(len(self.rows))
        start, size = 0, max(256, m)
        while start < len(edges):
            batch = edges[start : start + size]
            batch = batch[component[batch[:, 0]] != component[batch[:, 1]]]
            found = component[self.connected(batch)]
            graph = sparse.coo_array((np.ones(len(found)), (found[:, 0], found[:, 1])), shape=(m, m))
            component = connected_components(graph, directed=False)[1][component]
            start, size = start + size, 2 * size
        return component


def cluster_labels(kernel: Gaussian, rows: DistinctRows, solution: DualSolution) -> tuple:
    """A cluster for every row of X, −1 for outliers, and its output; `solution` is that of all rows of X."""
    contour, m = _Contour(kernel, rows, solution), len(rows.distinct)
    outputs = contour.outputs(rows.distinct)
    inside = contour.is_inside(outputs)
    component = contour.components(rows.edges[inside[rows.edges].all(axis=1)])
    sizes = np.bincount(component[inside], rows.counts[inside], m)
    is_large = sizes >= max(rows.settings.share * sizes.sum(), min(2, len(rows.X)))
    cluster = np.where(inside & is_large[component], component, -1)
    # other rows join the cluster of the nearest row that has one, if the way there stays in the fringe
    multipliers = np.bincount(rows.inverse, solution.alpha, m) / rows.counts
    is_around = contour.is_inside(outputs - multipliers, _FRINGE)  # without the row's own contribution
    core, loose = np.flatnonzero(cluster >= 0), np.flatnonzero((cluster < 0) & is_around)
    if len(core) and len(loose):
        index = NearestNeighbors(n_neighbors=1).fit(rows.distinct[core])
        nearest = index.kneighbors(rows.distinct[loose], return_distance=False)[:, 0]
        ways = contour.connected(np.column_stack([loose, core[nearest]]), _FRINGE)
        cluster[ways[:, 0]] = cluster[ways[:, 1]]
    # clusters 0, 1, … in the order in which they first occur in X
    cluster = cluster[rows.inverse]
    names, first = np.unique(cluster[cluster >= 0], return_index=True)
    numbers = np.full(m + 1, -1)  # the last one stays: it is that of cluster −1
    numbers[names[np.argsort(first)]] = np.arange(len(names))
    return numbers[cluster], outputs[rows.inverse]
