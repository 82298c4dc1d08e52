"""`EnsembleSVC`: Tsang & Kwok 2007, section 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import FitPlan, summary_attributes
from adatron.estimators.classifier import ExpansionClassifier, expansion_attributes, landmark_attributes
from adatron.estimators.expansion import Expansion
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.kernel_choice import inspect_gram, kernel_from, probe_callable
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import (
    as_random_state,
    check_common_parameters,
    check_flag,
    check_max_iter,
    check_number,
    count_threads,
)
from adatron.estimators.svc import SVC
from adatron.estimators.training_set import classification_set, distinct_rows
from adatron.gram import FEW_COLUMNS, choose_gram, fetched_if
from adatron.kernels import Constant, Kernel, Precomputed
from adatron.problems import classification
from adatron.solvers import RhoSVM
from adatron.training import DualSolution, Run, StageRule

__all__ = ["EnsembleSVC"]


class EnsembleSVC(ExpansionClassifier):
    """Ensemble of partially trained support vector machines: no C to tune.

    A hard-margin ρ-SVM is trained with an adaptive rate; the hypotheses it passes through, from the Parzen
    window to the hard margin, are averaged with their rates as weights. The average is itself one kernel
    expansion, so it predicts at the cost of one SVM. It is boosting of weighted Parzen windows, and a
    classifier also where no hard margin exists. The last iterations depend on rounding: other orders of
    the rows, or sparse input, give slightly other numbers of stages and decision values.

    The stages are kept for `staged_predict`, 8 bytes for each row and stage (landmark and stage with
    `rank`). Above 1,000 rows kernel values are float32, where there are at most three class problems and the
    kernel is known to be positive semi-definite; what is computed with them is float64.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
    degree : int, default=3
    gamma : {"mean", "scale", "auto"} or float, default="mean"
        "mean" is the inverse of the mean squared distance of the rows to their (weighted) mean.
    coef0 : float, default=0.0
    eps : float, default=0.005
        Training ends when ε falls below.
    eps_init : float, default=0.1
        First ε.
    fit_intercept : bool, default=False
        Adds a constant 1 to the kernel, which takes the place of a bias.
    rank : int or float, default=None
        Low-rank kernel: a number of Nyström landmarks, or a relative trace error below 1. With landmarks
        for more than 100,000 rows the factor is float32 and whitened, which takes far fewer stages where
        classes overlap; X is then read block by block, and the landmarks are the support vectors.
    class_weight : dict or "balanced", default=None
    max_iter : int, default=10_000
        Iterations at most.
    time_limit : float, default=None
    cache_size : float or "auto", default="auto"
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks of `rank`.
    n_jobs : int, default=None
        Accepted; the classes are trained together as columns of one kernel matrix.
    verbose : bool or int, default=False

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`, one-vs-rest for more than two classes.
    n_iter_ : ndarray
        Accepted iterations of each class problem.
    stage_weights_ : ndarray of shape (n_stages,), or (n_stages, n_classes)
        The rates η_t.
    final_svm_ : SVC
        The ρ-SVM that training ended with, scaled to margin 1; with `fit_intercept` its intercept is the
        share of the constant in the kernel.
    duality_gap_ : float
        Relative gap of `final_svm_` as a hard-margin SVM; 1 if it separates nothing.
    status_, converged_, history_ : see `SVC`
    kernel_error_ : float
        Relative trace error of the approximated kernel, with `rank`.

    References
    ----------
    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007.

    Examples
    --------
    >>> from adatron import EnsembleSVC
    >>> from adatron.datasets import make_waveform
    >>> X, y = make_waveform(400, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> bool(EnsembleSVC().fit(X, y).score(X_test, y_test) > 0.85)
    True
    """

    _more_epochs = "raise max_iter or eps"

    _accepts_dask = True

    def __init__(
        self,
        kernel="rbf",
        *,
        degree=3,
        gamma="mean",
        coef0=0.0,
        eps=0.005,
        eps_init=0.1,
        fit_intercept=False,
        rank=None,
        class_weight=None,
        max_iter=10_000,
        time_limit=None,
        cache_size="auto",
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.eps = eps
        self.eps_init = eps_init
        self.fit_intercept = fit_intercept
        self.rank = rank
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.cache_size = cache_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> EnsembleSVC:
        """Train on `X` and labels `y`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            The first distribution over the rows.

        Returns
        -------
        EnsembleSVC
        """
        self._fit(X, y, sample_weight)
        return self

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        solver, max_iter = self._check_parameters()
        data = classification_set(self, X, y, sample_weight)
        # few rows of a cluster are brought here: no other matrix has the bits of the products of a whole one
        is_few = self.rank is None and data.m <= self._regime.whole_up_to
        data = replace(data, X=fetched_if(is_few, data.X))
        base = kernel_from(self, data.X, data.sample_weight)
        if not isinstance(base, Precomputed):
            data = data.merged(*distinct_rows(data, self._regime))
        probe_callable(base, data.X)
        layout = Layout(len(data.classes), "ovr")
        layout.check_size(len(data.codes))
        kernel = _with_constant(base, self.fit_intercept)
        rows = data.X + 1.0 if isinstance(base, Precomputed) and self.fit_intercept else data.X
        signs = layout.signs(data.codes)
        # Products with few columns keep the precision of float64 where values are float32; but these cannot
        # tell whether a kernel is indefinite.
        choice = choose_gram(
            kernel, rows, self.cache_size, self.rank, as_random_state(self.random_state), whitened=True,
            single=kernel.traits.psd and signs.shape[1] <= FEW_COLUMNS, regime=self._regime,
        )  # fmt: skip
        indefinite = inspect_gram(choice.gram, kernel)
        problem = classification(choice.gram, signs, np.full(len(signs), np.inf), bias=False)
        start = np.repeat((data.weights / data.weights.sum())[:, None], signs.shape[1], axis=1)
        rule = StageRule(indefinite=indefinite, regime=self._regime)
        return FitPlan(
            base, data, choice.gram, [Run(problem, solver, rule, max_iter=max_iter, alpha=start)],
            choice.reason, layout, constant=1.0 if self.fit_intercept else 0.0,
            time_limit=self.time_limit, n_threads=count_threads(self.n_jobs),
        )  # fmt: skip

    def _check_parameters(self) -> tuple[RhoSVM, int]:
        check_common_parameters(self)
        check_flag("fit_intercept", self.fit_intercept)
        eps, first = check_number("eps", self.eps), check_number("eps_init", self.eps_init)
        return RhoSVM(eps=eps, eps_init=first), check_max_iter(self.max_iter, 10_000)

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        rule: Any = plan.runs[0].rule
        attributes = self._expansion_of(plan, rule.ensemble())
        attributes |= summary_attributes(solutions)
        attributes["n_iter_"] = np.array([len(rates) for rates in rule.rates], dtype=np.int32)
        attributes["stage_weights_"] = _stage_weights(rule.rates)
        if not len(plan.runs[0].live):  # not for every callback on the way: that would take all stages
            attributes["final_svm_"] = self._final_svm(plan, solutions)
            attributes["_stages"] = _stage_coefficients(plan, rule)
        return attributes

    def _expansion_of(self, plan: FitPlan, alpha: np.ndarray) -> dict[str, Any]:
        """Attributes of the expansion with multipliers `alpha`; the kernel's constant becomes a bias."""
        signs = plan.layout.signs(plan.data.codes)
        factor = plan.gram.factor
        has_many_rows = factor is not None and factor.dtype == np.float32
        attributes_of = landmark_attributes if has_many_rows else expansion_attributes
        return attributes_of(plan, signs * alpha, np.zeros(alpha.shape[1]), plan.constant)

    def _final_svm(self, plan: FitPlan, solutions: list[DualSolution]) -> SVC:
        svm = SVC(float("inf"), plan.kernel, fit_intercept=False, solver="rho", multi_class="ovr")
        alpha = np.column_stack([solution.alpha for solution in solutions])
        attributes = self._expansion_of(plan, alpha) | summary_attributes(solutions)
        names = ("n_features_in_", "feature_names_in_")
        known = {name: getattr(self, name) for name in names if hasattr(self, name)}
        svm.__dict__.update(attributes | known, class_weight_=plan.data.class_weight)
        return svm

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Decision values of the ensemble after each stage; the first is the Parzen window.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Yields
        ------
        ndarray
            Shaped like that of `decision_function`.
        """
        check_is_fitted(self)
        if "_stages" not in vars(self):
            raise NotFittedError("there are no stages before the fit has ended")
        X = check_predict_X(self, X)
        vectors, stages, offsets = self._stages
        per_class = [
            Expansion(vectors, stage, offset, self._kernel, self._precision)(X)
            for stage, offset in zip(stages, offsets, strict=True)
        ]
        rates = np.atleast_2d(self.stage_weights_.T)
        for t in range(max(len(self.stage_weights_), 1)):
            averages = [_average(values, own, t) for values, own in zip(per_class, rates, strict=True)]
            yield self._shaped(np.column_stack(averages))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions of the ensemble after each stage.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for decisions in self.staged_decision_function(X):
            columns = decisions[:, None] if decisions.ndim == 1 else decisions
            yield self.classes_[self._layout.vote(columns)]


def _with_constant(kernel: Kernel, wanted: bool) -> Kernel:
    return kernel + Constant(1.0) if wanted and not isinstance(kernel, Precomputed) else kernel


def _stage_weights(rates: list[list[float]]) -> np.ndarray:
    """η_t of each problem, zero after its last stage."""
    longest = max(len(own) for own in rates)
    table = np.array([[*own, *[0.0] * (longest - len(own))] for own in rates]).T
    return table[:, 0] if len(rates) == 1 else table


def _stage_coefficients(plan: FitPlan, rule: StageRule) -> tuple[Any, list[np.ndarray], list[np.ndarray]]:
    """Rows, and for each problem the coefficients (rows, stages) and offsets (stages,)."""
    data, gram, y = plan.data, plan.gram, plan.runs[0].problem.y
    stages = []
    for column, own in enumerate(rule.stages):
        parzen = y[:, column] * rule.parzen[:, column]
        first = parzen if gram.has_entries else gram.weights_of(parzen[:, None])[:, 0]
        stages.append(np.array(own or [first]).T)
    if not gram.has_entries:
        stages, rows = [gram.projection @ stage for stage in stages], gram.landmark_rows
    elif isinstance(plan.kernel, Precomputed):
        rows = data.rows
    else:
        rows = data.X[np.arange(data.m)]  # a copy, not the user's
    return rows, stages, [plan.constant * stage.sum(axis=0) for stage in stages]


def _average(values: np.ndarray, rates: np.ndarray, t: int) -> np.ndarray:
    """``Σ_{s≤t} η_s f_s / Σ_{s≤t} η_s`` for one problem, whose stages may have ended before t."""
    last = min(t + 1, values.shape[1])
    weights = rates[:last] if rates[:last].sum() > 0.0 else np.ones(last)
    return values[:, :last] @ (weights / weights.sum())
