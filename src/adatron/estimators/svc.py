"""`SVC`: support vector classification, a drop-in for `sklearn.svm.SVC`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from adatron.estimators.base import FitPlan, summary_attributes
from adatron.estimators.classifier import ExpansionClassifier, expansion_attributes
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.machine import SupportVectorMachine, bounds_from
from adatron.estimators.multiclass import Layout, check_direct_request, direct_gram
from adatron.estimators.parameters import (
    as_random_state,
    check_choice,
    check_flag,
    check_number,
    count_threads,
)
from adatron.estimators.probabilities import (
    CalibratedMixin,
    ClassProbabilities,
    PairProbabilities,
    held_out_decisions,
)
from adatron.estimators.separability import check_coincident, not_separable
from adatron.estimators.training_set import TrainingSet, classification_set
from adatron.gram import Choice, Gram
from adatron.kernels import Kernel, Precomputed
from adatron.numerics.threads import usable_threads
from adatron.problems import classification
from adatron.solvers import CrammerSinger, crammer_singer
from adatron.training import DualSolution, Run, Status

_MANY_PROBLEMS = 6  # from which training two at a time is worth the threads
_FOLDS = 5  # from whose held-out decision values probabilities are calibrated


class SVC(CalibratedMixin, ExpansionClassifier, SupportVectorMachine):
    """Support vector classification with a certificate.

    Changing ``from sklearn.svm import SVC`` to ``from adatron import SVC`` works: parameters and
    fitted attributes have the same names and conventions.

    Parameters
    ----------
    C : float, default=1.0
        Bound on the multipliers; ``float("inf")`` is a hard margin.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
    degree : int, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is ``1 / (n_features * variance of X)``, the variance weighted like the rows.
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Accepted for compatibility.
    probability : bool, default=False
        Enables `predict_proba`, calibrated on the held-out decision values of five folds. The most probable
        class is the predicted one.
    tol : float, default=1e-3
        Relative duality gap at which the fit ends. Up to 1,000 rows, and for a `tol` below 1e-4, the
        optimum is then looked for exactly.
    cache_size : float or "auto", default="auto"
        Memory for kernel values in MB; "auto" is half of what is free, at most 3 GB.
    class_weight : dict or "balanced", default=None
    verbose : bool or int, default=False
    max_iter : int, default=-1
        Epochs at most; -1 is 100,000. With "multiplicative", "m3" and "munk" and no `time_limit`, -1 also
        ends a fit that would need more at the rate it has reached after 3,000.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
    random_state : int, RandomState instance or None, default=None
        Used for the landmarks of `rank` and the folds of ``probability=True``.
    fit_intercept : bool, default=True
        Whether a bias is fitted; with "crammer_singer" a constant 1 added to the kernel, so that the bias of
        each class is shrunk towards 0 like the weights.
    solver : {"auto", "adatron", "adatron-secant", "multiplicative", "m3", "munk", "rho"} or Solver, \
default="auto"
        "auto" is the fast path, Kernel-Adatron on working sets, whose epochs are rounds; above 2,000 rows
        it uses float32 kernel values while the gap allows. "adatron" is Kernel-Adatron as published
        ("adatron-secant" searches the bias as its paper does); "multiplicative" updates all
        multipliers at once; "m3" and "munk" (kernels K >= 0) do so without a rate, and without a bias;
        "rho" is the ρ-SVM with an adaptive rate: hard margin, no bias.
    learning_rate : "auto" or float, default="auto"
        The rate η of "adatron" ("auto": 1/K_ii for each point) or "multiplicative" ("auto": halved as
        often as need be).
    multi_class : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        How more than two classes are trained: a problem for each pair, one for each class against the
        rest, or one problem for all classes, Crammer & Singer's: ``½ Σ_c |w_c|²`` plus, for each row, C times
        the largest ``1 + f_c − f_y`` over the classes c other than its own class y, or 0. It has its own
        solver, and C means what it means to ``LinearSVC(multi_class="crammer_singer")``.
    rank : int or float, default=None
        Train on a low-rank approximation of the kernel: an integer is the number of Nyström landmarks, a
        number below 1 the relative trace error at which pivoted incomplete Cholesky stops. The
        certificate is then one for the approximated kernel, whose error is `kernel_error_`; decisions
        come from the landmarks, not from `dual_coef_` and `support_vectors_`. Above 100,000 rows the factor
        of landmarks is float32, and X is read block by block and not copied.
    time_limit : float, default=None
        Seconds after which the fit ends with the best it has.
    warm_start : bool, default=False
        Start from the multipliers of the previous fit, if that had as many rows and classes.
    n_jobs : int, default=None
        Threads over which one-vs-one problems are spread. Kernel values are always evaluated on as many
        threads as BLAS may use (``OPENBLAS_NUM_THREADS``, `threadpoolctl`).

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_ : ndarray
    coef_, class_weight_ : ndarray
        Weights of the features, for a linear kernel; weights of the classes.
    fit_status_, shape_fit_ : int, tuple
        `fit_status_` is 0 if the fit converged.
    duality_gap_ : float
        Relative duality gap, the worst over all problems, recomputed apart from the solver; an estimate where
        float32 kernel values of more than 5,000 rows are used (`tol` of 1e-4 or more). It says nothing
        for a kernel that is not positive semi-definite (``status_`` is then "indefinite_kernel").
    status_, converged_ : Status, bool
        Why the fit ended; ``status_.sentence`` says it in words.
    kernel_error_ : float
        Relative trace error of the approximated kernel, with `rank`.
    finished_exactly_ : bool
        Whether the exact finish gave the model; `history_` ends before it.
    bias_interval_ : ndarray of shape (n_problems, 2)
        All biases that are equally good; `intercept_` is the middle.
    history_ : dict of lists
        ``problem, epoch, seconds, objective, margin, bias, violation`` of every epoch kept.

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998.

    N. Cristianini, C. Campbell, J. Shawe-Taylor, *A Multiplicative Updating Algorithm for Training Support
    Vector Machines*, ESANN 1999.

    V. K. Potluru et al., *Multiplicative Updates for Non-negative Kernel SVM*, 2009.

    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007.

    K. Crammer, Y. Singer, *On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines*,
    JMLR 2, 2001.

    J. C. Platt, *Probabilistic Outputs for Support Vector Machines*, MIT Press 1999 (``probability=True``).

    S. Fine, K. Scheinberg, *Efficient SVM Training Using Low-Rank Kernel Representations*, JMLR 2, 2001
    (the Cholesky factor of `rank`).

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = SVC(C=10.0).fit(X_train, y_train)
    >>> model.converged_, bool(model.score(X_test, y_test) > 0.8)
    (True, True)
    """

    _accepts_dask = True

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        *,
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        tol=1e-3,
        cache_size="auto",
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        fit_intercept=True,
        solver="auto",
        learning_rate="auto",
        multi_class="ovo",
        rank=None,
        time_limit=None,
        warm_start=False,
        n_jobs=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.learning_rate = learning_rate
        self.multi_class = multi_class
        self.rank = rank
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Train on `X` (n_samples, n_features), or a square kernel matrix, and labels `y`.

        `X` is read during the whole fit; do not change it meanwhile.

        Parameters
        ----------
        X : array-like or sparse matrix
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight multiplies C; a row of weight 2 counts as the row twice.

        Returns
        -------
        SVC
        """
        self._fit(X, y, sample_weight)
        return self

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        return classification_set(self, X, y, sample_weight)

    def _plan_for(self, data: TrainingSet, settings: dict[str, Any]) -> FitPlan:
        layout = Layout(len(data.classes), self.multi_class)
        layout.check_size(len(data.codes))
        copies = layout.copies_of_the_matrix(data.codes)
        if self._may_be_moved and not layout.is_direct:
            data = data.centred_if_far()
        kernel, choice, indefinite = self._kernel_matrix(data.X, data.sample_weight, copies)
        problems = self._problems(choice.gram, layout, data)
        if np.isinf(problems[0].upper).any() and not isinstance(kernel, Precomputed):
            check_coincident(data.X, data.codes, data.rows, data.classes)
        runs = self._runs(problems, indefinite, settings)
        return FitPlan(
            kernel, data, choice.gram, runs, choice.reason, layout,
            constant=float(layout.is_direct and self.fit_intercept),
            time_limit=self.time_limit, n_threads=self._threads(len(problems)),
        )  # fmt: skip

    def _check_parameters(self) -> dict[str, Any]:
        check_number("C", self.C, allow_inf=True, allowed="a number > 0 (inf for a hard margin)")
        check_choice("multi_class", self.multi_class, ["ovo", "ovr", "crammer_singer"])
        check_choice("decision_function_shape", self.decision_function_shape, ["ovr", "ovo"])
        for name in ("probability", "break_ties"):
            check_flag(name, getattr(self, name))
        settings = self._checked_settings()
        if self._is_direct:
            check_direct_request(self)
        return settings

    @property
    def _is_direct(self) -> bool:
        """Whether one coupled problem is trained for all classes, which has its own solver."""
        return bool(self.multi_class == "crammer_singer")

    def _gram_for(self, kernel: Kernel, X: Any, copies: float, needs_few_rows: bool) -> Choice:
        if self._is_direct:
            return direct_gram(kernel, X, self.fit_intercept, self.cache_size, self._regime)
        return super()._gram_for(kernel, X, copies, needs_few_rows)

    @property
    def _needs_float64(self) -> bool:
        return bool(np.isinf(self.C))

    def _problems(self, gram: Gram, layout: Layout, data: TrainingSet) -> list[Any]:
        upper = bounds_from(self.C, data.weights)
        if layout.is_direct:
            return [crammer_singer(gram, data.codes, layout.n_classes, upper)]
        if not layout.is_pairwise:
            return [classification(gram, layout.signs(data.codes), upper, bias=self.fit_intercept)]
        return [
            classification(gram.restrict(rows), signs, upper[rows], bias=self.fit_intercept)
            for rows, signs in layout.pair_rows(data.codes)
        ]

    def _runs(self, problems: list[Any], indefinite: bool, settings: dict[str, Any]) -> list[Run]:
        if not self._is_direct:
            return super()._runs(problems, indefinite, settings)
        problem = problems[0]
        start = self._warm_starts([(problem.m, problem.n_classes)])[0]
        rule = self._rule(settings["tol"], indefinite)
        return [Run(problem, CrammerSinger(), rule, max_iter=settings["max_iter"], alpha=start)]

    def _threads(self, n_problems: int) -> int:
        """Problems trained at the same time; as many as BLAS has threads unless `n_jobs` says otherwise."""
        if self.n_jobs is None and self._is_greedy and n_problems >= _MANY_PROBLEMS:
            return usable_threads()
        return count_threads(self.n_jobs)

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        layout, data = plan.layout, plan.data
        if any(solution.status is Status.NOT_SEPARABLE for solution in solutions):
            raise not_separable(solutions, plan)
        coefficients = layout.coefficients(data.codes, [solution.alpha for solution in solutions])
        intercept = np.zeros(coefficients.shape[1]) + [solution.bias for solution in solutions]
        attributes = expansion_attributes(plan, coefficients, intercept, plan.constant)
        attributes["class_weight_"] = data.class_weight
        # what no entry of dual_coef_ exceeds; two classes trained directly subtract theirs
        subtracted = layout.is_direct and layout.is_binary
        attributes["_bound"] = (1 + subtracted) * float(self.C * data.weights.max())
        attributes |= self._kept_for_warm_start(plan, solutions) | summary_attributes(solutions)
        if layout.is_direct:  # a bias that is shrunk is the only one that is best
            attributes["bias_interval_"] = np.repeat(attributes["intercept_"][:, None], 2, axis=1)
        else:  # rows may have been moved
            attributes["bias_interval_"] += (attributes["intercept_"] - intercept)[:, None]
        return attributes

    @lazy_on_dask
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return super().predict(X)

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        if self.break_ties and not self._layout.is_binary:
            return self._layout.one_per_class(decisions).argmax(axis=1)
        return self._layout.vote(decisions)

    def _after_fit(self, plan: FitPlan) -> None:
        if len(self.support_) == 0 and self.converged_:
            raise ValueError(f"the fit has no support vectors: C is too small, or tol={self.tol!r} too loose")
        if not self.probability:
            return
        data, layout, smallest = plan.data, plan.layout, int(np.bincount(plan.data.codes).min())
        state = as_random_state(0 if self.random_state is None else self.random_state)
        decisions = held_out_decisions(plan, plan.solutions(), max(2, min(_FOLDS, smallest)), state)
        kind = PairProbabilities if layout.is_pairwise else ClassProbabilities
        self._probabilities = kind.from_held_out(decisions, data.codes, data.weights)
