"""`LinearSVC` and `LinearSVR`: weights of the features instead of multipliers, for many rows or features."""

from functools import partialmethod
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from adatron.estimators import parameters
from adatron.estimators.base import FitTasks, KernelMachine, unfitted_on_error, warn_unless_converged
from adatron.estimators.callback_bridge import with_callbacks
from adatron.estimators.classifier import Layout, LayoutClassifier
from adatron.estimators.expansion import PredictMixin
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.machine import bounds_from
from adatron.estimators.training_set import TrainingSet, classification_set, weighted_set, with_constant
from adatron.exceptions import KernelError
from adatron.kernels import squared_norms
from adatron.solvers import LinearProblem, solve_linear
from adatron.training import Status

_LARGEST = 1e50  # C times the largest squared norm
_EXACT = 1e-10  # gap that few rows are trained to


class LinearMachine(PredictMixin, KernelMachine):
    """Base of the linear machines."""

    kernel = "linear"
    _training_set: Any  # (X, y, sample_weight) → TrainingSet: checks what `fit` is given
    _problems: Any  # (rows, data) → the `LinearProblem` of each class, or of the targets

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        with unfitted_on_error(self, BaseException):
            self._check_parameters()
            data = self._training_set(X, y, sample_weight)
            tasks = FitTasks(self, X, y, sample_weight, 0)
            rows = with_constant(data.X, float(self.intercept_scaling)) if self.fit_intercept else data.X
            goal = float(self.tol) if data.m > self._regime.finish_up_to else min(_EXACT, float(self.tol))
            with np.errstate(over="ignore"):
                norms = squared_norms(rows)
                if not np.isfinite(norms.sum() ** 2):
                    raise KernelError("squares of X overflow float64; scale X (e.g. with StandardScaler)")
            if float(self.C) * float(data.weights.max()) * float(norms.max()) > _LARGEST:
                raise ValueError(
                    f"C must be smaller for rows of this size, got {self.C!r}; scale X, or lower C"
                )
            found = [solve_linear(p, goal, int(self.max_iter)) for p in self._problems(rows, data)]
            weights, n_features = np.array([solution.w for solution in found]), data.shape[1]
            n_iter, gap = max(s.n_iter for s in found), max(s.gap for s in found)
            limit = Status.MAX_ITER if n_iter >= self.max_iter else Status.PRECISION_LIMIT
            status = Status.CONVERGED if gap <= self.tol else limit
            attributes: dict[str, Any] = {"classes_": data.classes} if len(data.classes) else {}
            attributes |= {
                "coef_": weights[:, :n_features] if len(data.classes) else weights[0, :n_features],
                "intercept_": float(self.intercept_scaling) * weights[:, n_features:].sum(axis=1),
                "n_iter_": n_iter, "duality_gap_": gap, "gap_is_exact_": True,
                "status_": status, "converged_": status is Status.CONVERGED, "_advice": "",
            }  # fmt: skip
            self.__dict__.update(attributes)
            tasks.ended(lambda: attributes)
        warn_unless_converged(self)
        return self

    def _check_parameters(self) -> None:
        for name in ("C", "tol", "intercept_scaling"):
            parameters.check_number(name, getattr(self, name))
        parameters.check_integer("max_iter", self.max_iter)
        parameters.check_flag("fit_intercept", self.fit_intercept)
        parameters.as_random_state(self.random_state)

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return np.asarray(check_predict_X(self, X) @ self.coef_.T) + self.intercept_


class LinearSVC(LayoutClassifier, LinearMachine):
    """Linear support vector classification with a certificate, for many rows or many features.

    Takes the place of `sklearn.svm.LinearSVC`: the same parameters, losses and attributes. Each class against
    the rest, or two classes, is one problem, ``½‖w‖² + C Σ loss``. As in LIBLINEAR the intercept is the
    weight of a constant feature, so that it is shrunk towards 0 like the others; `SVC` with
    ``kernel="linear"`` has one that is not.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual : bool or "auto", default="auto"
        Accepted for compatibility, without effect: primal and dual are solved together.
    tol : float, default=1e-4
        Relative duality gap at which the fit ends. Up to 1,000 rows it aims at 1e-10.
    C : float, default=1.0
    multi_class : {"ovr"}, default="ovr"
        For Crammer & Singer's problem use ``SVC(kernel="linear", multi_class="crammer_singer")``.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        The constant feature; the larger it is, the less the intercept is shrunk.
    class_weight : dict or "balanced", default=None
    verbose, random_state : default=0, None
        Accepted for compatibility: nothing is random.
    max_iter : int, default=1000
        Newton steps of each problem at most.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    n_iter_ : int
        Newton steps of the longest problem.
    duality_gap_ : float
        Relative duality gap, the worst over all problems.
    gap_is_exact_ : bool
        True: it is computed in float64.
    status_, converged_ : Status, bool
        Why the fit ended; ``status_.sentence`` says it in words.

    References
    ----------
    S. S. Keerthi, D. DeCoste, *A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs*,
    JMLR 6, 2005. R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, *LIBLINEAR*, JMLR 9, 2008.

    Examples
    --------
    >>> from adatron import LinearSVC
    >>> from adatron.datasets import load_breast_cancer_wisconsin
    >>> X, y = load_breast_cancer_wisconsin(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> model.converged_, bool(model.score(X, y) > 0.96), model.coef_.shape
    (True, True, (1, 9))
    """

    _training_set = classification_set

    def __init__(
        self, penalty="l2", loss="squared_hinge", *, dual="auto", tol=1e-4, C=1.0, multi_class="ovr",
        fit_intercept=True, intercept_scaling=1.0, class_weight=None, verbose=0, random_state=None,
        max_iter=1000,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_choice("penalty", self.penalty, ["l2"])
        parameters.check_choice("loss", self.loss, ["squared_hinge", "hinge"])
        parameters.check_choice("multi_class", self.multi_class, ["ovr"])

    def _problems(self, rows: Any, data: TrainingSet) -> list[LinearProblem]:
        layout = Layout(len(data.classes), "ovr").check_size(data.m)
        weights = [data.weights]
        if not layout.is_binary:  # as in LIBLINEAR, rows of the rest have no class weight
            unweighted = data.weights / data.class_weight[data.codes]
            weights = [np.where(data.codes == k, data.weights, unweighted) for k in range(layout.n_classes)]
        return [
            LinearProblem(rows, signs, bounds_from(self.C, own), squared=self.loss == "squared_hinge")
            for signs, own in zip(layout.signs(data.codes).T, weights, strict=True)
        ]

    @property
    def _layout(self) -> Layout:
        return Layout(len(self.classes_), "ovr")

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if self.coef_.shape != (len(self.intercept_), self.n_features_in_):
            raise ValueError("coef_ does not have a row for each intercept_ and a column for each feature")


class LinearSVR(RegressorMixin, LinearMachine):
    """Linear support vector regression with a certificate, for many rows or many features.

    Takes the place of `sklearn.svm.LinearSVR`: the same parameters, losses and attributes. As in LIBLINEAR
    the intercept is the weight of a constant feature, so that it is shrunk towards 0 like the others.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube within which errors cost nothing.
    tol, C : as in `LinearSVC`, default=1e-4, 1.0
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    fit_intercept, intercept_scaling : as in `LinearSVC`, default=True, 1.0
    dual, verbose, random_state, max_iter : as in `LinearSVC`, default="auto", 0, None, 1000

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    n_iter_, duality_gap_, gap_is_exact_, status_, converged_ : as in `LinearSVC`

    References
    ----------
    C.-H. Ho, C.-J. Lin, *Large-scale Linear Support Vector Regression*, JMLR 13, 2012. See also `LinearSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import LinearSVR
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = LinearSVR(C=100.0).fit(X, X @ [2.0, -1.0] + 0.5)
    >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()
    ([2.0, -1.0], [0.5])
    """

    _training_set = partialmethod(weighted_set, has_targets=True)

    def __init__(
        self, *, epsilon=0.0, tol=1e-4, C=1.0, loss="epsilon_insensitive", fit_intercept=True,
        intercept_scaling=1.0, dual="auto", verbose=0, random_state=None, max_iter=1000,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_epsilon(self.epsilon)
        parameters.check_choice("loss", self.loss, ["epsilon_insensitive", "squared_epsilon_insensitive"])

    def _problems(self, rows: Any, data: TrainingSet) -> list[LinearProblem]:
        is_squared, upper = self.loss == "squared_epsilon_insensitive", bounds_from(self.C, data.weights)
        return [LinearProblem(rows, data.targets, upper, squared=is_squared, epsilon=float(self.epsilon))]

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if self.coef_.shape != (self.n_features_in_,) or self.intercept_.shape != (1,):
            raise ValueError("coef_ does not have an entry for each feature, or intercept_ not one")

    def _predicted(self, decisions: np.ndarray) -> np.ndarray:
        return decisions
