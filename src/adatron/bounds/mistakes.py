"""Bounds on the mistakes of a perceptron, and on the error on new points with probability 1 − δ."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

__all__ = ["check_count", "compression_bound", "margin_bound", "novikoff_bound", "squared_ratio"]


def novikoff_bound(radius: float, margin: float, *, bias: bool = True) -> float:
    """Most mistakes a perceptron makes before it separates the classes.

    Without a bias: at most ``(R/γ)²``, if some unit vector w* has ``y_i ⟨w*, x_i⟩ ≥ γ`` for all points and
    ``R = max ‖x_i‖``. With the bias step ``b ← b + y_i R²``: at most ``(2R/γ)²``, γ the margin with a bias
    ``|b*| ≤ R``. It says nothing where the classes overlap (γ ≤ 0): the answer is then infinity.

    Parameters
    ----------
    radius, margin : float
        ``R = max √k(x, x)`` and ``γ``.
    bias : bool, default=True

    Returns
    -------
    float

    References
    ----------
    A. B. J. Novikoff, *On convergence proofs on perceptrons*, 1962; CISC 889, lecture 17.

    Examples
    --------
    >>> from adatron.bounds import novikoff_bound
    >>> novikoff_bound(1.0, 1.0)
    4.0
    """
    return (4.0 if bias else 1.0) * squared_ratio(radius, margin)


def margin_bound(
    radius: float, margin: float, n_samples: int, *, delta: float = 0.05, log_base: float = math.e
) -> float:
    """Error of a classifier that separates its training set with a margin (VC bound).

    With ``k = ⌊577 R²/γ²⌋``, at most ``(k log(8em/k) log(32m) + log(8m/δ)) / m`` for m points.

    Assumptions: the points are drawn independently; all that can be drawn lie in a ball of radius R
    **centred at the origin** of feature space (``R² = max k(x, x)``, 1 for a Gaussian); every training
    point is on its side of the hyperplane, at a distance of at least γ.

    The expression grows with k only up to ``k = 8m``; beyond, it falls, and no longer means anything. The
    answer is infinity there, and also for γ ≤ 0. Values of 1 and more are vacuous too: as ``k ≥ 577``, fewer
    than some 65,000 points never give less. To compare kernels, order them by ``R²/γ²``.

    Parameters
    ----------
    radius, margin : float
        ``R`` and ``γ``, the distance of the nearest training point from the hyperplane.
    n_samples : int
    delta : float, default=0.05
        Probability that the bound does not hold.
    log_base : float, default=e
        The paper prints ``log`` without a base; 2 is the more cautious reading.

    Returns
    -------
    float

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998,
    section 1, after J. Shawe-Taylor et al., *Structural Risk Minimization over Data-Dependent Hierarchies*.

    Examples
    --------
    >>> from adatron.bounds import margin_bound
    >>> round(margin_bound(1.0, 1.0, 1_000_000), 3), margin_bound(1.0, 0.1, 1_000)
    (0.105, inf)
    """
    ratio = 577.0 * squared_ratio(radius, margin)
    m, delta = check_count("n_samples", n_samples, at_least=1), _check_delta(delta)
    if not (isinstance(log_base, int | float) and 1.0 < log_base < math.inf):
        raise ValueError(f"log_base must be a finite number > 1, got {log_base!r}")
    if ratio >= 8.0 * m + 1.0:
        return math.inf
    k = math.floor(ratio)
    unit = math.log(log_base)
    complexity = k * math.log(8.0 * math.e * m / k) * math.log(32.0 * m) / unit**2 if k else 0.0
    return (complexity + math.log(8.0 * m / delta) / unit) / m


def compression_bound(n_support: int, n_samples: int, *, delta: float = 0.05) -> float:
    """Error of a classifier that a few of its training points suffice to rebuild.

    For d support vectors of p points at most ``(d log₂(ep/d) + log₂(p/δ)) / (p − d)``. It is vacuous (1 or
    more) unless support vectors are few: from about a fifth of the points on, a seventh of 50 points. With
    ``d = p`` no point is left to testify: infinity.

    Assumptions: the points are drawn independently; training on the support vectors alone gives the same
    classifier; it makes **no error on the training set**, else the number means nothing.

    Parameters
    ----------
    n_support, n_samples : int
        ``d`` and ``p``.
    delta : float, default=0.05
        Probability that the bound does not hold.

    Returns
    -------
    float

    References
    ----------
    N. Cristianini, C. Campbell, J. Shawe-Taylor, *A Multiplicative Updating Algorithm for Training Support
    Vector Machines*, ESANN 1999, after N. Littlestone and M. Warmuth, 1986.

    Examples
    --------
    >>> from adatron.bounds import compression_bound
    >>> round(compression_bound(10, 1_000), 3), compression_bound(50, 50)
    (0.096, inf)
    """
    p = check_count("n_samples", n_samples, at_least=1)
    d, delta = check_count("n_support", n_support, at_least=0), _check_delta(delta)
    if d > p:
        raise ValueError(f"n_support must be at most n_samples={p}, got {d}")
    if d == p:
        return math.inf
    chosen = d * math.log2(math.e * p / d) if d else 0.0
    return (chosen + math.log2(p / delta)) / (p - d)


def squared_ratio(radius: Any, margin: Any) -> float:
    """``R²/γ²``; infinity where the classes are not separated (γ ≤ 0), or where it overflows."""
    if not _is_number(radius) or not (math.isfinite(radius) and radius >= 0.0):
        raise ValueError(f"radius must be a finite number >= 0, got {radius!r}")
    if not _is_number(margin) or math.isnan(margin):
        raise ValueError(f"margin must be a number, got {margin!r}")
    if margin <= 0.0:
        return math.inf
    radius, margin = float(radius), float(margin)
    ratio = radius / margin if radius <= margin * 1e200 else math.inf
    return ratio * ratio


def check_count(name: str, value: Any, *, at_least: int) -> int:
    """A whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {value!r}")
    return int(value)


def _check_delta(delta: Any) -> float:
    if not _is_number(delta) or not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be a number between 0 and 1, both excluded, got {delta!r}")
    return float(delta)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
