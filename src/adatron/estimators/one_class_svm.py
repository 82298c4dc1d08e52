"""`OneClassSVM`: the support of a distribution, a drop-in for `sklearn.svm.OneClassSVM`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.callback import with_callbacks

from adatron.estimators.base import FitPlan
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.machine import SingleExpansion
from adatron.estimators.parameters import check_number
from adatron.estimators.training_set import TrainingSet, weighted_set
from adatron.gram import Gram
from adatron.problems import DualProblem, one_class
from adatron.training import DualSolution

__all__ = ["OneClassSVM"]

_ON_SURFACE = 1e-9  # scores below this part of the offset: rounding must not decide on which side they are


class OneClassSVM(OutlierMixin, SingleExpansion):
    """Novelty detection with a certificate.

    Changing ``from sklearn.svm import OneClassSVM`` to ``from adatron import OneClassSVM`` works:
    parameters and fitted attributes have the same names, conventions and scale.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, at most 1: at most this part of the weight lies outside, at least this part belongs to
        support vectors.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
    degree : int, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is ``1 / (n_features * variance of X)``, the variance weighted like the rows.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Relative duality gap of the result; the fit aims at a tenth of it.
    shrinking : bool, default=True
        Accepted for compatibility.
    cache_size : float or "auto", default="auto"
        Memory for kernel values in MB; "auto" is half of what is free, at most 3 GB.
    verbose : bool or int, default=False
    max_iter : int, default=-1
        Epochs at most; -1 is 100,000. With "multiplicative" and no `time_limit`, -1 also ends a
        fit that would need more at the rate it has reached after 3,000.
    solver : {"auto", "adatron", "adatron-secant", "multiplicative"} or Solver, default="auto"
        As for `SVC`. "m3", "munk" and "rho" cannot keep the sum of the multipliers.
    learning_rate : "auto" or float, default="auto"
        The rate η of "adatron" or "multiplicative".
    rank : int or float, default=None
        Train on a low-rank approximation of the kernel, as for `SVC`.
    time_limit : float, default=None
        Seconds after which the fit ends with the best it has.
    warm_start : bool, default=False
        Start from the multipliers of the previous fit, if that had as many rows.
    random_state : int, RandomState instance or None, default=None
        Used for the landmarks of `rank`.
    n_jobs : int, default=None
        Accepted for symmetry with `SVC`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        Coefficients lie between 0 and the weight of their row, and sum to ``nu`` times the total weight.
    offset_ : ndarray of shape (1,)
        ``decision_function(X) = score_samples(X) - offset_``.
    n_iter_ : int
    coef_ : ndarray
        Weights of the features, for a linear kernel.
    fit_status_ : int
        0 if the fit converged.
    shape_fit_ : tuple
    duality_gap_ : float
        Relative duality gap, recomputed apart from the solver. Where the optimum all but vanishes (the origin
        lies within the hull of the points in feature space, as it easily does with linear and polynomial
        kernels), no relative gap means much: an objective below 1e-8 of the largest k(x, x) is then replaced
        by that value.
    plain_gap_ : float
        The gap relative to the objectives as they are; larger than `duality_gap_` only in that case.
    status_ : Status
        Why the fit ended; ``status_.sentence`` says it in words.
    converged_ : bool
    kernel_error_ : float
        Relative trace error of the approximated kernel matrix, with `rank`.
    finished_exactly_ : bool
    bias_interval_ : ndarray of shape (1, 2)
        All biases that are equally good; `intercept_` is the middle.
    history_ : dict of lists
        ``problem, epoch, seconds, objective, margin, bias, violation`` of every epoch kept, for
        multipliers that sum to 1.

    References
    ----------
    B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, *Estimating the Support of a
    High-Dimensional Distribution*, Neural Computation 13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    _accepts_dask = True

    _aim = 0.1  # which rows are inliers turns on the fourth digit, and a tenth of tol costs a round or two

    def __init__(
        self,
        nu=0.5,
        kernel="rbf",
        *,
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        shrinking=True,
        cache_size="auto",
        verbose=False,
        max_iter=-1,
        solver="auto",
        learning_rate="auto",
        rank=None,
        time_limit=None,
        warm_start=False,
        random_state=None,
        n_jobs=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.learning_rate = learning_rate
        self.rank = rank
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OneClassSVM:
        """Train on `X` (n_samples, n_features), or a square kernel matrix.

        Parameters
        ----------
        X : array-like or sparse matrix
        y : optional
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as the row twice.

        Returns
        -------
        OneClassSVM
        """
        self._fit(X, None, sample_weight)
        return self

    @lazy_on_dask
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed score of each row of `X`: positive within, negative outside, 0 on the surface.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._outputs(X)
        return np.where(np.abs(scores) <= _ON_SURFACE * np.abs(self.offset_), 0.0, scores)

    @lazy_on_dask
    def score_samples(self, X: Any) -> np.ndarray:
        """The decision function without its offset.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    @lazy_on_dask
    def predict(self, X: Any) -> np.ndarray:
        """1 for each row of `X` that lies within or on the surface, −1 for one outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def _check_parameters(self) -> dict[str, Any]:
        allowed = "a number above 0 and at most 1"
        if check_number("nu", self.nu, allowed=allowed) > 1.0:
            raise ValueError(f"nu must be {allowed}, got {self.nu!r}")
        return self._checked_settings()

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        return weighted_set(self, X, y, sample_weight, has_targets=False)

    def _problem(self, gram: Gram, data: TrainingSet) -> DualProblem:
        return one_class(gram, data.weights, float(self.nu))

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        weights = plan.data.weights
        scale = float(self.nu) * float(weights.sum())  # scikit-learn's Σα
        attributes = self._expanded(plan, solutions, scale * solutions[0].alpha, scale)
        return attributes | {
            "offset_": -attributes["intercept_"],
            "plain_gap_": float(solutions[0].plain_gap),
            "_bound": float(weights.max()),
        }
