"""Bounds on the error on new points that hold with probability 1 − δ over the draw of the training set."""

from __future__ import annotations

import math

from adatron.bounds.checks import check_count, check_delta, check_margin, check_radius, squared_ratio

__all__ = ["compression_bound", "margin_bound"]


def margin_bound(
    radius: float, margin: float, n_samples: int, *, delta: float = 0.05, log_base: float = math.e
) -> float:
    """Error of a classifier that separates its training set with a margin (VC bound).

    With ``k = ⌊577 R²/γ²⌋``, at most ``(k log(8em/k) log(32m) + log(8m/δ)) / m``.

    Assumptions: the m points are drawn independently; all that can be drawn lie in a ball of radius R
    **centred at the origin** of feature space (``R² = max k(x, x)``, 1 for a Gaussian); every training
    point is on its side of the hyperplane, at a distance of at least γ.

    The expression grows with k only up to ``k = 8m``; beyond, it falls, and turns negative at ``8em``,
    where it no longer means anything. The answer is infinity there, and also for γ ≤ 0. Values of 1 and more
    are vacuous too: as ``R ≥ γ`` and so ``k ≥ 577``, fewer than some 65,000 points never give less. To
    compare kernels, order them by ``R²/γ²``, which ranks them as the bound would.

    Parameters
    ----------
    radius : float
        ``R``.
    margin : float
        ``γ``, the distance of the nearest training point from the hyperplane.
    n_samples : int
        ``m``.
    delta : float, default=0.05
        Probability that the bound does not hold.
    log_base : float, default=e
        The document prints ``log`` without a base; 2 is the more cautious reading.

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
    >>> round(margin_bound(1.0, 1.0, 1_000_000), 3)
    0.105
    >>> margin_bound(1.0, 0.1, 1_000)
    inf
    """
    ratio = 577.0 * squared_ratio(check_radius(radius), check_margin(margin))
    m, delta = check_count("n_samples", n_samples, at_least=1), check_delta(delta)
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

    For d support vectors of p points at most ``(d log₂(ep/d) + log₂(p/δ)) / (p − d)``.

    Assumptions: the points are drawn independently; training on the support vectors alone gives the same
    classifier; it makes **no error on the training set**. Where one training point is on the wrong side,
    the number means nothing.

    It is vacuous (1 or more) unless support vectors are few: from about a fifth of the points on, a seventh
    of 50 points. With ``d = p`` no point is left to testify: infinity.

    Parameters
    ----------
    n_support : int
        ``d``.
    n_samples : int
        ``p``.
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
    >>> round(compression_bound(10, 1_000), 3)
    0.096
    >>> compression_bound(50, 50)
    inf
    """
    p = check_count("n_samples", n_samples, at_least=1)
    d, delta = check_count("n_support", n_support, at_least=0), check_delta(delta)
    if d > p:
        raise ValueError(f"n_support must be at most n_samples={p}, got {d}")
    if d == p:
        return math.inf
    chosen = d * math.log2(math.e * p / d) if d else 0.0
    return (chosen + math.log2(p / delta)) / (p - d)
