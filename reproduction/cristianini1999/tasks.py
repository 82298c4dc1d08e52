"""The four classification problems of the paper, their exact solutions and rates that suit them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron import SVC
from adatron.datasets import make_majority, make_mirror_symmetry
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.problems import DualProblem, classification
from reproduction.experiment import Effort
from reproduction.shared import HARD, Split, multipliers, original_sonar, wisconsin_split

RATE_SHARE = 0.75  # of the largest stable rate: the paper prints no rate
FOUR = "The four problems of section 4, with a bias; one draw of each artificial problem"


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


@dataclass(frozen=True)
class Task:
    """A split with labels ±1, and the width σ of the Gaussian kernel."""

    name: str
    split: Split
    width: float

    @property
    def kernel(self) -> Gaussian:
        return Gaussian.of_width(self.width)

    def dual_problem(self, *, bias: bool = True) -> DualProblem:
        gram = DenseGram(self.kernel(self.split.X, self.split.X))
        return classification(gram, self.split.y, np.full(len(self.split.y), HARD), bias=bias)

    def machine(self, rate: float | str | None = None, **options: Any) -> SVC:
        """Unfitted; with a rate one that is trained by multiplicative updates."""
        if rate is not None:
            options |= {"solver": "multiplicative", "learning_rate": rate}
        return SVC(HARD, self.kernel, **options)

    def fit(self, rate: float | str | None = None, **options: Any) -> SVC:
        return self.machine(rate, **options).fit(self.split.X, self.split.y)

    def error(self, model: SVC) -> float:
        """On the test rows."""
        return 1.0 - float(model.score(self.split.X_test, self.split.y_test))

    def solve(self, *, bias: bool = True) -> Solved:
        """The solution by the fast path, certified to 1e-9."""
        model = self.fit(tol=1e-9, fit_intercept=bias)
        return Solved(multipliers(model, len(self.split.y)), float(model.intercept_[0]))

    def largest_rate(self, solved: Solved, *, bias: bool = True) -> float:
        """The rate up to which multiplicative updates are stable at the solution.

        ``2/λ_max`` of ``A^½ Q A^½`` on the support vectors, A = diag α, with a bias projected on ``yᵀα = 0``.
        """
        rows = np.argsort(-solved.alpha, kind="stable")
        rows = rows[solved.alpha[rows] > 1e-6 * solved.alpha.max()]
        K = self.kernel(self.split.X, self.split.X)[np.ix_(rows, rows)]
        y, root = self.split.y[rows], np.sqrt(solved.alpha[rows])
        M = (root * y)[:, None] * K * (root * y)
        if bias:
            v = root * y / np.linalg.norm(root)
            M -= np.outer(v, v @ M)
            M -= np.outer(M @ v, v)
        return float(2.0 / np.linalg.eigvalsh(0.5 * (M + M.T))[-1])

    def steady_rate(self) -> float:
        """The fixed rate used for the task."""
        return RATE_SHARE * self.largest_rate(self.solve())


def majority(seed: int) -> Task:
    """Majority of 40 bits: 200 strings to learn, 500 to test."""
    X, y = make_majority(700, 40, random_state=seed)
    return Task("majority rule", Split(X[:200], X[200:], y[:200], y[200:]), 5.0)


def mirror_symmetry(seed: int, n: int = 200) -> Task:
    """Mirror symmetry of 30 bits: n strings to learn, 10,000 to test, which may repeat."""
    X, y = make_mirror_symmetry(n + 10_000, 30, random_state=seed)
    return Task("mirror symmetry", Split(X[:n], X[n:], y[:n], y[n:]), 5.0)


def sonar() -> Task:
    return Task("sonar", original_sonar(), 1.0)


def breast_cancer() -> Task:
    return Task("breast cancer", wisconsin_split(), 1.0)


def draws(effort: Effort, n: int) -> list[int]:
    """Seeds of n draws of an artificial problem; the first are the same for every n."""
    return [int(seed) for seed in effort.generator().integers(2**31, size=n)]


def four_tasks(effort: Effort) -> list[Task]:
    """The problems of section 4, one draw of each artificial one."""
    seed = draws(effort, 1)[0]
    return [majority(seed), mirror_symmetry(seed), sonar(), breast_cancer()]


def iterates(problem: DualProblem, solver: Any, n_epochs: int) -> Iterator[tuple[int, Any]]:
    """Epochs and states of a solver; `SVC` would end with the exact solution once the gap is small."""
    state = solver.init(problem)
    for epoch in range(1, n_epochs + 1):
        state = solver.epoch(problem, state, lambda: None)
        yield epoch, state
