"""Where the SVM of one C comes from: the fits of a grid, or an exact path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from adatron.paths.exact_result import ExactPath
from adatron.paths.grid import GridFit

__all__ = ["ExactSolutions", "GridSolutions", "Solutions", "in_chunks"]

_AT_ONCE = 8_000_000  # numbers: coefficients, or decisions, of so many C are held together


class Solutions(Protocol):
    """Where the solution for a C comes from."""

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``y∘α``, shape (n, m, P), and biases, shape (n, P), for n values of C."""
        ...


class GridSolutions:
    """Solutions for the C of a grid, and for no others."""

    def __init__(self, Cs: np.ndarray) -> None:
        self._Cs = Cs
        self._coefficients: list[Any] = []
        self._bias: list[np.ndarray] = []

    def add(self, fit: GridFit) -> None:
        self._coefficients.append(sparse.csr_array(fit.coefficients))
        self._bias.append(fit.bias)

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = [self._place(C) for C in Cs.tolist()]
        coefficients = np.stack([self._coefficients[k].toarray() for k in places])
        return coefficients, np.stack([self._bias[k] for k in places])

    def _place(self, C: float) -> int:
        place = int(np.abs(np.log(self._Cs) - np.log(C)).argmin()) if C > 0.0 else 0
        if not np.isclose(C, self._Cs[place], rtol=1e-9, atol=0.0):
            raise ValueError(
                f"C={C!r} is not one of the {len(self._Cs)} values of this path, the nearest being "
                f"{self._Cs[place]:g}; add it to Cs, or use exact=True, which knows every C"
            )
        return place


class ExactSolutions:
    """Solutions for any C of an exact path, which may be one of some of the m rows.

    `largest` stands for every C above it.
    """

    def __init__(self, path: ExactPath, rows: np.ndarray, m: int, largest: float = np.inf) -> None:
        self.path, self._rows, self._m, self._largest = path, rows, m, largest

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Cs = np.minimum(Cs, self._largest)
        coefficients = np.zeros((len(Cs), self._m, 1))
        coefficients[:, self._rows, 0] = self.path.alpha_at(Cs) * self.path.y
        return coefficients, self.path.bias_at(Cs)[:, None]


def in_chunks(Cs: np.ndarray, numbers_each: int) -> Iterator[np.ndarray]:
    """Parts of Cs that are dealt with together."""
    size = max(1, _AT_ONCE // max(1, numbers_each))
    for start in range(0, len(Cs), size):
        yield Cs[start : start + size]
