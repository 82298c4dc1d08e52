"""Mercer's condition, checked on samples: which kernels are inner products, and which are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import SVC
from adatron.kernels import (
    CallableKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    is_indefinite,
    smallest_eigenvalue,
)
from adatron.numerics.threads import one_blas_thread
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["INVALID", "MERCER", "VALID"]

_ROUNDING = 1e-12  # of eigenvalues, relative to the norm of the matrix: shown as 0

VALID: dict[str, Kernel] = {
    "linear ⟨x, z⟩": Linear(),
    "squared ⟨x, z⟩²": Linear() ** 2,
    "polynomial (1 + ⟨x, z⟩)³": Polynomial(3),
    "Gaussian, σ = 1": Gaussian.of_width(1.0),
    "Laplacian": Laplacian(),
    "Gaussian × polynomial + linear": Gaussian.of_width(1.0) * Polynomial(2) + Linear(),
}


def _negated(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return -(X @ Z.T)


def _distance(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return -cdist(X, Z)


def _wave(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return np.cos(cdist(X, Z))


INVALID: dict[str, Kernel] = {
    "negated −⟨x, z⟩": CallableKernel(_negated),
    "(⟨x, z⟩ − 1)³": Polynomial(3, 1.0, -1.0),
    "sigmoid tanh(⟨x, z⟩ − 1)": Sigmoid(1.0, -1.0),
    "sigmoid tanh(⟨x, z⟩)": Sigmoid(1.0, 0.0),
    "distance −|x − z|": CallableKernel(_distance),
    "cos |x − z|": CallableKernel(_wave),
}


@one_blas_thread()
def _run(effort: Effort) -> Findings:
    rng = effort.generator()
    kernels = VALID | INVALID
    shares: dict[str, list[float]] = {name: [] for name in kernels}
    refused: dict[str, int] = dict.fromkeys(kernels, 0)
    n_draws = effort.count(full=20, quick=5)
    for _ in effort.over(range(n_draws)):
        X = rng.normal(size=(200, 3))
        for name, kernel in kernels.items():
            K = kernel(X, X)
            share = smallest_eigenvalue(kernel, X) / float(np.abs(K).sum(axis=1).max())
            shares[name].append(share if abs(share) > _ROUNDING else 0.0)
            refused[name] += is_indefinite(K)
    checks = [
        _count_check("Kernels that are inner products pass on every sample.", VALID, refused, 0),
        _count_check("Functions that are not are found out on every sample.", INVALID, refused, n_draws),
        _solver_check(rng),
    ]
    return Findings(_comparisons(shares), checks, _figure(shares))


def _comparisons(shares: dict[str, list[float]]) -> list[Comparison]:
    rows = []
    for name, values in shares.items():
        kind = "inner product" if name in VALID else "not one"
        labels = {"kernel": name, "known to be": kind, "quantity": "smallest eigenvalue / norm"}
        error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
        rows.append(Comparison(labels, None, float(np.mean(values)), standard_error=error))
    return rows


def _count_check(statement: str, kernels: dict[str, Kernel], refused: dict[str, int], expected: int) -> Check:
    wrong = [name for name in kernels if refused[name] != expected]
    return Check(statement, not wrong, ", ".join(wrong) or f"{len(kernels)} kernels")


def _solver_check(rng: np.random.Generator) -> Check:
    """A fit tells too; where k(x, x) ≤ 0 the diagonal alone would."""
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)
    kernels = {name: kernel for name, kernel in (VALID | INVALID).items() if kernel.diagonal(X).min() > 0.0}
    status = {name: SVC(1.0, kernel).fit(X, y).status_.value for name, kernel in kernels.items()}
    wrong = [name for name, value in status.items() if (value == "indefinite_kernel") != (name in INVALID)]
    return Check(
        "Training with such a function ends with a status that says so.",
        not wrong,
        ", ".join(wrong) or f"{len(status)} kernels",
    )


def _figure(shares: dict[str, list[float]]) -> Figure:
    figure, (ax,) = new_figure(1, [("smallest eigenvalue / norm of the matrix", "")])
    figure.set_size_inches(7.4, 3.8)
    names = list(shares)[::-1]
    for kernels, colour, label in (
        (VALID, COLOURS[2], "inner products"),
        (INVALID, COLOURS[1], "not inner products"),
    ):
        points = [(value, names.index(name)) for name in kernels for value in shares[name]]
        values, places = np.array(points).T
        ax.scatter(values, places, s=18, color=colour, label=label, alpha=0.7, linewidth=0)
    ax.set_xscale("symlog", linthresh=1e-12)
    ax.set_xticks([-1.0, -1e-4, -1e-8, 0.0, 1e-8, 1e-4])
    ax.set_yticks(range(len(names)), names)
    add_legend(ax, loc="upper left")
    return figure


MERCER = Experiment(
    name="mercer",
    title="Mercer's condition",
    claim=(
        "A function of two points is an inner product in some space exactly if it is positive semi-definite, "
        "which is hard to check since it must hold for every weighting; the polynomial (1 + ⟨x, z⟩)ᵖ and "
        "the Gaussian are such kernels (slides 14-15)."
    ),
    settings=(
        "The smallest eigenvalue of the matrix of 200 normal points in three dimensions: a negative one is a "
        "weighting that refutes the condition. Relative to the largest row sum of absolute values."
    ),
    run=_run,
)
