"""Section 3.1: bounds on convergence, and epochs measured beside them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from adatron.numerics.threads import one_blas_thread
from adatron.papers.cristianini1999.tasks import (
    RATE_SHARE,
    Solved,
    Task,
    iterates,
    largest_rate,
    solve_exactly,
)
from adatron.problems import DualProblem
from adatron.solvers import KernelAdatron, MultiplicativeUpdating

__all__ = ["Race", "bound_of_ascent", "bound_of_updates", "linear_teacher", "race"]

_GOAL = 0.01  # relative distance of the objective from its maximum
_AT_MOST = 200_000
_GROWTH = 1.02
METHODS = ("multiplicative", "gradient ascent", "Kernel-Adatron")


def linear_teacher(n_features: int, seed: int, n_samples: int = 200) -> Task:
    """Normal points, labelled by the sign of one feature; the more features, the more support vectors."""
    X = np.random.default_rng(seed).standard_normal((n_samples, n_features))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    return Task(f"{n_features} features", X, X, y, y, float(np.sqrt(n_features)))


def bound_of_ascent(solved: Solved, start: np.ndarray, radius: float = 1.0) -> float:
    """ε_GD after one update: ``m |α* − α⁰| (1 + R²/γ²)``; after |S| updates divide by √|S|."""
    distance = float(np.linalg.norm(solved.alpha - start))
    return len(start) * distance * (1.0 + (radius / solved.margin) ** 2)


def bound_of_updates(solved: Solved, start: np.ndarray, radius: float = 1.0) -> float:
    """ε_MU after one update: ``(2/γ) √((1 + R²/γ²) Σ α* ln(α*/α⁰))``; after |S| updates divide by √|S|."""
    support = solved.alpha > 0.0
    chosen = solved.alpha[support]
    divergence = float(chosen @ np.log(chosen / start[support]))
    return 2.0 / solved.margin * float(np.sqrt((1.0 + (radius / solved.margin) ** 2) * divergence))


@dataclass
class Race:
    """One task solved by several methods: bounds, and objective by epoch."""

    task: Task
    solved: Solved
    bounds: dict[str, float]
    epochs: dict[str, int]
    curves: dict[str, tuple[np.ndarray, np.ndarray]]  # epochs, relative distance of the objective

    @property
    def bound_ratio(self) -> float:
        return self.bounds["gradient ascent"] / self.bounds["multiplicative"]

    @property
    def epoch_ratio(self) -> float:
        """Epochs of gradient ascent for one of the multiplicative updates."""
        return self.epochs["gradient ascent"] / self.epochs["multiplicative"]

    def largest_use(self, method: str) -> float:
        """Largest share of its bound that the distance from the maximum came to, over all epochs."""
        epochs, distances = self.curves[method]
        return float((distances * self.solved.objective * np.sqrt(epochs) / self.bounds[method]).max())


@one_blas_thread()
def race(task: Task) -> Race:
    """Solve without a bias by multiplicative updates, gradient ascent and Kernel-Adatron."""
    solved = solve_exactly(task, bias=False)
    problem = task.dual_problem(bias=False)
    curves = {name: _curve(problem, solver, solved.objective) for name, solver in _solvers(task, solved)}
    start = MultiplicativeUpdating().init(problem).alpha[:, 0]
    bounds = {
        "gradient ascent": bound_of_ascent(solved, start),
        "multiplicative": bound_of_updates(solved, start),
    }
    return Race(task, solved, bounds, {name: int(curve[0][-1]) for name, curve in curves.items()}, curves)


def _solvers(task: Task, solved: Solved) -> list[tuple[str, Any]]:
    rate = RATE_SHARE * largest_rate(task, solved, bias=False)
    K = task.kernel(task.X_train, task.X_train)
    # at a rate that simultaneous ascent could bear, sweeping point by point hardly differs from it
    ascent = RATE_SHARE * 2.0 / float(np.linalg.eigvalsh(K)[-1])
    solvers = (MultiplicativeUpdating(rate), KernelAdatron(ascent), KernelAdatron())
    return list(zip(METHODS, solvers, strict=True))


def _curve(problem: DualProblem, solver: Any, maximum: float) -> tuple[np.ndarray, np.ndarray]:
    """Relative distance of the objective from its maximum by epoch, until it is small; thinned."""
    points, due = [], 1.0
    for epoch, state in enumerate(islice(iterates(problem, solver), _AT_MOST), start=1):
        objective = float((state.alpha * (problem.p - 0.5 * problem.y * state.f)).sum())
        distance = 1.0 - objective / maximum
        if epoch >= due or distance <= _GOAL:
            due = max(epoch + 1.0, due * _GROWTH)
            points.append((epoch, distance))
        if distance <= _GOAL:
            break
    epochs, distances = np.array(points).T
    return epochs, distances
