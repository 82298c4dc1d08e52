"""`Expansion`: what a fitted model computes, ``f(x) = Σ_i coef_i k(v_i, x) + b``, also in LIBSVM's terms."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import KernelMachine
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.training_set import linear_weights
from adatron.gram import expand
from adatron.kernels import KERNELS, Kernel, Linear, Precomputed

_LIBSVM_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
_TYPES: dict[str, type] = {"gamma": float, "coef0": float, "degree": int}


@dataclass(frozen=True)
class Expansion:
    """Outputs of B problems as sums over the same rows."""

    vectors: Any  # array or CSR matrix (n, d); for a precomputed kernel places in the training data
    coefficients: np.ndarray  # (n, B)
    bias: Any  # (B,) or a number
    kernel: Kernel
    precision: Any = np.float64  # of kernel values; sums are float64

    def __call__(self, X: Any) -> np.ndarray:
        """Outputs (n, B) of the rows of `X`."""
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.kernel, Linear):  # quicker, and fewer digits cancel
                outputs = X @ linear_weights(self.vectors, self.coefficients).T
            elif isinstance(self.kernel, Precomputed):
                outputs = X[:, self.vectors] @ self.coefficients
            else:
                outputs = expand(self.kernel, X, self.vectors, self.coefficients, self.precision)
        return _checked(outputs) + self.bias

    def by_groups(self, X: Any, bounds: np.ndarray) -> np.ndarray:
        """What each group of vectors adds to the outputs, shape (n, G, B), without the bias."""
        if isinstance(self.kernel, Precomputed):
            parts = [slice(*ends) for ends in itertools.pairwise(bounds)]
            sums = [X[:, self.vectors[part]] @ self.coefficients[part] for part in parts]
            return _checked(np.stack(sums, axis=1))
        with np.errstate(over="ignore", invalid="ignore"):
            return _checked(expand(self.kernel, X, self.vectors, self.coefficients, self.precision, bounds))


def _checked(outputs: np.ndarray) -> np.ndarray:
    if not np.isfinite(outputs).all():
        row = int(np.argwhere(~np.isfinite(outputs))[0][0])
        raise ValueError(f"the kernel overflows at row {row} of X; scale X as in training")
    return outputs


def dense_coef(model: Any) -> np.ndarray:
    """``dual_coef_`` of a fitted model as an ndarray."""
    return model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_


class ExpansionMachine(KernelMachine):
    """Base of the estimators that predict by an `Expansion`."""

    def _expansion(self) -> Expansion:
        """What the fitted model computes: on the landmarks of a low-rank kernel, else on support vectors."""
        if self._landmark_coef is not None:
            vectors, coefficients = self._landmarks, self._landmark_coef
        else:
            vectors = self.support_ if isinstance(self._kernel, Precomputed) else self.support_vectors_
            layout, dual_coef = getattr(self, "_layout", None), dense_coef(self)
            coefficients = layout.to_coefficients(dual_coef, self.n_support_) if layout else dual_coef.T
        return Expansion(vectors, coefficients, self.intercept_, self._kernel, self._precision)

    def _decisions(self, X: Any) -> np.ndarray:
        """Outputs of all problems, shape (n, n_problems)."""
        check_is_fitted(self)
        return self._expansion()(check_predict_X(self, X))

    def _check_predict(self) -> None:
        """Refuse parameters that no prediction goes with, before looking at the rows."""

    def _predicted(self, decisions: np.ndarray) -> np.ndarray:
        """What these outputs say of each row."""
        return decisions[:, 0]

    @lazy_on_dask
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of `X`; its target in a regression; 1 for an inlier, −1 for an outlier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._check_predict()
        return self._predicted(self._decisions(X))


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
    """The form of a fitted machine; a ValueError says what LIBSVM cannot express."""
    check_is_fitted(machine)
    layout, kernel, landmark_coef = getattr(machine, "_layout", None), machine._kernel, machine._landmark_coef
    name = next((name for name in _LIBSVM_KERNELS if isinstance(kernel, KERNELS[name])), "")
    what = way_out = ""
    if layout is not None and not layout.is_binary and not layout.is_pairwise:
        what = f"has one problem for each of its {layout.n_classes} classes, LIBSVM one for each pair"
        way_out = "train SVC with multi_class='ovo'"
    elif landmark_coef is not None and landmark_coef.shape[1] > 1:
        what = f"shares its {len(landmark_coef)} landmarks between pairs of classes"
        way_out = "set rank=None"
    elif not name:
        what = f"has the kernel {kernel!r}"
        way_out = "use 'linear', 'poly', 'rbf', 'sigmoid' or 'precomputed'"
    if what:
        raise ValueError(
            f"this {type(machine).__name__} {what}, so it is no machine of LIBSVM or scikit-learn; {way_out}"
            ", or save it as it is with adatron.io.save_model"
        )
    named = {"kernel": name, **{key: _TYPES[key](value) for key, value in vars(kernel).items()}}
    parts, n_support = (machine.support_, machine.support_vectors_, dense_coef(machine)), machine.n_support_
    if landmark_coef is not None:  # landmarks as support vectors, all of the first class
        n, n_support = len(landmark_coef), np.zeros(len(getattr(machine, "classes_", [0])), dtype=np.int32)
        parts, n_support[0] = (np.arange(n, dtype=np.int32), machine._landmarks, landmark_coef.T), n
    return LibsvmForm(named, *parts, machine.intercept_, n_support)


def fitted_like(kind: Any, machine: Any, form: LibsvmForm) -> Any:
    """A machine of a class of `sklearn.svm` that decides as the form says.

    scikit-learn predicts from copies of its public attributes, with the signs of LIBSVM. A fit on one row for
    each class makes all attributes of the installed version; those that make the model are then replaced.
    """
    classes, vectors = getattr(machine, "classes_", None), form.vectors
    rows = np.zeros((2 if classes is None else len(classes), machine.n_features_in_))
    rows[:, 0] = np.arange(len(rows))
    if form.kernel["kernel"] == "precomputed":
        rows = np.eye(len(rows))
    few = sparse.csr_array(rows) if sparse.issparse(vectors) else rows
    model = kind(**form.kernel).fit(few, np.array([0.0, 1.0]) if classes is None else classes)
    sign = -1.0 if classes is not None and len(classes) == 2 else 1.0
    model.support_ = np.ascontiguousarray(form.support, dtype=np.int32)
    if sparse.issparse(vectors):
        indices, indptr = (part.astype(np.int32) for part in (vectors.indices, vectors.indptr))
        parts = vectors.data, indices, indptr
        model.support_vectors_ = type(model.support_vectors_)(parts, shape=vectors.shape)
    else:
        model.support_vectors_ = np.ascontiguousarray(vectors, dtype=np.float64)
    model._dual_coef_ = _coefficients_like(model.dual_coef_, sign * form.dual_coef)
    model.dual_coef_ = _coefficients_like(model.dual_coef_, form.dual_coef)
    model.intercept_, model._intercept_ = form.intercept.copy(), sign * form.intercept
    n_support = form.n_support if classes is not None else np.repeat(form.n_support, 2)
    model._n_support = np.ascontiguousarray(n_support, dtype=np.int32)
    for name in ("shape_fit_", "n_features_in_", "feature_names_in_", "offset_"):
        if hasattr(machine, name):
            setattr(model, name, getattr(machine, name))
    return model


def _coefficients_like(like: Any, coefficients: np.ndarray) -> Any:
    """Coefficients in scikit-learn's type; sparse ones keep their zeros, as LIBSVM takes them for a table."""
    if not sparse.issparse(like):
        return np.ascontiguousarray(coefficients)
    n_rows, n = coefficients.shape
    indices, indptr = np.tile(np.arange(n, dtype=np.int32), n_rows), n * np.arange(n_rows + 1, dtype=np.int32)
    return type(like)((coefficients.ravel(), indices, indptr), shape=coefficients.shape)
