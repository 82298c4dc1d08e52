"""The explicit quadratic map and its kernel ⟨x, z⟩²."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adatron.display.figures import add_legend, new_figure
from adatron.estimators import SVC, KernelPerceptron
from adatron.exceptions import InfeasibleError
from adatron.kernels import Linear
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cisc889.points import DASHED, HARD, INK, decade_above, draw_classes, draw_line, ring
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["QUADRATIC_MAP", "ellipse_points", "quadratic_map"]

_KERNEL = Linear() ** 2
_DIMENSIONS = (2, 5, 20)


def quadratic_map(X: np.ndarray) -> np.ndarray:
    """All products of two features, those of different features times √2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.papers.cisc889.quadratic_map import quadratic_map
    >>> quadratic_map(np.array([[1.0, 2.0]])).round(3)
    array([[1.   , 2.828, 4.   ]])
    """
    i, j = np.triu_indices(X.shape[1])
    return X[:, i] * X[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))


def ellipse_points(rng: np.random.Generator, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points inside (−1) and outside (+1) of an ellipse, none near it."""
    X = rng.uniform(-1.0, 1.0, size=(4 * n_points, 2))
    level = X[:, 0] ** 2 / 0.5 + X[:, 1] ** 2 / 0.3
    kept = np.flatnonzero(np.abs(level - 1.0) > 0.15)[:n_points]
    return X[kept], np.where(level[kept] > 1.0, 1, -1)


class _Machine(NamedTuple):
    """Machine and perceptron of one form: with the kernel, or linear on the mapped points."""

    machine: SVC
    perceptron: KernelPerceptron

    @property
    def alpha(self) -> np.ndarray:
        alpha = np.zeros(self.machine.shape_fit_[0])
        alpha[self.machine.support_] = np.abs(self.machine.dual_coef_[0])
        return alpha

    def measures(self) -> tuple[float, float, float]:
        """Margin, number of support vectors, and mistakes of the perceptron."""
        margin = 1.0 / np.sqrt(self.alpha.sum())
        return float(margin), float(len(self.machine.support_)), float(self.perceptron.mistakes_[0])


def _train(kernel: Any, X: np.ndarray, y: np.ndarray) -> _Machine:
    machine = SVC(HARD, kernel, tol=1e-10).fit(X, y)
    return _Machine(machine, KernelPerceptron(kernel, max_iter=100_000).fit(X, y))


def _train_both(X: np.ndarray, y: np.ndarray) -> tuple[_Machine, _Machine]:
    return _train(_KERNEL, X, y), _train("linear", quadratic_map(X), y)


@one_blas_thread()
def _run(effort: Effort) -> Findings:
    rng = effort.generator()
    kernel_error = max(_kernel_error(rng, d) for d in _DIMENSIONS)
    measures, differences, separable = [], [], []
    for _ in effort.over(range(effort.count(full=20, quick=5))):
        X, y = ellipse_points(rng, 150)
        pair = _train_both(X, y)
        measures.append([form.measures() for form in pair])
        differences.append(_differences(*pair, rng.uniform(-1.0, 1.0, size=(1000, 2))))
        separable.append((_is_separable(X, y), _is_separable(quadratic_map(X), y)))
    checks = [*_checks(kernel_error, np.array(differences)), _separable_check(separable)]
    return Findings(_comparisons(np.array(measures)), checks, _figure(effort))


def _kernel_error(rng: np.random.Generator, n_features: int) -> float:
    """Largest difference of the matrices, relative to their largest entry."""
    X = rng.normal(size=(200, n_features))
    mapped = quadratic_map(X)
    K = _KERNEL(X, X)
    return float(np.abs(mapped @ mapped.T - K).max() / K.max())


def _differences(with_kernel: _Machine, mapped: _Machine, X: np.ndarray) -> tuple[float, float, float]:
    """How far the forms are apart: in α, in predictions at `X`, in mistakes of the perceptron."""
    alpha = with_kernel.alpha
    predictions = with_kernel.machine.predict(X), mapped.machine.predict(quadratic_map(X))
    mistakes = with_kernel.perceptron.mistakes_[0], mapped.perceptron.mistakes_[0]
    return (
        float(np.abs(alpha - mapped.alpha).max() / alpha.max()),
        float((predictions[0] != predictions[1]).sum()),
        float(abs(mistakes[0] - mistakes[1])),
    )


def _comparisons(measures: np.ndarray) -> list[Comparison]:
    """Rows from an array of shape (repetitions, forms, measures)."""
    rows = []
    means, errors = measures.mean(axis=0), measures.std(axis=0, ddof=1) / np.sqrt(len(measures))
    for j, name in enumerate(("margin", "support vectors", "mistakes of the perceptron")):
        for i, form in enumerate(("kernel ⟨x, z⟩²", "mapped points")):
            labels = {"quantity": name, "form": form}
            error = float(errors[i, j])
            rows.append(Comparison(labels, None, float(means[i, j].round(12)), standard_error=error))
    return rows


def _checks(kernel_error: float, differences: np.ndarray) -> list[Check]:
    alpha, predictions, mistakes = differences.max(axis=0)
    return [
        Check(
            "Inner products of mapped points are squared inner products of the points.",
            kernel_error <= 1e-12,
            f"relative difference below {decade_above(kernel_error)}",
        ),
        Check(
            "The machine with the kernel is the linear machine on the mapped points.",
            bool(alpha <= 1e-6 and predictions == 0.0),
            f"relative difference of α below {decade_above(alpha)}, {predictions:.0f} predictions differ",
        ),
        Check(
            "So it is for the perceptron: as many mistakes.",
            bool(mistakes == 0.0),
            f"{len(differences)} problems, largest difference {mistakes:.0f}",
        ),
    ]


def _is_separable(X: np.ndarray, y: np.ndarray) -> bool:
    try:
        SVC(HARD, "linear").fit(X, y)
    except InfeasibleError:
        return False
    return True


def _separable_check(separable: list[tuple[bool, bool]]) -> Check:
    before, after = np.array(separable).sum(axis=0)
    return Check(
        "Classes that an ellipse divides, and no line, are separated by a plane of the feature space.",
        bool(before == 0 and after == len(separable)),
        f"separable: {before} of {len(separable)} problems before, {after} after the map",
    )


def _figure(effort: Effort) -> Figure:
    X, y = ellipse_points(effort.generator(), 150)
    with_kernel, mapped = (form.machine for form in _train_both(X, y))
    figure, (inputs, features) = new_figure(
        2, [("x₁", "x₂"), ("x₁²", "x₂²")], titles=["Input space", "Feature space, seen along √2 x₁x₂"]
    )
    draw_classes(inputs, X, y)
    ring(inputs, with_kernel.support_vectors_, "support vector")
    _draw_contours(inputs, with_kernel)
    squares = X**2
    draw_classes(features, squares, y)
    ring(features, squares[mapped.support_], "support vector")
    w, bias = mapped.coef_[0][[0, 2]], float(mapped.intercept_[0])
    draw_line(features, w, bias, color=INK, linewidth=1.6, label="f = 0 at x₁x₂ = 0")
    for level, label in ((-1.0, "f = ±1 there"), (1.0, None)):
        draw_line(features, w, bias - level, **DASHED, label=label)
    add_legend(features, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _draw_contours(ax: Axes, model: Any) -> None:
    side = np.linspace(-1.05, 1.05, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    outputs = model.decision_function(grid).reshape(200, 200)
    style: dict[str, Any] = {"colors": INK, "levels": [-1.0, 0.0, 1.0], "linestyles": ["--", "-", "--"]}
    ax.contour(side, side, outputs, linewidths=[1.0, 1.6, 1.0], **style)


QUADRATIC_MAP = Experiment(
    name="quadratic-map",
    title="The quadratic map and its kernel",
    claim=(
        "The map to all products of two features, (x₁², √2 x₁x₂, x₂²) in the plane, has the kernel ⟨x, z⟩², "
        "so a machine can work in the feature space without ever going there (slides 11-13)."
    ),
    settings=(
        "200 normal points in 2, 5 and 20 dimensions for the matrices; 150 points on either side of an "
        "ellipse for the machines, hard margin with a bias, compared at 1,000 new points."
    ),
    run=_run,
)
