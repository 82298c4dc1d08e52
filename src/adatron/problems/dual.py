"""The one quadratic programme behind every estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adatron.gram import GramOperator

__all__ = ["DualProblem", "positive_diagonal"]

_FEW = 50  # rows that show where the origin is
_NEAR_ORIGIN = 0.01  # of the mean K_ii


def positive_diagonal(gram: GramOperator) -> np.ndarray:
    """K_ii, with zeros (a point at the origin of feature space) raised to rounding level."""
    diagonal = gram.diagonal()
    return np.maximum(diagonal, np.finfo(float).eps * diagonal.max())


@dataclass(frozen=True)
class DualProblem:
    """Maximise ``pᵀα − ½ (y∘α)ᵀ K (y∘α)`` subject to ``0 ≤ α ≤ upper`` and perhaps ``yᵀα = r``.

    B problems that share one kernel matrix stand side by side as columns.

    Parameters
    ----------
    gram : GramOperator
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

    gram: GramOperator
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
        self._check_equality()
        for name in ("y", "p", "upper"):  # columns contiguous, for the compiled sweeps
            object.__setattr__(self, name, np.asfortranarray(getattr(self, name), dtype=np.float64))

    def _check_equality(self) -> None:
        if self.equality is None:
            return
        most = np.where(self.y > 0.0, self.upper, 0.0).sum(axis=0).min(initial=np.inf)
        if not 0.0 <= self.equality <= most * (1.0 + 1e-12):
            raise ValueError(f"equality must be None or from 0 to Σ upper over y = +1, got {self.equality!r}")

    @property
    def m(self) -> int:
        return self.y.shape[0]

    @property
    def n_columns(self) -> int:
        return self.y.shape[1]

    @property
    def has_bias(self) -> bool:
        return self.equality is not None

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
        known = getattr(self.gram, "is_nonnegative", None)  # an operator whose rows are elsewhere says so
        if known is not None:
            return bool(known)
        step = max(1, 10_000_000 // self.m)
        return all(self.gram.block(slice(i, i + step)).min() >= 0.0 for i in range(0, self.m, step))

    def columns(self, which: np.ndarray | list[int]) -> DualProblem:
        """The problems in some of the columns."""
        return DualProblem(self.gram, self.y[:, which], self.p[:, which], self.upper[:, which], self.equality)
