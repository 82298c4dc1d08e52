"""n-parity and the two spirals, which a perceptron cannot solve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adatron.datasets import make_parity, make_two_spirals
from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.display.page import INK_STAND_IN
from adatron.estimators import SVC
from adatron.papers.campbell1998.repeated import hard_margin, published_line
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

__all__ = ["EXPERIMENTS"]

_BITS = (3, 4, 5, 6)
_SIGMA = 1.0


class _Course(NamedTuple):
    """How training went."""

    margins: list[float]  # of every epoch
    epochs_to_solve: int  # until every training point is right


def _train(X: Any, y: Any, until_maximal: bool = True) -> _Course:
    """Kernel-Adatron without a bias, epoch by epoch, until all is right, or the margin 1 within 0.001."""
    machine = hard_margin(_SIGMA, solver="adatron", fit_intercept=False)
    margins, solved = [], 0
    for record in machine.iter_fit(X, y):
        margins.append(record.margin)
        if not solved and machine.score(X, y) == 1.0:
            solved = record.epoch
        if solved and (not until_maximal or abs(record.margin - 1.0) <= 0.001):
            break
    return _Course(margins, solved)


def _run(effort: Effort) -> Findings:
    courses = {f"{n}-parity": _train(*make_parity(n)) for n in effort.over(_BITS)}
    X, y = make_two_spirals()
    spirals = _train(X, y, until_maximal=False)
    machine = hard_margin(_SIGMA, fit_intercept=False).fit(X, y)
    rows = [_solved(name, course, 1) for name, course in courses.items()]
    rows.append(_solved("two spirals", spirals, None))
    rows += [_maximal(name, course) for name, course in courses.items()]
    between = 100.0 * (1.0 - machine.score(*make_two_spirals(1_940)))
    labels = {"problem": "two spirals", "quantity": "error on 1,940 points of the same spirals"}
    rows.append(Comparison(labels, published=None, ours=between, unit="%"))
    return Findings(rows, _checks(courses, spirals), _figure(courses, machine))


def _solved(name: str, course: _Course, published: int | None) -> Comparison:
    labels = {"problem": name, "quantity": "epochs until no training error"}
    return Comparison(labels, published, ours=course.epochs_to_solve, why="another σ: none is printed")


def _maximal(name: str, course: _Course) -> Comparison:
    labels = {"problem": name, "quantity": "epochs until the margin is 1 within 0.001"}
    return Comparison(labels, published=None, ours=len(course.margins))


def _checks(courses: dict[str, _Course], spirals: _Course) -> list[Check]:
    needed = [len(course.margins) for course in courses.values()]
    counts = ", ".join(map(str, needed))
    return [
        Check("The two spirals are solved", spirals.epochs_to_solve > 0, f"epoch {spirals.epochs_to_solve}"),
        Check(
            "Maximising the margin of n-parity takes several epochs",
            all(n > course.epochs_to_solve for n, course in zip(needed, courses.values(), strict=True)),
            f"{counts} epochs for n = {', '.join(map(str, _BITS))}",
        ),
    ]


def _figure(courses: dict[str, _Course], machine: SVC) -> Any:
    figure, (left, right) = new_figure(
        2, [("epoch", "margin"), ("", "")], titles=["n-parity", "two spirals: the learned boundary"]
    )
    for name, course in courses.items():
        left.plot(np.arange(1, len(course.margins) + 1), course.margins, marker="o", markersize=3, label=name)
    published_line(left, 1.0, "maximal margin")
    left.set_ylim(None, 1.06)
    add_legend(left, loc="lower right")
    _draw_spirals(right, machine)
    return figure


def _draw_spirals(ax: Any, machine: SVC) -> None:
    X, y = make_two_spirals()
    side = np.linspace(-7.2, 7.2, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    outputs = machine.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contour(side, side, outputs, levels=[0.0], colors=[INK_STAND_IN], linewidths=1.0)
    for sign, colour in ((1, COLOURS[0]), (-1, COLOURS[1])):
        ax.plot(*X[y == sign].T, linestyle="none", marker="o", markersize=3, color=colour)
    ax.set(aspect="equal", xticks=[-5, 0, 5], yticks=[-5, 0, 5])


EXPERIMENTS = [
    Experiment(
        name="parity-and-spirals",
        title="n-parity and the two spirals",
        claim="Kernel-Adatron solves n-parity in one epoch for n = 3 to 6, and needs several for the maximal "
        "margin; it solves the two spirals, too.",
        settings="All 2ⁿ strings of ±1; 194 points of the spirals; Gaussian kernel, σ = 1 (none is printed), "
        "hard margin, no bias, η = 1.",
        run=_run,
    )
]
