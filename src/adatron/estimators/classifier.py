"""Classifiers whose decisions are kernel expansions, and the fitted attributes that all expansions have."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import FitPlan, KernelMachine
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.expansion import Expansion, coef_beside, dense_coef, linear_weights
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.kernel_choice import is_precomputed
from adatron.kernels import Kernel, Linear, Precomputed, squared_norms

__all__ = ["ExpansionClassifier", "expansion_attributes", "landmark_attributes", "support_attributes"]


class ExpansionClassifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers: decisions and predictions from ``dual_coef_`` and ``intercept_``."""

    def _decisions(self, X: Any) -> np.ndarray:
        """Decision values of all problems, shape (n, n_problems)."""
        check_is_fitted(self)
        X = check_predict_X(self, X)
        is_on_landmarks = self._landmark_coef is not None
        if not self._layout.is_pairwise or is_on_landmarks or isinstance(self._kernel, Linear):
            return self._expansion()(X)
        # every support vector has its kernel value evaluated once, for all pairs of its class
        vectors = self.support_ if isinstance(self._kernel, Precomputed) else self.support_vectors_
        classes = np.concatenate([[0], np.cumsum(self.n_support_)])
        of_pairs = Expansion(vectors, dense_coef(self).T, 0.0, self._kernel, self._precision)
        return self._layout.of_pairs(of_pairs.by_groups(X, classes)) + self.intercept_

    def _coefficients(self) -> np.ndarray:
        return self._layout.to_coefficients(dense_coef(self), self.n_support_)

    @lazy_on_dask
    def decision_function(self, X: Any) -> np.ndarray:
        """Signed distance-like score, as in `sklearn.svm.SVC`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One value for each row with two classes, positive for the second; else one for each class, or
            for each pair of classes with ``decision_function_shape="ovo"``.
        """
        return self._shaped(self._decisions(X))

    def _shaped(self, decisions: np.ndarray) -> np.ndarray:
        if self._layout.is_binary:
            return decisions[:, 0]
        if getattr(self, "decision_function_shape", "ovr") == "ovo":
            return decisions
        return self._layout.one_per_class(decisions)

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
        decisions = self._decisions(X)
        return self.classes_[self._winners(decisions)]

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        """Index of the predicted class of each row."""
        return self._layout.vote(decisions)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def expansion_attributes(
    plan: FitPlan, coefficients: np.ndarray, intercept: np.ndarray, constant: float = 0.0
) -> dict[str, Any]:
    """Fitted attributes from the coefficients ``y∘α`` of every row and problem.

    A `constant` that was added to the kernel for training goes into the intercept.
    """
    data, layout, codes = plan.data, plan.layout, plan.data.codes
    support = np.flatnonzero(np.any(coefficients != 0.0, axis=1))
    support = support[np.argsort(codes[support], kind="stable")]
    attributes = support_attributes(plan, support, coefficients, intercept, constant)
    dual_coef = layout.to_dual_coef(coefficients[support], codes[support])
    return attributes | {
        "classes_": data.classes,
        "n_support_": np.bincount(codes[support], minlength=len(data.classes)).astype(np.int32),
        "dual_coef_": coef_beside(attributes["support_vectors_"], dual_coef),
        "_layout": layout,
    }


def landmark_attributes(
    plan: FitPlan, coefficients: np.ndarray, intercept: np.ndarray, constant: float = 0.0
) -> dict[str, Any]:
    """Like `expansion_attributes`, with the landmarks of a low-rank kernel as support vectors.

    For many rows, nearly all of which would be support vectors otherwise.
    """
    data, gram = plan.data, plan.gram
    expanded = gram.projection @ gram.weights_of(coefficients)
    codes = data.codes[gram.landmarks]
    order = np.argsort(codes, kind="stable")
    places = gram.landmarks[order]
    vectors = _in_double(data.X[places])
    return {
        "classes_": data.classes,
        "shape_fit_": data.shape,
        "n_support_": np.bincount(codes, minlength=len(data.classes)).astype(np.int32),
        "support_": data.rows[places].astype(np.int32),
        "support_vectors_": vectors,
        "dual_coef_": coef_beside(vectors, np.ascontiguousarray(expanded[order].T)),
        "intercept_": intercept + constant * expanded.sum(axis=0),
        "kernel_error_": gram.trace_error,
        "_kernel": plan.kernel,
        "_layout": plan.layout,
        "_landmark_coef": None,
        "_precision": np.float32,
    }


def _in_double(X: Any) -> Any:
    """Rows as every model has them, dense or sparse; objects of a kernel function stay as they are."""
    return X if X.dtype.kind == "O" else X.astype(np.float64, copy=False)


def support_attributes(
    plan: FitPlan, support: np.ndarray, coefficients: np.ndarray, intercept: np.ndarray, constant: float = 0.0
) -> dict[str, Any]:
    """What expansions have in common, with classes or without: their vectors, intercepts and kernel."""
    data, gram = plan.data, plan.gram
    precomputed = isinstance(plan.kernel, Precomputed)
    attributes = {
        "shape_fit_": data.shape,
        "support_": data.rows[support].astype(np.int32),
        "support_vectors_": np.empty((0, 0)) if precomputed else _support_vectors(plan, support),
        "intercept_": intercept + constant * coefficients.sum(axis=0),
        "_kernel": plan.kernel,
        "_landmark_coef": None,
        "_precision": np.float32 if any(run.problem.gram.is_single for run in plan.runs) else np.float64,
    }
    if data.origin is not None:
        weights = linear_weights(data.given[support], coefficients[support])
        attributes["intercept_"] = intercept - weights @ data.origin
    if gram is not None and len(gram.projection):
        expanded = gram.projection @ gram.weights_of(coefficients)
        attributes["_landmarks"], attributes["_landmark_coef"] = gram.landmark_rows, expanded
        attributes["intercept_"] = intercept + constant * expanded.sum(axis=0)
        attributes["kernel_error_"] = gram.trace_error
    return attributes


def _support_vectors(plan: FitPlan, support: np.ndarray) -> Any:
    """Rows of X, which an ensemble and its last SVM share."""
    known = plan.support
    if known is None or not np.array_equal(known[0], support):
        # none of them from a cluster where decisions come from landmarks: there may be millions
        is_elsewhere = plan.gram is not None and plan.gram.is_elsewhere and len(plan.gram.projection)
        known = support, _in_double(plan.data.unmoved[support[:0] if is_elsewhere else support])
        _check_unchanged(known[1], plan.kernel)
        plan.support = known
    return known[1]


def _check_unchanged(vectors: Any, kernel: Kernel) -> None:
    """Rows whose products were finite when training began are so still."""
    with np.errstate(over="ignore", invalid="ignore"):
        if kernel.product_form is None or np.isfinite(squared_norms(vectors)).all():
            return
    raise ValueError(
        "X was changed while the fit was under way, perhaps by another thread; pass a copy of it"
    )
