"""Bounds on the leave-one-out error, which on average is the error on new points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adatron.bounds.mistakes import check_count, squared_ratio

__all__ = ["radius_margin_bound", "span_bound", "support_vector_loo_bound"]

_AT_BOUND = 1e-8  # a multiplier this close to C, relatively, is at its bound
_RIDGE = 1e-12  # of the largest kernel value: equal support vectors make the matrix singular


def support_vector_loo_bound(n_support: int, n_samples: int) -> float:
    """Leave-one-out error from the number of support vectors.

    At most ``n_SV / m``: leaving out a point that is no support vector changes nothing, and that point
    is classified correctly. It is vacuous (1) when all points are support vectors.

    Assumptions: the optimum was reached, and every point on the wrong side counts as a support vector, as
    it does for a hard and for a soft margin. The mean over draws of m points bounds the mean error of
    training on m − 1; for one draw it is an estimate.

    Parameters
    ----------
    n_support, n_samples : int

    Returns
    -------
    float

    References
    ----------
    V. N. Vapnik, *Statistical Learning Theory*, 1998.

    Examples
    --------
    >>> from adatron.bounds import support_vector_loo_bound
    >>> support_vector_loo_bound(25, 100)
    0.25
    """
    m = check_count("n_samples", n_samples, at_least=1)
    n_support = check_count("n_support", n_support, at_least=0)
    if n_support > m:
        raise ValueError(f"n_support must be at most n_samples={m}, got {n_support}")
    return n_support / m


def radius_margin_bound(radius: float, margin: float, n_samples: int, *, bias: bool = False) -> float:
    """Leave-one-out error of a hard margin from its radius and margin.

    Without a bias at most ``R²/(γ² m)``, all m points in a ball of radius R about the origin of feature
    space: the multipliers sum to 1/γ², and only a point with ``α R² ≥ 1`` can be lost when it is left out.
    With one at most ``4R²/(γ² m)``, all points in any ball of radius R, so the smallest will do: then only
    a point with ``α D S ≥ 1`` can be lost, and both the diameter D and the span S are at most 2R.
    It is vacuous (1 or more) when γ is below R/√m, and infinite for γ ≤ 0.

    Assumptions: a hard margin at its optimum, so no training error. With a bias the form without the factor
    4 is a common criterion to compare kernels by, but no bound.

    Parameters
    ----------
    radius, margin : float
        ``R`` and ``γ``.
    n_samples : int
    bias : bool, default=False

    Returns
    -------
    float

    References
    ----------
    V. N. Vapnik, *Statistical Learning Theory*, 1998; V. Vapnik, O. Chapelle, *Bounds on Error Expectation
    for Support Vector Machines*, 2000.

    Examples
    --------
    >>> from adatron.bounds import radius_margin_bound
    >>> radius_margin_bound(1.0, 0.25, 100), radius_margin_bound(1.0, 0.25, 100, bias=True)
    (0.16, 0.64)
    """
    ratio = squared_ratio(radius, margin)
    return (4.0 if bias else 1.0) * ratio / check_count("n_samples", n_samples, at_least=1)


def span_bound(
    K: Any, dual_coef: Any, intercept: float, n_samples: int, *, C: float = math.inf, bias: bool = True
) -> float:
    """Leave-one-out error from the span of the support vectors.

    The share of the m points for which ``α_p S_p² ≥ y_p (f(x_p) + b)``, b the intercept and S_p the
    distance in feature space of support vector p from the span of the free ones (``0 < α < C``) other than
    itself; with a bias, from the combinations of them whose coefficients sum to 1.

    Assumption: the sets of free and bounded support vectors stay the same when one is left out. Then it
    is the leave-one-out error itself; in general it is a close estimate, never more than `n_SV / m`
    and not strictly a bound. It needs the optimum: solve with a small tol. It says little with very few
    free support vectors; with none no span exists, and every support vector counts.

    Parameters
    ----------
    K : array of shape (n_SV, n_SV)
        Kernel matrix of the support vectors.
    dual_coef : array of shape (n_SV,)
        ``y_i α_i``, as in ``dual_coef_[0]`` of a two-class `SVC`.
    intercept : float
    n_samples : int
        ``m``, all training points.
    C : float, default=inf
        Upper bound of the multipliers.
    bias : bool, default=True

    Returns
    -------
    float

    References
    ----------
    V. Vapnik, O. Chapelle, *Bounds on Error Expectation for Support Vector Machines*, 2000.

    Examples
    --------
    >>> from adatron import SVC, bounds, datasets, kernels
    >>> X, y = datasets.load_sonar(return_X_y=True)
    >>> kernel = kernels.Gaussian.of_width(0.6)
    >>> model = SVC(C=float("inf"), kernel=kernel, tol=1e-9).fit(X, y)
    >>> K = kernel(model.support_vectors_, model.support_vectors_)
    >>> round(bounds.span_bound(K, model.dual_coef_[0], model.intercept_[0], len(X)), 3)
    0.115
    """
    K, coefficients = _checked_arrays(K, dual_coef)
    m = check_count("n_samples", n_samples, at_least=max(1, len(coefficients)))
    if not math.isfinite(intercept):
        raise ValueError(f"intercept must be a finite number, got {intercept!r}")
    if not C > 0.0:
        raise ValueError(f"C must be a number > 0 (inf for a hard margin), got {C!r}")
    alpha = np.abs(coefficients)
    outputs = np.sign(coefficients) * (K @ coefficients + intercept)
    spans = _squared_spans(K, alpha < C * (1.0 - _AT_BOUND), bias)
    return int(np.count_nonzero(alpha * spans >= outputs)) / m


def _squared_spans(K: np.ndarray, free: np.ndarray, bias: bool) -> np.ndarray:
    """``S_p²`` of every support vector; infinity where nothing spans.

    ``1/(M⁻¹)_pp`` for a free one and ``k(x_p, x_p) − vᵀ M⁻¹ v`` for one at C, where M is the kernel matrix
    of the free ones, v their kernel values with x_p, and a bias borders M with ones and v with a 1.
    """
    n_free = int(free.sum())
    if n_free == 0 or (bias and n_free == 1):
        return np.full(len(K), np.inf)
    M = K[np.ix_(free, free)] + _RIDGE * K.diagonal().max() * np.eye(n_free)
    V = K[np.ix_(free, ~free)]
    if bias:
        M = np.block([[M, np.ones((n_free, 1))], [np.ones((1, n_free)), np.zeros((1, 1))]])
        V = np.vstack([V, np.ones((1, V.shape[1]))])
    inverse = np.linalg.inv(M)
    spans = np.empty(len(K))
    spans[free] = 1.0 / inverse.diagonal()[:n_free]
    spans[~free] = K.diagonal()[~free] - np.einsum("ij,ij->j", V, inverse @ V)
    return np.maximum(spans, 0.0)


def _checked_arrays(K: Any, dual_coef: Any) -> tuple[np.ndarray, np.ndarray]:
    K, coefficients = np.asarray(K, dtype=np.float64), np.asarray(dual_coef, dtype=np.float64)
    if coefficients.ndim != 1 or not coefficients.size:
        raise ValueError(f"dual_coef must have shape (n_SV,) with n_SV >= 1, got {coefficients.shape}")
    if K.shape != 2 * coefficients.shape:
        raise ValueError(
            f"K must have shape {2 * coefficients.shape} to go with dual_coef, got {K.shape}: "
            "give the kernel values among the support vectors only"
        )
    for name, array in (("K", K), ("dual_coef", coefficients)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]} in it")
    if not coefficients.all():
        place = int(np.flatnonzero(coefficients == 0.0)[0])
        raise ValueError(f"dual_coef must have no zeros, got 0 at {place}: leave out points with α = 0")
    return K, coefficients
