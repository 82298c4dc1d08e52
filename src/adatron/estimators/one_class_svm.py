"""`OneClassSVM`: the support of a distribution, a drop-in for `sklearn.svm.OneClassSVM`."""

from functools import partialmethod
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from adatron.estimators.base import FitPlan
from adatron.estimators.callback_bridge import with_callbacks
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.expansion import DecisionMixin
from adatron.estimators.machine import SupportVectorMachine
from adatron.estimators.parameters import check_nu
from adatron.estimators.training_set import TrainingSet, weighted_set
from adatron.gram import Gram
from adatron.problems import one_class
from adatron.training import DualSolution

_ON_SURFACE = 1e-9  # scores below this part of the offset: rounding must not decide on which side they are


class OneClassSVM(OutlierMixin, DecisionMixin, SupportVectorMachine):
    """Novelty detection with a certificate.

    A drop-in for `sklearn.svm.OneClassSVM`, with the same names, conventions and scale of attributes.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, at most 1: at most this share of the weight lies outside, at least this share belongs to
        support vectors.
    kernel, degree, gamma, coef0 : as in `SVC`, default="rbf", 3, "scale", 0.0
    tol : float, default=1e-3
        Relative duality gap of the result; the fit aims at a tenth of it.
    shrinking, cache_size, verbose, max_iter : as in `SVC`, default=True, "auto", False, -1
    solver : {"auto", "adatron", "adatron-secant", "multiplicative"} or Solver, default="auto"
        As in `SVC`; "m3", "munk" and "rho" cannot keep the sum of the multipliers constant.
    learning_rate, rank, time_limit, warm_start : as in `SVC`, default="auto", None, None, False
    random_state, n_jobs, exact_certificate : as in `SVR`, default=None, None, False

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        Coefficients lie between 0 and the weight of their row, and sum to ``nu`` times the total weight.
    offset_ : ndarray of shape (1,)
        ``decision_function(X) = score_samples(X) - offset_``.
    coef_, n_iter_, shape_fit_, status_, converged_, fit_status_, finished_exactly_ : as in `SVC`
    kernel_error_, bias_interval_, gap_is_exact_ : as in `SVC`
    duality_gap_ : float
        Relative duality gap, recomputed apart from the solver. Where the optimum all but vanishes (the origin
        lies within the hull of the points in feature space, as it easily does with linear and polynomial
        kernels), no relative gap means much: an objective below 1e-8 of the largest k(x, x) is then replaced
        by that value.
    plain_gap_ : float
        The gap relative to the objectives as they are; larger than `duality_gap_` only in that case.
    history_ : dict of lists
        As in `SVC`, for multipliers that sum to 1.
    encoder_ : TableEncoder
        What turned a data frame with categories, text, dates or missing values into numbers, if X was one.

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

    _training_set = partialmethod(weighted_set, has_targets=False)
    _encodes_tables = True
    _aim = 0.1  # which rows are inliers turns on the fourth digit, and a tenth of tol costs a round or two

    def __init__(
        self, nu=0.5, kernel="rbf", *, degree=3, gamma="scale", coef0=0.0, tol=1e-3, shrinking=True,
        cache_size="auto", verbose=False, max_iter=-1, solver="auto", learning_rate="auto", rank=None,
        time_limit=None, warm_start=False, random_state=None, n_jobs=None,
        exact_certificate=False,
    ):  # fmt: skip
        self._set_parameters(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on `X` (n_samples, n_features), or a square kernel matrix.

        Parameters
        ----------
        X : as in `SVC.fit`
        y, sample_weight : ignored, and as in `SVC.fit`, optional

        Returns
        -------
        Self
        """
        self._fit(X, None, sample_weight)
        return self

    def _shaped(self, decisions: np.ndarray) -> np.ndarray:
        is_on_surface = np.abs(decisions[:, 0]) <= _ON_SURFACE * np.abs(self.offset_)
        return np.where(is_on_surface, 0.0, decisions[:, 0])

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

    def _predicted(self, decisions: np.ndarray) -> np.ndarray:
        return np.where(self._shaped(decisions) >= 0.0, 1, -1)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if self.offset_ != -self.intercept_ or self.dual_coef_.min() < 0.0:
            raise ValueError("offset_ is not -intercept_, or dual_coef_ has negative multipliers")

    def _check_parameters(self) -> None:
        check_nu(self.nu)
        super()._check_parameters()

    def _problems(self, gram: Gram, data: TrainingSet, layout: Any) -> list[Any]:
        return [one_class(gram, data.weights, float(self.nu))]

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        weights = plan.data.weights
        scale = float(self.nu) * float(weights.sum())  # scikit-learn's Σα
        attributes = self._expanded(plan, solutions, scale * solutions[0].alpha[:, None], scale)
        return attributes | {
            "offset_": -attributes["intercept_"],
            "plain_gap_": float(solutions[0].plain_gap),
            "_bound": float(weights.max()),
        }
