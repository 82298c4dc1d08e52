"""`SupportVectorClustering`: clusters of any shape, as many as there are, and outliers."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin, clone

from adatron.clustering.cluster_path import ClusterPath, DistinctRows, Settings, cluster_labels, cluster_path
from adatron.estimators import parameters
from adatron.estimators.base import FitPlan, KernelMachine, summary_attributes
from adatron.estimators.callback_bridge import with_callbacks
from adatron.estimators.training_set import TrainingSet, weighted_set
from adatron.gram import choose_gram
from adatron.kernels import Gaussian
from adatron.problems import enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import DualSolution, GapRule, Run

_NUS = (0.05, 0.1, 0.2, 0.3, 0.4)  # that "auto" tries


class SupportVectorClustering(ClusterMixin, KernelMachine):
    """Support vector clustering with a certificate: no number of clusters to give.

    The smallest ball around the images of the rows under a Gaussian kernel, with the part `nu` of them
    allowed outside, is a set of contours in the space of the rows. Rows are connected when the segment
    between them stays inside, and a connected component is a cluster, unless it is too small. Other
    rows belong to the nearest cluster if they are around it: if the output of the ball's centre is at
    least a third of that on the contour, there and on the way. The rest are outliers.

    Parameters
    ----------
    sigma : "auto" or float, default="auto"
        Width of the kernel ``exp(-|x - z|² / (2 sigma²))``. "auto" clusters the rows (1,500 of them, if
        there are more) for widths from their spread down to the distance of near neighbours, with each
        `nu`, and takes the middle of the longest stretch that has the most frequent clusters.
    nu : "auto" or float, default="auto"
        Part of the rows that may lie outside the ball, from 0 to below 1; "auto" tries 0.05 to 0.4.
    n_neighbors, n_samples_per_edge : int, default=12, 7
        Neighbours of each row to which a connection is tested (all, up to 300 rows), and points tested on it.
    min_cluster_size : float, default=0.04
        Part of the rows inside the ball below which a component is no cluster.
    tol, cache_size, random_state, verbose : as for `SVC`, default=1e-3, "auto", None, False
        `random_state` chooses the rows for "auto" when there are more than 1,500.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters 0, 1, … in the order in which they first occur; −1 for outliers.
    n_clusters_, radius_ : number of clusters, and radius of the ball in feature space
    support_, support_vectors_, dual_coef_ : ndarray
        Rows on the surface of the ball or outside it, and coefficients of its centre, which sum to 1.
    sigma_, gamma_, nu_ : what was used; ``gamma_ = 1 / (2 sigma_²)``
    path_ : the `ClusterPath` from which `sigma` and `nu` were chosen, if one of them was "auto"
    duality_gap_ : float
        Recomputed apart from the solver; relative to the squared radius, or 1e-8 of the largest k(x, x).
    gap_is_exact_, status_, converged_, finished_exactly_, n_iter_, history_ : as in `SVC`
    encoder_ : as in `OneClassSVM`

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

    kernel = "rbf"  # the only one; not a parameter
    max_iter, time_limit = -1, None  # parameters that this estimator does not offer
    _encodes_tables = True
    _accepts_sparse, _more_epochs = False, "raise tol, or scale X"

    def __init__(
        self, sigma="auto", nu="auto", *, n_neighbors=12, n_samples_per_edge=7, min_cluster_size=0.04,
        tol=1e-3, cache_size="auto", random_state=None, verbose=False,
    ):  # fmt: skip
        self._set_parameters(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored, optional

        Returns
        -------
        SupportVectorClustering
        """
        self._fit(X, None, None)
        return self

    def path(self, X: Any, sigmas: Any = None) -> ClusterPath:
        """Cluster the rows of `X`, or 1,500 of them, for falling widths, without fitting the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sigmas : array-like, optional
            Widths; default: those that ``sigma="auto"`` tries, whatever `sigma` is.

        Returns
        -------
        ClusterPath
        """
        _, nus, settings = self._checked_parameters()
        X = _checked_rows(clone(self), X).X
        if sigmas is not None:
            given = [_width("sigmas", sigma, "finite numbers > 0") for sigma in np.ravel(sigmas).tolist()]
            sigmas = np.sort(given)[::-1]
            if len(sigmas) == 0:
                raise ValueError("sigmas must be None or have at least one width, got none")
        return cluster_path(X, sigmas, nus, settings, self.random_state)

    def _checked_parameters(self) -> tuple[np.ndarray | None, np.ndarray, Settings]:
        """The width in an array, or None for "auto"; the values of ν; the settings of the labels."""
        parameters.check_common_parameters(self)
        sigmas, nus = None, np.array(_NUS)
        if not (isinstance(self.sigma, str) and self.sigma == "auto"):
            sigmas = np.array([_width("sigma", self.sigma, "'auto' or a finite number > 0")])
        if not (isinstance(self.nu, str) and self.nu == "auto"):
            allowed = "'auto' or a number from 0 to below 1"
            nus = np.array([parameters.check_number("nu", self.nu, allowed, lambda nu: 0.0 <= nu < 1.0)])
        allowed, share = "a number between 0 and 1", self.min_cluster_size
        settings = Settings(
            n_neighbors=parameters.check_integer("n_neighbors", self.n_neighbors),
            n_samples=parameters.check_integer("n_samples_per_edge", self.n_samples_per_edge),
            share=parameters.check_number("min_cluster_size", share, allowed, lambda part: 0.0 < part < 1.0),
            tol=parameters.check_number("tol", self.tol),
            regime=self._regime,
        )
        return sigmas, nus, settings

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        sigmas, nus, settings = self._checked_parameters()
        data, path = _checked_rows(self, X), None
        if sigmas is None or len(nus) > 1:
            path = cluster_path(data.X, sigmas, nus, settings, self.random_state)
            i, j = path.choice()
            sigmas, nus = path.sigmas[[j]], path.nus[[i]]
        sigma, nu = float(sigmas[0]), float(nus[0])
        kernel = Gaussian.of_width(sigma)
        choice = choose_gram(kernel, data.X, self.cache_size, needs_few_rows=True, regime=self._regime)
        problem = enclosing_ball(choice.gram, data.weights, nu)
        rule = GapRule(settings.tol, eager=True, regime=self._regime)
        run = Run(problem, GreedyAdatron(), rule, max_iter=parameters.check_max_iter(-1))
        known: dict[str, Any] = {"sigma_": sigma, "gamma_": float(kernel.gamma), "nu_": nu}
        known |= {} if path is None else {"path_": path}
        reason = f"sigma={sigma:.4g}, nu={nu:.4g}; {choice.reason}"
        return FitPlan(kernel, data, choice.gram, [run], reason, known=known)

    def _attributes(self, plan: Any, solutions: list[DualSolution]) -> dict[str, Any]:
        (solution,), (_, _, settings) = solutions, self._checked_parameters()
        X, support = plan.data.X, np.flatnonzero(solution.alpha)
        labels, outputs = cluster_labels(plan.kernel, DistinctRows(X, settings), solution)
        centre_squared = float(solution.alpha @ outputs)
        return summary_attributes(solutions) | plan.known | {
            "labels_": labels, "n_clusters_": int(labels.max()) + 1,
            "radius_": float(np.sqrt(max(centre_squared + 2.0 * solution.bias, 0.0))),
            "support_": support.astype(np.int32), "support_vectors_": X[support],
            "dual_coef_": solution.alpha[None, support], "n_iter_": solution.n_iter,
        }  # fmt: skip

    def _check_fitted(self) -> None:
        super()._check_fitted()
        alpha, shape = self.dual_coef_, (len(self.support_), self._n_encoded)
        if alpha.min() < 0.0 or abs(alpha.sum() - 1.0) > 1e-6 or self.support_vectors_.shape != shape:
            raise ValueError("dual_coef_ is no convex combination of the support vectors")
        if not 0.0 <= self.radius_ < np.inf or self.labels_.max() + 1 != self.n_clusters_:
            raise ValueError(f"radius_ is {self.radius_}, or n_clusters_ is not the number of labels_")


def _width(name: str, value: Any, allowed: str) -> float:
    sigma = parameters.check_number(name, value, allowed=allowed)
    if not 1e-150 < sigma < 1e150:
        raise ValueError(f"{name} must be from 1e-150 to 1e150, got {value!r}: its square is lost; scale X")
    return sigma


def _checked_rows(estimator: SupportVectorClustering, X: Any) -> TrainingSet:
    if sparse.issparse(X):
        ways = "pass X.toarray(), or fewer columns (e.g. from TruncatedSVD)"
        raise TypeError(f"SupportVectorClustering needs dense rows, X is a sparse matrix; {ways}")
    return weighted_set(estimator, X, None, None, has_targets=False)
