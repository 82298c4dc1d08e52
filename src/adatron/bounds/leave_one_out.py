"""Bounds on the leave-one-out error, which on average is the error on new points."""

from __future__ import annotations

from adatron.bounds.checks import check_count, check_margin, check_radius, squared_ratio

__all__ = ["radius_margin_bound", "support_vector_loo_bound"]


def support_vector_loo_bound(n_support: int, n_samples: int) -> float:
    """Leave-one-out error from the number of support vectors.

    At most ``n_SV / m``: leaving out a point that is no support vector changes nothing, and that point
    is classified correctly.

    Assumptions: the optimum was reached, and every point on the wrong side counts as a support vector, as
    it does for a hard and for a soft margin. The mean over draws of m points bounds the mean error of
    training on m − 1; for one draw it is an estimate.

    It is vacuous (1) when all points are support vectors, as with a Gaussian of tiny width.

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

    Without a bias at most ``R²/(γ² m)``, all points in a ball of radius R about the origin of feature
    space: the multipliers sum to 1/γ², and only a point with ``α R² ≥ 1`` can be lost when it is left out.
    With one at most ``4R²/(γ² m)``, all points in any ball of radius R, so the smallest will do: then only
    a point with ``α D S ≥ 1`` can be lost, and both the diameter D and the span S are at most 2R.

    Assumptions: a hard margin at its optimum, so no training error. With a bias the form without the factor
    4 is a common criterion to compare kernels by, but no bound.

    It is vacuous (1 or more) when γ is below R/√m, and infinite for γ ≤ 0.

    Parameters
    ----------
    radius : float
        ``R``.
    margin : float
        ``γ``.
    n_samples : int
        ``m``.
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
    >>> radius_margin_bound(1.0, 0.25, 100)
    0.16
    >>> radius_margin_bound(1.0, 0.25, 100, bias=True)
    0.64
    """
    ratio = squared_ratio(check_radius(radius), check_margin(margin))
    return (4.0 if bias else 1.0) * ratio / check_count("n_samples", n_samples, at_least=1)
