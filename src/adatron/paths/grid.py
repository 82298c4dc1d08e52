"""A grid of C on one kernel matrix, every C trained from the solution of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from adatron.estimators.kernel_choice import inspect_gram, kernel_from, probe_callable
from adatron.estimators.multiclass import Layout
from adatron.estimators.training_data import TrainingData, classification_data
from adatron.gram import DenseGram, GramOperator, LinearGram, RowGram, choose_operator, choose_rows
from adatron.kernels import Kernel, Precomputed
from adatron.problems import classification
from adatron.solvers import GreedyAdatron, KernelAdatron, Solver
from adatron.training import DualSolution, Run, Status, rounds

__all__ = ["GridFit", "PathData", "path_data", "solve_grid"]

_WHOLE_UP_TO = 5_000  # points up to which a linear kernel has its whole matrix, too


@dataclass(frozen=True)
class PathData:
    """What all C share."""

    data: TrainingData
    kernel: Kernel
    gram: GramOperator
    layout: Layout
    indefinite: bool

    @property
    def n_problems(self) -> int:
        return len(self.layout.pairs) if self.layout.is_pairwise else 1

    @property
    def signs(self) -> np.ndarray:
        """Label −1 or +1 of every row in every problem, 0 where it takes no part; shape (m, P)."""
        if not self.layout.is_pairwise:
            return self.layout.signs(self.data.codes)
        pairs = self.layout.pair_rows(self.data.codes)
        signs = np.zeros((len(self.data.codes), len(pairs)))
        for problem, (rows, own) in enumerate(pairs):
            signs[rows, problem] = own
        return signs


@dataclass(frozen=True)
class GridFit:
    """The solution for one C: ``y∘α`` of every row and problem, shape (m, P), and the biases."""

    coefficients: np.ndarray
    bias: np.ndarray
    epochs: int
    seconds: float
    gap: float
    status: Status


def path_data(estimator: Any, X: Any, y: Any, sample_weight: Any) -> PathData:
    """Check what is given to a path, and evaluate its kernel matrix or get ready to."""
    data = classification_data(estimator, X, y, sample_weight)
    data = replace(data, X=data.X.copy())  # the path keeps them, and they may be the user's
    layout = Layout(len(data.classes), "ovo")
    layout.check_size(len(data.codes))
    kernel = kernel_from(estimator, data.X, data.sample_weight)
    probe_callable(kernel, data.X)
    gram = _gram(kernel, data.X, estimator.cache_size)
    indefinite = inspect_gram(gram, kernel)
    if indefinite and isinstance(gram, RowGram):  # all its rows will be swept
        gram = choose_operator(kernel, data.X, estimator.cache_size).gram
    return PathData(data, kernel, gram, layout, indefinite)


def _gram(kernel: Kernel, X: Any, cache_size: Any) -> GramOperator:
    if isinstance(kernel, Precomputed):
        return DenseGram(X)
    gram = choose_operator(kernel, X, cache_size).gram
    if isinstance(gram, LinearGram) and gram.m <= _WHOLE_UP_TO:
        return DenseGram(np.asarray(gram.block(slice(0, gram.m))))
    return gram if isinstance(gram, DenseGram) else choose_rows(kernel, X, cache_size).gram


def solve_grid(
    shared: PathData, Cs: np.ndarray, rows: np.ndarray | None = None, *, tol: float, max_iter: int
) -> Iterator[GridFit]:
    """Solutions for rising C; with `rows` for these rows only, coefficients of the others being 0."""
    m = len(shared.data.codes)
    rows = np.arange(m) if rows is None else rows
    parts = _parts(shared, rows)
    weights = shared.data.weights
    last: list[np.ndarray | None] = [None] * len(parts)  # feasible for any larger C
    is_greedy = not shared.indefinite and getattr(shared.gram, "has_entries", True)
    solver: Solver = GreedyAdatron() if is_greedy else KernelAdatron()
    settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "indefinite": shared.indefinite}
    for C in Cs.tolist():
        began, solutions = perf_counter(), []
        for place, (gram, own, signs) in enumerate(parts):
            problem = classification(gram, signs, C * weights[own], bias=True)
            run = Run(problem, solver, alpha=last[place], eager=True, **settings)
            for _ in rounds([run]):
                pass
            solutions.append(run.snapshot()[0])
            last[place] = solutions[-1].alpha[:, None]
        yield _fit(parts, solutions, m, perf_counter() - began)


def _parts(shared: PathData, rows: np.ndarray) -> list[tuple[GramOperator, np.ndarray, np.ndarray]]:
    """Kernel matrix, rows and labels ±1 of every problem."""
    codes = shared.data.codes[rows]
    if not shared.layout.is_pairwise:
        gram = shared.gram if len(rows) == shared.gram.m else shared.gram.restrict(rows)
        return [(gram, rows, shared.layout.signs(codes)[:, 0])]
    pairs = shared.layout.pair_rows(codes)
    return [(shared.gram.restrict(rows[own]), rows[own], signs) for own, signs in pairs]


def _fit(parts: list[Any], solutions: list[DualSolution], m: int, seconds: float) -> GridFit:
    coefficients = np.zeros((m, len(parts)))
    for problem, ((_, own, signs), solution) in enumerate(zip(parts, solutions, strict=True)):
        coefficients[own, problem] = signs * solution.alpha
    worst = max(solutions, key=lambda s: (s.status is not Status.CONVERGED, s.gap))
    return GridFit(
        coefficients,
        np.array([solution.bias for solution in solutions]),
        sum(solution.n_iter for solution in solutions),
        seconds,
        max(solution.gap for solution in solutions),
        worst.status,
    )
