"""A fitted machine in the terms of LIBSVM, which scikit-learn's machines share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.expansion import dense_coef
from adatron.kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, Sigmoid

__all__ = ["LibsvmForm", "libsvm_form"]


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
    if isinstance(kernel, Linear):
        return {"kernel": "linear"}
    if isinstance(kernel, Precomputed):
        return {"kernel": "precomputed"}
    if isinstance(kernel, Gaussian):
        return {"kernel": "rbf", "gamma": float(kernel.gamma)}
    if isinstance(kernel, Sigmoid):
        return {"kernel": "sigmoid", "gamma": float(kernel.gamma), "coef0": float(kernel.coef0)}
    if isinstance(kernel, Polynomial):
        shape = {"gamma": float(kernel.gamma), "coef0": float(kernel.coef0), "degree": int(kernel.degree)}
        return {"kernel": "poly", **shape}
    raise _inexpressible(
        machine, f"has the kernel {kernel!r}", "use 'linear', 'poly', 'rbf', 'sigmoid' or 'precomputed'"
    )


def _inexpressible(machine: Any, what: str, way_out: str) -> ValueError:
    return ValueError(
        f"this {type(machine).__name__} {what}, so it is no machine of LIBSVM or scikit-learn; {way_out}, or "
        "save it as it is with adatron.io.save_model"
    )
