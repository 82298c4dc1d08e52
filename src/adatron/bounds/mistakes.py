"""How many mistakes a perceptron makes while it learns."""

from __future__ import annotations

from adatron.bounds.checks import check_margin, check_radius, squared_ratio

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
    return (4.0 if bias else 1.0) * squared_ratio(check_radius(radius), check_margin(margin))
