"""Classifiers whose decisions are kernel expansions, ``f(x) = Σ coef_i k(x_i, x) + b``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import FitPlan, KernelMachine, linear_weights
from adatron.estimators.dask_predict import lazy_on_dask
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.kernel_choice import is_precomputed
from adatron.estimators.training_data import TrainingData
from adatron.gram import LowRankGram, is_distributed
from adatron.kernels import Kernel, Linear, Precomputed, product_form, squared_norms
from adatron.training import is_single

__all__ = [
    "ExpansionClassifier",
    "coef_beside",
    "dense_coef",
    "expansion_attributes",
    "landmark_attributes",
    "landmark_rows",
    "support_attributes",
]


class ExpansionClassifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers: decisions and predictions from ``dual_coef_`` and ``intercept_``."""

    def _decisions(self, X: Any) -> np.ndarray:
        """Decision values of all problems, shape (n, n_problems)."""
        check_is_fitted(self)
        X = check_predict_X(self, X)
        if isinstance(self._kernel, Linear):
            return self._linear(X) + self.intercept_
        if self._landmark_coef is not None:
            return self._expand(X, self._landmarks, self._landmark_coef) + self.intercept_
        vectors = self.support_ if isinstance(self._kernel, Precomputed) else self.support_vectors_
        if not self._layout.is_pairwise:
            return self._expand(X, vectors, dense_coef(self).T) + self.intercept_
        classes = np.concatenate([[0], np.cumsum(self.n_support_)])
        parts = self._expand(X, vectors, dense_coef(self).T, groups=classes)
        return self._layout.of_pairs(parts) + self.intercept_

    def _expansion(self) -> tuple[Any, np.ndarray]:
        """Rows and their coefficients: the support vectors, or the landmarks of a low-rank kernel."""
        if self._landmark_coef is not None:
            return self._landmarks, self._landmark_coef
        vectors = self.support_ if isinstance(self._kernel, Precomputed) else self.support_vectors_
        return vectors, self._layout.to_coefficients(dense_coef(self), self.n_support_)

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


def coef_beside(vectors: Any, dual_coef: np.ndarray) -> Any:
    """``dual_coef_`` as scikit-learn has it: sparse where the support vectors are."""
    return sparse.csr_array(dual_coef) if sparse.issparse(vectors) else dual_coef


def dense_coef(model: Any) -> np.ndarray:
    """``dual_coef_`` of a fitted model as an ndarray."""
    return model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_


def expansion_attributes(
    plan: FitPlan, coefficients: np.ndarray, intercept: np.ndarray, constant: float = 0.0
) -> dict[str, Any]:
    """Fitted attributes from the coefficients ``y∘α`` of every row and problem.

    A `constant` that was added to the kernel for training goes into the intercept.
    """
    data: TrainingData = plan.extras["data"]
    layout = plan.extras["layout"]
    codes = data.codes
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
    """The same for a low-rank kernel with the landmarks as support vectors: where all rows would be some."""
    data, gram = plan.extras["data"], plan.extras["gram"]
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
        "_layout": plan.extras["layout"],
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
    data, gram = plan.extras["data"], plan.extras["gram"]
    precomputed = isinstance(plan.kernel, Precomputed)
    attributes = {
        "shape_fit_": data.shape,
        "support_": data.rows[support].astype(np.int32),
        "support_vectors_": np.empty((0, 0)) if precomputed else _support_vectors(plan, support),
        "intercept_": intercept + constant * coefficients.sum(axis=0),
        "_kernel": plan.kernel,
        "_landmark_coef": None,
        "_precision": np.float32 if any(is_single(run.problem.gram) for run in plan.runs) else np.float64,
    }
    if data.moved is not None:
        weights = linear_weights(data.moved.X[support], coefficients[support])
        attributes["intercept_"] = intercept - weights @ data.moved.by
    if isinstance(gram, LowRankGram) and len(gram.projection):
        expanded = gram.projection @ gram.weights_of(coefficients)
        attributes["_landmarks"], attributes["_landmark_coef"] = landmark_rows(data.X, gram), expanded
        attributes["intercept_"] = intercept + constant * expanded.sum(axis=0)
        attributes["kernel_error_"] = gram.trace_error
    return attributes


def landmark_rows(X: Any, gram: LowRankGram) -> Any:
    """The rows that a low-rank kernel rests on."""
    return getattr(gram, "landmark_rows", None) if is_distributed(X) else _in_double(X[gram.landmarks])


def _support_vectors(plan: FitPlan, support: np.ndarray) -> Any:
    """Rows of X, which an ensemble and its last SVM share."""
    known = plan.extras.get("support")
    if known is None or not np.array_equal(known[0], support):
        data, gram = plan.extras["data"], plan.extras["gram"]
        X = data.X if data.moved is None else data.moved.X
        # none of them from a cluster where decisions come from landmarks: there may be millions
        is_elsewhere = is_distributed(X) and isinstance(gram, LowRankGram)
        known = support, _in_double(X[support[:0] if is_elsewhere else support])
        _check_unchanged(known[1], plan.kernel)
        plan.extras["support"] = known
    return known[1]


def _check_unchanged(vectors: Any, kernel: Kernel) -> None:
    """Rows whose products were finite when training began are so still."""
    with np.errstate(over="ignore", invalid="ignore"):
        if product_form(kernel) is None or np.isfinite(squared_norms(vectors)).all():
            return
    raise ValueError(
        "X was changed while the fit was under way, perhaps by another thread; pass a copy of it"
    )
