"""Fitted machines as those of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import svm

from adatron.estimators.libsvm_form import LibsvmForm, libsvm_form

__all__ = ["as_sklearn", "fitted_like"]

_SHARED = ("C", "epsilon", "nu", "shrinking", "tol", "class_weight", "decision_function_shape", "break_ties")
_KINDS = {"SVC": svm.SVC, "SVR": svm.SVR, "OneClassSVM": svm.OneClassSVM}


def as_sklearn(machine: Any) -> Any:
    """The `sklearn.svm` machine that predicts what an `SVC`, `SVR` or `OneClassSVM` does."""
    kind = next(_KINDS[base.__name__] for base in type(machine).__mro__ if base.__name__ in _KINDS)
    model = fitted_like(kind, machine, libsvm_form(machine))
    model.set_params(**{name: getattr(machine, name) for name in _SHARED if hasattr(machine, name)})
    model.n_iter_, model.fit_status_ = machine.n_iter_, machine.fit_status_
    if hasattr(machine, "class_weight_"):
        model.class_weight_ = machine.class_weight_.copy()
    return model


def fitted_like(kind: Any, machine: Any, form: LibsvmForm) -> Any:
    """A machine of a class of `sklearn.svm` that decides as the form says.

    scikit-learn predicts from copies of its public attributes, with the signs of LIBSVM. A fit on one row
    for each class brings all attributes of the installed version into being; those that make the model
    are then replaced.
    """
    is_sparse = sparse.issparse(form.vectors)
    classes = getattr(machine, "classes_", None)
    rows = _few_rows(2 if classes is None else len(classes), machine.n_features_in_, form)
    model = kind(**form.kernel).fit(rows, np.array([0.0, 1.0]) if classes is None else classes)
    sign = -1.0 if classes is not None and len(classes) == 2 else 1.0
    model.support_ = np.ascontiguousarray(form.support, dtype=np.int32)
    model.support_vectors_ = _as_rows(model.support_vectors_, form.vectors, is_sparse)
    model.dual_coef_ = _as_coefficients(model.dual_coef_, form.dual_coef, is_sparse)
    model._dual_coef_ = _as_coefficients(model.dual_coef_, sign * form.dual_coef, is_sparse)
    model.intercept_, model._intercept_ = form.intercept.copy(), sign * form.intercept
    n_support = form.n_support if classes is not None else np.repeat(form.n_support, 2)
    model._n_support = np.ascontiguousarray(n_support, dtype=np.int32)
    for name in ("shape_fit_", "n_features_in_", "feature_names_in_", "offset_"):
        if hasattr(machine, name):
            setattr(model, name, getattr(machine, name))
    return model


def _few_rows(n: int, n_features: int, form: LibsvmForm) -> Any:
    if form.kernel["kernel"] == "precomputed":
        return np.eye(n)
    if sparse.issparse(form.vectors):
        places = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        return sparse.csr_array((np.arange(n, dtype=float), places), shape=(n, n_features))
    rows = np.zeros((n, n_features))
    rows[:, 0] = np.arange(n)
    return rows


def _as_rows(like: Any, vectors: Any, is_sparse: bool) -> Any:
    if not is_sparse:
        return np.ascontiguousarray(vectors, dtype=np.float64)
    indices, indptr = (part.astype(np.int32) for part in (vectors.indices, vectors.indptr))
    return type(like)((vectors.data, indices, indptr), shape=vectors.shape)


def _as_coefficients(like: Any, coefficients: np.ndarray, is_sparse: bool) -> Any:
    """Sparse ones keep their zeros: LIBSVM takes them for a whole table."""
    if not is_sparse:
        return np.ascontiguousarray(coefficients)
    n_rows, n = coefficients.shape
    indices, indptr = np.tile(np.arange(n, dtype=np.int32), n_rows), n * np.arange(n_rows + 1, dtype=np.int32)
    return type(like)((coefficients.ravel(), indices, indptr), shape=coefficients.shape)
