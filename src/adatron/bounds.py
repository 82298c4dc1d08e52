"""Bounds on mistakes and errors, as plain formulas.

Examples
--------
>>> from adatron.bounds import novikoff_bound
>>> novikoff_bound(radius=1.0, margin=0.1, bias=False)
100.0
"""

from __future__ import annotations

import math

__all__ = ["novikoff_bound"]


def novikoff_bound(radius: float, margin: float, *, bias: bool = True) -> float:
    """Most mistakes a perceptron makes before it separates the classes.

    Without a bias: at most ``(R/γ)²``, if some unit vector w* has ``y_i ⟨w*, x_i⟩ ≥ γ`` for all points and
    ``R = max ‖x_i‖``. With the bias step ``b ← b + y_i R²``: at most ``(2R/γ)²``, γ the margin with a bias
    ``|b*| ≤ R``. It says nothing where the classes overlap (γ ≤ 0): the answer is then infinity.

    Parameters
    ----------
    radius : float
        ``R = max √k(x, x)``.
    margin : float
        ``γ``.
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
    if not (math.isfinite(radius) and radius >= 0.0):
        raise ValueError(f"radius must be a finite number >= 0, got {radius!r}")
    if math.isnan(margin):
        raise ValueError(f"margin must be a number, got {margin!r}")
    if margin <= 0.0:
        return math.inf
    return ((2.0 if bias else 1.0) * radius / margin) ** 2
