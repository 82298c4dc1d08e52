"""Direct multiclass classification: Crammer & Singer, JMLR 2 (2001).

One weight vector per class, and a row pays for the one class that comes closest to its own::

    minimise  ½ Σ_c |w_c|² + Σ_i C_i ξ_i,    ξ_i = max_c (1 − δ_{c,y_i} + ⟨w_c, x_i⟩ − ⟨w_{y_i}, x_i⟩)

With ``w_c = Σ_i A_ic φ(x_i)`` the dual is::

    maximise  Σ_i A_{i,y_i} − ½ Σ_c A_cᵀ K A_c    with    Σ_c A_ic = 0,    A_ic ≤ C_i δ_{c,y_i}

A row of A adds to the weights of the row's own class what it takes from the others, so the columns
of A are coupled, row by row: this is no `DualProblem`. There is no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adatron.gram import Gram
from adatron.problems.dual import infinite_where_huge, positive_diagonal

__all__ = ["CrammerSingerProblem", "crammer_singer"]


@dataclass(frozen=True)
class CrammerSingerProblem:
    """The dual above: one problem, whose multipliers A have shape (m, n_classes)."""

    gram: Gram  # the kernel matrix K, m × m
    codes: np.ndarray  # shape (m,): the class of each row, from 0 on
    n_classes: int
    upper: np.ndarray  # shape (m, 1): C times the weight of each row; inf is a hard margin

    def __post_init__(self) -> None:
        if self.codes.shape != (self.gram.m,):
            raise ValueError(f"codes must have shape ({self.gram.m},), got {self.codes.shape}")
        if self.upper.shape != (self.gram.m, 1):
            raise ValueError(f"upper must have shape ({self.gram.m}, 1), got {self.upper.shape}")

    @property
    def m(self) -> int:
        return self.gram.m

    @property
    def n_columns(self) -> int:
        """Problems side by side: the classes are coupled, so there is one."""
        return 1

    has_margin = True

    def outputs(self, alpha: np.ndarray) -> np.ndarray:
        """``F = K A``, in the shape of a solver's state."""
        return self.gram.matmul(alpha[..., 0])[:, :, None]

    def columns(self, which: np.ndarray) -> CrammerSingerProblem:
        """The one problem."""
        return self

    @property
    def y(self) -> np.ndarray:
        """What tells the classes apart, as a column."""
        return self.codes[:, None]

    @cached_property
    def diagonal(self) -> np.ndarray:
        """K_ii, no zeros among them."""
        return positive_diagonal(self.gram)

    @cached_property
    def own(self) -> np.ndarray:
        """Where δ_{c,y_i} is 1, shape (m, n_classes)."""
        return self.codes[:, None] == np.arange(self.n_classes)

    @cached_property
    def bounds(self) -> np.ndarray:
        """``C_i δ_{c,y_i}``, the upper bounds of A."""
        return np.where(self.own, self.upper, 0.0)

    def losses(self, f: np.ndarray) -> np.ndarray:
        """``1 − δ_{c,y_i} + f_ic − f_{i,y_i}`` of outputs (m, n_classes); their row maxima are the ξ_i."""
        return np.where(self.own, 0.0, 1.0 + f - f[self.own][:, None])

    def feasible(self, alpha: np.ndarray) -> np.ndarray:
        """A with every A_ic ≤ 0 but the row's own, which balances them and is at most C_i."""
        others = np.where(self.own, 0.0, np.minimum(alpha, 0.0))
        total = -others.sum(axis=1, keepdims=True)
        shrink = np.where(total > self.upper, self.upper / np.where(total > 0.0, total, 1.0), 1.0)
        return np.where(self.own, np.minimum(total, self.upper), others * shrink)


def crammer_singer(gram: Gram, codes: np.ndarray, n_classes: int, upper: np.ndarray) -> CrammerSingerProblem:
    """The problem of rows with classes `codes` and bounds `upper`, C times the weight of each row."""
    upper = infinite_where_huge(gram, np.asarray(upper, dtype=np.float64))
    return CrammerSingerProblem(gram, np.asarray(codes, dtype=np.int64), int(n_classes), upper[:, None])
