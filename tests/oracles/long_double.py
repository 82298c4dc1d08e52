"""The duality gap of fitted machines in extended precision, from what they store and nothing else.

Kernel matrices, sums and objectives are long doubles (64 bits of mantissa on x86): what a certificate in
double precision loses to rounding, this one sees.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["certified_gap", "kernel_matrix"]


def kernel_matrix(X, kernel, gamma, coef0, degree):
    """All values ``k(x_i, x_j)`` in long double."""
    X = np.asarray(X, dtype=np.longdouble)
    if kernel == "precomputed":
        return X
    if kernel in ("rbf", "laplacian"):
        distances = np.zeros((len(X), len(X)), dtype=np.longdouble)
        for j in range(X.shape[1]):
            difference = X[:, j, None] - X[None, :, j]
            distances += np.square(difference) if kernel == "rbf" else np.abs(difference)
        return np.exp(-np.longdouble(gamma) * distances)
    products = np.zeros((len(X), len(X)), dtype=np.longdouble)
    for j in range(X.shape[1]):
        products += np.outer(X[:, j], X[:, j])
    if kernel == "linear":
        return products
    return (np.longdouble(gamma) * products + np.longdouble(coef0)) ** degree


def certified_gap(model, X, y=None, sample_weight=None):
    """The relative gap of an `SVC` for two classes, or the plain one of a `OneClassSVM`."""
    X = np.asarray(X, dtype=np.longdouble)
    if model.kernel == "linear" and y is not None and model.fit_intercept:
        X = X - X.mean(axis=0)  # multipliers that sum to 0 do not see the origin, but rounding does
    K = kernel_matrix(
        X, model.kernel, getattr(model._kernel, "gamma", 0.0), model.coef0, getattr(model, "degree", 3)
    )
    weights = np.ones(len(K)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    coefficients = np.zeros(len(K), dtype=np.longdouble)
    stored = model.dual_coef_
    coefficients[model.support_] = (stored.toarray() if sparse.issparse(stored) else stored)[0]
    if y is None:
        share = model.nu * weights.sum()
        return _one_class_gap(K, coefficients / np.longdouble(share), weights / np.longdouble(share))
    signs = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    upper = np.longdouble(model.C) * weights * model.class_weight_[(signs > 0).astype(int)]
    return _soft_margin_gap(K, signs * coefficients, signs, upper, model.fit_intercept)


def _soft_margin_gap(K, alpha, signs, upper, has_bias):
    if has_bias:  # feasible to the last bit: what is stored may miss yᵀα = 0 by rounding
        above, below = alpha[signs > 0].sum(), alpha[signs < 0].sum()
        heavier = signs > 0 if above > below else signs < 0
        alpha = np.where(
            heavier, alpha * (min(above, below) / max(above, below, np.longdouble(1e-300))), alpha
        )
    f = K @ (signs * alpha)
    quadratic = max((alpha * signs * f).sum(), np.longdouble(0.0))
    dual = alpha.sum() - 0.5 * quadratic
    turns = np.sort(signs - f) if has_bias else np.zeros(1)
    slacks = [np.maximum(0.0, 1.0 - signs * (f + b)) for b in turns]
    primal = 0.5 * quadratic + min((upper * slack).sum() for slack in slacks)
    size = max(abs(primal), abs(dual))
    return float((primal - dual) / size) if size > 0.0 else 0.0


def _one_class_gap(K, alpha, upper):
    """Of ``½ αᵀKα`` over ``Σα = 1``: the primal is ``½‖w‖² − ρ + Σ u_i max(0, ρ − f_i)``, at some f_i."""
    alpha = alpha / alpha.sum()
    f = K @ alpha
    half = 0.5 * (alpha * f).sum()
    primal = half + min((upper * np.maximum(0.0, rho - f)).sum() - rho for rho in f)
    size = max(abs(primal), abs(half))
    return float((primal + half) / size) if size > 0.0 else 0.0
