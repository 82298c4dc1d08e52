"""How learning time grows with the number of points.

The document's rule ends training when the margin is 1 within 0.001 and the bias has moved by less than 1e-5.
The library's own loop goes by the duality gap and would end before that with an exact finish, so epochs are
counted here on the solver itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import linregress

from adatron.display.figures import COLOURS, PUBLISHED, add_legend, new_figure
from adatron.gram import choose_gram
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.papers.campbell1998.repeated import mean_and_error, plain_ticks
from adatron.papers.campbell1998.samples import Task, digit_tasks, small_tasks
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings
from adatron.problems import classification
from adatron.solvers import SecantAdatron
from adatron.training.records import measure

__all__ = ["EXPERIMENTS", "epochs_to_rule"]

_MOST_EPOCHS = 5_000  # beyond which the secant is taken to have lost its way
_MARGIN, _BIAS_CHANGE = 1e-3, 1e-5


def epochs_to_rule(X: Any, y: Any, task: Task) -> int | None:
    """Epochs of Kernel-Adatron until the document's rule holds; None if it never does."""
    gram = choose_gram(Gaussian.of_width(task.sigma), X).gram
    problem = classification(gram, y.astype(float), np.full(len(y), task.C), bias=task.has_bias)
    solver = SecantAdatron(mu=task.mu)
    state = solver.init(problem)
    for epoch in range(1, _MOST_EPOCHS + 1):
        bias = float(state.bias[0])
        state = solver.epoch(problem, state, pause=lambda: None)
        margin = measure(problem, state)[0, 1]
        settled = not task.has_bias or (epoch > 2 and abs(state.bias[0] - bias) < _BIAS_CHANGE)
        if settled and abs(margin - 1.0) <= _MARGIN:
            return epoch
        if not np.isfinite(margin):
            return None
    return None


@dataclass(frozen=True)
class Growth:
    """Mean epochs at every number of points, and the power law of the work."""

    task: Task
    sizes: np.ndarray
    epochs: np.ndarray
    lost: int  # samples on which the rule never held
    drawn: int

    @property
    def work(self) -> np.ndarray:
        return self.epochs * self.sizes**2.0

    def exponent(self) -> tuple[float, float]:
        """Slope of log(work) on log(m), and its standard error."""
        fit: Any = linregress(np.log(self.sizes), np.log(self.work))
        return float(fit.slope), float(fit.stderr)


@one_blas_thread()  # epochs are counted: the same bits with any number of threads
def _grow(task: Task, n_sizes: int, n_samples: int, effort: Effort) -> Growth:
    generator, sizes = effort.generator(), task.sizes(n_sizes)
    counts = [[epochs_to_rule(*task.draw(m, generator), task) for _ in range(n_samples)] for m in sizes]
    kept = [[count for count in row if count is not None] for row in counts]
    usable = np.array([len(row) > 0 for row in kept])
    means = np.array([np.mean(row) for row in kept if row])
    lost = sum(len(row) - len(good) for row, good in zip(counts, kept, strict=True))
    return Growth(task, sizes[usable], means, lost, n_samples * len(sizes))


def _run(effort: Effort) -> Findings:
    n_sizes, n_samples = effort.count(full=10, quick=5), effort.count(full=200, quick=6)
    try:
        digits, missing = digit_tasks(), ""
    except OSError as error:
        digits, missing = [], str(error)
    growths = [
        _grow(task, n_sizes, n_samples if task.has_bias else max(2, n_samples // 10), effort)
        for task in effort.over([*small_tasks(), *digits])
    ]
    small = [growth for growth in growths if growth.task.has_bias]
    of_digits = [growth for growth in growths if not growth.task.has_bias]
    rows = [_row(growth) for growth in small]
    rows.append(_row_of_digits(of_digits, missing))
    return Findings(rows, _checks(rows), _figure(small, of_digits), _notes(small))


def _row(growth: Growth) -> Comparison:
    labels = {"data": growth.task.name, "margin": growth.task.margin}
    if len(growth.sizes) < 3:
        missing = "three sizes m at which the rule holds on some sample"
        return Comparison(labels, growth.task.published, None, missing=missing)
    exponent, error = growth.exponent()
    why = f"{_epochs([growth])}; the document's range of m is not printed"
    return Comparison(labels, growth.task.published, exponent, error, why=why)


def _row_of_digits(growths: list[Growth], missing: str) -> Comparison:
    labels = {"data": "digits, mean of ten", "margin": "hard, no bias"}
    if not growths:
        return Comparison(labels, 1.8, None, missing=missing)
    mean, error = mean_and_error([growth.exponent()[0] for growth in growths])
    why = f"at the printed σ {_epochs(growths)}; the document's range of m is not printed"
    return Comparison(labels, 1.8, mean, error, why=why)


def _epochs(growths: list[Growth]) -> str:
    """A sentence on the growth of epochs, of which an exponent below 2 would need ever fewer."""
    first, last = (float(np.mean([growth.epochs[end] for growth in growths])) for end in (0, -1))
    sizes = growths[0].sizes
    return f"our mean epochs go from {first:.0f} at m = {sizes[0]} to {last:.0f} at m = {sizes[-1]}"


def _checks(rows: list[Comparison]) -> list[Check]:
    ours = {
        row.labels["data"]: row.ours for row in rows if row.published is not None and row.ours is not None
    }
    clean = [ours[name] for name in ("mirror symmetry", "sonar", "digits, mean of ten") if name in ours]
    noisy = [ours["diabetes"], ours["ionosphere"]]
    return [
        Check("Learning times of clean data grow less than quadratically", max(clean) < 2.0, _list(clean)),
        Check("Learning times of noisy data grow more than quadratically", min(noisy) > 2.0, _list(noisy)),
    ]


def _list(exponents: list[float]) -> str:
    return f"exponents {', '.join(f'{value:.1f}' for value in exponents)}"


def _notes(growths: list[Growth]) -> list[str]:
    lost = [
        f"{growth.task.name} ({growth.task.margin}): {growth.lost} of {growth.drawn}"
        for growth in growths
        if growth.lost
    ]
    notes = ["Work is epochs × m². An exponent below 2 means fewer epochs for more points."]
    if lost:
        notes.append(
            f"Samples left out because the rule did not hold within {_MOST_EPOCHS:,} epochs of the secant: "
            + "; ".join(lost) + "."
        )  # fmt: skip
    return notes


def _figure(small: list[Growth], digits: list[Growth]) -> Any:
    figure, (ax,) = new_figure(1, [("points m", "work: epochs × m²")], log_x=True, log_y=True)
    hard = [growth for growth in small if np.isinf(growth.task.C)]
    for colour, growth in zip(COLOURS, hard, strict=False):
        label = f"{growth.task.name}, m^{growth.exponent()[0]:.1f}"
        ax.plot(growth.sizes, growth.work, marker="o", markersize=3, color=colour, label=label)
        law = growth.work[0] * (growth.sizes / growth.sizes[0]) ** growth.task.published
        ax.plot(growth.sizes, law, **PUBLISHED, label="published exponent" if growth is hard[-1] else None)
    if digits:
        work = np.mean([growth.work for growth in digits], axis=0)
        ax.plot(
            digits[0].sizes, work, marker="s", markersize=3, color=COLOURS[5], label="digits, mean of ten"
        )
    plain_ticks(ax, [20, 50, 100, 200, 500])
    add_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


EXPERIMENTS = [
    Experiment(
        name="scaling",
        title="How learning time grows with the number of points",
        claim="Epochs to the maximal margin times m² grow like a power of m: 1.7 for mirror symmetry, 1.8 "
        "sonar, 2.0 cancer, 2.1 diabetes, 3.0 ionosphere, 1.8 digits.",
        settings="Kernel-Adatron, the bias by the secant, until the margin is 1 within 0.001 and the bias "
        "moves by less than 1e-5; 200 random samples (20 for each digit) at 10 sizes m in geometric "
        "progression; σ and μ of the document's figures (diabetes σ = 11, digits the table's σ, no bias). "
        "The exponent is the slope of log(work) on log(m), with the standard error of the fit.",
        run=_run,
    )
]
