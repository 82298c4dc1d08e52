"""A fitted machine in the terms of LIBSVM, and as a machine of scikit-learn, which shares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.expansion import dense_coef
from adatron.kernels import KERNELS, Kernel

__all__ = ["LibsvmForm", "as_sklearn", "fitted_like", "libsvm_form"]

_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
_TYPES: dict[str, type] = {"gamma": float, "coef0": float, "degree": int}
_SHARED = ("C", "epsilon", "nu", "shrinking", "tol", "class_weight", "decision_function_shape", "break_ties")
_KINDS = ("SVC", "SVR", "OneClassSVM")


@dataclass(frozen=True)
class LibsvmForm:
    """Support vectors in the order of their classes, and a kernel that has a name.

    With two classes, decisions are positive for the second one; with more, pair by pair for the first.
    """

    kernel: dict[str, Any]  # scikit-learn's parameters: kernel, and what it needs of gamma, coef0, degree
    support: np.ndarray  # (n,) places in the training data
    vectors: Any  # (n, n_features)
    dual_coef: np.ndarray  # (n_classes − 1, n), or (1, n)
    intercept: np.ndarray  # one for each pair of classes, or one
    n_support: np.ndarray  # of each class, or one number


def libsvm_form(machine: Any) -> LibsvmForm:
    """The form of a fitted machine; a ValueError says what LIBSVM cannot express.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.estimators.libsvm_form import libsvm_form
    >>> libsvm_form(SVC(gamma=0.5).fit([[-1.0], [1.0]], [0, 1])).kernel
    {'kernel': 'rbf', 'gamma': 0.5}
    """
    check_is_fitted(machine)
    layout = getattr(machine, "_layout", None)
    if layout is not None and not layout.is_binary and not layout.is_pairwise:
        raise _inexpressible(
            machine,
            f"has one problem for each of its {layout.n_classes} classes, LIBSVM one for each pair",
            "train SVC with multi_class='ovo'",
        )
    parts: dict[str, Any] = {"support": machine.support_, "vectors": machine.support_vectors_}
    parts |= {"dual_coef": dense_coef(machine), "n_support": machine.n_support_}
    if machine._landmark_coef is not None:
        parts = _of_landmarks(machine)
    return LibsvmForm(_kernel_parameters(machine), intercept=machine.intercept_, **parts)


def _of_landmarks(machine: Any) -> dict[str, Any]:
    """The landmarks of a low-rank kernel as support vectors, all of the first class."""
    coefficients = machine._landmark_coef
    n, n_problems = coefficients.shape
    if n_problems > 1:
        raise _inexpressible(machine, f"shares its {n} landmarks between pairs of classes", "set rank=None")
    n_support = np.zeros(len(getattr(machine, "classes_", [0])), dtype=np.int32)
    n_support[0] = n
    places = np.arange(n, dtype=np.int32)
    vectors = machine._landmarks
    return {"support": places, "vectors": vectors, "dual_coef": coefficients.T, "n_support": n_support}


def _kernel_parameters(machine: Any) -> dict[str, Any]:
    kernel: Kernel = machine._kernel
    for name in _KERNELS:
        if isinstance(kernel, KERNELS[name]):
            return {"kernel": name, **{key: _TYPES[key](value) for key, value in vars(kernel).items()}}
    raise _inexpressible(
        machine, f"has the kernel {kernel!r}", "use 'linear', 'poly', 'rbf', 'sigmoid' or 'precomputed'"
    )


def _inexpressible(machine: Any, what: str, way_out: str) -> ValueError:
    return ValueError(
        f"this {type(machine).__name__} {what}, so it is no machine of LIBSVM or scikit-learn; {way_out}, or "
        "save it as it is with adatron.io.save_model"
    )


def as_sklearn(machine: Any) -> Any:
    """The `sklearn.svm` machine that predicts what an `SVC`, `SVR` or `OneClassSVM` does."""
    from sklearn import svm  # takes time to load

    kind = next(getattr(svm, base.__name__) for base in type(machine).__mro__ if base.__name__ in _KINDS)
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
