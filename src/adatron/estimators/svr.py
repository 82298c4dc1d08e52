"""`SVR`: ε-insensitive support vector regression, a drop-in for `sklearn.svm.SVR`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from adatron.estimators.base import FitPlan
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.kernel_choice import is_precomputed
from adatron.estimators.machine import SingleExpansion, bounds_from
from adatron.estimators.parameters import check_finite_number, check_number
from adatron.estimators.separability import check_one_tube
from adatron.estimators.training_set import TrainingSet, weighted_set
from adatron.exceptions import InfeasibleError
from adatron.gram import Gram
from adatron.problems import DualProblem, regression
from adatron.training import DualSolution

__all__ = ["SVR"]

_LARGEST_BOUND = 1e50  # in units of the kernel
_AS_GOOD_AS_INFINITE = 1e6  # bound on multipliers for C=inf, in units of the targets over the kernel


class SVR(RegressorMixin, SingleExpansion):
    """Support vector regression with a certificate.

    Changing ``from sklearn.svm import SVR`` to ``from adatron import SVR`` works: parameters and
    fitted attributes have the same names and conventions.

    Parameters
    ----------
    C : float, default=1.0
        Bound on the multipliers: the price of a target one unit outside of the tube; ``float("inf")``
        allows none outside, and is an `InfeasibleError` where no function of the kernel can do that with
        multipliers of up to 1e6 times the targets over the kernel.
    epsilon : float, default=0.1
        Half the width of the tube within which errors cost nothing.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
    degree : int, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is ``1 / (n_features * variance of X)``, the variance weighted like the rows.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Relative duality gap of the result; the fit aims at half of it. Up to 500 rows, and for a
        `tol` below 1e-4, the optimum is then looked for exactly.
    shrinking : bool, default=True
        Accepted for compatibility.
    cache_size : float or "auto", default="auto"
        Memory for kernel values in MB; "auto" is half of what is free, at most 3 GB.
    verbose : bool or int, default=False
    max_iter : int, default=-1
        Epochs at most; -1 is 100,000. With "multiplicative" and "m3" and no `time_limit`, -1 also ends a
        fit that would need more at the rate it has reached after 3,000.
    fit_intercept : bool, default=True
        Whether a bias is fitted.
    solver : {"auto", "adatron", "adatron-secant", "multiplicative", "m3"} or Solver, default="auto"
        As for `SVC`; "m3" fits no bias. "munk" and "rho" are for classification only.
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
        Accepted for symmetry with `SVC`: there is one problem, and kernel values are always evaluated on
        as many threads as BLAS may use.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
    n_iter_ : int
    coef_ : ndarray
        Weights of the features, for a linear kernel.
    fit_status_ : int
        0 if the fit converged.
    shape_fit_ : tuple
    duality_gap_ : float
        Relative duality gap, recomputed apart from the solver.
    status_ : Status
        Why the fit ended; ``status_.sentence`` says it in words.
    converged_ : bool
    kernel_error_ : float
        Relative trace error of the approximated kernel matrix, with `rank`.
    finished_exactly_ : bool
        Whether the exact finish gave the model; `history_` ends with the last epoch before it.
    bias_interval_ : ndarray of shape (1, 2)
        All biases that are equally good; `intercept_` is the middle.
    history_ : dict of lists
        ``problem, epoch, seconds, objective, margin, bias, violation`` of every epoch kept; with a bias,
        objective and bias are those of targets moved to the middle of their range.

    References
    ----------
    H. Drucker, C. J. C. Burges, L. Kaufman, A. Smola, V. Vapnik, *Support Vector Regression Machines*,
    Advances in Neural Information Processing Systems 9, 1997.

    A. J. Smola, B. Schölkopf, *A Tutorial on Support Vector Regression*, Statistics and Computing 14, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import SVR
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> model = SVR(C=10.0, epsilon=0.01).fit(X, np.sin(X).ravel())
    >>> model.converged_, bool(np.abs(model.predict(X) - np.sin(X).ravel()).max() < 0.02)
    (True, True)
    """

    _accepts_dask = True
    _aim = 0.5  # at a gap of 1e-3 the third digit of R² still moves, and half of it costs a round more

    def __init__(
        self,
        C=1.0,
        epsilon=0.1,
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
        fit_intercept=True,
        solver="auto",
        learning_rate="auto",
        rank=None,
        time_limit=None,
        warm_start=False,
        random_state=None,
        n_jobs=None,
    ):
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.learning_rate = learning_rate
        self.rank = rank
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Train on `X` (n_samples, n_features), or a square kernel matrix, and targets `y`.

        Parameters
        ----------
        X : array-like or sparse matrix
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight multiplies C; a row of weight 2 counts as the row twice.

        Returns
        -------
        SVR
        """
        self._fit(X, y, sample_weight)
        return self

    @lazy_on_dask
    def predict(self, X: Any) -> np.ndarray:
        """The target of each row of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._outputs(X)

    def _check_parameters(self) -> dict[str, Any]:
        check_number("C", self.C, allow_inf=True, allowed="a number > 0 (inf for a tube without slack)")
        if check_finite_number("epsilon", self.epsilon) < 0.0:
            raise ValueError(f"epsilon must be a finite number >= 0, got {self.epsilon!r}; use 0 for no tube")
        return self._checked_settings()

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        data = weighted_set(self, X, y, sample_weight, has_targets=True)
        return data.centred_if_far() if self._may_be_moved else data

    def _problem(self, gram: Gram, data: TrainingSet) -> DualProblem:
        targets = data.targets - self._centre(data)
        if np.isinf(self.C):
            if not is_precomputed(self.kernel) and not gram.is_elsewhere:
                check_one_tube(data.X, data.targets, data.rows, float(self.epsilon))
            # a bound that no multiplier reaches is as good as none; _attributes looks whether any did
            largest = max(float(np.abs(targets).max()), float(self.epsilon), 1e-300)
            upper = np.full(len(targets), _AS_GOOD_AS_INFINITE * largest / gram.diagonal().max())
        else:
            upper = bounds_from(self.C, data.weights)
        if upper.max() * gram.diagonal().max() > _LARGEST_BOUND:
            raise ValueError(
                f"C={self.C!r} times the kernel exceeds {_LARGEST_BOUND:g}; use C=1e6 or so, or scale X"
            )
        return regression(gram, targets, upper, epsilon=float(self.epsilon), bias=bool(self.fit_intercept))

    def _centre(self, data: TrainingSet) -> float:
        """What a bias takes off the targets, so that sums of them lose fewer digits."""
        return 0.5 * float(data.targets.min() + data.targets.max()) if self.fit_intercept else 0.0

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        above, below = solutions[0].alpha.reshape(2, -1)
        data = plan.data
        if np.isinf(self.C):
            _check_tube(solutions[0], plan.runs[0].problem.upper[:, 0], data)
        attributes = self._expanded(plan, solutions, above - below, shift=self._centre(data))
        return attributes | {"_bound": float(self.C * data.weights.max())}


def _check_tube(solution: DualSolution, upper: np.ndarray, data: TrainingSet) -> None:
    """Raise when targets are farther than epsilon from any function of the kernel."""
    stuck = np.flatnonzero((solution.alpha >= upper) & (upper > 0.0)) % len(data.rows)
    if len(stuck):
        rows = ", ".join(str(row) for row in sorted(set(data.rows[stuck].tolist()))[:5])
        raise InfeasibleError(
            "no function of this kernel stays within epsilon of all targets, as C=inf asks for, unless its "
            f"multipliers exceed {upper.max():.2g}; the rows that it misses are "
            f"{rows}{', …' if len(stuck) > 5 else ''}. Set C < inf, a larger epsilon or a narrower kernel"
        )
