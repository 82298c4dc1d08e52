"""`EnsembleSVC` (Tsang & Kwok 2007, section 3), and `ParzenClassifier`, from which it starts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from adatron.estimators import parameters
from adatron.estimators.base import FitPlan, FitTasks, summary_attributes, unfitted_on_error
from adatron.estimators.callback_bridge import with_callbacks
from adatron.estimators.classifier import ExpansionClassifier, Layout
from adatron.estimators.expansion import Expansion, expansion_attributes
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.machine import IterFitMixin, plus_one
from adatron.estimators.reduction import ReducibleMixin
from adatron.estimators.svc import SVC
from adatron.estimators.training_set import classification_set
from adatron.gram import FEW_COLUMNS, fetched_if
from adatron.kernels import Precomputed
from adatron.problems import classification
from adatron.solvers import RhoSVM
from adatron.training import DualSolution, Run, StageRule


class EnsembleSVC(IterFitMixin, ReducibleMixin, ExpansionClassifier):
    """Ensemble of partially trained support vector machines: no C to tune.

    A hard-margin ρ-SVM is trained with an adaptive rate; the hypotheses it passes through, from the Parzen
    window to the hard margin, are averaged with their rates as weights. The average is itself one kernel
    expansion, so it predicts at the cost of one SVM. It is boosting of weighted Parzen windows, and a
    classifier also where no hard margin exists. The last iterations depend on rounding: other orders of
    the rows, or sparse input, give slightly other numbers of stages and decision values.

    The stages are kept for `staged_predict`, 8 bytes for each row and stage (landmark and stage with
    `rank`). Above 1,000 rows kernel values are float32, where there are at most three class problems and the
    kernel is known to be positive semi-definite; sums are float64. Sample weights are the first distribution.

    Parameters
    ----------
    kernel, degree : as in `SVC`, default="rbf", 3
    gamma : {"mean", "scale", "auto"} or float, default="mean"
        "mean" is the inverse of the mean squared distance of the rows to their (weighted) mean.
    coef0 : float, default=0.0
    eps, eps_init : float, default=0.005, 0.1
        Training begins with ε = `eps_init`, and ends when ε falls below `eps`.
    fit_intercept : bool, default=False
        Adds a constant 1 to the kernel, which takes the place of a bias.
    rank : int or float, default=None
        Low-rank kernel: a number of Nyström landmarks, or a relative trace error below 1. With landmarks
        for more than 100,000 rows the factor is float32 and whitened, which takes far fewer stages where
        classes overlap; X is then read block by block, and the landmarks are the support vectors.
    class_weight : dict or "balanced", default=None
    max_iter : int, default=10_000
        Iterations at most.
    time_limit, cache_size, random_state : as in `SVC`, default=None, "auto", None
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
    gap_is_exact_ : bool
        Whether it was computed with float64 values of the kernel itself, and not with float32 ones or `rank`.
    status_, converged_, history_, kernel_error_ : as in `SVC`
    encoder_ : as in `OneClassSVM`

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
    _accepts_dask = _encodes_tables = True

    def __init__(
        self, kernel="rbf", *, degree=3, gamma="mean", coef0=0.0, eps=0.005, eps_init=0.1,
        fit_intercept=False, rank=None, class_weight=None, max_iter=10_000, time_limit=None,
        cache_size="auto", random_state=None, n_jobs=None, verbose=False,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        parameters.check_common_parameters(self)
        eps = parameters.check_number("eps", self.eps)
        eps_init = parameters.check_number("eps_init", self.eps_init)
        max_iter = parameters.check_max_iter(self.max_iter, 10_000)
        data = classification_set(self, X, y, sample_weight)
        # few rows of a cluster are fetched: the whole matrix gives the same bits as a fit in memory
        is_few = self.rank is None and data.m <= self._regime.whole_up_to
        data = replace(data, X=fetched_if(is_few, data.X))
        kernel = parameters.kernel_from(self, data.X, data.sample_weight)
        if not isinstance(kernel, Precomputed):
            data = data.merged(self._regime)
        trained, rows = plus_one(kernel, data.X) if self.fit_intercept else (kernel, data.X)
        layout = Layout(len(data.classes), "ovr").check_size(data.m)
        signs = layout.signs(data.codes)
        # Products with few columns keep the precision of float64 where values are float32; but these cannot
        # tell whether a kernel is indefinite.
        single = kernel.traits.psd and signs.shape[1] <= FEW_COLUMNS
        choice, indefinite = parameters.kernel_matrix(self, trained, rows, whitened=True, single=single)
        problem = classification(choice.gram, signs, np.full(len(signs), np.inf), bias=False)
        start = np.repeat((data.weights / data.weights.sum())[:, None], signs.shape[1], axis=1)
        rule = StageRule(indefinite=indefinite, regime=self._regime)
        run = Run(problem, RhoSVM(eps=eps, eps_init=eps_init), rule, max_iter=max_iter, alpha=start)
        return FitPlan(
            kernel, data, choice.gram, [run], choice.reason,
            layout=layout, constant=float(self.fit_intercept), time_limit=self.time_limit,
        )  # fmt: skip

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        rule: Any = plan.runs[0].rule
        summary, longest = summary_attributes(solutions), max(len(rates) for rates in rule.rates)
        table = np.array([[*rates, *[0.0] * (longest - len(rates))] for rates in rule.rates]).T
        attributes = self._averaged(plan, rule.ensemble()) | summary | {
            "n_iter_": np.array([len(rates) for rates in rule.rates], dtype=np.int32),
            "stage_weights_": table[:, 0] if len(rule.rates) == 1 else table,
        }  # fmt: skip
        if not len(plan.runs[0].live):  # not for every callback on the way: that would take all stages
            svm = SVC(float("inf"), plan.kernel, fit_intercept=False, solver="rho", multi_class="ovr")
            last = self._averaged(plan, np.column_stack([solution.alpha for solution in solutions]))
            known = {k: v for k, v in vars(self).items() if k.endswith("_in_") or k == "encoder_"}
            svm.__dict__.update(last | summary | known, class_weight_=plan.data.class_weight)
            attributes |= {"final_svm_": svm, "_stages": _stage_coefficients(plan, rule)}
        return attributes

    def _averaged(self, plan: FitPlan, alpha: np.ndarray) -> dict[str, Any]:
        """Attributes of the expansion with multipliers `alpha`; the kernel's constant becomes a bias."""
        data, gram = plan.data, plan.gram
        coefficients, bias = plan.layout.signs(data.codes) * alpha, np.zeros(alpha.shape[1])
        if gram.factor is None or gram.factor.dtype != np.float32:
            return expansion_attributes(plan, coefficients, bias)
        # nearly all of many rows would be support vectors: the landmarks take their place
        few = replace(plan, gram=None, data=data.some(gram.landmarks), support=None)
        attributes = expansion_attributes(few, gram.projection @ gram.weights_of(coefficients), bias)
        expansion = replace(attributes["_expansion"], precision=np.float32)
        return attributes | {"kernel_error_": gram.trace_error, "_expansion": expansion}

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
            averages = []  # Σ_{s≤t} η_s f_s / Σ_{s≤t} η_s of each problem, some of which may end before t
            for values, own in zip(per_class, rates, strict=True):
                last = min(t + 1, values.shape[1])
                weights = own[:last] if own[:last].sum() > 0.0 else np.ones(last)
                averages.append(values[:, :last] @ (weights / weights.sum()))
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
            yield self.classes_[self._layout.vote(np.atleast_2d(decisions.T).T)]


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


class ParzenClassifier(ExpansionClassifier):
    """Parzen window classifier: ``f(x) = Σ w_i y_i k(x_i, x) / Σ w_i``, nothing to train.

    It is the first stage of `EnsembleSVC`. More than two classes are one-vs-rest.

    Parameters
    ----------
    kernel, degree, gamma, coef0 : as in `EnsembleSVC`, default="rbf", 3, "mean", 0.0
    class_weight : dict or "balanced", default=None

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`; every row is a support vector.

    References
    ----------
    E. Parzen, *On Estimation of a Probability Density Function and Mode*, Ann. Math. Statist. 33, 1962.

    Examples
    --------
    >>> from adatron import ParzenClassifier
    >>> from adatron.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> bool(ParzenClassifier(gamma=1.0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(self, kernel="rbf", *, degree=3, gamma="mean", coef0=0.0, class_weight=None):
        self._set_parameters(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        with unfitted_on_error(self):
            tasks = FitTasks(self, X, y, sample_weight, 0)
            data = classification_set(self, X, y, sample_weight)
            kernel = parameters.kernel_from(self, data.X, data.sample_weight)
            layout = Layout(len(data.classes), "ovr").check_size(data.m)
            plan = FitPlan(kernel, data, None, [], layout=layout)
            signs = layout.signs(data.codes)
            coefficients = signs * (data.weights / data.weights.sum())[:, None]
            attributes = expansion_attributes(plan, coefficients, np.zeros(signs.shape[1]))
            self.__dict__.update(attributes)
            tasks.ended(lambda: attributes)
        return self
