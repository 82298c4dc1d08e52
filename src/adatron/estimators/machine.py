"""What `SVC`, `SVR` and `OneClassSVM` share: from checked parameters to runs of any solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators.base import DEFAULT_MAX_ITER, FitPlan, KernelMachine, linear_weights
from adatron.estimators.kernel_choice import (
    distributed_operator,
    inspect_gram,
    kernel_from,
    operator_for,
    probe_callable,
)
from adatron.estimators.parameters import (
    as_random_state,
    check_common_parameters,
    check_flag,
    check_max_iter,
    check_number,
)
from adatron.estimators.solver_choice import check_solver_can_serve, solver_from
from adatron.gram import Choice, RowGram, choose_rows, is_distributed
from adatron.kernels import Kernel, Linear, Precomputed
from adatron.problems import DualProblem
from adatron.solvers import M3, KernelAdatron, MultiplicativeUpdating, Munk
from adatron.training import DualSolution, Run

__all__ = ["SupportVectorMachine", "bounds_from"]

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

    def _kernel_matrix(self, X: Any, weights: np.ndarray, copies: float = 1.0) -> tuple[Kernel, Choice, bool]:
        """The kernel, how its matrix is held, and whether it is indefinite."""
        kernel = kernel_from(self, X, weights)
        probe_callable(kernel, X)
        choice = self._operator(kernel, X, copies)
        indefinite = inspect_gram(choice.gram, kernel)
        if indefinite and isinstance(choice.gram, RowGram):  # all its rows will be swept
            choice = operator_for(kernel, X, self.cache_size, None, None)
        return kernel, choice, indefinite

    def _operator(self, kernel: Kernel, X: Any, copies: float) -> Choice:
        if is_distributed(X):
            whole = self.solver in _WHOLE_MATRIX if isinstance(self.solver, str) else False
            return distributed_operator(kernel, X, self.rank, as_random_state(self.random_state), whole)
        if self._is_greedy and self.rank is None and not isinstance(kernel, Precomputed):
            return choose_rows(kernel, X, self.cache_size, precise=self._needs_float64)
        return operator_for(kernel, X, self.cache_size, self.rank, self.random_state, copies)

    @property
    def _is_greedy(self) -> bool:
        """Whether the fast path is asked for; a rate belongs to the sweeps of Kernel-Adatron."""
        return isinstance(self.solver, str) and self.solver == "auto" and self.learning_rate == "auto"

    def _runs(self, problems: list[DualProblem], indefinite: bool, settings: dict[str, Any]) -> list[Run]:
        if self._is_greedy and (indefinite or not getattr(problems[0].gram, "has_entries", True)):
            settings["solver"] = KernelAdatron()
        check_solver_can_serve(self.solver, settings["solver"], problems[0])
        starts = self._warm_starts([problem.y.shape for problem in problems])
        aim = self._aim if settings["tol"] >= _EXACT_BELOW else 1.0
        common = {"indefinite": indefinite, "eager": self.solver == "auto", "aim": aim, **settings}
        return [
            Run(problem, alpha=start, first=number, **common)
            for number, (problem, start) in enumerate(zip(problems, starts, strict=True))
        ]

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
        vectors, coefficients = self._expansion()
        weights = linear_weights(vectors, coefficients)
        if sparse.issparse(vectors):
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
        from adatron.estimators.as_sklearn import as_sklearn  # scikit-learn's machines take time to load

        return as_sklearn(self)


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
