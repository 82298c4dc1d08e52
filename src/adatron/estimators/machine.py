"""What `SVC`, `SVR` and `OneClassSVM` share, from checked parameters to runs of any solver; `iter_fit`."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from adatron.estimators import parameters
from adatron.estimators.base import FitPlan, summary_attributes, unfitted_on_error, warn_unless_converged
from adatron.estimators.classifier import Layout
from adatron.estimators.expansion import ExpansionMachine, expansion_attributes, fitted_like, libsvm_form
from adatron.estimators.training_set import linear_weights, with_constant
from adatron.kernels import Constant, Kernel, Linear, Precomputed
from adatron.numerics.threads import one_blas_thread, usable_threads
from adatron.problems import LevelProblem
from adatron.solvers import M3, CrammerSinger, KernelAdatron, MultiplicativeUpdating, Munk
from adatron.training import DualSolution, EpochRecord, GapRule, LevelSearch, Run

_MANY_PROBLEMS = 6  # from which training two at a time is worth the threads
_SHARED_PARAMETERS = (
    "C",
    "epsilon",
    "nu",
    "shrinking",
    "tol",
    "class_weight",
    "decision_function_shape",
    "break_ties",
)
_SKLEARN_CLASSES = ("NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR")
_EXACT_BELOW = 1e-4  # tol below which the optimum itself is looked for: there is nothing more to aim at
_CRAWLING = (M3, MultiplicativeUpdating, Munk)  # whose gap may fall so slowly that nobody will wait for it
_MULTIPLYING = ("m3", "multiplicative", "munk", "rho")  # solvers that only multiply by it
_INDEFINITE_LEVELS = 30  # of a ν-problem without a gap, and epochs for each


class IterFitMixin:
    """Adds `iter_fit` to a machine that is trained epoch by epoch."""

    _plan: Any  # as in `KernelMachine`
    _store: Any

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
            warn_unless_converged(self)


class SupportVectorMachine(IterFitMixin, ExpansionMachine):
    """Base of the machines that any solver may train."""

    _training_set: Any  # (X, y, sample_weight) → TrainingSet: checks what `fit` is given
    _problems: Any  # (gram, data, layout) → problems that share the kernel matrix
    _alphas: list[np.ndarray]  # multipliers of each run, kept with `warm_start`
    _accepts_dask = True
    _aim = 1.0  # part of tol that a fit aims at
    exact_certificate = fit_intercept = False  # where they are no parameters
    _is_hard: Any = False  # whether a margin without slack is asked for

    @property
    def _gamma(self) -> float:
        """What ``gamma`` amounts to, under scikit-learn's name; 0 for kernels without one."""
        return float(getattr(self._kernel, "gamma", 0.0))

    def _check_parameters(self) -> None:
        parameters.check_common_parameters(self)
        parameters.solver_from(self.solver, self.learning_rate)
        parameters.check_max_iter(self.max_iter)
        parameters.check_number("tol", self.tol)
        if self.exact_certificate and self.rank is not None:
            raise ValueError(
                f"exact_certificate=True needs the kernel itself, but rank={self.rank!r} approximates it; "
                "set rank=None, or call adatron.certify on the fitted machine"
            )

    @property
    def _is_greedy(self) -> bool:
        """Whether the fast path is asked for; a rate belongs to the sweeps of Kernel-Adatron."""
        return isinstance(self.solver, str) and self.solver == "auto" and self.learning_rate == "auto"

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        self._check_parameters()
        data = self._training_set(X, y, sample_weight)
        layout = Layout(len(data.classes) or 2, self.multi_class).check_size(data.m)
        few_rows = self._is_greedy and self.rank is None and not layout.is_direct
        kernel = parameters.kernel_from(self, data.X, data.sample_weight)
        if few_rows and self.fit_intercept and isinstance(kernel, Linear):
            # not for the papers' algorithms, which keep their kernel
            data = data.centred_if_far()
        constant = float(layout.is_direct and self.fit_intercept)  # the coupled problem has no other bias
        trained, X = kernel, data.X
        if constant and isinstance(kernel, Linear):
            X = with_constant(X, 1.0)  # so that the rows stay a factor of the matrix
        elif constant:
            trained, X = plus_one(kernel, X)
        choice, indefinite = parameters.kernel_matrix(
            self, trained, X, needs_few_rows=few_rows, copies=layout.copies_of_the_matrix(data.codes),
            only_multiplies=isinstance(self.solver, str) and self.solver in _MULTIPLYING,
            precise=self._is_hard,  # float32 will never do for a hard margin
        )  # fmt: skip
        problems = self._problems(choice.gram, data, layout)
        is_spread = self.n_jobs is None and self._is_greedy and len(problems) >= _MANY_PROBLEMS
        n_threads = usable_threads() if is_spread else parameters.count_threads(self.n_jobs)
        starts: list[Any] = [None] * len(problems)
        if self.warm_start and "_alphas" in vars(self):  # of the last fit, if they fit the problems
            shapes = [(p.m, p.n_classes) if layout.is_direct else p.y.shape for p in problems]
            starts = self._alphas if [alpha.shape for alpha in self._alphas] == shapes else starts
        runs = self._runs(problems, indefinite, starts)
        return FitPlan(
            kernel, data, choice.gram, runs, choice.reason,
            layout=layout, constant=constant, time_limit=self.time_limit, n_threads=n_threads,
        )  # fmt: skip

    def _runs(self, problems: list[Any], indefinite: bool, starts: list[Any]) -> list[Run]:
        first = problems[0]
        if self.multi_class == "crammer_singer":
            solver: Any = CrammerSinger()
        elif self._is_greedy and (indefinite or not first.gram.has_entries):
            solver = KernelAdatron()
        else:
            solver = parameters.solver_from(self.solver, self.learning_rate, first)
        may_give_up = self.max_iter == -1 and self.time_limit is None and isinstance(solver, _CRAWLING)
        regime = replace(self._regime, all_in_double=first.m) if self.exact_certificate else self._regime
        aim = self._aim if self.tol >= _EXACT_BELOW else 1.0
        rule = partial(
            GapRule, float(self.tol), aim=aim, eager=self.solver == "auto",
            indefinite=indefinite, may_give_up=may_give_up, regime=regime,
        )  # fmt: skip
        most = parameters.check_max_iter(self.max_iter)
        if isinstance(first, LevelProblem):
            most = min(most, _INDEFINITE_LEVELS) if indefinite else most
            solver = LevelSearch(solver, most, may_give_up, indefinite, regime)
        return [
            Run(problem, solver, rule(), max_iter=most, alpha=start, first=number)
            for number, (problem, start) in enumerate(zip(problems, starts, strict=True))
        ]

    def _expanded(
        self, plan: FitPlan, solutions: list[DualSolution], coefficients: np.ndarray,
        scale: float = 1.0, shift: float = 0.0,
    ) -> dict[str, Any]:  # fmt: skip
        """Fitted attributes of problems with coefficients ``y∘α``; biases are scaled, then shifted."""
        intercept = np.zeros(coefficients.shape[1]) + [scale * s.bias + shift for s in solutions]
        attributes = expansion_attributes(plan, coefficients, intercept) | summary_attributes(solutions)
        moved = (attributes["intercept_"] - intercept)[:, None]  # with the rows
        attributes["bias_interval_"] = scale * attributes["bias_interval_"] + shift + moved
        return attributes if len(plan.data.classes) else attributes | {"n_iter_": solutions[0].n_iter}

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row per problem; linear kernel only. Sparse after a sparse fit."""
        check_is_fitted(self)
        expansion = self._expansion
        if not isinstance(expansion.kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
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
        sklearn.svm.SVC, NuSVC, SVR, NuSVR or OneClassSVM
        """
        from sklearn import svm  # takes time to load

        names = (base.__name__ for base in type(self).__mro__)
        kind = getattr(svm, next(name for name in names if name in _SKLEARN_CLASSES))
        model = fitted_like(kind, self, libsvm_form(self))
        own = self.get_params(deep=False)
        model.set_params(**{name: own[name] for name in _SHARED_PARAMETERS if name in own})
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


def plus_one(kernel: Kernel, X: Any) -> tuple[Kernel, Any]:
    """The kernel + 1 and its rows, where a constant takes the place of a bias."""
    if isinstance(kernel, Precomputed):
        return kernel, X + 1.0
    return kernel + Constant(1.0), X
