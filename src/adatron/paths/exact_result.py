"""What an exact regularisation path is: its breakpoints, and every solution between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from adatron.paths.events import ELBOW, LEFT, PARKED, RIGHT
from adatron.paths.walk import PathWalk
from adatron.training.certificate import best_bias

__all__ = ["ExactPath", "Knots"]

_ROUNDING = 1e-10  # part of a multiplier by which interpolation may miss a bound


@dataclass
class Knots:
    """Breakpoints as they are found: sides of all points, multipliers of the elbow only."""

    C: list[float] = field(default_factory=list)
    bias: list[float] = field(default_factory=list)
    side: list[np.ndarray] = field(default_factory=list)
    free: list[np.ndarray] = field(default_factory=list)

    def add(self, walk: PathWalk) -> None:
        self.C.append(walk.C)
        self.bias.append(walk.uncentred_bias)
        self.side.append(walk.side.copy())
        self.free.append(walk.alpha[_is_free(walk.side)])

    def alpha(self, k: int, w: np.ndarray) -> np.ndarray:
        """All multipliers at one breakpoint."""
        side = self.side[k]
        alpha = np.where(side == LEFT, self.C[k] * w, 0.0)
        alpha[_is_free(side)] = self.free[k]
        return alpha


def _is_free(side: np.ndarray) -> np.ndarray:
    """Which points are on the margin."""
    return (side == ELBOW) | (side == PARKED)


@dataclass(frozen=True, repr=False)
class ExactPath:
    """All solutions of the soft-margin SVM with bias, for every C from 0 to the end of the path.

    α(C) and b(C) are piecewise linear, so the solutions at the breakpoints tell all others. It is made by
    `exact_path`.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix.
    y : ndarray of shape (m,)
        Labels −1 and +1.
    w : ndarray of shape (m,)
        Weights of the points.
    group : ndarray of shape (m,)
        Which group of equal points each point belongs to.
    share : ndarray of shape (m,)
        Its part of the multiplier of its group.
    knots : Knots
        The breakpoints as they were found.
    complete : bool
        Whether nothing changes beyond the last breakpoint, so that any larger C can be asked for.

    Attributes
    ----------
    C : ndarray of shape (n_breakpoints,)
        Breakpoints, from 0 on. Two may be equal: there the bias jumps, or the multipliers do while the
        decision function stays.
    bias : ndarray of shape (n_breakpoints,)
    end : float
        The largest C that can be asked for.
    elbow_sizes : ndarray of shape (n_breakpoints,)
        Points on the margin up to each breakpoint.

    References
    ----------
    T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, *The entire regularization path for the support vector
    machine*, JMLR 5, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.selection import exact_path
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> path = exact_path(np.outer(x, x), y, C_max=0.4)
    >>> path
    ExactPath(4 points, 5 breakpoints, up to C=0.4)
    >>> path.C.round(3).tolist(), path.end
    ([0.0, 0.083, 0.25, 0.25, 0.4], 0.4)
    """

    K: np.ndarray
    y: np.ndarray
    w: np.ndarray
    group: np.ndarray  # of equal points, each point's
    share: np.ndarray  # of the multiplier of its group
    knots: Knots
    complete: bool

    def __repr__(self) -> str:
        end = "complete" if self.complete else f"up to C={self.C[-1]:g}"
        return f"ExactPath({len(self.y)} points, {len(self.C)} breakpoints, {end})"

    @cached_property
    def C(self) -> np.ndarray:
        return np.array(self.knots.C)

    @cached_property
    def bias(self) -> np.ndarray:
        return np.array(self.knots.bias)

    @property
    def end(self) -> float:
        """The largest C that can be asked for."""
        return np.inf if self.complete else float(self.C[-1])

    @cached_property
    def elbow_sizes(self) -> np.ndarray:
        """Points on the margin up to each breakpoint."""
        return np.array([len(values) for values in self.knots.free])

    def alpha_at(self, C: Any) -> np.ndarray:
        """Multipliers for one C or for several.

        Parameters
        ----------
        C : float or array-like of shape (n,)
            Above 0, up to the end of the path.

        Returns
        -------
        ndarray of shape (m,) or (n, m)

        Examples
        --------
        >>> import numpy as np
        >>> from adatron.selection import exact_path
        >>> path = exact_path(np.eye(2), np.array([-1.0, 1.0]))
        >>> path.alpha_at([0.25, 4.0])
        array([[0.25, 0.25],
               [1.  , 1.  ]])
        """
        values = self._checked_C(C)
        alpha = np.empty((len(values), len(self.y)))
        for place, (c, k, t) in enumerate(zip(values, *self._located(values), strict=True)):
            before, after = (self.knots.alpha(k + end, self._group_weights) for end in (0, 1))
            merged, upper = before + t * (after - before), c * self._group_weights
            side = self.knots.side[k + 1]  # on the segment that ends there
            merged[(side == RIGHT) & (merged <= _ROUNDING * merged.max())] = 0.0
            full = (side == LEFT) & (merged >= (1.0 - _ROUNDING) * upper)
            alpha[place] = np.where(full[self.group], c * self.w, merged[self.group] * self.share)
        return alpha[0] if np.ndim(C) == 0 else alpha

    def bias_at(self, C: Any) -> Any:
        """The bias for one C, or for several; the middle where a whole interval is as good.

        Parameters
        ----------
        C : float or array-like of shape (n,)
            Above 0, up to the end of the path.

        Returns
        -------
        float or ndarray of shape (n,)
        """
        values = self._checked_C(C)
        k, t = self._located(values)
        bias = self.bias[k] + t * (self.bias[k + 1] - self.bias[k])
        free = np.flatnonzero(self.elbow_sizes[k + 1] == 0)
        if len(free):
            f = self.outputs_at(values[free])
            for place, outputs, c in zip(free, f, values[free], strict=True):
                bias[place] = np.mean(best_bias(outputs, self.y, np.ones_like(self.y), c * self.w))
        return float(bias[0]) if np.ndim(C) == 0 else bias

    def outputs_at(self, C: Any) -> np.ndarray:
        """``f_i = Σ_j α_j y_j K_ij``, without the bias.

        Parameters
        ----------
        C : float or array-like of shape (n,)
            Above 0, up to the end of the path.

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
            Above 0, up to the end of the path.

        Returns
        -------
        float or ndarray of shape (n,)
        """
        alpha = self.alpha_at(C)
        return (alpha - 0.5 * alpha * self.y * self.outputs_at(C)).sum(axis=-1)

    @cached_property
    def _group_weights(self) -> np.ndarray:
        return np.bincount(self.group, weights=self.w)

    def _checked_C(self, C: Any) -> np.ndarray:
        values = np.atleast_1d(np.asarray(C, dtype=np.float64))
        bad = ~((values > 0.0) & (np.isfinite(values)))
        if values.ndim != 1 or bad.any():
            raise ValueError(f"C must be a finite number > 0, or a list of such, got {C!r}")
        if values.max(initial=0.0) > self.end * (1.0 + 1e-12):
            raise ValueError(
                f"C={values.max():g} is beyond the end of this path at C={self.C[-1]:g}; ask for a smaller "
                "C, or follow the path with a larger C_max"
            )
        return values

    def _located(self, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The segment of each C, and where on it."""
        k = np.clip(np.searchsorted(self.C, C, side="right") - 1, 0, len(self.C) - 2)
        while (flat := (self.C[k + 1] <= self.C[k]) & (k > 0)).any():
            k = np.where(flat, k - 1, k)  # the path ends with two equal breakpoints
        return k, (C - self.C[k]) / (self.C[k + 1] - self.C[k])
