"""The one quadratic programme behind every estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adatron.gram import Gram
from adatron.numerics.compiled import compiled_part

__all__ = ["DualProblem", "infinite_where_huge", "measure_columns", "positive_diagonal"]

_HARD = 1e100  # beyond this, in units of the kernel, a bound cannot be told from infinity in float64
_FEW = 50  # rows that show where the origin is
_NEAR_ORIGIN = 0.01  # of the mean K_ii


def positive_diagonal(gram: Gram) -> np.ndarray:
    """K_ii, with zeros (a point at the origin of feature space) raised to rounding level."""
    diagonal = gram.diagonal()
    return np.maximum(diagonal, np.finfo(float).eps * diagonal.max())


def infinite_where_huge(gram: Gram, upper: np.ndarray) -> np.ndarray:
    """Bounds, infinite where float64 could not tell them from infinity."""
    scale = float(np.max(gram.diagonal(), initial=0.0))
    return np.where(upper * scale >= _HARD, np.inf, upper)


@dataclass(frozen=True)
class DualProblem:
    """Maximise ``pᵀα − ½ (y∘α)ᵀ K (y∘α)`` subject to ``0 ≤ α ≤ upper`` and perhaps ``yᵀα = r``.

    B problems that share one kernel matrix stand side by side as columns.

    Parameters
    ----------
    gram : Gram
        The kernel matrix K, m × m.
    y : array of shape (m, B)
        Signs −1 or +1.
    p : array of shape (m, B)
        Linear term; 1 for classification.
    upper : array of shape (m, B)
        Upper bounds; ``inf`` is a hard margin, 0 leaves a point out.
    equality : float or None
        r: 0.0 fits a bias, 1.0 is one-class; None leaves yᵀα free, without a bias.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import DualProblem
    >>> one = np.ones((2, 1))
    >>> problem = DualProblem(DenseGram(np.eye(2)), np.array([[1.0], [-1.0]]), one, one, equality=0.0)
    >>> problem.m, problem.n_columns
    (2, 1)
    """

    gram: Gram
    y: np.ndarray
    p: np.ndarray
    upper: np.ndarray
    equality: float | None = None

    def __post_init__(self) -> None:
        shape = self.y.shape
        if len(shape) != 2 or shape[0] != self.gram.m:
            raise ValueError(f"y must have shape ({self.gram.m}, B), got {shape}")
        for name in ("p", "upper"):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have the shape {shape} of y, got {getattr(self, name).shape}")
        if self.equality is not None:
            most = np.where(self.y > 0.0, self.upper, 0.0).sum(axis=0).min(initial=np.inf)
            if not 0.0 <= self.equality <= most * (1.0 + 1e-12):
                allowed = "None or from 0 to Σ upper over y = +1"
                raise ValueError(f"equality must be {allowed}, got {self.equality!r}")
        for name in ("y", "p", "upper"):  # columns contiguous, for the compiled sweeps
            object.__setattr__(self, name, np.asfortranarray(getattr(self, name), dtype=np.float64))

    @property
    def m(self) -> int:
        return self.y.shape[0]

    @property
    def n_columns(self) -> int:
        return self.y.shape[1]

    @property
    def has_bias(self) -> bool:
        return self.equality is not None

    @property
    def has_margin(self) -> bool:
        """Whether outputs are asked to be away from 0; not so for one class."""
        return bool(np.any(self.p))

    def outputs(self, alpha: np.ndarray) -> np.ndarray:
        """``f = K (y∘α)`` of every column."""
        return self.gram.matmul(self.y * alpha)

    def imbalance(self, alpha: np.ndarray) -> np.ndarray:
        """``ω = yᵀα − r`` of every column."""
        return (self.y * alpha).sum(axis=0) - (self.equality or 0.0)

    @cached_property
    def diagonal(self) -> np.ndarray:
        """K_ii, no zeros among them."""
        return positive_diagonal(self.gram)

    @cached_property
    def offset(self) -> float:
        """How much larger kernel values are than they differ: max K_ii over the variance in feature space.

        It is large where rows are far from the origin under a linear or polynomial kernel; as many digits
        of the kernel values are lost. Measured on a few rows; 1 if these are all equal.
        """
        rows = np.unique(np.linspace(0, self.m - 1, min(self.m, _FEW)).astype(int))
        K = self.gram.block(rows, rows)
        variance = float(np.diagonal(K).mean() - K.mean())
        largest = float(self.diagonal.max())
        return largest / variance if variance > 4.0 * np.finfo(float).eps * largest else 1.0

    @cached_property
    def inverse_curvature(self) -> np.ndarray:
        """1/K_ii; a point near the origin of feature space counts as if it were a little away from it."""
        return 1.0 / np.maximum(self.diagonal, _NEAR_ORIGIN * self.diagonal.mean())

    @cached_property
    def is_nonnegative(self) -> bool:
        """Whether no kernel value is negative."""
        return self.gram.is_nonnegative()

    def columns(self, which: np.ndarray | list[int]) -> DualProblem:
        """The problems in some of the columns."""
        return DualProblem(self.gram, self.y[:, which], self.p[:, which], self.upper[:, which], self.equality)


@compiled_part
def measure_columns(y, p, upper, alpha, f, bias, result):
    """Write objective, margin and violation of every problem, one to a line, into `result`, (B, 3)."""
    for b in range(y.shape[0]):
        objective, violation = 0.0, 0.0
        lowest = np.array([np.inf, np.inf])  # of y f over points below their bound: y = +1, y = −1
        lowest_of_all = np.array([np.inf, np.inf])
        for i in range(y.shape[1]):
            if upper[b, i] <= 0.0:
                continue
            a, output = alpha[b, i], y[b, i] * f[b, i]
            objective += a * (p[b, i] - 0.5 * output)
            gradient = p[b, i] - output - y[b, i] * bias[b]
            if a <= 0.0:
                gradient = max(gradient, 0.0)
            elif a >= upper[b, i]:
                gradient = max(-gradient, 0.0)
            violation = max(violation, abs(gradient))
            side = 0 if y[b, i] > 0.0 else 1
            lowest_of_all[side] = min(lowest_of_all[side], output)
            if a < upper[b, i]:
                lowest[side] = min(lowest[side], output)
        for side in range(2):
            if lowest[side] == np.inf:  # every point of the class is at its bound
                lowest[side] = lowest_of_all[side]
        for side in range(2):
            if lowest[side] == np.inf:  # there is only the other class
                lowest[side] = lowest[1 - side]
        result[b, 0] = objective
        result[b, 1] = 0.5 * (lowest[0] + lowest[1])
        result[b, 2] = violation
