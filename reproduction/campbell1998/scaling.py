"""How learning time grows with the number of points.

The paper's rule ends training when the margin is 1 within 0.001 and the bias has moved by less than 1e-5. The
library's own loop goes by the duality gap and would end before that with an exact finish, so epochs are
counted here on the solver itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import linregress

from adatron import datasets
from adatron.gram import choose_gram
from adatron.kernels import Gaussian
from adatron.problems import classification
from adatron.solvers import SecantAdatron
from reproduction.campbell1998.digits import PRINTED
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, PUBLISHED, add_legend, new_figure, plain_ticks
from reproduction.shared import HARD, one_blas_thread, signed

MOST_EPOCHS = 5_000  # after which the secant counts as diverged


@dataclass(frozen=True)
class Task:
    """A data set, how it is learnt, and at which numbers of points."""

    name: str
    published: float | None
    draw: Callable[[int, np.random.Generator], tuple[Any, Any]]  # m points at random
    sigma: float
    largest: int
    mu: float = 0.1  # of the secant
    C: float = HARD
    has_bias: bool = True
    smallest: int = 20

    @property
    def margin(self) -> str:
        return "hard" if np.isinf(self.C) else f"soft, C = {self.C:g}"

    def sizes(self, n: int) -> np.ndarray:
        """`n` numbers of points in geometric progression."""
        return np.unique(np.geomspace(self.smallest, self.largest, n).round().astype(int))


def _draw_rows(X: Any, y: Any, m: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """`m` rows with both classes among them."""
    while True:
        rows = generator.choice(len(y), m, replace=False)
        if abs(y[rows].sum()) < m:
            return X[rows], y[rows]


def small_tasks() -> list[Task]:
    """All but the digits; σ and μ are those of the paper's figures, where it has one."""
    names = ("sonar", "breast_cancer_wisconsin", "pima", "ionosphere")
    tables = [getattr(datasets, f"load_{name}")(return_X_y=True) for name in names]
    sonar, cancer, pima, ionosphere = (partial(_draw_rows, X, signed(y)) for X, y in tables)

    def mirror(m: int, generator: np.random.Generator) -> tuple[Any, Any]:
        return datasets.make_mirror_symmetry(m, 30, random_state=int(generator.integers(2**31)))

    return [
        Task("mirror symmetry", 1.7, mirror, sigma=5.0, mu=5.0, largest=200),
        Task("sonar", 1.8, sonar, sigma=1.0, mu=5.0, largest=208),
        Task("cancer", 2.0, cancer, sigma=3.0, mu=50.0, largest=600),
        Task("diabetes", 2.1, pima, sigma=11.0, largest=600),
        Task("diabetes", None, pima, sigma=11.0, C=1.02, smallest=100, largest=600),
        Task("ionosphere", 3.0, ionosphere, sigma=1.5, mu=0.2, largest=340),
        Task("ionosphere", None, ionosphere, sigma=1.5, mu=0.2, C=3.0, smallest=40, largest=340),
    ]


def digit_tasks() -> list[Task]:
    """Each digit against the rest, without a bias; an OSError if USPS is not available."""
    usps, tasks = datasets.fetch_usps(), []
    for digit, (*_, sigma) in PRINTED.items():
        draw = partial(_draw_rows, usps.data, signed(usps.target == digit))
        options: dict[str, Any] = {"has_bias": False, "smallest": 100, "largest": 800}
        tasks.append(Task(f"digit {digit}", None, draw, sigma=sigma, **options))
    return tasks


def epochs_to_rule(X: Any, y: Any, task: Task) -> int | None:
    """Epochs of Kernel-Adatron until the paper's rule holds; None if it never does."""
    gram = choose_gram(Gaussian.of_width(task.sigma), X).gram
    problem = classification(gram, y.astype(float), np.full(len(y), task.C), bias=task.has_bias)
    solver = SecantAdatron(mu=task.mu)
    state = solver.init(problem)
    for epoch in range(1, MOST_EPOCHS + 1):
        bias = float(state.bias[0])
        state = solver.epoch(problem, state, pause=lambda: None)
        margin = problem.measure(state)[0, 1]
        settled = not task.has_bias or (epoch > 2 and abs(state.bias[0] - bias) < 1e-5)
        if settled and abs(margin - 1.0) <= 1e-3:
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

    def row(self) -> Comparison:
        labels = {"data": self.task.name, "margin": self.task.margin}
        if len(self.sizes) < 3:
            missing = "three sizes m at which the rule holds on some sample"
            return Comparison(labels, self.task.published, None, missing=missing)
        why = f"{_epochs([self])}; the paper's range of m is not printed"
        return Comparison(labels, self.task.published, *self.exponent(), why=why)


def _epochs(growths: list[Growth]) -> str:
    """A sentence on the growth of epochs, of which an exponent below 2 would need ever fewer."""
    first, last = (float(np.mean([growth.epochs[end] for growth in growths])) for end in (0, -1))
    sizes = growths[0].sizes
    return f"our mean epochs go from {first:.0f} at m = {sizes[0]} to {last:.0f} at m = {sizes[-1]}"


@one_blas_thread()
def _grow(task: Task, n_sizes: int, n_samples: int, effort: Effort) -> Growth:
    generator, sizes = effort.generator(), task.sizes(n_sizes)
    counts = [[epochs_to_rule(*task.draw(m, generator), task) for _ in range(n_samples)] for m in sizes]
    kept = [[count for count in row if count is not None] for row in counts]
    usable = np.array([len(row) > 0 for row in kept])
    means = np.array([np.mean(row) for row in kept if row])
    drawn = n_samples * len(sizes)
    return Growth(task, sizes[usable], means, drawn - sum(map(len, kept)), drawn)


@experiment(
    "How learning time grows with the number of points",
    claim="Epochs to the maximal margin times m² grow like a power of m: 1.7 for mirror symmetry, 1.8 sonar, "
    "2.0 cancer, 2.1 diabetes, 3.0 ionosphere, 1.8 digits.",
    settings="Kernel-Adatron, the bias by the secant, until the margin is 1 within 0.001 and the bias moves "
    "by less than 1e-5; 200 random samples (20 for each digit) at 10 sizes m in geometric progression; σ and "
    "μ of the paper's figures (diabetes σ = 11, digits the table's σ, no bias). The exponent is the slope of "
    "log(work) on log(m), with the standard error of the fit.",
)
def scaling(effort: Effort) -> Findings:
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
    rows = [growth.row() for growth in small]
    labels = {"data": "digits, mean of ten", "margin": "hard, no bias"}
    if of_digits:
        exponents = [growth.exponent()[0] for growth in of_digits]
        why = f"at the printed σ {_epochs(of_digits)}; the paper's range of m is not printed"
        rows.append(Comparison.of_mean(labels, exponents, 1.8, why=why))
    else:
        rows.append(Comparison(labels, 1.8, None, missing=missing))
    notes = ["Work is epochs × m². An exponent below 2 means fewer epochs for more points."]
    lost = [f"{g.task.name} ({g.task.margin}): {g.lost} of {g.drawn}" for g in small if g.lost]
    if lost:
        reason = f"the rule did not hold within {MOST_EPOCHS:,} epochs of the secant"
        notes.append(f"Samples left out because {reason}: {'; '.join(lost)}.")
    ours: Any = {row.labels["data"]: row.ours for row in rows if None not in (row.published, row.ours)}
    clean = [ours[name] for name in ("mirror symmetry", "sonar", "digits, mean of ten") if name in ours]
    noisy = [ours["diabetes"], ours["ionosphere"]]
    said = [f"exponents {', '.join(f'{value:.1f}' for value in values)}" for values in (clean, noisy)]
    checks = [
        Check("Learning times of clean data grow less than quadratically", max(clean) < 2.0, said[0]),
        Check("Learning times of noisy data grow more than quadratically", min(noisy) > 2.0, said[1]),
    ]
    return Findings(rows, checks, _figure(small, of_digits), notes)


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
        style: dict[str, Any] = {"marker": "s", "markersize": 3, "color": COLOURS[5]}
        ax.plot(digits[0].sizes, work, label="digits, mean of ten", **style)
    plain_ticks(ax, [20, 50, 100, 200, 500])
    add_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
