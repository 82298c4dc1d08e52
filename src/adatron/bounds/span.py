"""The span of support vectors: what leaving one out would change, without training again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adatron.bounds.checks import check_count

__all__ = ["span_bound"]

_AT_BOUND = 1e-8  # a multiplier this close to C, relatively, is at its bound
_RIDGE = 1e-12  # of the largest kernel value: equal support vectors make the matrix singular


def span_bound(
    K: Any, dual_coef: Any, intercept: float, n_samples: int, *, C: float = math.inf, bias: bool = True
) -> float:
    """Leave-one-out error from the span of the support vectors.

    The share of the m points for which ``α_p S_p² ≥ y_p (f(x_p) + b)``, S_p the distance in feature
    space of support vector p from the span of the free ones (``0 < α < C``) other than itself; with a
    bias, from the combinations of them whose coefficients sum to 1. For a free one ``S_p² = 1/(M⁻¹)_pp``
    and for one at C ``S_p² = k(x_p, x_p) − vᵀ M⁻¹ v``, where M is the kernel matrix of the free ones, v
    their kernel values with x_p, and a bias borders M with ones and v with a 1.

    Assumption: the sets of free and bounded support vectors stay the same when one is left out. Then it
    is the leave-one-out error itself; in general it is a close estimate, never more than `n_SV / m`
    and not strictly a bound. It needs the optimum: solve with a small tol.

    It says little when the sets do change, that is with very few free support vectors; with none at
    all no span exists and every support vector counts, which is the bound n_SV/m.

    Parameters
    ----------
    K : array of shape (n_SV, n_SV)
        Kernel matrix of the support vectors.
    dual_coef : array of shape (n_SV,)
        ``y_i α_i``, as in ``dual_coef_[0]`` of a two-class `SVC`.
    intercept : float
        The bias b.
    n_samples : int
        ``m``, all training points.
    C : float, default=inf
        Upper bound of the multipliers.
    bias : bool, default=True
        Whether a bias was fitted.

    Returns
    -------
    float

    References
    ----------
    V. Vapnik, O. Chapelle, *Bounds on Error Expectation for Support Vector Machines*, Neural Computation
    12, 2000.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.bounds import span_bound, support_vector_loo_bound
    >>> from adatron.datasets import load_sonar
    >>> from adatron.kernels import Gaussian
    >>> X, y = load_sonar(return_X_y=True)
    >>> kernel = Gaussian.of_width(0.6)
    >>> model = SVC(C=float("inf"), kernel=kernel, tol=1e-9).fit(X, y)
    >>> K = kernel(model.support_vectors_, model.support_vectors_)
    >>> round(span_bound(K, model.dual_coef_[0], model.intercept_[0], len(X)), 3)
    0.115
    >>> round(support_vector_loo_bound(len(model.support_), len(X)), 3)
    0.817
    """
    K, coefficients = _checked(K, dual_coef)
    m = check_count("n_samples", n_samples, at_least=max(1, len(coefficients)))
    if not math.isfinite(intercept):
        raise ValueError(f"intercept must be a finite number, got {intercept!r}")
    if not C > 0.0:
        raise ValueError(f"C must be a number > 0 (inf for a hard margin), got {C!r}")
    alpha = np.abs(coefficients)
    outputs = np.sign(coefficients) * (K @ coefficients + intercept)
    free = alpha < C * (1.0 - _AT_BOUND)
    spans = _squared_spans(K, free, bias)
    return int(np.count_nonzero(alpha * spans >= outputs)) / m


def _squared_spans(K: np.ndarray, free: np.ndarray, bias: bool) -> np.ndarray:
    """``S_p²`` of every support vector; infinity where nothing spans."""
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


def _checked(K: Any, dual_coef: Any) -> tuple[np.ndarray, np.ndarray]:
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
