"""Section 2: the fewer support vectors, the lower the bound on the test error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, logsumexp

from adatron.bounds import compression_bound
from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import SVC
from adatron.papers.cristianini1999.lines import mark_threshold
from adatron.papers.cristianini1999.tasks import HARD, Task, breast_cancer, four_tasks
from adatron.papers.experiment import Check, Comparison, Effort, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["log_probability", "run_compression"]

_DELTA = 0.05
_WIDTHS = (2.0, 3.0, 5.0, 8.0)  # of the breast cancer data, beside the document's σ = 1


@dataclass(frozen=True)
class Bounded:
    """A separating machine: its support vectors, its bound and its test error."""

    name: str
    n_support: int
    n_samples: int
    test_error: float

    @property
    def bound(self) -> float:
        return compression_bound(self.n_support, self.n_samples, delta=_DELTA)

    @property
    def share(self) -> float:
        return self.n_support / self.n_samples


def log_probability(n_support: int, n_samples: int, error: float) -> float:
    """Logarithm of ``Σ_{i=1..d} (p over i) (1 − ε)^(p−i)``.

    Bounds the chance of a consistent hypothesis with d support vectors of p points and an error above ε.

    Examples
    --------
    >>> import math
    >>> from adatron.papers.cristianini1999.compression import log_probability
    >>> round(math.exp(log_probability(1, 10, 0.9)), 12)  # 10 · 0.1⁹
    1e-08
    """
    i = np.arange(1, n_support + 1)
    ways = gammaln(n_samples + 1) - gammaln(i + 1) - gammaln(n_samples - i + 1)
    return float(logsumexp(ways + (n_samples - i) * math.log1p(-error)))


def run_compression(effort: Effort) -> Findings:
    """Bound and test error of the four problems, and of ever wider kernels on one of them."""
    named = [(f"{task.name}, σ = {task.width:g}", task) for task in four_tasks(effort)]
    cancer = breast_cancer()
    named += [(f"{cancer.name}, σ = {width:g}", replace(cancer, width=width)) for width in _WIDTHS]
    machines = [_bounded(name, task) for name, task in effort.over(named)]
    comparisons = [row for one in machines for row in _rows(one)]
    return Findings(comparisons, _checks(machines), _figure(machines), [_note(machines)])


def _bounded(name: str, task: Task) -> Bounded:
    model = SVC(HARD, task.kernel, tol=1e-9).fit(task.X_train, task.y_train)
    error = 1.0 - float(model.score(task.X_test, task.y_test))
    return Bounded(name, len(model.support_), len(task.y_train), error)


def _rows(one: Bounded) -> list[Comparison]:
    labels = {"data": one.name, "support vectors": f"{one.n_support} of {one.n_samples}"}
    values = {"bound": one.bound, "test error": one.test_error}
    return [
        Comparison(labels | {"quantity": name}, None, 100.0 * value, unit="%")
        for name, value in values.items()
    ]


def _checks(machines: list[Bounded]) -> list[Check]:
    worst = max(
        log_probability(d, p, compression_bound(d, p, delta=_DELTA))
        for p in (200, 550, 5_000)
        for d in range(1, p)
        if compression_bound(d, p, delta=_DELTA) < 1.0
    )
    ordered = sorted(machines, key=lambda one: one.share)
    return [
        Check(
            "The bound follows from the sum over all choices of support vectors",
            worst <= math.log(_DELTA),
            f"the sum at the bound is at most {math.exp(worst):.2g}, δ = {_DELTA:g}; p = 200, 550, 5,000",
        ),
        Check(
            "No test error exceeds its bound",
            all(one.test_error <= one.bound for one in machines),
            f"the sparsest: {ordered[0].name}, {ordered[0].test_error:.1%} against {ordered[0].bound:.0%}",
        ),
    ]


def _note(machines: list[Bounded]) -> str:
    empty = [one.name for one in machines if one.bound >= 1.0]
    return (
        f"A bound of 100 % or more says nothing; so it is for {len(empty)} of {len(machines)} machines"
        f"{': ' + ', '.join(empty) if empty else ''}."
    )


def _figure(machines: list[Bounded]) -> Figure:
    figure, (ax,) = new_figure(1, [("support vectors / training points", "error")], log_y=True)
    shares = np.linspace(0.005, 0.95, 150)
    for colour, p in zip(COLOURS[2:], (200, 550), strict=False):
        bounds = [compression_bound(max(1, round(share * p)), p, delta=_DELTA) for share in shares]
        ax.plot(shares, bounds, color=colour, label=f"bound, {p} points")
    ax.plot(*zip(*[(one.share, one.bound) for one in machines], strict=True), "o", label="bound")
    ax.plot(*zip(*[(one.share, one.test_error) for one in machines], strict=True), "x", label="test error")
    mark_threshold(ax, y=1.0)
    add_legend(ax)
    return figure
