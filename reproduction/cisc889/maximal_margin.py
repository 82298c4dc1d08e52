"""Slide 16: the hard-margin machine has the margin 1/‖w‖, and no direction has a larger one."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from adatron import SVC, KernelPerceptron
from reproduction.cisc889 import points
from reproduction.cisc889.points import draw_line, weights_of
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, INK, PUBLISHED, add_legend, new_figure
from reproduction.shared import HARD, one_blas_thread

N_ANGLES = 2_000
WIDTHS = (0.2, 0.05, 0.01)
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

    angles, step = np.linspace(0.0, 2.0 * np.pi, N_ANGLES, endpoint=False), 2.0 * np.pi / N_ANGLES
    best = angles[int(np.argmin([negative_gap(angle) for angle in angles]))]
    near, options = (best - step, best + step), {"xatol": 1e-12}
    return -float(minimize_scalar(negative_gap, bounds=near, method="bounded", options=options).fun)


def _train(X: np.ndarray, y: np.ndarray) -> tuple[SVC, KernelPerceptron]:
    machine = SVC(HARD, "linear", tol=1e-10).fit(X, y)
    return machine, KernelPerceptron("linear", max_iter=100_000).fit(X, y)


def measure_margins(X: np.ndarray, y: np.ndarray) -> Margins:
    """The margin of the hard-margin machine by five ways, and that of a perceptron."""
    machine, perceptron = _train(X, y)
    w = machine.coef_[0]
    distances = y * machine.decision_function(X) / np.linalg.norm(w)
    return Margins(
        1.0 / float(np.linalg.norm(w)),
        float(distances.min()),
        half_gap(X, y, w),
        largest_half_gap(X, y),
        1.0 / float(np.sqrt(np.abs(machine.dual_coef_).sum())),
        half_gap(X, y, weights_of(perceptron, X)),
    )


@experiment(
    "The largest margin is 1/‖w‖",
    claim="With the output scaled to ±1 at the nearest points of either class, the geometric margin is "
    "1/‖w‖, so the plane of the largest margin is the one of the smallest ‖w‖ (slide 16).",
    settings="60 points of the unit disc at least 0.2, 0.05 or 0.01 away from a random line; hard-margin "
    "machine with a bias to a duality gap of 1e-10; the widest gap is also searched over all angles, without "
    "it.",
)
@one_blas_thread()
def margin(effort: Effort) -> Findings:
    rng = effort.generator()
    found: dict[float, list[Margins]] = {width: [] for width in WIDTHS}
    for _ in effort.over(range(effort.count(full=30, quick=8))):
        for width in WIDTHS:
            found[width].append(measure_margins(*points.separable_points(rng, 60, 2, width, offset=0.15)))
    rows = [
        Comparison.of_mean({"points keep": f"≥ {width:g}", "quantity": name}, np.array(runs)[:, column])
        for width, runs in found.items()
        for name, column in (("1/‖w‖", 0), ("margin along w of the perceptron", 5))
    ]
    margins = np.array([run for runs in found.values() for run in runs])
    return Findings(rows, _checks(margins), _figure(effort, margins))


def _checks(margins: np.ndarray) -> list[Check]:
    largest = margins[:, 0] * (1.0 + _ROUNDING)
    off = np.abs(margins[:, :5] / margins[:, :1] - 1.0).max(axis=0)
    nearest = max(off[1], off[2])
    near, scanned, dual = (f"relative difference below {points.decade_above(x)}" for x in (nearest, *off[3:]))
    best = f"the best angle has {100 * (margins[:, 3] / margins[:, 0]).max():.4f} % of it at most"
    other = f"its margin is {100 * np.median(margins[:, 5] / margins[:, 0]):.0f} % of the largest in median"
    both = "The points nearest to the plane are 1/‖w‖ away, on either side."
    widest = "No other direction leaves a wider gap: a scan of all angles finds the same margin."
    least = "Minimising ‖w‖ loses nothing: no angle does better than 1/‖w‖."
    return [
        Check(both, nearest <= _ROUNDING, f"{near} in {len(margins)} problems"),
        Check(widest, off[3] <= _SEARCH, scanned),
        Check(least, (margins[:, 3] <= largest).all(), best),
        Check("The dual knows it too: Σα = ‖w‖² = 1/γ².", off[4] <= _ROUNDING, dual),
        Check("A perceptron separates as well, but by less.", (margins[:, 5] <= largest).all(), other),
    ]


def _figure(effort: Effort, margins: np.ndarray) -> Any:
    labels = [("feature 1", "feature 2"), ("widest half gap of any direction", "margin")]
    titles = ["Plane and margins", f"{len(margins)} problems"]
    figure, (plane, scatter) = new_figure(2, labels, titles=titles)
    X, y = points.separable_points(effort.generator(), 60, 2, WIDTHS[0], offset=0.15)
    machine, perceptron = _train(X, y)
    points.draw_classes(plane, X, y)
    points.ring(plane, machine.support_vectors_)
    bias = float(machine.intercept_[0])
    draw_line(plane, machine.coef_[0], bias, color=INK, linewidth=1.6, label="f = 0")
    for level, label in ((-1.0, "f = ±1"), (1.0, None)):
        draw_line(plane, machine.coef_[0], bias - level, **PUBLISHED, label=label)
    style: dict[str, Any] = {"color": COLOURS[3], "linewidth": 1.4, "label": "perceptron"}
    draw_line(plane, weights_of(perceptron, X), float(perceptron.intercept_[0]), **style)
    add_legend(plane, loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=3, columnspacing=1.0)
    ends = [margins[:, 3].min(), margins[:, 3].max()]
    scatter.plot(ends, ends, **PUBLISHED)
    for column, label, colour in ((0, "1/‖w‖", COLOURS[2]), (5, "perceptron", COLOURS[3])):
        style = {"s": 16, "color": colour, "linewidth": 0, "alpha": 0.8}
        scatter.scatter(margins[:, 3], margins[:, column], label=label, **style)
    add_legend(scatter, loc="upper left")
    return figure
