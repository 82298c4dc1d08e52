"""Table 1: test errors of M³, MUNK and Kernel-Adatron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings
from adatron.papers.potluru2009.settings import ALGORITHMS, DASHED, DATA, KERNELS, Problem, problems

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PUBLISHED_ERRORS", "TABLE_1"]

# Per cent as printed: data and kernel, then M³, MUNK, KA.
PUBLISHED_ERRORS = {
    ("breast", "polynomial 4"): (2.26, 2.26, 2.26),
    ("breast", "polynomial 6"): (3.76, 3.76, 3.76),
    ("breast", "Gaussian 3"): (2.26, 2.26, 2.26),
    ("breast", "Gaussian 1"): (0.75, 0.75, 0.75),
    ("sonar", "polynomial 4"): (9.62, 9.62, 9.62),
    ("sonar", "polynomial 6"): (10.58, 10.58, 10.58),
    ("sonar", "Gaussian 3"): (11.53, 11.53, 11.53),
    ("sonar", "Gaussian 1"): (7.69, 7.69, 7.69),
}

_NEAR = 0.01  # part of the objective's maximum that may be missing where a training has converged


class _Cell(NamedTuple):
    """What one algorithm gave on one problem."""

    problem: Problem
    algorithm: str
    published: float
    error: float
    optimum_error: float
    n_epochs: int
    gap: float  # relative, of the objective

    @property
    def is_same(self) -> bool:
        """Whether as many test points are wrong as printed."""
        return self._wrong(self.error) == self._wrong(self.published)

    def _wrong(self, percent: float) -> int:
        return round(percent * len(self.problem.y_test) / 100.0)

    @property
    def is_near(self) -> bool:
        """Whether the training has converged."""
        return self.gap <= _NEAR

    def why(self) -> str:
        if self.is_same:
            return ""
        if self.error != self.optimum_error:
            return (
                f"After {self.n_epochs:,} epochs the objective is still {100 * self.gap:.2g} % below its "
                f"maximum, where the machine has {self.optimum_error:.2f} %."
            )
        if self.problem.data == "sonar" and self.problem.kernel_name.startswith("polynomial"):
            return "The exact solution has this error too: the printed rows of degree 4 and 6 look exchanged."
        return "The exact solution of the dual on this split has this error too."

    def comparison(self) -> Comparison:
        labels = self.problem.labels | {"algorithm": self.algorithm}
        n_test = len(self.problem.y_test)
        return Comparison(labels, self.published, self.error, n_test=n_test, unit="%", why=self.why())


def _cell(problem: Problem, algorithm: str, published: float, n_epochs: int) -> _Cell:
    model = problem.train(algorithm, n_epochs)
    gap = float(problem.objective_gaps(model)[1][-1])
    errors = problem.error_percent(model), problem.error_percent(problem.optimum)
    return _Cell(problem, algorithm, published, *errors, int(model.n_iter_[0]), gap)


def _run(effort: Effort) -> Findings:
    n_epochs = effort.count(full=30_000, quick=2_000)
    cells = [
        _cell(problem, algorithm, published, n_epochs)
        for problem in effort.over(problems())
        for algorithm, published in zip(
            ALGORITHMS, PUBLISHED_ERRORS[problem.data, problem.kernel_name], strict=True
        )
    ]
    comparisons = [cell.comparison() for cell in cells]
    return Findings(comparisons, [_check(cells)], _figure(cells), _notes(cells, n_epochs))


def _check(cells: list[_Cell]) -> Check:
    """The document's table is one of converged machines; how many of ours are depends on the epochs."""
    alike = {
        near: [cell.error == cell.optimum_error for cell in cells if cell.is_near is near]
        for near in (True, False)
    }
    return Check(
        "All algorithms that have converged arrive at the same error, that of the one solution of the dual.",
        all(alike[True]) and len(alike[True]) > 0,
        f"{sum(alike[True])} of the {len(alike[True])} machines whose objective is within {100 * _NEAR:g} % "
        f"of its maximum, {sum(alike[False])} of the {len(alike[False])} others",
    )


def _notes(cells: list[_Cell], n_epochs: int) -> list[str]:
    slowest = max(cells, key=lambda cell: cell.gap)
    return [
        f"{sum(cell.is_same for cell in cells)} of {len(cells)} machines have as many errors as printed.",
        f"The document trains to convergence and prints no number of epochs; here there are {n_epochs:,} "
        f"at most. Furthest from its maximum is then the objective of {slowest.algorithm} on "
        f"{slowest.problem.data}, {slowest.problem.kernel_name}: {100 * slowest.gap:.2g} % below.",
        "The document speaks of 80 and 20 per cent of the breast data; its percentages are multiples of "
        "1/133, which is the split into 550 and 133 used here.",
    ]


def _figure(cells: list[_Cell]) -> Figure:
    figure, axes = new_figure(2, [("", "test error (%)")], titles=["Breast", "Sonar"])
    offsets = dict(zip(ALGORITHMS, (-0.2, 0.0, 0.2), strict=True))
    for ax, data in zip(axes, DATA, strict=True):
        for place, kernel in enumerate(KERNELS):
            printed = PUBLISHED_ERRORS[data, kernel][0]
            label = "published" if place == 0 else None
            ax.plot([place - 0.38, place + 0.38], [printed, printed], **DASHED, label=label)
        for (algorithm, offset), colour, marker in zip(offsets.items(), COLOURS, "o^s", strict=False):
            own = [cell for cell in cells if (cell.problem.data, cell.algorithm) == (data, algorithm)]
            places = np.arange(len(own)) + offset
            style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "", "label": algorithm}
            ax.plot(places, [cell.error for cell in own], **style)
        ax.set_xticks(range(len(KERNELS)), [name.replace("polynomial", "poly") for name in KERNELS])
        ax.set_ylim(0.0, 1.08 * ax.get_ylim()[1])
    add_legend(axes[1], loc="lower left")
    return figure


TABLE_1 = Experiment(
    name="table-1",
    title="Table 1: misclassification rates",
    claim=(
        "M³, MUNK and Kernel-Adatron reach the same test error on the breast cancer and the sonar data for "
        "polynomial kernels of degree 4 and 6 and Gaussians of width 3 and 1, since the problem is convex."
    ),
    settings=(
        "Hard margin without bias. Breast: Wisconsin, raw features, the first 550 complete rows train, the "
        "other 133 test. Sonar: the original split, 104 rows each. M³ and MUNK start at α = 1/m, "
        "Kernel-Adatron at 0; polynomials are divided by their largest value, which rescales α and changes "
        "no decision."
    ),
    run=_run,
)
