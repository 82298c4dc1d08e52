"""Bounds on mistakes and errors, as plain formulas of numbers that a fit leaves behind.

`novikoff_bound` counts the mistakes of a perceptron (A. B. J. Novikoff, *On convergence proofs on
perceptrons*, 1962). On the error on new points with confidence 1 − δ: `margin_bound` (C. Campbell,
N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998) and
`compression_bound` (N. Cristianini et al., *A Multiplicative Updating Algorithm for Training Support Vector
Machines*, 1999). On the leave-one-out error, which on average is the error on new points:
`support_vector_loo_bound` (V. N. Vapnik, *Statistical Learning Theory*, 1998), `radius_margin_bound` and
`span_bound` (V. Vapnik, O. Chapelle, *Bounds on Error Expectation for Support Vector Machines*, 2000).
"""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["compression_bound", "margin_bound", "novikoff_bound"]
__all__ += ["radius_margin_bound", "span_bound", "support_vector_loo_bound"]

_AT_BOUND = 1e-8  # a multiplier this close to C, relatively, is at its bound
_RIDGE = 1e-12  # of the largest kernel value: equal support vectors make the matrix singular


def novikoff_bound(radius: float, margin: float, *, bias: bool = True) -> float:
    """Most mistakes a perceptron makes before it separates the classes.

    Without a bias: at most ``(R/γ)²``, if some unit vector w* has ``y_i ⟨w*, x_i⟩ ≥ γ`` for all points. With
    the bias step ``b ← b + y_i R²``: at most ``(2R/γ)²``, γ the margin with a bias ``|b*| ≤ R``. It is
    infinite where the classes overlap (γ ≤ 0).

    Parameters
    ----------
    radius, margin : ``R = max √k(x, x)`` and γ
    bias : bool, default=True

    Returns
    -------
    float

    Examples
    --------
    >>> from adatron.bounds import novikoff_bound
    >>> novikoff_bound(1.0, 1.0)
    4.0
    """
    return (4.0 if bias else 1.0) * _squared_ratio(radius, margin)


def margin_bound(
    radius: float, margin: float, n_samples: int, *, delta: float = 0.05, log_base: float = math.e
) -> float:
    """Error of a classifier that separates its training set with a margin (VC bound).

    With ``k = ⌊577 R²/γ²⌋``, at most ``(k log(8em/k) log(32m) + log(8m/δ)) / m`` for m independent points.
    Assumes that all that can be drawn lie in a ball of radius R **centred at the origin** of feature space,
    and every training point on its side of the hyperplane. It is infinite for γ ≤ 0 and beyond ``k = 8m``,
    where the expression falls and no longer means anything, and vacuous (1 or more) below some 65,000 points.
    To compare kernels, order them by ``R²/γ²``.

    Parameters
    ----------
    radius, margin, n_samples : ``R = max √k(x, x)``; γ, the least distance from the hyperplane; m
    delta : probability that the bound does not hold, default=0.05
    log_base : float, default=e
        The paper prints ``log`` without a base; 2 is the more cautious reading.

    Returns
    -------
    float

    Examples
    --------
    >>> from adatron.bounds import margin_bound
    >>> round(margin_bound(1.0, 1.0, 1_000_000), 3), margin_bound(1.0, 0.1, 1_000)
    (0.105, inf)
    """
    ratio = 577.0 * _squared_ratio(radius, margin)
    m, delta = _check_count("n_samples", n_samples), _check_delta(delta)
    log_base = _check_number("log_base", log_base, "a finite number > 1", lambda base: 1.0 < base < math.inf)
    if ratio >= 8.0 * m + 1.0:
        return math.inf
    k, unit = math.floor(ratio), math.log(log_base)
    complexity = k * math.log(8.0 * math.e * m / k) * math.log(32.0 * m) / unit**2 if k else 0.0
    return (complexity + math.log(8.0 * m / delta) / unit) / m


def compression_bound(n_support: int, n_samples: int, *, delta: float = 0.05) -> float:
    """Error of a classifier that a few of its training points suffice to rebuild.

    For d support vectors of p independent points at most ``(d log₂(ep/d) + log₂(p/δ)) / (p − d)``. Assumes
    that training on the support vectors alone gives the same classifier, and that this makes **no error on
    the training set**. It is vacuous (1 or more) from about a fifth of the points on, infinite for ``d = p``.

    Parameters
    ----------
    n_support, n_samples : d and p
    delta : probability that the bound does not hold, default=0.05

    Returns
    -------
    float

    Examples
    --------
    >>> from adatron.bounds import compression_bound
    >>> round(compression_bound(10, 1_000), 3), compression_bound(50, 50)
    (0.096, inf)
    """
    (d, p), delta = _check_support(n_support, n_samples), _check_delta(delta)
    if d == p:
        return math.inf
    chosen = d * math.log2(math.e * p / d) if d else 0.0
    return (chosen + math.log2(p / delta)) / (p - d)


def support_vector_loo_bound(n_support: int, n_samples: int) -> float:
    """Leave-one-out error from the number of support vectors.

    At most ``n_SV / m`` at the optimum of a hard or soft margin: leaving out another point changes nothing,
    and it is classified correctly. The mean over draws of m points bounds the mean error of training on
    m − 1; for one draw it is an estimate.

    Parameters
    ----------
    n_support, n_samples : int

    Returns
    -------
    float

    Examples
    --------
    >>> from adatron.bounds import support_vector_loo_bound
    >>> support_vector_loo_bound(25, 100)
    0.25
    """
    n_support, m = _check_support(n_support, n_samples)
    return n_support / m


def radius_margin_bound(radius: float, margin: float, n_samples: int, *, bias: bool = False) -> float:
    """Leave-one-out error of a hard margin, at its optimum, from its radius and margin.

    Without a bias at most ``R²/(γ² m)``, all m points in a ball of radius R about the origin of feature
    space: the multipliers sum to 1/γ², and only a point with ``α R² ≥ 1`` can be lost when it is left out.
    With one at most ``4R²/(γ² m)``, all points in any ball of radius R: only a point with ``α D S ≥ 1`` can
    be lost, and both the diameter D and the span S are at most 2R. It is infinite for γ ≤ 0.

    Parameters
    ----------
    radius, margin, n_samples : R, γ and m
    bias : bool, default=False

    Returns
    -------
    float

    Examples
    --------
    >>> from adatron.bounds import radius_margin_bound
    >>> radius_margin_bound(1.0, 0.25, 100), radius_margin_bound(1.0, 0.25, 100, bias=True)
    (0.16, 0.64)
    """
    return (4.0 if bias else 1.0) * _squared_ratio(radius, margin) / _check_count("n_samples", n_samples)


def span_bound(
    K: Any, dual_coef: Any, intercept: float, n_samples: int, *, C: float = math.inf, bias: bool = True
) -> float:
    """Leave-one-out error from the span of the support vectors.

    The share of the m points for which ``α_p S_p² ≥ y_p (f(x_p) + b)``, b the intercept and S_p the
    distance in feature space of support vector p from the span of the free ones (``0 < α < C``) other than
    itself; with a bias, from the combinations of them whose coefficients sum to 1. It is the error itself if
    the sets of free and bounded support vectors stay the same when one is left out; in general it is a close
    estimate. It needs the optimum (a small tol), and says little with very few free support vectors.

    Parameters
    ----------
    K, dual_coef : array of shape (n_SV, n_SV) and (n_SV,)
        Kernel matrix of the support vectors, and ``y_i α_i`` as in ``dual_coef_[0]`` of a two-class `SVC`.
    intercept, n_samples : b, and m, the number of all training points
    C : float, default=inf
    bias : bool, default=True

    Returns
    -------
    float

    Examples
    --------
    >>> from adatron.bounds import span_bound
    >>> span_bound([[1.0, -1.0], [-1.0, 1.0]], dual_coef=[0.5, -0.5], intercept=0.0, n_samples=4)
    0.5
    """
    K, coefficients = np.asarray(K, dtype=np.float64), np.asarray(dual_coef, dtype=np.float64)
    if coefficients.ndim != 1 or not coefficients.size:
        raise ValueError(f"dual_coef must have shape (n_SV,) with n_SV >= 1, got {coefficients.shape}")
    if K.shape != 2 * coefficients.shape:
        allowed = f"have shape {2 * coefficients.shape} to go with dual_coef"
        raise ValueError(f"K must {allowed}, got {K.shape}: give kernel values of support vectors only")
    for name, array in (("K", K), ("dual_coef", coefficients)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]} in it")
    if not coefficients.all():
        place = int(np.flatnonzero(coefficients == 0.0)[0])
        raise ValueError(f"dual_coef must have no zeros, got 0 at {place}: leave out points with α = 0")
    m = _check_count("n_samples", n_samples, at_least=max(1, len(coefficients)))
    intercept = _check_number("intercept", intercept, "a finite number", math.isfinite)
    C = _check_number("C", C, "a number > 0 (inf for a hard margin)", lambda value: value > 0.0)
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
    inverse, spans = np.linalg.inv(M), np.empty(len(K))
    spans[free] = 1.0 / inverse.diagonal()[:n_free]
    spans[~free] = K.diagonal()[~free] - np.einsum("ij,ij->j", V, inverse @ V)
    return np.maximum(spans, 0.0)


def _squared_ratio(radius: Any, margin: Any) -> float:
    """``R²/γ²``; infinity where the classes are not separated (γ ≤ 0), or where it overflows."""
    radius = _check_number("radius", radius, "a finite number >= 0", lambda value: 0.0 <= value < math.inf)
    margin = _check_number("margin", margin, "a number", lambda value: not math.isnan(value))
    ratio = radius / margin if margin > 0.0 and radius <= margin * 1e200 else math.inf
    return ratio * ratio


def _check_support(n_support: Any, n_samples: Any) -> tuple[int, int]:
    m, n_support = _check_count("n_samples", n_samples), _check_count("n_support", n_support, at_least=0)
    if n_support > m:
        raise ValueError(f"n_support must be at most n_samples={m}, got {n_support}")
    return n_support, m


def _check_count(name: str, value: Any, at_least: int = 1) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {value!r}")
    return int(value)


def _check_number(name: str, value: Any, allowed: str, is_allowed: Callable[[Any], bool]) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not is_allowed(value):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return float(value)


def _check_delta(delta: Any) -> float:
    return _check_number("delta", delta, "a number between 0 and 1, both excluded", lambda d: 0.0 < d < 1.0)
