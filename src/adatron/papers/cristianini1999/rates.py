"""The closing remark on the rate: too large does not converge, too small is slow."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import SVC
from adatron.papers.cristianini1999.lines import INK, mark_threshold
from adatron.papers.cristianini1999.tasks import (
    HARD,
    Task,
    four_tasks,
    largest_rate,
    multiplicative,
    solve_exactly,
)
from adatron.papers.experiment import Check, Comparison, Effort, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["run_rates"]

_SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.05, 1.1, 1.5, 2.0)
_FEW_SHARES = (0.4, 0.95, 1.1, 2.0)
_TICKS = (0.05, 0.1, 0.2, 0.4, 0.6, 1.0, 2.0)
_EPOCHS = 40_000


@dataclass
class Rates:
    """Fits of one task with several rates, given as shares of the largest stable one."""

    task: Task
    largest: float
    models: dict[float, SVC]

    def ended(self, *, converged: bool) -> tuple[list[float], list[int]]:
        chosen = {s: int(m.n_iter_[0]) for s, m in self.models.items() if m.converged_ is converged}
        return list(chosen), list(chosen.values())

    @property
    def is_predicted(self) -> bool:
        """Whether exactly the rates below the largest stable one converge."""
        return all(model.converged_ is (share < 1.0) for share, model in self.models.items())


def run_rates(effort: Effort) -> Findings:
    """Epochs to a relative duality gap of 1e-3 for rates around the largest stable one."""
    shares = _FEW_SHARES if effort.quick else _SHARES
    results = [_try(task, shares) for task in effort.over(four_tasks(effort))]
    comparisons = [
        Comparison({"data": r.task.name, "quantity": "largest stable η"}, None, r.largest) for r in results
    ]
    return Findings(comparisons, _checks(results), _figure(results))


def _try(task: Task, shares: tuple[float, ...]) -> Rates:
    largest = largest_rate(task, solve_exactly(task))
    models = {
        share: multiplicative(task, share * largest, max_iter=_EPOCHS).fit(task.X_train, task.y_train)
        for share in shares
    }
    return Rates(task, largest, models)


def _checks(results: list[Rates]) -> list[Check]:
    products = [np.multiply(*result.ended(converged=True)) for result in results]
    spread = max(float(product.max() / product.min()) for product in products)
    named = ", ".join(f"{r.task.name} {r.largest:.3g}" for r in results)
    return [
        Check(
            "Too large a rate does not converge: a rate does if and only if it is below 2/λ_max",
            all(result.is_predicted for result in results),
            f"rates on both sides of the limit: {named}",
        ),
        Check(
            "Too small a rate is slow: the epochs go as 1/η",
            spread < 2.0,
            f"η times epochs differs by a factor of {spread:.2f} at most",
        ),
        Check(
            "The updates are slower than a solver of the quadratic program",
            all(_is_slower(result.task) for result in results),
            'processor time with learning_rate="auto" against solver="auto", which ends by active sets',
        ),
    ]


def _is_slower(task: Task) -> bool:
    updates = _seconds(multiplicative(task, "auto"), task)
    return updates > min(_seconds(SVC(HARD, task.kernel), task) for _ in range(5))


def _seconds(model: SVC, task: Task) -> float:
    began = process_time()
    model.fit(task.X_train, task.y_train)
    return process_time() - began


def _figure(results: list[Rates]) -> Figure:
    figure, (ax,) = new_figure(
        1, [("η / largest stable η", "epochs until the fit ends")], log_x=True, log_y=True
    )
    for colour, result in zip(COLOURS, results, strict=False):
        ax.plot(*result.ended(converged=True), "o-", color=colour, label=result.task.name)
        ax.plot(*result.ended(converged=False), "x", color=colour)
    shares = [share for share in _TICKS if share >= min(results[0].models)]
    ax.set_xticks(shares, labels=[f"{share:g}" for share in shares])
    ax.minorticks_off()
    ax.plot([], [], "x", color=INK, label="diverged")
    mark_threshold(ax, x=1.0)
    add_legend(ax)
    return figure
