"""What `SVC`, `SVR` and `OneClassSVM` share: from checked parameters to runs of any solver."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse

from adatron.estimators.base import FitPlan, summary_attributes, unfitted_on_error, warn_unless_converged
from adatron.estimators.classifier import Layout
from adatron.estimators.expansion import ExpansionMachine, expansion_attributes, fitted_like, libsvm_form
from adatron.estimators.parameters import (
    check_common_parameters,
    check_max_iter,
    check_number,
    count_threads,
    kernel_from,
    kernel_matrix,
    solver_from,
)
from adatron.estimators.training_set import TrainingSet, linear_weights
from adatron.kernels import Constant, Kernel, Linear, Precomputed
from adatron.numerics.threads import one_blas_thread, usable_threads
from adatron.solvers import M3, CrammerSinger, KernelAdatron, MultiplicativeUpdating, Munk
from adatron.training import DualSolution, EpochRecord, GapRule, Run

_MANY_PROBLEMS = 6  # from which training two at a time is worth the threads
_SHARED = ("C", "epsilon", "nu", "shrinking", "tol", "class_weight", "decision_function_shape", "break_ties")
_EXACT_BELOW = 1e-4  # tol below which the optimum itself is looked for: there is nothing more to aim at
_CRAWLING = (M3, MultiplicativeUpdating, Munk)  # whose gap may fall so slowly that nobody will wait for it
_WHOLE_MATRIX = ("m3", "multiplicative", "munk", "rho")  # solvers that only multiply by it


class SupportVectorMachine(ExpansionMachine):
    """Base of the machines that any solver may train."""

    _training_set: Any  # (X, y, sample_weight) → TrainingSet: checks what `fit` is given
    _problems: Any  # (gram, data, layout) → problems that share the kernel matrix
    _accepts_dask = True
    _aim = 1.0  # part of tol that a fit aims at

    def iter_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Iterator[EpochRecord]:
        """Train epoch by epoch; the estimator can predict after each record.

        Leaving the loop early keeps the model as it is. Callbacks are not called: the loop is yours.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y, sample_weight : array-like of shape (n_samples,), optional
            Classes or targets, which `OneClassSVM` has none of; weights of the rows.

        Yields
        ------
        EpochRecord
            Number of the epoch, objective, margin, bias, violation and seconds of one problem.

        Examples
        --------
        >>> from adatron import SVC
        >>> model = SVC(kernel="linear")
        >>> [round(record.margin, 3) for record in model.iter_fit([[-1.0], [1.0]], ["no", "yes"])]
        [1.0]
        """
        with unfitted_on_error(self):
            with unfitted_on_error(self, BaseException), one_blas_thread():
                plan = self._plan(X, y, sample_weight)
            for records in plan.rounds():
                self._store(plan)
                yield from records
            self._store(plan)
            warn_unless_converged(self, stacklevel=3)

    def _fit_checked(self, data: TrainingSet) -> Self:
        """Train on data that another estimator has checked, which keeps `feature_names_in_`: no callbacks."""
        self._check_parameters()
        with one_blas_thread():
            plan = self._plan_for(data)
        with plan.blas_threads():
            for _ in plan.rounds(watched=False):
                pass
        self._store(plan)
        self.n_features_in_ = data.X.shape[1]
        return self

    @property
    def _gamma(self) -> float:
        """What ``gamma`` amounts to, under scikit-learn's name; 0 for kernels without one."""
        return float(getattr(self._kernel, "gamma", 0.0))

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        self._check_parameters()
        return self._plan_for(self._training_set(X, y, sample_weight))

    def _check_parameters(self) -> None:
        check_common_parameters(self)
        solver_from(self.solver, self.learning_rate)
        check_max_iter(self.max_iter)
        check_number("tol", self.tol)

    @property
    def _is_greedy(self) -> bool:
        """Whether the fast path is asked for; a rate belongs to the sweeps of Kernel-Adatron."""
        return isinstance(self.solver, str) and self.solver == "auto" and self.learning_rate == "auto"

    def _plan_for(self, data: TrainingSet) -> FitPlan:
        """The runs of a fit on data that are checked already."""
        layout = Layout(len(data.classes) or 2, getattr(self, "multi_class", "ovr")).check_size(data.m)
        few_rows = self._is_greedy and self.rank is None and not layout.is_direct
        has_bias = getattr(self, "fit_intercept", False)
        kernel = kernel_from(self, data.X, data.sample_weight)
        if isinstance(kernel, Linear) and few_rows and has_bias:  # the papers' algorithms keep their kernel
            data = data.centred_if_far()
        constant = float(layout.is_direct and has_bias)
        trained, X = _plus_one(kernel, data.X) if constant else (kernel, data.X)
        choice, indefinite = kernel_matrix(
            self, trained, X, needs_few_rows=few_rows, copies=layout.copies_of_the_matrix(data.codes),
            only_multiplies=isinstance(self.solver, str) and self.solver in _WHOLE_MATRIX,
            precise=bool(len(data.classes) and np.isinf(self.C)),  # float32 will never do for a hard margin
        )  # fmt: skip
        problems = self._problems(choice.gram, data, layout)
        is_spread = self.n_jobs is None and self._is_greedy and len(problems) >= _MANY_PROBLEMS
        n_threads = usable_threads() if is_spread else count_threads(self.n_jobs)
        runs, limit = self._runs(problems, indefinite), self.time_limit
        return FitPlan(kernel, data, choice.gram, runs, choice.reason, layout, constant, limit, n_threads)

    def _runs(self, problems: list[Any], indefinite: bool) -> list[Run]:
        first = problems[0]
        is_direct = getattr(self, "multi_class", "") == "crammer_singer"
        if is_direct:
            solver: Any = CrammerSinger()
        elif self._is_greedy and (indefinite or not first.gram.has_entries):
            solver = KernelAdatron()
        else:
            solver = solver_from(self.solver, self.learning_rate, first)
        may_give_up = self.max_iter == -1 and self.time_limit is None and isinstance(solver, _CRAWLING)
        rule: dict[str, Any] = {"indefinite": indefinite, "may_give_up": may_give_up, "regime": self._regime}
        rule |= {"aim": self._aim if self.tol >= _EXACT_BELOW else 1.0, "eager": self.solver == "auto"}
        shapes = [(first.m, first.n_classes)] if is_direct else [p.y.shape for p in problems]
        previous = getattr(self, "_alphas", []) if self.warm_start else []
        starts = previous if [alpha.shape for alpha in previous] == shapes else [None] * len(problems)
        most = check_max_iter(self.max_iter)
        return [
            Run(problem, solver, GapRule(float(self.tol), **rule), max_iter=most, alpha=start, first=number)
            for number, (problem, start) in enumerate(zip(problems, starts, strict=True))
        ]

    def _expanded(
        self, plan: FitPlan, solutions: list[DualSolution], coefficients: np.ndarray,
        scale: float = 1.0, shift: float = 0.0,
    ) -> dict[str, Any]:  # fmt: skip
        """Fitted attributes of a single problem with coefficients ``y∘α``; the bias is scaled, then moved."""
        (solution,) = solutions
        support = np.flatnonzero(coefficients)
        intercept = np.array([scale * solution.bias + shift])
        attributes = expansion_attributes(
            plan, support, coefficients[:, None], coefficients[None, support], intercept
        )
        moved = attributes["intercept_"] - intercept  # with the rows
        return attributes | summary_attributes(solutions) | {
            "n_support_": np.array([len(support)], dtype=np.int32),
            "n_iter_": solution.n_iter,
            "bias_interval_": scale * np.array([solution.bias_interval]) + shift + moved,
        }  # fmt: skip

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row per problem; linear kernel only. Sparse after a sparse fit."""
        if not isinstance(getattr(self, "_kernel", None), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        expansion = self._expansion
        weights: Any = linear_weights(expansion.vectors, expansion.coefficients)
        weights = sparse.csr_array(weights) if sparse.issparse(expansion.vectors) else weights
        # a change of it would not change the model
        (weights.data if sparse.issparse(weights) else weights).flags.writeable = False
        return weights

    def to_sklearn(self) -> Any:
        """The fitted machine of `sklearn.svm` that predicts the same, whose pickles load without adatron.

        Decisions agree to rounding: a model trained with float32 kernel values also decides with them,
        scikit-learn's never does. Probabilities are not taken along. A ValueError says what scikit-learn has
        no machine for: other kernels, more than two classes not trained in pairs, or these with `rank`.

        Returns
        -------
        sklearn.svm.SVC, SVR or OneClassSVM
        """
        from sklearn import svm  # takes time to load

        names = (base.__name__ for base in type(self).__mro__)
        kind = getattr(svm, next(name for name in names if name in ("SVC", "SVR", "OneClassSVM")))
        model = fitted_like(kind, self, libsvm_form(self))
        model.set_params(**{name: getattr(self, name) for name in _SHARED if hasattr(self, name)})
        model.n_iter_, model.fit_status_ = self.n_iter_, self.fit_status_
        if hasattr(self, "class_weight_"):
            model.class_weight_ = self.class_weight_.copy()
        return model


def bounds_from(C: float, weights: np.ndarray) -> np.ndarray:
    """``C`` times the weight of each row, neither infinite nor 0 by rounding."""
    with np.errstate(over="ignore"):
        upper = C * weights
    if np.isfinite(C) and not np.isfinite(upper).all():
        raise ValueError(f"C * sample_weight overflows with C={C!r}; scale sample_weight down")
    if not (upper > 0.0).all():
        raise ValueError(f"C * sample_weight underflows with C={C!r}; scale sample_weight up")
    return upper


def _plus_one(kernel: Kernel, X: Any) -> tuple[Kernel, Any]:
    """The kernel + 1, and its rows: the coupled problem of all classes has no other bias."""
    if isinstance(kernel, Precomputed):
        return kernel, X + 1.0
    if not isinstance(kernel, Linear):
        return kernel + Constant(1.0), X
    ones = np.ones((X.shape[0], 1))  # as a feature it keeps the rows a factor of the matrix
    return kernel, sparse.csr_array(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])
