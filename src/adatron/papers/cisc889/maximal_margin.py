"""The hard-margin machine: its margin is 1/‖w‖, and no direction has a larger one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import SVC, KernelPerceptron
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cisc889.points import (
    DASHED,
    HARD,
    INK,
    decade_above,
    draw_classes,
    draw_line,
    ring,
    separable_points,
    weights_of,
)
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MARGIN", "Margins", "half_gap", "largest_half_gap", "measure_margins"]

_ANGLES = 2_000
_WIDTHS = (0.2, 0.05, 0.01)
_ROUNDING = 1e-9
_SEARCH = 1e-5  # a search by values of a function with kinks finds its place to 1e-8


class Margins(NamedTuple):
    """Margins of one set of points, by different ways."""

    inverse_norm: float  # 1/‖w‖
    smallest_distance: float  # of any point to the plane
    between_classes: float  # ½ (x₊ − x₋) · w/‖w‖
    scanned: float  # the largest over all directions
    inverse_root_sum: float  # 1/√Σα
    perceptron: float


def half_gap(X: np.ndarray, y: np.ndarray, normal: np.ndarray) -> float:
    """Half the distance between the classes along the direction `normal`."""
    along = X @ (normal / np.linalg.norm(normal))
    return 0.5 * float(along[y > 0].min() - along[y < 0].max())


def largest_half_gap(X: np.ndarray, y: np.ndarray) -> float:
    """The largest `half_gap` of all directions of the plane: a scan of angles, then a local search."""

    def negative_gap(angle: float) -> float:
        return -half_gap(X, y, np.array([np.cos(angle), np.sin(angle)]))

    angles = np.linspace(0.0, 2.0 * np.pi, _ANGLES, endpoint=False)
    best = angles[int(np.argmin([negative_gap(angle) for angle in angles]))]
    step = 2.0 * np.pi / _ANGLES
    found = minimize_scalar(
        negative_gap, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-12}
    )
    return -float(found.fun)


def measure_margins(X: np.ndarray, y: np.ndarray) -> Margins:
    """The margin of the hard-margin machine by five ways, and that of a perceptron."""
    machine = SVC(HARD, "linear", tol=1e-10).fit(X, y)
    w = machine.coef_[0]
    distances = y * machine.decision_function(X) / np.linalg.norm(w)
    perceptron = KernelPerceptron("linear", max_iter=100_000).fit(X, y)
    return Margins(
        1.0 / float(np.linalg.norm(w)),
        float(distances.min()),
        half_gap(X, y, w),
        largest_half_gap(X, y),
        1.0 / float(np.sqrt(np.abs(machine.dual_coef_).sum())),
        half_gap(X, y, weights_of(perceptron, X)),
    )


def _points(rng: np.random.Generator, width: float) -> tuple[np.ndarray, np.ndarray]:
    return separable_points(rng, 60, 2, width, offset=0.15)


@one_blas_thread()
def _run(effort: Effort) -> Findings:
    rng = effort.generator()
    found: dict[float, list[Margins]] = {width: [] for width in _WIDTHS}
    for _ in effort.over(range(effort.count(full=30, quick=8))):
        for width in _WIDTHS:
            found[width].append(measure_margins(*_points(rng, width)))
    everything = np.array([row for rows in found.values() for row in rows])
    return Findings(_comparisons(found), _checks(everything), _figure(effort, everything))


def _comparisons(found: dict[float, list[Margins]]) -> list[Comparison]:
    rows = []
    for width, runs in found.items():
        for name, column in zip(
            ("1/‖w‖", "margin along w of the perceptron"), np.array(runs)[:, [0, 5]].T, strict=True
        ):
            labels = {"points keep": f"≥ {width:g}", "quantity": name}
            error = float(column.std(ddof=1) / np.sqrt(len(column)))
            rows.append(Comparison(labels, None, float(column.mean()), standard_error=error))
    return rows


def _checks(margins: np.ndarray) -> list[Check]:
    inverse_norm = margins[:, :1]
    off = np.abs(margins[:, :5] / inverse_norm - 1.0).max(axis=0)
    return [
        Check(
            "The points nearest to the plane are 1/‖w‖ away, on either side.",
            bool(max(off[1], off[2]) <= _ROUNDING),
            f"relative difference below {decade_above(max(off[1], off[2]))} in {len(margins)} problems",
        ),
        Check(
            "No other direction leaves a wider gap: a scan of all angles finds the same margin.",
            bool(off[3] <= _SEARCH),
            f"relative difference below {decade_above(off[3])}",
        ),
        Check(
            "Minimising ‖w‖ loses nothing: no angle does better than 1/‖w‖.",
            bool((margins[:, 3] <= margins[:, 0] * (1.0 + _ROUNDING)).all()),
            f"the best angle has {100 * (margins[:, 3] / margins[:, 0]).max():.4f} % of it at most",
        ),
        Check(
            "The dual knows it too: Σα = ‖w‖² = 1/γ².",
            bool(off[4] <= _ROUNDING),
            f"relative difference below {decade_above(off[4])}",
        ),
        Check(
            "A perceptron separates as well, but by less.",
            bool((margins[:, 5] <= margins[:, 0] * (1.0 + _ROUNDING)).all()),
            f"its margin is {100 * np.median(margins[:, 5] / margins[:, 0]):.0f} % of the largest in median",
        ),
    ]


def _figure(effort: Effort, margins: np.ndarray) -> Figure:
    figure, (plane, scatter) = new_figure(
        2,
        [("feature 1", "feature 2"), ("widest half gap of any direction", "margin")],
        titles=["Plane and margins", f"{len(margins)} problems"],
    )
    _draw_plane(plane, *_points(effort.generator(), _WIDTHS[0]))
    ends = [margins[:, 3].min(), margins[:, 3].max()]
    scatter.plot(ends, ends, **DASHED)
    for column, label, colour in ((0, "1/‖w‖", COLOURS[2]), (5, "perceptron", COLOURS[3])):
        style: dict[str, Any] = {"s": 16, "color": colour, "linewidth": 0, "alpha": 0.8}
        scatter.scatter(margins[:, 3], margins[:, column], label=label, **style)
    add_legend(scatter, loc="upper left")
    return figure


def _draw_plane(ax: Axes, X: np.ndarray, y: np.ndarray) -> None:
    machine = SVC(HARD, "linear", tol=1e-10).fit(X, y)
    perceptron = KernelPerceptron("linear", max_iter=100_000).fit(X, y)
    draw_classes(ax, X, y)
    ring(ax, machine.support_vectors_, "support vector")
    bias = float(machine.intercept_[0])
    draw_line(ax, machine.coef_[0], bias, color=INK, linewidth=1.6, label="f = 0")
    for level, label in ((-1.0, "f = ±1"), (1.0, None)):
        draw_line(ax, machine.coef_[0], bias - level, **DASHED, label=label)
    style: dict[str, Any] = {"color": COLOURS[3], "linewidth": 1.4, "label": "perceptron"}
    draw_line(ax, weights_of(perceptron, X), float(perceptron.intercept_[0]), **style)
    add_legend(ax, loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=3, columnspacing=1.0)


MARGIN = Experiment(
    name="margin",
    title="The largest margin is 1/‖w‖",
    claim=(
        "With the output scaled to ±1 at the nearest points of either class, the geometric margin is 1/‖w‖, "
        "so the plane of the largest margin is the one of the smallest ‖w‖ (slide 16)."
    ),
    settings=(
        "60 points of the unit disc at least 0.2, 0.05 or 0.01 away from a random line; hard-margin machine "
        "with a bias to a duality gap of 1e-10; the widest gap is also searched over all angles, without it."
    ),
    run=_run,
)
