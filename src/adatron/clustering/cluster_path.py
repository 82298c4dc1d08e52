"""How clusters split as the width σ of the kernel falls, and which σ and ν to take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from adatron.clustering.labels import DistinctRows, LabelSettings, cluster_labels
from adatron.estimators.parameters import as_random_state
from adatron.exceptions import KernelError
from adatron.gram import RowGram
from adatron.kernels import Gaussian
from adatron.problems import enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, rounds

__all__ = ["NUS", "ClusterPath", "cluster_path"]

NUS = (0.05, 0.1, 0.2, 0.3, 0.4)
_ROWS_AT_MOST = 1_500
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


def cluster_path(
    X: np.ndarray, sigmas: np.ndarray | None, nus: np.ndarray, settings: LabelSettings, random_state: Any
) -> ClusterPath:
    """Cluster the rows of `X`, or 1,500 of them if there are more, for every ν and σ.

    Without `sigmas`, the widths go from the spread of the rows down to the distance of near neighbours.
    """
    places = np.arange(len(X))
    if len(X) > _ROWS_AT_MOST:
        places = np.sort(as_random_state(random_state).choice(len(X), _ROWS_AT_MOST, replace=False))
        X = X[places]
    sigmas = _widths(X) if sigmas is None else sigmas
    rows = DistinctRows(X, settings.n_neighbors)
    labels = np.empty((len(nus), len(sigmas), len(X)), dtype=np.int64)
    for j, sigma in enumerate(sigmas):
        kernel = Gaussian.of_width(float(sigma))
        for i, nu in enumerate(nus):
            # float32 is quick and does to compare settings; the fit itself is as exact as others
            gram = RowGram(kernel, X, _CACHE, np.float32)
            problem = enclosing_ball(gram, np.ones(len(X)), float(nu))
            run = Run(problem, GreedyAdatron(), GapRule(settings.tol), max_iter=_MAX_ITER)
            for _ in rounds([run]):
                pass
            labels[i, j], _ = cluster_labels(kernel, rows, run.snapshot()[0], settings)
    return ClusterPath(sigmas, nus, labels, places)


def _widths(X: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        centre = X.mean(axis=0)
        spread = float(np.square(X - centre).sum(axis=1).mean())  # β, as for gamma="mean"
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
