"""Data, kernels and machines of the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adatron.display.figures import PUBLISHED
from adatron.estimators import SVC
from adatron.kernels import Gaussian, Kernel, Polynomial
from adatron.papers.data import original_sonar, wisconsin_split

__all__ = ["ALGORITHMS", "DASHED", "DATA", "KERNELS", "Problem", "problem", "problems"]

DATA = {"breast": wisconsin_split, "sonar": original_sonar}
KERNELS = ("polynomial 4", "polynomial 6", "Gaussian 3", "Gaussian 1")
ALGORITHMS = {"M³": "m3", "MUNK": "munk", "KA": "adatron"}
DASHED: dict[str, Any] = PUBLISHED  # lines of bounds and of published values
_HARD = float("inf")
# Below what an epoch can reach, so that the exact finish of the library has no part in the machines:
# each is where its own algorithm got, unless its own gap has fallen to 1e-3.
_TOL = 1e-12


@dataclass(frozen=True)
class Problem:
    """A split of the data with a kernel; hard margin, no bias."""

    data: str
    kernel_name: str
    kernel: Kernel
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def labels(self) -> dict[str, str]:
        return {"data": self.data, "kernel": self.kernel_name}

    def machine(self, algorithm: str, n_epochs: int) -> SVC:
        """A machine that an algorithm is going to train for at most so many epochs."""
        settings: dict[str, Any] = {"fit_intercept": False, "tol": _TOL, "max_iter": n_epochs}
        return SVC(_HARD, self.kernel, solver=ALGORITHMS[algorithm], **settings)

    def train(self, algorithm: str, n_epochs: int) -> SVC:
        """The machine after at most so many epochs."""
        return self.machine(algorithm, n_epochs).fit(self.X, self.y)

    @cached_property
    def optimum(self) -> SVC:
        """The solution that all algorithms approach."""
        return SVC(_HARD, self.kernel, fit_intercept=False, tol=1e-9).fit(self.X, self.y)

    @property
    def best_objective(self) -> float:
        """The maximum of ``Σα − ½ αᵀQα``, which is ``½ Σα`` there."""
        return 0.5 * float(np.abs(self.optimum.dual_coef_).sum())

    def objective_gaps(self, model: SVC) -> tuple[np.ndarray, np.ndarray]:
        """Epochs, and how far below its maximum the objective was, as a part of it."""
        history = model.history_
        return np.array(history["epoch"]), 1.0 - np.array(history["objective"]) / self.best_objective

    def error_percent(self, model: SVC) -> float:
        """Misclassified points of the test set."""
        return 100.0 * float(np.mean(model.predict(self.X_test) != self.y_test))


def problem(data: str, kernel_name: str) -> Problem:
    """The problem of these names.

    Examples
    --------
    >>> from adatron.papers.potluru2009.settings import problem
    >>> breast = problem("breast", "Gaussian 3")
    >>> breast.X.shape, breast.X_test.shape
    ((550, 9), (133, 9))
    """
    X, X_test, y, y_test = DATA[data]()
    kind, _, number = kernel_name.partition(" ")
    kernel = Gaussian.of_width(float(number)) if kind == "Gaussian" else _unit_polynomial(int(number), X)
    return Problem(data, kernel_name, kernel, X, y, X_test, y_test)


def _unit_polynomial(degree: int, X: np.ndarray) -> Kernel:
    """``(⟨x, z⟩ + 1)^d`` over its largest value on the training points, which only rescales α."""
    scale = 1.0 / (1.0 + float(np.square(X).sum(axis=1).max()))
    return Polynomial(degree, scale, scale)


def problems(kernels: Iterable[str] = KERNELS) -> list[Problem]:
    """The problems of all data with these kernels."""
    return [problem(data, kernel) for data in DATA for kernel in kernels]
