"""Training at one width: all rows and, for cross-validation, every fold, as columns of one problem.

A cold start is α = 0. A warm start moves the multipliers of the last width to where the new kernel wants
them: first all together by the factor that maximises the dual, then, as hardly any point has joined
or left the support vectors, to the solution of their linear system, by the steps of the exact finish.
Sweeps of Kernel-Adatron go on from there, with the bias that belongs to it, until the gap certifies the
margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.gram import choose_operator
from adatron.kernels import Gaussian
from adatron.problems import DualProblem
from adatron.solvers import KernelAdatron
from adatron.training import DualSolution, Run, certify, exact_finish, rounds

__all__ = ["PathRows", "WidthFit", "fit_width"]


@dataclass(frozen=True)
class PathRows:
    """What all widths of a path share; B = (1 + F) k problems, all rows first, then the folds."""

    X: Any  # (m, d)
    codes: np.ndarray  # (m,): index of the class of each row
    signs: np.ndarray  # (m, k): k problems, 1 for two classes, else one per class
    upper: np.ndarray  # (m, B): C, or 0 where a fold leaves a row out
    has_bias: bool

    @property
    def n_problems(self) -> int:
        return self.signs.shape[1]

    @property
    def n_folds(self) -> int:
        return self.upper.shape[1] // self.n_problems - 1


@dataclass(frozen=True)
class WidthFit:
    """The solutions at one width."""

    kernel: Gaussian
    solutions: list[DualSolution]
    outputs: np.ndarray  # (m, B): f + b of every row
    coefficients: np.ndarray  # (m, B): y α
    alpha: np.ndarray  # (m, B)
    radius_squared: float
    start: str  # "cold", "exact" or "scaled"


def fit_width(rows: PathRows, sigma: float, tol: float, max_iter: int, last: WidthFit | None) -> WidthFit:
    """Train at one width to the maximal margin, starting from the solutions of the `last`, if any."""
    kernel = Gaussian.of_width(sigma)
    gram = choose_operator(kernel, rows.X, "auto").gram
    y = np.tile(rows.signs, (1, 1 + rows.n_folds))
    problem = DualProblem(gram, y, np.ones_like(y), rows.upper, 0.0 if rows.has_bias else None)
    run, start = _run(problem, tol, max_iter, None if last is None else last.alpha)
    for _ in rounds([run]):
        pass
    solutions = run.snapshot()
    alpha = np.stack([solution.alpha for solution in solutions], axis=1)
    outputs = gram.matmul(problem.y * alpha) + np.array([solution.bias for solution in solutions])
    radius_squared = float(problem.diagonal.max())
    return WidthFit(kernel, solutions, outputs, problem.y * alpha, alpha, radius_squared, start)


def _run(problem: DualProblem, tol: float, max_iter: int, last: np.ndarray | None) -> tuple[Run, str]:
    if last is None:
        return Run(problem, KernelAdatron(), tol=tol, max_iter=max_iter), "cold"
    scaled = _scaled(problem, last)
    starts = [_moved(problem, column, scaled[:, column]) for column in range(problem.n_columns)]
    alpha = np.stack([alpha for alpha, _, _ in starts], axis=1)
    run = Run(problem, KernelAdatron(), tol=tol, max_iter=max_iter, alpha=alpha)
    run.state.bias[:] = [bias for _, bias, _ in starts]
    return run, "exact" if all(is_exact for _, _, is_exact in starts) else "scaled"


def _scaled(problem: DualProblem, alpha: np.ndarray) -> np.ndarray:
    """α times the factor ``Σα / αᵀQα`` that maximises the dual of each column, within the bounds."""
    coefficients = problem.y * alpha
    curvature = np.einsum("ij,ij->j", coefficients, problem.gram.matmul(coefficients))
    total = alpha.sum(axis=0)
    factor = np.where(curvature > 1e-12 * total, total / np.maximum(curvature, 1e-300), 1.0)
    return np.clip(alpha * factor, 0.0, problem.upper)


def _moved(problem: DualProblem, column: int, alpha: np.ndarray) -> tuple[np.ndarray, float, bool]:
    """α and the bias of one column at the optimum of the new kernel, if it is found, else near it."""
    exact = exact_finish(problem, column, alpha)
    certificate = certify(problem, column, alpha if exact is None else exact)
    return certificate.alpha, certificate.bias, exact is not None
