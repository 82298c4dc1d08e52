"""Solving a path in C, on a grid or exactly, for all rows or for those of a fold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np

from adatron.numerics.threads import one_blas_thread
from adatron.paths.checks import DEFAULT_CS, can_be_exact
from adatron.paths.exact_path import exact_path
from adatron.paths.grid import GridFit, PathData, solve_grid
from adatron.paths.solutions import ExactSolutions, GridSolutions, Solutions
from adatron.training import Status

__all__ = ["CPathSolver"]

_ONE_BLAS_THREAD = 3_000  # points up to which more threads would mostly wait for one another


class CPathSolver:
    """The same path for all rows and for those of a fold."""

    def __init__(self, shared: PathData, Cs: np.ndarray | None, exact: Any, settings: dict[str, Any]) -> None:
        self.shared, self._settings = shared, settings
        self._is_exact, self._may_give_up = can_be_exact(exact, shared), exact == "auto"
        self._Cs = Cs
        self._C_max = float(DEFAULT_CS[-1] if Cs is None else Cs[-1])

    def all_rows(self) -> tuple[Solutions, np.ndarray, list[dict[str, Any]]]:
        """Solutions, the C to record, and how each was found."""
        if self._is_exact:
            try:
                return self._exactly()
            except (RuntimeError, ValueError):  # rounding, or a kernel that is constant
                if not self._may_give_up:
                    raise
                self._is_exact = False
        Cs = DEFAULT_CS if self._Cs is None else self._Cs
        solutions, fits = GridSolutions(Cs), []
        for fit in self._grid(Cs, None):
            solutions.add(fit)
            found = {"epochs": fit.epochs, "seconds": fit.seconds, "gap": fit.gap, "status": str(fit.status)}
            fits.append(found | {"converged": fit.status is Status.CONVERGED})
        return solutions, Cs, fits

    def _exactly(self) -> tuple[Solutions, np.ndarray, list[dict[str, Any]]]:
        began = perf_counter()
        solutions = self._exact(np.arange(self.shared.gram.m))
        Cs = np.unique(solutions.path.C[1:]) if self._Cs is None else self._Cs
        found = {"epochs": 0, "seconds": (perf_counter() - began) / len(Cs), "status": str(Status.CONVERGED)}
        return solutions, Cs, [found | {"converged": True} for _ in Cs]

    def some_rows(self, rows: np.ndarray, Cs: np.ndarray) -> Solutions:
        """Solutions that have only seen some rows."""
        if self._is_exact:
            path = self._exact(rows).path
            return ExactSolutions(path, rows, self.shared.gram.m, path.end)
        solutions = GridSolutions(Cs)
        for fit in self._grid(Cs, rows):
            solutions.add(fit)
        return solutions

    def _grid(self, Cs: np.ndarray, rows: np.ndarray | None) -> Iterator[GridFit]:
        with one_blas_thread() if self.shared.gram.m <= _ONE_BLAS_THREAD else nullcontext():
            yield from solve_grid(self.shared, Cs, rows, **self._settings)

    def _exact(self, rows: np.ndarray) -> ExactSolutions:
        data = self.shared.data
        signs, weights = self.shared.signs[rows, 0], data.weights[rows]
        K = np.asarray(self.shared.gram.block(rows, rows))
        path = exact_path(K, signs, weights, C_max=self._C_max)
        return ExactSolutions(path, rows, len(data.codes))
