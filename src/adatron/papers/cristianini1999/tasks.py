"""The four classification problems of the document, their exact solutions and rates that suit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.datasets import make_majority, make_mirror_symmetry
from adatron.estimators import SVC
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.papers.data import original_sonar, wisconsin_split
from adatron.papers.experiment import Effort
from adatron.problems import DualProblem, classification
from adatron.solvers.multiplicative import largest_stable_rate

__all__ = [
    "HARD",
    "RATE_SHARE",
    "Solved",
    "Task",
    "breast_cancer",
    "draws",
    "four_tasks",
    "iterates",
    "largest_rate",
    "learning_rate",
    "majority",
    "mirror_symmetry",
    "multiplicative",
    "solve_exactly",
    "sonar",
]

HARD = float("inf")
RATE_SHARE = 0.75  # of the largest stable rate: the document prints no rate


@dataclass(frozen=True)
class Task:
    """Training and test rows with labels ±1, and the width σ of the Gaussian kernel."""

    name: str
    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any
    width: float

    @property
    def kernel(self) -> Gaussian:
        return Gaussian.of_width(self.width)

    def dual_problem(self, *, bias: bool = True) -> DualProblem:
        gram = DenseGram(self.kernel(self.X_train, self.X_train))
        return classification(gram, self.y_train, np.full(len(self.y_train), HARD), bias=bias)


def majority(seed: int) -> Task:
    """Majority of 40 bits: 200 strings to learn, 500 to test."""
    X, y = make_majority(700, 40, random_state=seed)
    return Task("majority rule", X[:200], X[200:], y[:200], y[200:], 5.0)


def mirror_symmetry(seed: int, n_train: int = 200) -> Task:
    """Mirror symmetry of 30 bits: 10,000 strings to test, which may repeat."""
    X, y = make_mirror_symmetry(n_train + 10_000, 30, random_state=seed)
    return Task("mirror symmetry", X[:n_train], X[n_train:], y[:n_train], y[n_train:], 5.0)


def sonar() -> Task:
    """Sonar, the original halves."""
    return Task("sonar", *original_sonar(), 1.0)


def breast_cancer() -> Task:
    """Wisconsin breast cancer, 550 and 133 rows."""
    return Task("breast cancer", *wisconsin_split(), 1.0)


def draws(effort: Effort, n: int) -> list[int]:
    """Seeds of n draws of an artificial problem; the first are the same for every n."""
    return [int(seed) for seed in effort.generator().integers(2**31, size=n)]


def four_tasks(effort: Effort) -> list[Task]:
    """The problems of section 4, one draw of each artificial one."""
    seed = draws(effort, 1)[0]
    return [majority(seed), mirror_symmetry(seed), sonar(), breast_cancer()]


@dataclass(frozen=True)
class Solved:
    """The optimum of a hard margin: all multipliers and the bias."""

    alpha: np.ndarray
    bias: float

    @property
    def objective(self) -> float:
        return 0.5 * float(self.alpha.sum())

    @property
    def margin(self) -> float:
        """Distance of the nearest points from the hyperplane: ``1/‖w‖``, and ``‖w‖² = Σα``."""
        return 1.0 / float(np.sqrt(self.alpha.sum()))

    @property
    def share(self) -> float:
        """Share of support vectors."""
        return float(np.mean(self.alpha > 0.0))


def solve_exactly(task: Task, *, bias: bool = True) -> Solved:
    """The solution by the fast path, certified to 1e-9."""
    model = SVC(HARD, task.kernel, tol=1e-9, fit_intercept=bias).fit(task.X_train, task.y_train)
    alpha = np.zeros(len(task.y_train))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return Solved(alpha, float(model.intercept_[0]))


def largest_rate(task: Task, solved: Solved, *, bias: bool = True) -> float:
    """The rate up to which multiplicative updates are stable at the solution."""
    return largest_stable_rate(task.dual_problem(bias=bias), 0, solved.alpha)


def learning_rate(task: Task) -> float:
    """The fixed rate used for a task."""
    return RATE_SHARE * largest_rate(task, solve_exactly(task))


def multiplicative(task: Task, rate: float | str, **options: Any) -> SVC:
    """An unfitted machine that is trained by multiplicative updates."""
    return SVC(HARD, task.kernel, solver="multiplicative", learning_rate=rate, **options)


def iterates(problem: DualProblem, solver: Any) -> Iterator[Any]:
    """States of a solver epoch after epoch.

    `SVC` would put the exact solution in the place of the iterate once the gap is small.
    """
    state = solver.init(problem)
    while True:
        state = solver.epoch(problem, state, lambda: None)
        yield state
