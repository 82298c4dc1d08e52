"""`SVC`: support vector classification, a drop-in for `sklearn.svm.SVC`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.callback import with_callbacks
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import DEFAULT_MAX_ITER, FitPlan, KernelMachine, summary_attributes
from adatron.estimators.inputs import check_labels, check_predict_X, check_sample_weight, check_training_X
from adatron.estimators.kernel_choice import check_precomputed, inspect_gram, kernel_from, probe_callable
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import check_choice, check_integer, check_number, count_threads
from adatron.estimators.separability import check_coincident, check_separable
from adatron.kernels import Linear, Precomputed
from adatron.operators import Choice, DenseGram, choose_operator
from adatron.problems import classification
from adatron.solvers import SOLVERS
from adatron.solving import DualSolution, EpochRecord, Run

__all__ = ["SVC"]


class SVC(ClassifierMixin, KernelMachine):
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
        Enables `predict_proba`, by calibrating on 5-fold out-of-fold decision values.
    tol : float, default=1e-3
        Relative duality gap at which the fit ends.
    cache_size : float or "auto", default="auto"
        Memory for kernel values in MB; "auto" takes up to half of what is free.
    class_weight : dict or "balanced", default=None
    verbose : bool or int, default=False
    max_iter : int, default=-1
        Epochs at most; -1 is 100,000.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
    random_state : int, RandomState instance or None, default=None
        Used for the folds of ``probability=True``.
    fit_intercept : bool, default=True
        Whether a bias is fitted.
    solver : {"auto", "adatron", "adatron-secant"} or Solver, default="auto"
        "adatron" is Kernel-Adatron; "adatron-secant" searches the bias as the document does.
    learning_rate : "auto" or float, default="auto"
        The rate η of the solver; "auto" is 1/K_ii for each point.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How more than two classes are trained.
    rank : None
        Low-rank kernels are not available yet.
    time_limit : float, default=None
        Seconds after which the fit ends with the best it has.
    warm_start : bool, default=False
        Start from the multipliers of the previous fit, if that had as many rows and classes.
    n_jobs : int, default=None
        Threads over which one-vs-one problems are spread.

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_ : ndarray
    coef_ : ndarray
        Weights of the features, for a linear kernel.
    class_weight_ : ndarray
    fit_status_ : int
        0 if the fit converged.
    shape_fit_ : tuple
    duality_gap_ : float
        Relative duality gap, the worst over all problems, recomputed apart from the solver.
    status_ : Status
        Why the fit ended; ``status_.sentence`` says it in words.
    converged_ : bool
    finished_exactly_ : bool
        Whether the exact finish gave the model; `history_` ends with the last epoch before it.
    bias_interval_ : ndarray of shape (n_problems, 2)
        All biases that are equally good; `intercept_` is the middle.
    history_ : dict of lists
        ``problem, epoch, seconds, objective, margin, bias, violation`` of every epoch kept.

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = SVC(C=10.0).fit(X_train, y_train)
    >>> model.converged_, bool(model.score(X_test, y_test) > 0.8)
    (True, True)
    """

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
        if self.probability:
            self._calibrate(X, y, sample_weight)
        return self

    def iter_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[EpochRecord]:
        """Train epoch by epoch; the estimator can predict after each record.

        Leaving the loop early keeps the model as it is. Callbacks are not called: the loop is yours.

        Examples
        --------
        >>> from adatron import SVC
        >>> from adatron.datasets import make_parity
        >>> X, y = make_parity(4)
        >>> model = SVC(C=float("inf"), gamma=0.5, fit_intercept=False)
        >>> for record in model.iter_fit(X, y):
        ...     if record.margin > 0.9:
        ...         break
        >>> float(model.score(X, y))
        1.0
        """
        yield from self._iter_fit(X, y, sample_weight)

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        settings = self._check_parameters()
        X = check_training_X(self, X)
        classes, codes = check_labels(X, y)
        weights = check_sample_weight(sample_weight, X.shape[0])
        if len(classes) < 2:
            raise ValueError(f"SVC needs at least two classes, y has only 1 class: {classes.tolist()[0]!r}")
        class_weight = compute_class_weight(
            self.class_weight, classes=classes, y=classes[codes], sample_weight=weights
        )
        check_sample_weight(class_weight, len(classes))
        upper, rows = self._bounds(weights, class_weight[codes], classes, codes)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            X = check_precomputed(X)[np.ix_(rows, rows)]
        else:
            X = X[rows]
        codes = codes[rows]
        kernel = kernel_from(self, X, weights[rows])
        probe_callable(kernel, X)
        layout = Layout(len(classes), self.multi_class)
        if np.isinf(upper).any() and not isinstance(kernel, Precomputed):
            check_coincident(X, codes, rows, classes)
        choice = self._operator(kernel, X, layout)
        runs = self._runs(choice, layout, codes, upper, inspect_gram(choice.gram, kernel), settings)
        extras = {"reason": choice.reason, "layout": layout, "codes": codes, "classes": classes}
        extras |= {"class_weight": class_weight, "shape": (len(weights), self.n_features_in_)}
        threads = count_threads(self.n_jobs)
        return FitPlan(X, rows, kernel, runs, self.time_limit, threads, extras=extras)

    def _check_parameters(self) -> dict[str, Any]:
        check_number("C", self.C, allow_inf=True, allowed="a number > 0 (inf for a hard margin)")
        tol = check_number("tol", self.tol)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, allowed="None or a finite number > 0")
        if self.cache_size != "auto":
            check_number("cache_size", self.cache_size, allowed="'auto' or a number of MB > 0")
        if self.learning_rate != "auto":
            check_number("learning_rate", self.learning_rate, allowed="'auto' or a finite number > 0")
        check_choice("multi_class", self.multi_class, ["ovo", "ovr"])
        check_choice("decision_function_shape", self.decision_function_shape, ["ovr", "ovo"])
        if self.rank is not None:
            raise ValueError(f"rank must be None, got {self.rank!r}: low-rank kernels are not available yet")
        max_iter = DEFAULT_MAX_ITER
        if isinstance(self.max_iter, float) or self.max_iter != -1:
            max_iter = check_integer("max_iter", self.max_iter, at_least=1, allowed="-1 or an integer >= 1")
        return {"tol": tol, "max_iter": max_iter, "solver": self._solver()}

    def _solver(self) -> Any:
        if not isinstance(self.solver, str) and hasattr(self.solver, "epoch"):
            return self.solver
        return SOLVERS[check_choice("solver", self.solver, list(SOLVERS))](learning_rate=self.learning_rate)

    def _bounds(
        self, weights: np.ndarray, class_weights: np.ndarray, classes: np.ndarray, codes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Upper bounds of the rows that take part, and those rows: weight 0 is as good as absent."""
        with np.errstate(over="ignore", invalid="ignore"):
            upper = np.where(weights * class_weights > 0.0, self.C * (weights * class_weights), 0.0)
        if np.isfinite(self.C) and np.isinf(upper).any():
            raise ValueError(f"C * sample_weight overflows with C={self.C!r}; scale sample_weight down")
        rows = np.flatnonzero(upper > 0.0)
        present = np.unique(codes[rows])
        if len(present) < len(classes):
            missing = [c for i, c in enumerate(classes.tolist()) if i not in present]
            raise ValueError(
                f"every row of the classes {missing!r} has zero weight; SVC needs rows of each class"
            )
        return upper[rows], rows

    def _operator(self, kernel: Any, X: Any, layout: Layout) -> Choice:
        if isinstance(kernel, Precomputed):
            return Choice(DenseGram(X), f"dense: the precomputed {X.shape[0]} × {X.shape[0]} kernel matrix")
        return choose_operator(kernel, X, self.cache_size, copies=3 if layout.is_pairwise else 1)

    def _runs(
        self,
        choice: Choice,
        layout: Layout,
        codes: np.ndarray,
        upper: np.ndarray,
        indefinite: bool,
        settings: dict[str, Any],
    ) -> list[Run]:
        if layout.is_pairwise:
            parts = [
                (choice.gram.restrict(rows), signs, upper[rows]) for rows, signs in layout.pair_rows(codes)
            ]
        else:
            parts = [(choice.gram, layout.signs(codes), upper)]
        starts = self._warm_starts([(g.m, s.reshape(g.m, -1).shape[1]) for g, s, _ in parts])
        return [
            Run(
                classification(gram, signs, bounds, bias=self.fit_intercept),
                settings["solver"],
                tol=settings["tol"],
                max_iter=settings["max_iter"],
                alpha=start,
                indefinite=indefinite,
                eager=self.solver == "auto",
                first=number,
            )
            for number, ((gram, signs, bounds), start) in enumerate(zip(parts, starts, strict=True))
        ]

    def _warm_starts(self, shapes: list[tuple[int, int]]) -> list[np.ndarray | None]:
        previous = getattr(self, "_alphas", None) if self.warm_start else None
        if previous is None or [a.shape for a in previous] != shapes:
            return [None] * len(shapes)
        return list(previous)

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        layout, codes, classes = (plan.extras[k] for k in ("layout", "codes", "classes"))
        check_separable(solutions, plan, classes)
        coefficients = self._coefficient_matrix(plan, solutions)
        support = np.flatnonzero(np.any(coefficients != 0.0, axis=1))
        support = support[np.argsort(codes[support], kind="stable")]
        precomputed = isinstance(plan.kernel, Precomputed)
        attributes = {
            "classes_": classes,
            "class_weight_": plan.extras["class_weight"],
            "shape_fit_": plan.extras["shape"],
            "support_": plan.rows[support].astype(np.int32),
            "support_vectors_": np.empty((0, 0)) if precomputed else plan.X[support],
            "n_support_": np.bincount(codes[support], minlength=len(classes)).astype(np.int32),
            "dual_coef_": layout.to_dual_coef(coefficients[support], codes[support]),
            "intercept_": np.array([s.bias for s in solutions]),
            "_layout": layout,
            "_kernel": plan.kernel,
        }
        if self.warm_start:
            attributes["_alphas"] = [_alphas(run, solutions) for run in plan.runs]
        return attributes | summary_attributes(solutions)

    def _coefficient_matrix(self, plan: FitPlan, solutions: list[DualSolution]) -> np.ndarray:
        """``y∘α`` of every row and problem."""
        layout, codes = plan.extras["layout"], plan.extras["codes"]
        coefficients = np.zeros((len(codes), len(solutions)))
        if layout.is_pairwise:
            for problem, (rows, signs) in enumerate(layout.pair_rows(codes)):
                coefficients[rows, problem] = signs * solutions[problem].alpha
            return coefficients
        signs = layout.signs(codes)
        for problem, solution in enumerate(solutions):
            coefficients[:, problem] = signs[:, problem] * solution.alpha
        return coefficients

    def _decisions(self, X: Any) -> np.ndarray:
        """Decision values of all problems, shape (n, n_problems)."""
        check_is_fitted(self)
        X = check_predict_X(self, X)
        coefficients = self._layout.to_coefficients(self.dual_coef_, self.n_support_)
        return self._kernel_values(X, lambda K: K @ coefficients) + self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance-like score, as in `sklearn.svm.SVC`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes), or one column per
        pair of classes with ``decision_function_shape="ovo"``.
        """
        decisions = self._decisions(X)
        if self._layout.is_binary:
            return decisions[:, 0]
        return decisions if self.decision_function_shape == "ovo" else self._layout.one_per_class(decisions)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of `X`."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        decisions = self._decisions(X)
        if self.break_ties and not self._layout.is_binary:
            return self.classes_[self._layout.one_per_class(decisions).argmax(axis=1)]
        return self.classes_[self._layout.vote(decisions)]

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class; needs ``probability=True``."""
        check_is_fitted(self)
        return self._calibrated.predict_proba(X)

    @available_if(lambda self: self.probability)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def _calibrate(self, X: Any, y: Any, sample_weight: Any) -> None:
        inner = clone(self).set_params(probability=False, verbose=False)
        inner.set_callbacks()
        calibrated = CalibratedClassifierCV(inner, ensemble=False, cv=5)
        self._calibrated = calibrated.fit(X, y, sample_weight=sample_weight)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, one row per problem; linear kernel only."""
        if not isinstance(getattr(self, "_kernel", None), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        coefficients = self._layout.to_coefficients(self.dual_coef_, self.n_support_)
        weights = coefficients.T @ self.support_vectors_
        return weights.toarray() if sparse.issparse(weights) else np.asarray(weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _alphas(run: Run, solutions: list[DualSolution]) -> np.ndarray:
    own = solutions[run.first : run.first + run.problem.n_columns]
    return np.column_stack([solution.alpha for solution in own])
