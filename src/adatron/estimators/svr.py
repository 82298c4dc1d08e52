"""`SVR`: regression of the middle or of a quantile of the targets, a drop-in for `sklearn.svm.SVR`."""

from functools import partialmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from adatron.estimators import parameters
from adatron.estimators.base import FitPlan
from adatron.estimators.machine import SupportVectorMachine, bounds_from
from adatron.estimators.reduction import ReducibleMixin
from adatron.estimators.training_set import TrainingSet, weighted_set
from adatron.exceptions import InfeasibleError
from adatron.gram import Gram
from adatron.problems import regression
from adatron.training import DualSolution

_LARGEST_BOUND = 1e50  # in units of the kernel
_AS_GOOD_AS_INFINITE = 1e6  # bound on multipliers for C=inf, in units of the targets over the kernel


class SVR(ReducibleMixin, RegressorMixin, SupportVectorMachine):
    """Support vector regression with a certificate.

    A drop-in for `sklearn.svm.SVR`: parameters and fitted attributes have the same names and conventions.

    Parameters
    ----------
    C : float, default=1.0
        Bound on the multipliers: the price of a target one unit outside of the tube; ``float("inf")``
        allows none outside, which is an `InfeasibleError` where it would take multipliers above 1e6 times the
        targets over the kernel.
    epsilon : float, default=0.1
        Half the width of the tube within which errors cost nothing. A quantile has no tube.
    kernel, degree, gamma, coef0 : as in `SVC`, default="rbf", 3, "scale", 0.0
    tol : float, default=1e-3
        Relative duality gap of the result; the fit aims at half of it. Up to 500 rows, and for a
        `tol` below 1e-4, the optimum is then looked for exactly.
    shrinking, cache_size, verbose, max_iter : as in `SVC`, default=True, "auto", False, -1
    fit_intercept : bool, default=True
    solver : {"auto", "adatron", "adatron-secant", "multiplicative", "m3"} or Solver, default="auto"
        As in `SVC`; "m3" fits no bias. "munk" and "rho" are for classification only.
    learning_rate, rank, time_limit, warm_start : as in `SVC`, default="auto", None, None, False
    random_state : int, RandomState instance or None, default=None
        Used for the landmarks of `rank`.
    n_jobs : int, default=None
        Accepted for symmetry with `SVC`: there is one problem, and kernel values are always evaluated on
        as many threads as BLAS may use.
    exact_certificate : as in `SVC`, default=False
    loss : {"epsilon_insensitive", "quantile"}, default="epsilon_insensitive"
        What C multiplies: errors beyond the tube, or the pinball loss of a quantile, which is `quantile`
        times the error where the target is above the prediction, ``1 - quantile`` times where it is below.
    quantile : float, default=0.5
        Between 0 and 1: with ``loss="quantile"`` about this share of the weight has targets below the
        prediction, and exactly so, up to the rows on the curve, if a bias is fitted. 0.5 is the median.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_, coef_, shape_fit_ : as in `SVC`
    duality_gap_, gap_is_exact_, status_, converged_, fit_status_, finished_exactly_ : as in `SVC`
    kernel_error_, bias_interval_ : as in `SVC`
    history_ : dict of lists
        As in `SVC`; with a bias, objective and bias are those of targets moved to the middle of their range.

    References
    ----------
    H. Drucker, C. J. C. Burges, L. Kaufman, A. Smola, V. Vapnik, *Support Vector Regression Machines*,
    NIPS 9, 1997. A. J. Smola, B. Schölkopf, *A Tutorial on Support Vector Regression*, Statistics and
    Computing 14, 2004. I. Takeuchi, Q. V. Le, T. D. Sears, A. J. Smola, *Nonparametric Quantile Estimation*,
    JMLR 7, 2006 (``loss="quantile"``).

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import SVR
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> model = SVR(C=10.0, epsilon=0.01).fit(X, np.sin(X).ravel())
    >>> model.converged_, bool(np.abs(model.predict(X) - np.sin(X).ravel()).max() < 0.02)
    (True, True)
    >>> y = np.sin(X).ravel() + np.random.default_rng(0).normal(size=50)
    >>> upper = SVR(loss="quantile", quantile=0.9).fit(X, y)
    >>> round(float(np.mean(y <= upper.predict(X) + 1e-9)), 2)
    0.92
    """

    _training_set = partialmethod(weighted_set, has_targets=True)
    _aim = 0.5  # at a gap of 1e-3 the third digit of R² still moves, and half of it costs a round more

    def __init__(
        self, C=1.0, epsilon=0.1, kernel="rbf", *, degree=3, gamma="scale", coef0=0.0, tol=1e-3,
        shrinking=True, cache_size="auto", verbose=False, max_iter=-1, fit_intercept=True, solver="auto",
        learning_rate="auto", rank=None, time_limit=None, warm_start=False, random_state=None, n_jobs=None,
        exact_certificate=False, loss="epsilon_insensitive", quantile=0.5,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        parameters.check_number("C", self.C, "a number > 0 (inf for a tube without slack)", lambda C: C > 0.0)
        parameters.check_epsilon(self.epsilon)
        parameters.check_choice("loss", self.loss, ["epsilon_insensitive", "quantile"])
        allowed = "a number between 0 and 1, such as 0.9"
        parameters.check_number("quantile", self.quantile, allowed, lambda share: 0.0 < share < 1.0)
        super()._check_parameters()

    def _problems(self, gram: Gram, data: TrainingSet, layout: Any) -> list[Any]:
        quantile = float(self.quantile) if self.loss == "quantile" else None
        targets = data.targets - self._centre(data)
        epsilon = float(self.epsilon) if quantile is None else 0.0
        if np.isinf(self.C):
            if not parameters.is_precomputed(self.kernel) and not gram.is_elsewhere:
                _check_one_tube(data, epsilon)
            upper = np.full(len(targets), bound_for_a_tube(targets, epsilon, gram.diagonal().max()))
        else:
            upper = self._bounds(gram, data)
        bias = bool(self.fit_intercept)
        return [regression(gram, targets, upper, epsilon=epsilon, bias=bias, quantile=quantile)]

    def _bounds(self, gram: Gram, data: TrainingSet) -> np.ndarray:
        """C times the weight of each row."""
        upper = bounds_from(self.C, data.weights)
        if upper.max() * gram.diagonal().max() > _LARGEST_BOUND:
            excess = f"C={self.C!r} times the kernel exceeds {_LARGEST_BOUND:g}"
            raise ValueError(f"{excess}; use C=1e6 or so, or scale X")
        return upper

    def _centre(self, data: TrainingSet) -> float:
        """The middle of the targets, which a bias makes up for: sums of smaller targets lose fewer digits."""
        return 0.5 * float(data.targets.min() + data.targets.max()) if self.fit_intercept else 0.0

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        alpha, data = solutions[0].alpha, plan.data
        if np.isinf(self.C):  # multipliers at the bound: targets farther than epsilon from any function
            upper = plan.runs[0].problem.upper[:, 0]
            stuck = np.flatnonzero((alpha >= upper) & (upper > 0.0)) % data.m
            if len(stuck):
                rows = ", ".join(str(row) for row in sorted(set(data.rows[stuck].tolist()))[:5])
                raise InfeasibleError(
                    "no function of this kernel stays within epsilon of all targets, as C=inf asks for, "
                    f"unless its multipliers exceed {upper.max():.2g}; the rows that it misses are {rows}"
                    f"{', …' if len(stuck) > 5 else ''}. Set C < inf, a larger epsilon or a narrower kernel"
                )
        above, below = alpha.reshape(2, -1)
        attributes = self._expanded(plan, solutions, (above - below)[:, None], shift=self._centre(data))
        return attributes | {"_bound": float(self.C * data.weights.max())}


def bound_for_a_tube(targets: np.ndarray, epsilon: float, diagonal: float) -> float:
    """The bound for C = inf: one that no multiplier reaches is as good as none."""
    return _AS_GOOD_AS_INFINITE * max(float(np.abs(targets).max()), epsilon, 1e-300) / diagonal


def _check_one_tube(data: TrainingSet, epsilon: float) -> None:
    """Refuse equal rows whose targets do not fit into one tube: no function passes within epsilon of both."""
    if pair := data.conflict(data.targets, 2.0 * epsilon):
        (low, high), (row, other) = data.targets[[*pair]], data.rows[[*pair]]
        raise InfeasibleError(
            f"no function stays within epsilon={epsilon:g} of all targets, as C=inf asks for: rows {row} "
            f"and {other} of X coincide but have the targets {low:g} and {high:g}; set C < inf or a larger "
            "epsilon"
        )
