"""What `SVC`, `SVR` and `OneClassSVM` share: from checked parameters to runs of any solver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import DEFAULT_MAX_ITER, FitPlan, KernelMachine, summary_attributes
from adatron.estimators.classifier import support_attributes
from adatron.estimators.expansion import coef_beside, linear_weights
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.kernel_choice import inspect_gram, is_precomputed, kernel_from, probe_callable
from adatron.estimators.parameters import (
    as_random_state,
    check_common_parameters,
    check_flag,
    check_max_iter,
    check_number,
    check_solver_can_serve,
    count_threads,
    solver_from,
)
from adatron.estimators.training_set import TrainingSet
from adatron.gram import Choice, Gram, choose_gram
from adatron.kernels import Kernel, Linear
from adatron.numerics.threads import one_blas_thread
from adatron.problems import DualProblem
from adatron.solvers import M3, KernelAdatron, MultiplicativeUpdating, Munk
from adatron.training import DualSolution, EpochRecord, GapRule, Run

__all__ = ["SingleExpansion", "SupportVectorMachine", "bounds_from"]

_EXACT_BELOW = 1e-4  # tol below which the optimum itself is looked for: there is nothing more to aim at
_CRAWLING = (M3, MultiplicativeUpdating, Munk)  # whose gap may fall so slowly that nobody will wait for it
_WHOLE_MATRIX = ("m3", "multiplicative", "munk", "rho")  # solvers that only multiply by it


class SupportVectorMachine(KernelMachine):
    """Base of the machines that any solver may train."""

    _aim = 1.0  # part of tol that a fit aims at

    @property
    def _needs_float64(self) -> bool:
        """Whether float32 kernel values will never do."""
        return False

    def _checked_settings(self) -> dict[str, Any]:
        check_common_parameters(self)
        for name in ("shrinking", "fit_intercept", "warm_start"):
            if hasattr(self, name):
                check_flag(name, getattr(self, name))
        solver = solver_from(self.solver, self.learning_rate)
        max_iter = check_max_iter(self.max_iter, DEFAULT_MAX_ITER)
        may_give_up = self.max_iter == -1 and self.time_limit is None and isinstance(solver, _CRAWLING)
        tol = check_number("tol", self.tol)
        return {"tol": tol, "max_iter": max_iter, "solver": solver, "may_give_up": may_give_up}

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        settings = self._check_parameters()
        return self._plan_for(self._training_set(X, y, sample_weight), settings)

    def _check_parameters(self) -> dict[str, Any]:
        """Refuse what the constructor was given, or turn it into the settings of a run."""
        raise NotImplementedError

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Check what `fit` is given."""
        raise NotImplementedError

    def _plan_for(self, data: TrainingSet, settings: dict[str, Any]) -> FitPlan:
        """The runs of a fit on data that are checked already."""
        raise NotImplementedError

    def _fit_checked(self, data: TrainingSet) -> SupportVectorMachine:
        """Train on data that another estimator has checked: no callbacks, no warnings, no second look.

        `feature_names_in_` stays with that estimator.
        """
        with one_blas_thread():  # as in `fit`: no bit may depend on how many threads other fits leave
            plan = self._plan_for(data, self._check_parameters())
        with one_blas_thread() if plan.wants_one_blas_thread else nullcontext():
            for _ in plan.rounds(watched=False):
                pass
        self._store(plan)
        self.n_features_in_ = data.X.shape[1]
        return self

    def iter_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Iterator[EpochRecord]:
        """Train epoch by epoch; the estimator can predict after each record.

        Leaving the loop early keeps the model as it is. Callbacks are not called: the loop is yours.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Classes or targets; `OneClassSVM` has none.
        sample_weight : array-like of shape (n_samples,), optional

        Yields
        ------
        EpochRecord
            Number of the epoch, objective, margin, bias, violation and seconds of one problem.

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

    def _kernel_matrix(self, X: Any, weights: np.ndarray, copies: float = 1.0) -> tuple[Kernel, Choice, bool]:
        """The kernel, how its matrix is held, and whether it is indefinite."""
        kernel = kernel_from(self, X, weights)
        probe_callable(kernel, X)
        needs_few_rows = self._is_greedy and self.rank is None
        choice = self._gram_for(kernel, X, copies, needs_few_rows)
        indefinite = inspect_gram(choice.gram, kernel)
        if indefinite and needs_few_rows and choice.gram.evaluates_rows:  # all its rows will be swept
            choice = self._gram_for(kernel, X, 1.0, needs_few_rows=False)
        return kernel, choice, indefinite

    def _gram_for(self, kernel: Kernel, X: Any, copies: float, needs_few_rows: bool) -> Choice:
        state = as_random_state(self.random_state) if self.rank is not None else None
        return choose_gram(
            kernel, X, self.cache_size, self.rank, state,
            needs_few_rows=needs_few_rows, precise=self._needs_float64, copies=copies, regime=self._regime,
            only_multiplies=isinstance(self.solver, str) and self.solver in _WHOLE_MATRIX,
        )  # fmt: skip

    @property
    def _is_greedy(self) -> bool:
        """Whether the fast path is asked for; a rate belongs to the sweeps of Kernel-Adatron."""
        return isinstance(self.solver, str) and self.solver == "auto" and self.learning_rate == "auto"

    def _runs(self, problems: list[DualProblem], indefinite: bool, settings: dict[str, Any]) -> list[Run]:
        solver = settings["solver"]
        if self._is_greedy and (indefinite or not problems[0].gram.has_entries):
            solver = KernelAdatron()
        check_solver_can_serve(self.solver, solver, problems[0])
        starts = self._warm_starts([problem.y.shape for problem in problems])
        tol = settings["tol"]
        return [
            Run(
                problem, solver, self._rule(tol, indefinite, settings["may_give_up"]),
                max_iter=settings["max_iter"], alpha=start, first=number,
            )
            for number, (problem, start) in enumerate(zip(problems, starts, strict=True))
        ]  # fmt: skip

    def _rule(self, tol: float, indefinite: bool, may_give_up: bool = False) -> GapRule:
        return GapRule(
            tol,
            aim=self._aim if tol >= _EXACT_BELOW else 1.0,
            indefinite=indefinite,
            eager=self.solver == "auto",
            may_give_up=may_give_up,
            regime=self._regime,
        )

    @property
    def _may_be_moved(self) -> bool:
        """Whether moving all rows changes nothing but the rounding.

        The published algorithms are left with the kernel that they are given.
        """
        kernel = self.kernel
        is_linear = isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")
        return is_linear and self._is_greedy and bool(self.fit_intercept) and self.rank is None

    def _warm_starts(self, shapes: list[tuple[int, ...]]) -> list[np.ndarray | None]:
        previous = getattr(self, "_alphas", None) if self.warm_start else None
        if previous is None or [a.shape for a in previous] != shapes:
            return [None] * len(shapes)
        return list(previous)

    def _kept_for_warm_start(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        return {"_alphas": [_alphas(run, solutions) for run in plan.runs]} if self.warm_start else {}

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row per problem; linear kernel only. Sparse after a sparse fit."""
        if not isinstance(getattr(self, "_kernel", None), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        expansion = self._expansion()
        weights = linear_weights(expansion.vectors, expansion.coefficients)
        if sparse.issparse(expansion.vectors):
            weights = sparse.csr_array(weights)
            weights.data.flags.writeable = False
        else:
            weights.flags.writeable = False  # a change of it would not change the model
        return weights

    @property
    def _gamma(self) -> float:
        """What ``gamma`` amounts to, under scikit-learn's name; 0 for kernels without one."""
        return float(getattr(self._kernel, "gamma", 0.0))

    def to_sklearn(self) -> Any:
        """The fitted machine of `sklearn.svm` that predicts the same.

        Pickles of it load without adatron. Decisions agree to rounding: a model trained with float32
        kernel values also decides with them, scikit-learn's never does. Probabilities are not taken along.

        Returns
        -------
        sklearn.svm.SVC, SVR or OneClassSVM

        Raises
        ------
        ValueError
            If scikit-learn has no such machine: a kernel of its own, more than two classes that were not
            trained in pairs, or these with `rank`.

        Examples
        --------
        >>> from adatron import SVC
        >>> model = SVC().fit([[-1.0], [1.0], [2.0]], ["no", "yes", "yes"])
        >>> type(model.to_sklearn()).__module__, model.to_sklearn().predict([[3.0]]).tolist()
        ('sklearn.svm._classes', ['yes'])
        """
        from adatron.estimators.libsvm_form import as_sklearn

        return as_sklearn(self)


class SingleExpansion(SupportVectorMachine):
    """Base of the machines whose outputs are ``Σ coef_i k(x_i, x) + b``, from one problem.

    A subclass checks its parameters and data, poses the problem, and says by how much its multipliers
    and its bias are to be scaled and moved.
    """

    def _problem(self, gram: Gram, data: TrainingSet) -> DualProblem:
        raise NotImplementedError

    def _plan_for(self, data: TrainingSet, settings: dict[str, Any]) -> FitPlan:
        n_threads = count_threads(self.n_jobs)
        kernel, choice, indefinite = self._kernel_matrix(data.X, data.weights)
        runs = self._runs([self._problem(choice.gram, data)], indefinite, settings)
        return FitPlan(
            kernel, data, choice.gram, runs, choice.reason, time_limit=self.time_limit, n_threads=n_threads
        )

    def _expanded(
        self,
        plan: FitPlan,
        solutions: list[DualSolution],
        coefficients: np.ndarray,
        scale: float = 1.0,
        shift: float = 0.0,
    ) -> dict[str, Any]:
        """Fitted attributes from the coefficients ``y∘α`` of every row; the bias is scaled, then moved."""
        (solution,) = solutions
        support = np.flatnonzero(coefficients)
        intercept = np.array([scale * solution.bias + shift])
        attributes = support_attributes(plan, support, coefficients[:, None], intercept)
        moved = attributes["intercept_"] - intercept  # with the rows
        attributes |= self._kept_for_warm_start(plan, solutions) | summary_attributes(solutions)
        return attributes | {
            "dual_coef_": coef_beside(attributes["support_vectors_"], coefficients[None, support]),
            "n_support_": np.array([len(support)], dtype=np.int32),
            "n_iter_": solution.n_iter,
            "bias_interval_": scale * np.array([solution.bias_interval]) + shift + moved,
        }

    def _outputs(self, X: Any) -> np.ndarray:
        """``Σ coef_i k(x_i, x) + b`` of every row of `X`."""
        check_is_fitted(self)
        return self._expansion()(check_predict_X(self, X))[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def bounds_from(C: float, weights: np.ndarray) -> np.ndarray:
    """``C`` times the weight of each row, neither infinite nor 0 by rounding."""
    with np.errstate(over="ignore"):
        upper = C * weights
    if np.isfinite(C) and not np.isfinite(upper).all():
        raise ValueError(f"C * sample_weight overflows with C={C!r}; scale sample_weight down")
    if not (upper > 0.0).all():
        raise ValueError(f"C * sample_weight underflows with C={C!r}; scale sample_weight up")
    return upper


def _alphas(run: Run, solutions: list[DualSolution]) -> np.ndarray:
    own = solutions[run.first : run.first + run.problem.n_columns]
    return np.column_stack([solution.alpha for solution in own])
