"""From what the learning times of the document's last table are sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adatron.datasets import (
    fetch_usps,
    load_breast_cancer_wisconsin,
    load_ionosphere,
    load_pima,
    load_sonar,
    make_mirror_symmetry,
)
from adatron.papers.campbell1998.digits import PRINTED
from adatron.papers.data import signed

__all__ = ["Task", "digit_tasks", "small_tasks"]

Draw = Callable[[int, np.random.Generator], tuple[Any, Any]]


@dataclass(frozen=True)
class Task:
    """A data set, how it is learnt, and at which numbers of points."""

    name: str
    published: float | None
    draw: Draw  # m points at random
    sigma: float
    largest: int
    mu: float = 0.1  # of the secant
    C: float = np.inf
    has_bias: bool = True
    smallest: int = 20

    @property
    def margin(self) -> str:
        return "hard" if np.isinf(self.C) else f"soft, C = {self.C:g}"

    def sizes(self, n: int) -> np.ndarray:
        """`n` numbers of points in geometric progression."""
        return np.unique(np.geomspace(self.smallest, self.largest, n).round().astype(int))


def small_tasks() -> list[Task]:
    """All but the digits; σ and μ are those of the document's figures, where it has one."""
    sonar, cancer, pima, ionosphere = (
        _rows(*load(return_X_y=True))
        for load in (load_sonar, load_breast_cancer_wisconsin, load_pima, load_ionosphere)
    )
    return [
        Task("mirror symmetry", 1.7, _mirror, sigma=5.0, mu=5.0, largest=200),
        Task("sonar", 1.8, sonar, sigma=1.0, mu=5.0, largest=208),
        Task("cancer", 2.0, cancer, sigma=3.0, mu=50.0, largest=600),
        Task("diabetes", 2.1, pima, sigma=11.0, largest=600),
        Task("diabetes", None, pima, sigma=11.0, C=1.02, smallest=100, largest=600),
        Task("ionosphere", 3.0, ionosphere, sigma=1.5, mu=0.2, largest=340),
        Task("ionosphere", None, ionosphere, sigma=1.5, mu=0.2, C=3.0, smallest=40, largest=340),
    ]


def digit_tasks() -> list[Task]:
    """Each digit against the rest, without a bias; an OSError when USPS cannot be had."""
    usps = fetch_usps()
    return [
        Task(
            f"digit {digit}", None, _rows(usps.data, usps.target == digit), sigma=row.sigma,
            has_bias=False, smallest=100, largest=800,
        )
        for digit, row in PRINTED.items()
    ]  # fmt: skip


def _mirror(m: int, generator: np.random.Generator) -> tuple[Any, Any]:
    return make_mirror_symmetry(m, 30, random_state=int(generator.integers(2**31)))


def _rows(X: Any, y: Any) -> Draw:
    return partial(_subset, X, signed(y))


def _subset(X: Any, y: Any, m: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """`m` rows with both classes among them."""
    while True:
        rows = generator.choice(len(y), m, replace=False)
        if abs(y[rows].sum()) < m:
            return X[rows], y[rows]
