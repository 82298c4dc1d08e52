"""The four methods through which everything else sees the kernel matrix."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

__all__ = ["GramOperator", "Rows"]

Rows: TypeAlias = "slice | np.ndarray"


class GramOperator(Protocol):
    """A symmetric m × m kernel matrix that need not exist in memory."""

    m: int

    def diagonal(self) -> np.ndarray:
        """``K_ii`` of every point, shape (m,)."""
        ...

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """``K V`` for `V` of shape (m, B)."""
        ...

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        """``K[rows][:, cols]`` (all columns by default); read-only for the caller."""
        ...

    def restrict(self, rows: np.ndarray) -> GramOperator:
        """The operator of a subset of the points, sharing whatever is cached."""
        ...
