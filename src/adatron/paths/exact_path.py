"""The exact regularisation path: the solution of the soft-margin SVM for every C at once.

α(C) and b(C) are piecewise linear, so the solutions at the breakpoints determine all others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adatron.estimators.parameters import check_number
from adatron.numerics.threads import one_blas_thread
from adatron.paths.homotopy import ELBOW, LEFT, PARKED, RIGHT, Homotopy, Knot
from adatron.training.certificate import best_bias

LARGEST_EXACT = 2_000  # points
_ROUNDING = 1e-10  # part of a multiplier by which interpolation may miss a bound


def exact_path(K: Any, y: Any, sample_weight: Any = None, *, C_max: float = 1e6) -> "ExactPath":
    """Follow the solution of the soft-margin SVM with bias from C = 0 to `C_max`.

    Parameters
    ----------
    K, y : array of shape (m, m) and (m,)
        A positive semi-definite kernel matrix of at most 2,000 points, and their labels −1 and +1.
    sample_weight : array of shape (m,), optional
        Weights > 0: the multiplier of a point is at most ``C w_i``.
    C_max : float, default=1e6
        ``inf`` continues until nothing changes, or until float64 is too coarse.

    Returns
    -------
    ExactPath

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.selection import exact_path
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> exact_path(np.outer(x, x), y).alpha_at([0.3, 100.0]).round(6)
    array([[0. , 0.3, 0.3, 0. ],
           [0. , 0.5, 0.5, 0. ]])
    """
    m, w = len(y), np.ones(len(y)) if sample_weight is None else sample_weight
    K, y, w = (np.asarray(values, dtype=np.float64) for values in (K, y, w))
    if K.shape != (m, m):
        raise ValueError(f"K must be the {m} × {m} kernel matrix of the points of y, got shape {K.shape}")
    if m > LARGEST_EXACT:
        raise ValueError(f"the exact path is for at most {LARGEST_EXACT} points, y has {m}; use a grid of Cs")
    if not np.isfinite(K).all():
        raise ValueError("K must be finite, got NaN or infinite values")
    if set(np.unique(y)) != {-1.0, 1.0}:
        raise ValueError(f"y must hold the labels -1 and +1, both of them, got {np.unique(y)[:5].tolist()}")
    if w.shape != (m,) or not (np.isfinite(w) & (w > 0.0)).all():
        raise ValueError(f"sample_weight must be {m} finite numbers > 0; drop the points of weight 0")
    C_max = check_number("C_max", C_max, "a number > 0", lambda C: C > 0.0)
    # equal points of one class share the multiplier of one point of their summed weight
    places: dict[Any, int] = {}
    keys = zip(y.tolist(), (row.tobytes() for row in K), strict=True)
    group = np.array([places.setdefault(key, len(places)) for key in keys])
    first, weights = np.unique(group, return_index=True)[1], np.bincount(group, weights=w)
    homotopy = Homotopy(K[np.ix_(first, first)], y[first], weights, C_max)
    with one_blas_thread():  # many small solves
        homotopy.follow()
    return ExactPath(K, y, w, group, w / weights[group], homotopy.knots, homotopy.complete)


@dataclass(frozen=True, repr=False)
class ExactPath:
    """The result of `exact_path`: the soft-margin SVM with bias for every C up to the end of the path.

    Parameters
    ----------
    K, y, w : kernel matrix, labels −1 and +1, and weights of the points
    group, share : the group of equal points that each point is in, and its part of the group's multiplier
    knots, complete : breakpoints, and whether nothing changes after the last: then any larger C is known

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.selection import exact_path
    >>> exact_path(np.eye(2), np.array([-1.0, 1.0]), C_max=0.4)
    ExactPath(2 points, 2 breakpoints, up to C=0.4)
    """

    K: np.ndarray
    y: np.ndarray
    w: np.ndarray
    group: np.ndarray
    share: np.ndarray
    knots: list[Knot]
    complete: bool

    def __repr__(self) -> str:
        end = "complete" if self.complete else f"up to C={self.C[-1]:g}"
        return f"ExactPath({len(self.y)} points, {len(self.C)} breakpoints, {end})"

    @cached_property
    def C(self) -> np.ndarray:
        """Breakpoints, from 0 on; where two are equal, the bias jumps, or the multipliers do."""
        return np.array([knot.C for knot in self.knots])

    @cached_property
    def bias(self) -> np.ndarray:
        """The bias at each breakpoint."""
        return np.array([knot.bias for knot in self.knots])

    @property
    def end(self) -> float:
        """The largest C that is known."""
        return np.inf if self.complete else float(self.C[-1])

    @cached_property
    def elbow_sizes(self) -> np.ndarray:
        """Points on the margin up to each breakpoint."""
        return np.array([len(knot.free) for knot in self.knots])

    def alpha_at(self, C: Any) -> np.ndarray:
        """Multipliers for one C or for several, from above 0 to the end of the path.

        Parameters
        ----------
        C : float or array-like of shape (n,)

        Returns
        -------
        ndarray of shape (m,) or (n, m)
        """
        values, segments, fractions = self._located(C)
        weights, alpha = np.bincount(self.group, weights=self.w), np.empty((len(values), len(self.y)))
        for i, (value, knot, fraction) in enumerate(zip(values, segments, fractions, strict=True)):
            before, after = self._multipliers(knot, weights), self._multipliers(knot + 1, weights)
            of_groups = before + fraction * (after - before)
            side = self.knots[knot + 1].side  # on the segment that ends there
            of_groups[(side == RIGHT) & (of_groups <= _ROUNDING * of_groups.max())] = 0.0
            is_full = (side == LEFT) & (of_groups >= (1.0 - _ROUNDING) * (value * weights))
            alpha[i] = np.where(is_full[self.group], value * self.w, of_groups[self.group] * self.share)
        return alpha[0] if np.ndim(C) == 0 else alpha

    def bias_at(self, C: Any) -> Any:
        """The bias for one C, or for several; the middle of the interval where it is not unique.

        Parameters
        ----------
        C : float or array-like of shape (n,)

        Returns
        -------
        float or ndarray of shape (n,)
        """
        values, knots, fractions = self._located(C)
        bias = self.bias[knots] + fractions * (self.bias[knots + 1] - self.bias[knots])
        free = np.flatnonzero(self.elbow_sizes[knots + 1] == 0)
        for i, f in zip(free, self.outputs_at(values[free]), strict=True):
            bias[i] = np.mean(best_bias(f, self.y, np.ones_like(self.y), values[i] * self.w))
        return float(bias[0]) if np.ndim(C) == 0 else bias

    def outputs_at(self, C: Any) -> np.ndarray:
        """``f_i = Σ_j α_j y_j K_ij``, without the bias.

        Parameters
        ----------
        C : float or array-like of shape (n,)

        Returns
        -------
        ndarray of shape (m,) or (n, m)
        """
        return (self.alpha_at(C) * self.y) @ self.K

    def objective_at(self, C: Any) -> Any:
        """``Σα − ½ αᵀQα`` for one C, or for several.

        Parameters
        ----------
        C : float or array-like of shape (n,)

        Returns
        -------
        float or ndarray of shape (n,)
        """
        alpha = self.alpha_at(C)
        return (alpha - 0.5 * alpha * self.y * self.outputs_at(C)).sum(axis=-1)

    def _multipliers(self, knot: int, weights: np.ndarray) -> np.ndarray:
        """Multipliers of the groups at a breakpoint."""
        C, _, side, free = self.knots[knot]
        alpha = np.where(side == LEFT, C * weights, 0.0)
        alpha[(side == ELBOW) | (side == PARKED)] = free
        return alpha

    def _located(self, C: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values of C as an array, the breakpoint before each, and the part of the way to the next."""
        values = np.atleast_1d(np.asarray(C, dtype=np.float64))
        if values.ndim != 1 or not ((values > 0.0) & np.isfinite(values)).all():
            raise ValueError(f"C must be a finite number > 0, or a list of such, got {C!r}")
        if values.max(initial=0.0) > self.end * (1.0 + 1e-12):
            beyond = f"C={values.max():g} is beyond the end of this path at C={self.C[-1]:g}"
            raise ValueError(f"{beyond}; ask for a smaller C, or follow the path with a larger C_max")
        knots = np.clip(np.searchsorted(self.C, values, side="right") - 1, 0, len(self.C) - 2)
        while (is_flat := (self.C[knots + 1] <= self.C[knots]) & (knots > 0)).any():
            knots = np.where(is_flat, knots - 1, knots)  # the path ends with two equal breakpoints
        return values, knots, (values - self.C[knots]) / (self.C[knots + 1] - self.C[knots])
