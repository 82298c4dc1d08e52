"""Machines that are one problem and one kernel expansion: `SVR` and `OneClassSVM`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import FitPlan, summary_attributes
from adatron.estimators.expansion import coef_beside, dense_coef, support_attributes
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.kernel_choice import is_precomputed
from adatron.estimators.machine import SupportVectorMachine
from adatron.estimators.parameters import count_threads
from adatron.estimators.training_data import WeightedRows
from adatron.gram import GramOperator
from adatron.kernels import Linear, Precomputed
from adatron.problems import DualProblem
from adatron.training import DualSolution

__all__ = ["SingleExpansion"]


class SingleExpansion(SupportVectorMachine):
    """Base of the machines whose outputs are ``Σ coef_i k(x_i, x) + b``, from one problem.

    A subclass checks its parameters and data, poses the problem, and says by how much its multipliers
    and its bias are to be scaled and moved.
    """

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _data(self, X: Any, y: Any, sample_weight: Any) -> WeightedRows:
        raise NotImplementedError

    def _problem(self, gram: GramOperator, data: WeightedRows) -> DualProblem:
        raise NotImplementedError

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        self._check_parameters()
        settings, n_threads = self._checked_settings(), count_threads(self.n_jobs)
        data = self._data(X, y, sample_weight)
        kernel, choice, indefinite = self._kernel_matrix(data.X, data.weights)
        runs = self._runs([self._problem(choice.gram, data)], indefinite, settings)
        extras = {"reason": choice.reason, "gram": choice.gram, "data": data}
        return FitPlan(kernel, runs, self.time_limit, n_threads, extras=extras)

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
        X = check_predict_X(self, X)
        if isinstance(self._kernel, Linear):
            return self._linear(X)[:, 0] + self.intercept_[0]
        return self._expand(X, *self._expansion())[:, 0] + self.intercept_[0]

    def _expansion(self) -> tuple[Any, np.ndarray]:
        if self._landmark_coef is not None:
            return self._landmarks, self._landmark_coef
        vectors = self.support_ if isinstance(self._kernel, Precomputed) else self.support_vectors_
        return vectors, dense_coef(self).T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags
