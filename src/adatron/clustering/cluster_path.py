"""How clusters split as the width σ of the kernel falls, and which σ and ν to take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import adjusted_rand_score

from adatron.clustering.edges import neighbour_distances
from adatron.clustering.labels import DistinctRows, cluster_labels, contour_of
from adatron.exceptions import KernelError
from adatron.gram import RowGram
from adatron.kernels import Gaussian
from adatron.problems import enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import DualSolution, Run, rounds

__all__ = ["NUS", "ClusterPath", "cluster_path", "widths"]

NUS = (0.05, 0.1, 0.2, 0.3, 0.4)
_STEP = 2.0**0.25  # of σ: half an octave of σ²
_WIDTHS_AT_MOST = 24
_NEIGHBOURS = 12  # the narrowest kernel reaches about this many of the other rows
_LEAST_PART = 0.1  # of the grid: several clusters that appear less often are an accident
_ALIKE = 0.75  # adjusted Rand index from which clusters differ only in their outliers
_ROUNDING = 64 * np.finfo(float).eps  # a spread below this part of the mean is rounding
_MAX_ITER = 10_000
_CACHE = 2**26  # bytes of kernel values


@dataclass(frozen=True)
class ClusterPath:
    """Clusterings of the same rows for falling widths of the kernel.

    Parameters
    ----------
    sigmas : array of shape (n_sigmas,)
        Widths, the largest first.
    nus : array of shape (n_nus,)
    labels : array of shape (n_nus, n_sigmas, n_rows)
        −1 for outliers.
    rows : array of shape (n_rows,)
        The rows of X that took part.

    References
    ----------
    A. Ben-Hur, D. Horn, H. T. Siegelmann, V. Vapnik, *Support Vector Clustering*, JMLR 2, 2001.

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
        """Places of the ν and σ to take: the middle of the longest stretch with the usual clusters.

        Usual are the most frequent clusters from 2 on, or a single cluster where those are rare. Of the ν
        for which they hold for most σ, the smallest is taken, and the middle of its longest run.

        Returns
        -------
        nu, sigma : int
            Places in `nus` and `sigmas`.
        """
        usual = _usual(self.labels.reshape(-1, self.labels.shape[2])).reshape(self.labels.shape[:2])
        nu = int(usual.sum(axis=1).argmax())
        begin, end = _longest_run(usual[nu])
        return nu, (begin + end - 1) // 2


def _usual(settings: np.ndarray) -> np.ndarray:
    """Which of the settings, one in each row of labels, give the usual clusters.

    Equal numbers are not enough: narrow kernels also cut a piece off one of two clusters that touch.
    """
    counts = settings.max(axis=1) + 1
    alike: list[list[int]] = []
    for i in np.flatnonzero(counts >= 2).tolist():
        for group in alike:
            if _are_alike(settings[group[0]], settings[i]):
                group.append(i)
                break
        else:
            alike.append([i])
    largest = max(alike, key=len, default=[])
    if len(largest) >= _LEAST_PART * len(settings):
        return np.isin(np.arange(len(settings)), largest)
    return counts == (1 if (counts == 1).any() else counts.min())


def _are_alike(labels: np.ndarray, others: np.ndarray) -> bool:
    return bool(labels.max() == others.max() and adjusted_rand_score(labels, others) >= _ALIKE)


def _longest_run(flags: np.ndarray) -> tuple[int, int]:
    """Begin and end of the first of the longest runs of True."""
    padded = np.concatenate([[False], flags, [False]]).astype(np.int8)
    begins, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
    longest = int((ends - begins).argmax())
    return int(begins[longest]), int(ends[longest])


def widths(X: np.ndarray) -> np.ndarray:
    """Widths to try: from the spread of all rows down to the distance of near neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.clustering.cluster_path import widths
    >>> widths(np.array([[0.0], [1.0], [5.0], [6.0]])).round(2)
    array([1.8 , 1.52, 1.27, 1.07, 0.9 , 0.76])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centre = X.mean(axis=0)
        spread = float(np.square(X - centre).sum(axis=1).mean())  # β, as for gamma="mean"
    if not np.isfinite(spread):
        raise KernelError("the variance of X overflows float64; scale X (e.g. with StandardScaler)")
    if spread <= max(_ROUNDING * float(np.abs(X).max()), np.finfo(float).tiny ** 0.5) ** 2:
        return np.ones(1)  # all rows are equal: any width gives one cluster
    distinct = np.unique(X, axis=0)
    n_neighbors = max(1, min(_NEIGHBOURS, len(distinct) // 10))
    nearest = float(np.median(neighbour_distances(distinct, n_neighbors)))
    steps = np.log(max(np.sqrt(spread) / nearest, 1.0)) / np.log(_STEP)
    return np.sqrt(0.5 * spread) * _STEP ** -np.arange(min(int(steps) + 1, _WIDTHS_AT_MOST))


def cluster_path(
    X: np.ndarray,
    places: np.ndarray,
    sigmas: np.ndarray,
    nus: np.ndarray,
    *,
    n_neighbors: int,
    n_samples: int,
    share: float,
    tol: float,
) -> ClusterPath:
    """Cluster the rows `places` of `X` for every ν and σ."""
    X = X[places]
    rows = DistinctRows(X, n_neighbors)
    labels = np.empty((len(nus), len(sigmas), len(X)), dtype=np.int64)
    for j, sigma in enumerate(sigmas):
        kernel = Gaussian.of_width(float(sigma))
        for i, nu in enumerate(nus):
            solution = _ball(kernel, X, float(nu), tol)
            contour = contour_of(kernel, X, solution, tol)
            outputs = contour.outputs(rows.X)
            labels[i, j] = cluster_labels(contour, rows, solution.alpha, outputs, n_samples, share)
    return ClusterPath(np.asarray(sigmas), np.asarray(nus), labels, places)


def _ball(kernel: Gaussian, X: np.ndarray, nu: float, tol: float) -> DualSolution:
    """In float32, which is quick and does to compare settings; the fit itself is as exact as others."""
    problem = enclosing_ball(RowGram(kernel, X, _CACHE, np.float32), np.ones(len(X)), nu)
    run = Run(problem, GreedyAdatron(), tol=tol, max_iter=_MAX_ITER)
    for _ in rounds([run]):
        pass
    return run.snapshot()[0]
