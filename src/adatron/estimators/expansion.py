"""`Expansion`: what a fitted model computes, ``f(x) = Σ_i coef_i k(v_i, x) + b``, also in LIBSVM's terms."""

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import FitPlan, KernelMachine
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.training_set import linear_weights
from adatron.gram import expand
from adatron.kernels import KERNELS, Kernel, Linear, Precomputed, squared_norms

_LIBSVM_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
_TYPES: dict[str, type] = {"gamma": float, "coef0": float, "degree": int}


@dataclass(frozen=True, eq=False)
class Expansion:
    """Outputs of B problems as sums over the same rows; with `n_support`, of all pairs of classes."""

    vectors: Any  # (n, d) array or CSR matrix, or n objects; for a precomputed kernel n places in its rows
    coefficients: np.ndarray  # (n, B); for pairs the rows of ``dual_coef_``, (n, n_classes - 1)
    bias: np.ndarray  # (B,)
    kernel: Kernel
    precision: Any = np.float64  # of kernel values; sums are float64
    n_support: np.ndarray | None = None  # vectors of each class, where there is a problem for each pair

    def __post_init__(self) -> None:
        n, width = self.coefficients.shape
        if self.n_support is not None:
            k = len(self.n_support)
            is_sound = width == k - 1 and self.n_support.sum() == n and self.n_support.min() >= 0
            width = k * (k - 1) // 2 if is_sound else -1
        if self.vectors.shape[0] != n or np.shape(self.bias) != (width,):
            shapes = [np.shape(part) for part in (self.vectors, self.coefficients, self.bias)]
            raise ValueError(f"the vectors, coefficients and bias of an expansion have the shapes {shapes}")
        is_double = self.coefficients.dtype == self.bias.dtype == np.float64
        if not is_double or self.precision not in (np.float32, np.float64):
            raise ValueError("the coefficients of an expansion are not float64, or its precision is unknown")
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"the kernel of an expansion is {self.kernel!r}")

    def __call__(self, X: Any) -> np.ndarray:
        """Outputs (n, B) of the rows of `X`."""
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.kernel, Linear):  # quicker, and fewer digits cancel
                outputs = X @ linear_weights(self.vectors, self.coefficients).T
            elif self.n_support is not None:  # what the vectors of each class add, (n, n_classes, width)
                bounds = np.concatenate([[0], np.cumsum(self.n_support)])
                if isinstance(self.kernel, Precomputed):
                    groups = [slice(*ends) for ends in pairwise(bounds)]
                    sums = [X[:, self.vectors[part]] @ self.coefficients[part] for part in groups]
                    parts = np.stack(sums, axis=1)
                else:
                    parts = expand(self.kernel, X, self.vectors, self.coefficients, self.precision, bounds)
                pairs = combinations(range(len(self.n_support)), 2)
                outputs = np.stack([parts[:, i, j - 1] + parts[:, j, i] for i, j in pairs], axis=1)
            elif isinstance(self.kernel, Precomputed):
                outputs = X[:, self.vectors] @ self.coefficients
            else:
                outputs = expand(self.kernel, X, self.vectors, self.coefficients, self.precision)
        if not np.isfinite(outputs).all():
            row = int(np.argwhere(~np.isfinite(outputs))[0][0])
            raise ValueError(f"the kernel overflows at row {row} of X; scale X as in training")
        return outputs + self.bias

    def by_problem(self) -> np.ndarray:
        """Coefficients (n, B), a column for each problem."""
        if self.n_support is None:
            return self.coefficients
        classes, given = np.arange(len(self.n_support)), self.coefficients
        own, pairs = np.repeat(classes, self.n_support), combinations(classes.tolist(), 2)
        columns = [
            np.where(own == i, given[:, j - 1], np.where(own == j, given[:, i], 0.0)) for i, j in pairs
        ]
        return np.stack(columns, axis=1)

    def kernel_values(self, X: Any) -> np.ndarray:
        """``k(x, v)`` of rows and vectors, shape (n_rows, n)."""
        return X[:, self.vectors] if isinstance(self.kernel, Precomputed) else self.kernel(X, self.vectors)

    def similarities(self, X: Any) -> np.ndarray:
        """Cosines in the space of the kernel, which are 1 for equal rows; kernel values if precomputed."""
        values = self.kernel_values(X)
        if isinstance(self.kernel, Precomputed):
            return values
        sizes = [np.sqrt(np.abs(self.kernel.diagonal(rows))) for rows in (X, self.vectors)]
        return values / np.maximum(np.outer(*sizes), np.finfo(float).tiny)


def dense_coef(model: Any) -> np.ndarray:
    """``dual_coef_`` of a fitted model as an ndarray."""
    return model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_


class PredictMixin:
    """Predictions from the outputs of all problems, which ``_decisions`` gives and ``_predicted`` reads."""

    @lazy_on_dask
    def predict(self: Any, X: Any) -> np.ndarray:
        """The class of each row of `X`; its target in a regression; 1 for an inlier, −1 for an outlier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._check_can_predict()
        return self._predicted(self._decisions(X))

    def _check_can_predict(self: Any) -> None:
        """Refuse parameters that contradict one another before X is looked at, as scikit-learn does."""


class ExpansionMachine(PredictMixin, KernelMachine):
    """Base of the estimators that predict by an `Expansion` of landmarks, or of support vectors."""

    _expansion: Expansion

    @property
    def _kernel(self) -> Kernel:
        return self._expansion.kernel

    @property
    def _precision(self) -> Any:
        return self._expansion.precision

    @property
    def _has_landmarks(self) -> bool:
        """Whether it decides by the landmarks of a low-rank kernel, not by its support vectors."""
        return "kernel_error_" in vars(self)

    def _decisions(self, X: Any) -> np.ndarray:
        """Outputs of all problems, shape (n, n_problems)."""
        check_is_fitted(self)
        return self._expansion(check_predict_X(self, X))

    def _rows_to_expand(self, X: Any) -> Any:
        """Rows as the expansions take them; `AutoEstimator` scales them."""
        return check_predict_X(self, X)

    def _expansions(self) -> list[Expansion]:
        """The expansions whose sum is the output; `AutoEstimator` has several."""
        return [self._expansion]

    def _predicted(self, decisions: np.ndarray) -> np.ndarray:
        """The prediction for each row, from the outputs of all problems."""
        return decisions[:, 0]

    def _check_fitted(self) -> None:
        super()._check_fitted()
        own, dual_coef, n_features = self._expansion, dense_coef(self), self._n_encoded
        is_precomputed = isinstance(own.kernel, Precomputed)
        pairs: list[tuple] = [("intercept_", self.intercept_, own.bias)]
        if not self._has_landmarks:
            name = "support_" if is_precomputed else "support_vectors_"
            pairs += [(name, getattr(self, name), own.vectors)]
            if own.coefficients.shape[1] == len(dual_coef):  # not so for pairs of classes and a linear kernel
                pairs += [("dual_coef_", dual_coef, own.coefficients.T)]
        if own.n_support is not None:
            pairs += [("n_support_", self.n_support_, own.n_support)]
        for name, public, private in pairs:
            is_same = (public.shape, public.dtype) == (private.shape, private.dtype)
            if not is_same or (public != private).sum():
                raise ValueError(f"{name} is not what the model predicts with")
        widths = {self.support_vectors_.shape[1:], own.vectors.shape[1:]}
        are_rows = is_precomputed or (own.vectors.dtype == np.float64 and widths == {(n_features,)})
        if not are_rows or self.shape_fit_[1] != n_features:
            raise ValueError(f"support_vectors_ are not rows of {n_features} features, or not float64")


class DecisionMixin:
    """For machines that also show the outputs they predict from, in the form that `_shaped` gives them."""

    @lazy_on_dask
    def decision_function(self: Any, X: Any) -> np.ndarray:
        """Signed score of each row of `X`, in the form that scikit-learn gives it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one value, positive for the second; else one for each class, or for each pair of
            classes with ``decision_function_shape="ovo"``. In novelty detection it is positive for inliers.
        """
        return self._shaped(self._decisions(X))


def expansion_attributes(plan: FitPlan, coefficients: np.ndarray, intercept: np.ndarray) -> dict[str, Any]:
    """Fitted attributes from the coefficients ``y∘α`` of every row and problem."""
    data, gram, layout = plan.data, plan.gram, plan.layout
    codes = data.codes if len(data.classes) else np.zeros(data.m, dtype=np.int64)
    support = np.flatnonzero(coefficients.any(axis=1))
    support = support[np.argsort(codes[support], kind="stable")]
    dual_coef = layout.to_dual_coef(coefficients[support], codes[support])
    counts = np.bincount(codes[support], minlength=len(data.classes) or 1).astype(np.int32)
    rows = data.rows[support].astype(np.int32)
    vectors = _support_vectors(plan, support)
    bias = intercept + plan.constant * coefficients.sum(axis=0)
    if data.origin is not None:
        bias = intercept - linear_weights(vectors, coefficients[support]) @ data.origin
    precision = np.float32 if any(run.problem.gram.is_single for run in plan.runs) else np.float64
    attributes: dict[str, Any] = {
        "shape_fit_": data.shape, "support_": rows, "support_vectors_": vectors, "n_support_": counts,
        "dual_coef_": coef_beside(vectors, dual_coef),
    }  # fmt: skip
    if len(data.classes):
        attributes |= {"classes_": data.classes, "_layout": layout}
    # what the expansion is a sum over
    terms, weights, n_support = vectors, dual_coef.T, None
    if plan.has_landmarks:
        terms, weights = gram.landmark_rows, gram.projection @ gram.weights_of(coefficients)
        bias = intercept + plan.constant * weights.sum(axis=0)
        attributes["kernel_error_"] = gram.trace_error
    elif layout.is_pairwise and isinstance(plan.kernel, Linear):
        weights = coefficients[support]
    else:
        terms = rows if isinstance(plan.kernel, Precomputed) else vectors
        n_support = counts.copy() if layout.is_pairwise else None
    expansion = Expansion(terms, weights, bias, plan.kernel, precision, n_support)
    return attributes | {"intercept_": bias, "_expansion": expansion}


def _support_vectors(plan: FitPlan, support: np.ndarray) -> Any:
    """The rows as they were given; a fit asks for the same ones several times."""
    data, kernel = plan.data, plan.kernel
    if plan.support is None or not np.array_equal(plan.support[0], support):
        rows = data.X if data.origin is None else data.given
        # none of them from a cluster where decisions come from landmarks: there may be millions
        taken = support[:0] if plan.has_landmarks and plan.gram.is_elsewhere else support
        vectors = np.empty((0, 0)) if isinstance(kernel, Precomputed) else rows[taken]
        if vectors.dtype.kind != "O":  # objects of a kernel function stay as they are
            vectors = vectors.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = kernel.product_form is None or np.isfinite(squared_norms(vectors)).all()
        if not is_finite:  # it was when training began
            what = "X was changed while the fit was under way, perhaps by another thread"
            raise ValueError(f"{what}; pass a copy of it")
        plan.support = support, vectors
    return plan.support[1]


def coef_beside(vectors: Any, dual_coef: np.ndarray) -> Any:
    """``dual_coef_`` as scikit-learn has it: sparse where the support vectors are."""
    return sparse.csr_array(dual_coef) if sparse.issparse(vectors) else dual_coef


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
    layout, expansion = vars(machine).get("_layout"), machine._expansion
    kernel = expansion.kernel
    name = next((name for name in _LIBSVM_KERNELS if isinstance(kernel, KERNELS[name])), "")
    has_weights = kernel.split()[0] is not kernel  # of its features
    what = way_out = ""
    if layout is not None and not layout.is_binary and not layout.is_pairwise:
        what = f"has one problem for each of its {layout.n_classes} classes, LIBSVM one for each pair"
        way_out = "train SVC with multi_class='ovo'"
    elif machine._has_landmarks and expansion.coefficients.shape[1] > 1:
        what = f"shares its {len(expansion.coefficients)} landmarks between pairs of classes"
        way_out = "set rank=None"
    elif not name or has_weights:
        what = f"has the kernel {kernel!r}"
        way_out = "use 'linear', 'poly', 'rbf', 'sigmoid' or 'precomputed'"
    if what:
        raise ValueError(
            f"this {type(machine).__name__} {what}, so it is no machine of LIBSVM or scikit-learn; {way_out}"
            ", or save it as it is with adatron.io.save_model"
        )
    named = {key: kind(vars(kernel)[key]) for key, kind in _TYPES.items() if key in vars(kernel)}
    support, vectors, n_support = machine.support_, machine.support_vectors_, machine.n_support_
    dual_coef = dense_coef(machine)
    if machine._has_landmarks:  # as support vectors, all of the first class
        vectors, dual_coef = expansion.vectors, expansion.coefficients.T
        support, n_support = np.arange(vectors.shape[0], dtype=np.int32), np.zeros_like(n_support)
        n_support[0] = len(support)
    return LibsvmForm({"kernel": name} | named, support, vectors, dual_coef, machine.intercept_, n_support)


def fitted_like(kind: Any, machine: Any, form: LibsvmForm) -> Any:
    """A fitted machine of `sklearn.svm` that decides as the form says.

    scikit-learn predicts from copies of its public attributes, with the signs of LIBSVM. A fit on one row for
    each class makes all attributes of the installed version; those that make the model are then replaced.
    """
    classes, vectors = vars(machine).get("classes_"), form.vectors
    targets = np.array([0.0, 1.0]) if classes is None else classes
    rows = np.zeros((len(targets), machine.n_features_in_))
    rows[:, 0] = np.arange(len(rows))
    if form.kernel["kernel"] == "precomputed":
        rows = np.eye(len(rows))
    model = kind(**form.kernel).fit(sparse.csr_array(rows) if sparse.issparse(vectors) else rows, targets)
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
