"""Slides 11 to 15: the quadratic map and its kernel, and Mercer's condition on functions of two points."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from adatron import SVC, KernelPerceptron, kernels
from adatron.exceptions import InfeasibleError
from adatron.kernels import CallableKernel, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from reproduction.cisc889.points import decade_above, draw_classes, draw_line, ring
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, INK, PUBLISHED, add_legend, new_figure
from reproduction.shared import HARD, mean_and_error, multipliers, one_blas_thread

SQUARED = Linear() ** 2


def quadratic_features(X: np.ndarray) -> np.ndarray:
    """All products of two features, those of different features times √2."""
    i, j = np.triu_indices(X.shape[1])
    return X[:, i] * X[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))


def ellipse_points(rng: np.random.Generator, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points inside (−1) and outside (+1) of an ellipse, none near it."""
    X = rng.uniform(-1.0, 1.0, size=(4 * n_points, 2))
    level = X[:, 0] ** 2 / 0.5 + X[:, 1] ** 2 / 0.3
    kept = np.flatnonzero(np.abs(level - 1.0) > 0.15)[:n_points]
    return X[kept], np.where(level[kept] > 1.0, 1, -1)


def _train(kernel: Any, X: np.ndarray, y: np.ndarray) -> tuple[SVC, np.ndarray, int]:
    """A machine, its α, and the mistakes of the perceptron."""
    machine = SVC(HARD, kernel, tol=1e-10).fit(X, y)
    perceptron = KernelPerceptron(kernel, max_iter=100_000).fit(X, y)
    return machine, multipliers(machine, len(y)), int(perceptron.mistakes_[0])


def _train_both(X: np.ndarray, y: np.ndarray) -> list[tuple[SVC, np.ndarray, int]]:
    """With the kernel, and linear on the mapped points."""
    return [_train(SQUARED, X, y), _train("linear", quadratic_features(X), y)]


def _is_separable(X: np.ndarray, y: np.ndarray) -> bool:
    try:
        SVC(HARD, "linear").fit(X, y)
    except InfeasibleError:
        return False
    return True


@experiment(
    "The quadratic map and its kernel",
    claim="The map to all products of two features, (x₁², √2 x₁x₂, x₂²) in the plane, has the kernel ⟨x, "
    "z⟩², so a machine can work in the feature space without ever going there (slides 11-13).",
    settings="200 normal points in 2, 5 and 20 dimensions for the matrices; 150 points on either side of an "
    "ellipse for the machines, hard margin with a bias, compared at 1,000 new points.",
)
@one_blas_thread()
def quadratic_map(effort: Effort) -> Findings:
    rng, kernel_error = effort.generator(), 0.0
    for n_features in (2, 5, 20):
        X = rng.normal(size=(200, n_features))
        mapped, K = quadratic_features(X), SQUARED(X, X)
        kernel_error = max(kernel_error, float(np.abs(mapped @ mapped.T - K).max() / K.max()))
    measures, differences, separable = [], [], []
    for _ in effort.over(range(effort.count(full=20, quick=5))):
        X, y = ellipse_points(rng, 150)
        (plain, alpha, made), (mapped, mapped_alpha, mapped_made) = forms = _train_both(X, y)
        new = rng.uniform(-1.0, 1.0, size=(1000, 2))
        disagree = plain.predict(new) != mapped.predict(quadratic_features(new))
        off = np.abs(alpha - mapped_alpha).max() / alpha.max()
        measures.append([[1.0 / np.sqrt(a.sum()), len(model.support_), n] for model, a, n in forms])
        differences.append([off, disagree.sum(), abs(made - mapped_made)])
        separable.append((_is_separable(X, y), _is_separable(quadratic_features(X), y)))
    mean, error = mean_and_error(measures)
    rows = [
        Comparison({"quantity": name, "form": form}, None, float(mean[i, j].round(12)), float(error[i, j]))
        for j, name in enumerate(("margin", "support vectors", "mistakes of the perceptron"))
        for i, form in enumerate(("kernel ⟨x, z⟩²", "mapped points"))
    ]
    off, n_disagree, n_more = np.max(differences, axis=0)
    before, after = np.sum(separable, axis=0)
    n = len(separable)
    inner = "Inner products of mapped points are squared inner products of the points."
    linear = "The machine with the kernel is the linear machine on the mapped points."
    ellipse = "Classes that an ellipse divides, and no line, are separated by a plane of the feature space."
    near = f"relative difference of α below {decade_above(off)}, {n_disagree:.0f} predictions differ"
    found = f"separable: {before} of {n} problems before, {after} after the map"
    most = f"{n} problems, largest difference {n_more:.0f}"
    checks = [
        Check(inner, kernel_error <= 1e-12, f"relative difference below {decade_above(kernel_error)}"),
        Check(linear, off <= 1e-6 and n_disagree == 0.0, near),
        Check("So it is for the perceptron: as many mistakes.", n_more == 0.0, most),
        Check(ellipse, before == 0 and after == n, found),
    ]
    return Findings(rows, checks, _draw_spaces(effort))


def _draw_spaces(effort: Effort) -> Any:
    X, y = ellipse_points(effort.generator(), 150)
    plain, mapped = (machine for machine, _, _ in _train_both(X, y))
    titles = ["Input space", "Feature space, seen along √2 x₁x₂"]
    figure, (inputs, features) = new_figure(2, [("x₁", "x₂"), ("x₁²", "x₂²")], titles=titles)
    draw_classes(inputs, X, y)
    ring(inputs, plain.support_vectors_)
    side = np.linspace(-1.05, 1.05, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    outputs = plain.decision_function(grid).reshape(200, 200)
    style: dict[str, Any] = {"colors": INK, "levels": [-1.0, 0.0, 1.0], "linestyles": ["--", "-", "--"]}
    inputs.contour(side, side, outputs, linewidths=[1.0, 1.6, 1.0], **style)
    draw_classes(features, X**2, y)
    ring(features, (X**2)[mapped.support_])
    w, bias = mapped.coef_[0][[0, 2]], float(mapped.intercept_[0])
    draw_line(features, w, bias, color=INK, linewidth=1.6, label="f = 0 at x₁x₂ = 0")
    for level, label in ((-1.0, "f = ±1 there"), (1.0, None)):
        draw_line(features, w, bias - level, **PUBLISHED, label=label)
    add_legend(features, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


VALID: dict[str, Kernel] = {
    "linear ⟨x, z⟩": Linear(),
    "squared ⟨x, z⟩²": Linear() ** 2,
    "polynomial (1 + ⟨x, z⟩)³": Polynomial(3),
    "Gaussian, σ = 1": Gaussian.of_width(1.0),
    "Laplacian": Laplacian(),
    "Gaussian × polynomial + linear": Gaussian.of_width(1.0) * Polynomial(2) + Linear(),
}
INVALID: dict[str, Kernel] = {
    "negated −⟨x, z⟩": CallableKernel(lambda X, Z: -(X @ Z.T)),
    "(⟨x, z⟩ − 1)³": Polynomial(3, 1.0, -1.0),
    "sigmoid tanh(⟨x, z⟩ − 1)": Sigmoid(1.0, -1.0),
    "sigmoid tanh(⟨x, z⟩)": Sigmoid(1.0, 0.0),
    "distance −|x − z|": CallableKernel(lambda X, Z: -cdist(X, Z)),
    "cos |x − z|": CallableKernel(lambda X, Z: np.cos(cdist(X, Z))),
}
_ROUNDING = 1e-12  # of eigenvalues, relative to the norm of the matrix: shown as 0


@experiment(
    "Mercer's condition",
    claim="A function of two points is an inner product in some space exactly if it is positive "
    "semi-definite, which is hard to check since it must hold for every weighting; the polynomial (1 + ⟨x, "
    "z⟩)ᵖ and the Gaussian are such kernels (slides 14-15).",
    settings="The smallest eigenvalue of the matrix of 200 normal points in three dimensions: a negative one "
    "is a weighting that refutes the condition. Relative to the largest row sum of absolute values.",
)
@one_blas_thread()
def mercer(effort: Effort) -> Findings:
    rng, n_draws, tried = effort.generator(), effort.count(full=20, quick=5), VALID | INVALID
    shares: dict[str, list[float]] = {name: [] for name in tried}
    refused: dict[str, int] = dict.fromkeys(tried, 0)
    for _ in effort.over(range(n_draws)):
        X = rng.normal(size=(200, 3))
        for name, kernel in tried.items():
            K = kernel(X, X)
            share = kernels.smallest_eigenvalue(kernel, X) / float(np.abs(K).sum(axis=1).max())
            shares[name].append(share if abs(share) > _ROUNDING else 0.0)
            refused[name] += kernels.is_indefinite(K)
    rows = []
    for name, values in shares.items():
        kind = "inner product" if name in VALID else "not one"
        labels = {"kernel": name, "known to be": kind, "quantity": "smallest eigenvalue / norm"}
        rows.append(Comparison.of_mean(labels, values))
    # a fit tells too; where k(x, x) ≤ 0 the diagonal alone would
    X = rng.normal(size=(100, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1, -1)
    trained = {name: SVC(1.0, k).fit(X, y) for name, k in tried.items() if k.diagonal(X).min() > 0.0}
    reported = {name for name, model in trained.items() if model.status_.value == "indefinite_kernel"}
    accepted = [name for name in INVALID if refused[name] != n_draws]
    mistaken = [name for name in trained if (name in reported) != (name in INVALID)]
    checks = [
        Check(statement, not wrong, ", ".join(wrong) or f"{len(group)} kernels")
        for statement, group, wrong in (
            (
                "Kernels that are inner products pass on every sample.",
                VALID,
                [n for n in VALID if refused[n]],
            ),
            ("Functions that are not are found out on every sample.", INVALID, accepted),
            ("Training with such a function ends with a status that says so.", trained, mistaken),
        )
    ]
    return Findings(rows, checks, _draw_eigenvalues(shares))


def _draw_eigenvalues(shares: dict[str, list[float]]) -> Any:
    figure, (ax,) = new_figure(1, [("smallest eigenvalue / norm of the matrix", "")])
    figure.set_size_inches(7.4, 3.8)
    names = list(shares)[::-1]
    groups = ((VALID, COLOURS[2], "inner products"), (INVALID, COLOURS[1], "not inner products"))
    for group, colour, label in groups:
        points = [(value, names.index(name)) for name in group for value in shares[name]]
        values, places = np.array(points).T
        ax.scatter(values, places, s=18, color=colour, label=label, alpha=0.7, linewidth=0)
    ax.set_xscale("symlog", linthresh=1e-12)
    ax.set_xticks([-1.0, -1e-4, -1e-8, 0.0, 1e-8, 1e-4])
    ax.set_yticks(range(len(names)), names)
    add_legend(ax, loc="upper left")
    return figure
