"""`SupportVectorClustering`: clusters of any shape, as many as there are, and outliers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin, clone
from sklearn.callback import with_callbacks

from adatron.clustering.cluster_path import NUS, ClusterPath, cluster_path, widths
from adatron.clustering.labels import DistinctRows, cluster_labels, contour_of
from adatron.estimators.base import DEFAULT_MAX_ITER, FitPlan, KernelMachine, summary_attributes
from adatron.estimators.inputs import check_training_X
from adatron.estimators.parameters import (
    as_random_state,
    check_common_parameters,
    check_integer,
    check_number,
)
from adatron.gram import choose_rows
from adatron.kernels import Gaussian
from adatron.problems import Ball, enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import DualSolution, Run

__all__ = ["SupportVectorClustering"]

_SHARE = "a number between 0 and 1"
_PATH_ROWS = 1_500  # that a choice of σ and ν rests on, at most


class SupportVectorClustering(ClusterMixin, KernelMachine):
    """Support vector clustering with a certificate: no number of clusters to give.

    The smallest ball around the images of the rows under a Gaussian kernel, with the part `nu` of them
    allowed outside, is a set of contours in the space of the rows. Rows are connected when the segment
    between them stays inside, and what is connected is a cluster, unless it is too small for one. Other
    rows belong to the nearest cluster if they are around it: if the output of the ball's centre is at
    least a third of that on the contour, there and on the way. The rest are outliers.

    Parameters
    ----------
    sigma : "auto" or float, default="auto"
        Width of the kernel ``exp(-|x - z|² / (2 sigma²))``. "auto" clusters the rows (1,500 of them, if
        there are more) for widths from their spread down to the distance of near neighbours, with each
        `nu`, and takes the middle of the longest stretch that has the most frequent clusters.
    nu : "auto" or float, default="auto"
        Part of the rows that may lie outside the ball, from 0 to below 1; "auto" tries 0.05, 0.1, 0.2,
        0.3 and 0.4.
    n_neighbors : int, default=12
        Neighbours of each row to which a connection is tested; all rows, up to 300 of them.
    n_samples_per_edge : int, default=7
        Points tested on the segment between two rows.
    min_cluster_size : float, default=0.04
        Part of the rows inside the ball below which a component is no cluster.
    tol : float, default=1e-3
        Relative duality gap at which the fit of the ball ends.
    cache_size : float or "auto", default="auto"
        Memory for kernel values in MB.
    random_state : int, RandomState instance or None, default=None
        Chooses the rows for "auto" when there are more than 1,500.
    verbose : bool or int, default=False

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters 0, 1, … in the order in which they first occur; −1 for outliers.
    n_clusters_ : int
    radius_ : float
        Of the ball in feature space.
    support_, support_vectors_ : ndarray
        Rows on the surface of the ball or outside it.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the centre of the ball; they sum to 1.
    sigma_, gamma_, nu_ : float
        What was used; ``gamma_ = 1 / (2 sigma_²)``.
    path_ : ClusterPath
        The clusterings from which `sigma` and `nu` were chosen, if one of them was "auto".
    duality_gap_ : float
        Relative duality gap of the ball, recomputed apart from the solver; a squared radius below 1e-8 of
        the largest k(x, x) is replaced by that value.
    status_ : Status
    converged_, finished_exactly_ : bool
    n_iter_ : int
    history_ : dict of lists
        As in `SVC`.

    References
    ----------
    A. Ben-Hur, D. Horn, H. T. Siegelmann, V. Vapnik, *Support Vector Clustering*, JMLR 2, 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from adatron import SupportVectorClustering
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = SupportVectorClustering().fit(X)
    >>> model.n_clusters_, len(set(zip(model.labels_.tolist(), y.tolist())))
    (2, 2)
    """

    max_iter, time_limit, rank = -1, None, None  # limits of other machines that this one does not offer
    _more_epochs = "raise tol, or scale X"

    def __init__(
        self,
        sigma="auto",
        nu="auto",
        *,
        n_neighbors=12,
        n_samples_per_edge=7,
        min_cluster_size=0.04,
        tol=1e-3,
        cache_size="auto",
        random_state=None,
        verbose=False,
    ):
        self.sigma = sigma
        self.nu = nu
        self.n_neighbors = n_neighbors
        self.n_samples_per_edge = n_samples_per_edge
        self.min_cluster_size = min_cluster_size
        self.tol = tol
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> SupportVectorClustering:
        """Cluster the rows of `X` (n_samples, n_features).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : optional
            Ignored.

        Returns
        -------
        SupportVectorClustering
        """
        self._fit(X, None, None)
        return self

    def path(self, X: Any, sigmas: Any = None) -> ClusterPath:
        """Cluster the rows of `X` for falling widths, without fitting the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            1,500 of the rows are used if there are more.
        sigmas : array-like, optional
            Widths; default: those that ``sigma="auto"`` tries, whatever `sigma` is.

        Returns
        -------
        ClusterPath
            For every value of `nu` that is tried.
        """
        settings = self._checked_settings()
        X = _checked_rows(clone(self), X)
        if sigmas is not None:
            given = [_width("sigmas", sigma, "finite numbers > 0") for sigma in np.ravel(sigmas).tolist()]
            sigmas = np.sort(given)[::-1]
            if len(sigmas) == 0:
                raise ValueError("sigmas must be None or have at least one width, got none")
        return self._path(X, settings, sigmas)

    def _checked_settings(self) -> dict[str, Any]:
        check_common_parameters(self)
        self._given_sigma()
        self._given_nu()
        share = check_number("min_cluster_size", self.min_cluster_size, allowed=_SHARE)
        if share >= 1.0:
            raise ValueError(f"min_cluster_size must be {_SHARE}, got {self.min_cluster_size!r}")
        return {
            "n_neighbors": _count("n_neighbors", self.n_neighbors),
            "n_samples": _count("n_samples_per_edge", self.n_samples_per_edge),
            "share": share,
            "tol": check_number("tol", self.tol),
        }

    def _given_sigma(self) -> np.ndarray | None:
        """The width in an array, None for "auto"."""
        if isinstance(self.sigma, str) and self.sigma == "auto":
            return None
        return np.array([_width("sigma", self.sigma, "'auto' or a finite number > 0")])

    def _given_nu(self) -> np.ndarray | None:
        """The ν in an array, None for "auto"."""
        if isinstance(self.nu, str) and self.nu == "auto":
            return None
        if not isinstance(self.nu, Real) or isinstance(self.nu, bool) or not 0.0 <= float(self.nu) < 1.0:
            raise ValueError(f"nu must be 'auto' or a number from 0 to below 1, got {self.nu!r}")
        return np.array([float(self.nu)])

    def _path(self, X: np.ndarray, settings: dict[str, Any], sigmas: np.ndarray | None) -> ClusterPath:
        m = len(X)
        places = np.arange(m)
        if m > _PATH_ROWS:
            places = np.sort(as_random_state(self.random_state).choice(m, _PATH_ROWS, replace=False))
        sigmas = widths(X[places]) if sigmas is None else sigmas
        nus = self._given_nu()
        return cluster_path(X, places, sigmas, np.array(NUS) if nus is None else nus, **settings)

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        settings = self._checked_settings()
        X = _checked_rows(self, X)
        extras: dict[str, Any] = {"X": X, "settings": settings}
        sigmas, nus = self._given_sigma(), self._given_nu()
        if sigmas is None or nus is None:
            path = extras["path"] = self._path(X, settings, sigmas)
            i, j = path.choice()
            sigmas, nus = path.sigmas[j : j + 1], path.nus[i : i + 1]
        extras["sigma"], extras["nu"] = float(sigmas[0]), float(nus[0])
        kernel = extras["gaussian"] = Gaussian.of_width(extras["sigma"])
        choice = choose_rows(kernel, X, self.cache_size)
        extras["reason"] = f"sigma={extras['sigma']:.4g}, nu={extras['nu']:.4g}; {choice.reason}"
        problem = enclosing_ball(choice.gram, np.ones(len(X)), extras["nu"])
        run = Run(problem, GreedyAdatron(), tol=settings["tol"], max_iter=DEFAULT_MAX_ITER, eager=True)
        return FitPlan(kernel, [run], None, 1, extras=extras)

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        (solution,) = solutions
        X, settings, kernel = (plan.extras[name] for name in ("X", "settings", "gaussian"))
        rows = DistinctRows(X, settings["n_neighbors"])
        contour = contour_of(kernel, X, solution, settings["tol"])
        outputs = contour.outputs(rows.X)
        labels = cluster_labels(
            contour, rows, solution.alpha, outputs, settings["n_samples"], settings["share"]
        )
        support = np.flatnonzero(solution.alpha)
        attributes = summary_attributes(solutions) | {
            "labels_": labels,
            "n_clusters_": int(labels.max()) + 1,
            "radius_": _radius(solution, outputs[rows.inverse]),
            "support_": support.astype(np.int32),
            "support_vectors_": X[support],
            "dual_coef_": solution.alpha[None, support],
            "sigma_": plan.extras["sigma"],
            "gamma_": float(kernel.gamma),
            "nu_": plan.extras["nu"],
            "n_iter_": solution.n_iter,
        }
        return attributes | {"path_": plan.extras["path"]} if "path" in plan.extras else attributes


def _count(name: str, value: Any) -> int:
    return check_integer(name, value, at_least=1, allowed="an integer >= 1")


def _width(name: str, value: Any, allowed: str) -> float:
    sigma = check_number(name, value, allowed=allowed)
    if not 1e-150 < sigma < 1e150:
        raise ValueError(f"{name} must be from 1e-150 to 1e150, got {value!r}: its square is lost; scale X")
    return sigma


def _checked_rows(estimator: SupportVectorClustering, X: Any) -> np.ndarray:
    if sparse.issparse(X):
        raise TypeError(
            "SupportVectorClustering needs dense rows, X is a sparse matrix; pass X.toarray(), "
            "or fewer columns (e.g. from TruncatedSVD)"
        )
    return check_training_X(estimator, X)


def _radius(solution: DualSolution, outputs: np.ndarray) -> float:
    centre_squared = float(solution.alpha @ outputs)
    ball = Ball(solution.alpha, centre_squared, max(centre_squared + 2.0 * solution.bias, 0.0))
    return float(np.sqrt(ball.radius_squared))
