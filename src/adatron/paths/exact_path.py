"""The exact regularisation path: the solution of the soft-margin SVM for every C at once.

With a bias and the bounds ``0 ≤ α_i ≤ C w_i``, α(C) and b(C) are piecewise linear in C (in the notation of
the source, ``λ = 1/C``, it is ``α/C`` and ``b/C`` that are piecewise linear in λ, which says the same). So
the solutions at the breakpoints are all solutions: what lies between is interpolated.

References
----------
T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, *The entire regularization path for the support vector machine*,
Journal of Machine Learning Research 5, 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.numerics.threads import one_blas_thread
from adatron.paths.exact_result import ExactPath
from adatron.paths.follower import PathFollower
from adatron.paths.walk import PathWalk

__all__ = ["LARGEST_EXACT", "exact_path"]

LARGEST_EXACT = 2_000  # points


def exact_path(
    K: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None, *, C_max: float = 1e6
) -> ExactPath:
    """Follow the solution of the soft-margin SVM with bias from C = 0 to `C_max`.

    Parameters
    ----------
    K : array of shape (m, m)
        A positive semi-definite kernel matrix of at most 2,000 points.
    y : array of shape (m,)
        Labels −1 and +1, both of them there.
    sample_weight : array of shape (m,), optional
        Weights > 0: the multiplier of a point is at most ``C w_i``.
    C_max : float, default=1e6
        Where to stop; ``inf`` goes on until nothing changes any more. The path also ends where C is so large
        that float64 can no longer tell on which side of the margin a point is.

    Returns
    -------
    ExactPath

    References
    ----------
    T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, *The entire regularization path for the support vector
    machine*, JMLR 5, 2004.

    Examples
    --------
    Four points on a line, two of each class. From C = 0.5 on nothing changes: the classes are separated.

    >>> import numpy as np
    >>> from adatron.selection import exact_path
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> path = exact_path(np.outer(x, x), y)
    >>> path
    ExactPath(4 points, 6 breakpoints, complete)
    >>> path.alpha_at([0.3, 100.0]).round(6)
    array([[0. , 0.3, 0.3, 0. ],
           [0. , 0.5, 0.5, 0. ]])
    """
    K, y, w = _checked(K, y, sample_weight)
    if not C_max > 0.0:
        raise ValueError(f"C_max must be a number > 0, got {C_max!r}")
    first, group = _equal_points(K, y)
    weights = np.bincount(group, weights=w)
    walk = PathWalk(K[np.ix_(first, first)], y[first], weights)
    if walk.is_constant:
        raise ValueError("K has equal values only, so nothing tells the points apart; change the kernel")
    follower = PathFollower(walk, float(C_max))
    with one_blas_thread():  # many small solves
        follower.follow()
    return ExactPath(K, y, w, group, w / weights[group], follower.knots, follower.complete)


def _checked(K: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    m = len(y)
    if K.shape != (m, m):
        raise ValueError(f"K must be the {m} × {m} kernel matrix of the points of y, got shape {K.shape}")
    if m > LARGEST_EXACT:
        raise ValueError(f"the exact path is for at most {LARGEST_EXACT} points, y has {m}; use a grid of Cs")
    if not np.isfinite(K).all():
        raise ValueError("K must be finite, got NaN or infinite values")
    if set(np.unique(y)) != {-1.0, 1.0}:
        raise ValueError(f"y must hold the labels -1 and +1, both of them, got {np.unique(y)[:5].tolist()}")
    w = np.ones(m) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if w.shape != (m,) or not (np.isfinite(w) & (w > 0.0)).all():
        raise ValueError(f"sample_weight must be {m} finite numbers > 0; drop the points of weight 0")
    return K, y, w


def _equal_points(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of each set of equal points of one class, and the set each point belongs to.

    Equal points share the multiplier of one point of their summed weight.
    """
    keys = zip(y.tolist(), (row.tobytes() for row in K), strict=True)
    places: dict[Any, int] = {}
    group = np.array([places.setdefault(key, len(places)) for key in keys])
    return np.unique(group, return_index=True)[1], group
