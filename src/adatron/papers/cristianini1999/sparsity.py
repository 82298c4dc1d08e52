"""The comparison of section 3.1 over solutions from sparse to dense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.papers.cristianini1999.averages import averaged
from adatron.papers.cristianini1999.convergence import METHODS, Race, linear_teacher, race
from adatron.papers.cristianini1999.lines import mark_threshold
from adatron.papers.cristianini1999.tasks import draws, four_tasks
from adatron.papers.experiment import Check, Comparison, Effort, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["run_bounds"]

_FEATURES, _FEW_FEATURES = (4, 8, 16, 32, 64, 128), (4, 16, 64, 128)
_ASCENT, _UPDATES = METHODS[1], METHODS[0]


def run_bounds(effort: Effort) -> Findings:
    """Both bounds, and the epochs that it takes to come within 1 % of the maximum."""
    seeds = draws(effort, effort.count(full=5, quick=1))
    features = _FEW_FEATURES if effort.quick else _FEATURES
    jobs = [(linear_teacher, (n, seed)) for n in features for seed in seeds]
    tasks = [make(*arguments) for make, arguments in jobs] + four_tasks(effort)
    races = [race(task) for task in effort.over(tasks)]
    families = [races[i * len(seeds) : (i + 1) * len(seeds)] for i in range(len(features))]
    families += [[one] for one in races[len(jobs) :]]
    teachers = families[: len(features)]
    comparisons = [row for family in families for row in _rows(family)]
    return Findings(
        comparisons, _checks(races, teachers), _figure(families, teachers), _notes(races, teachers)
    )


def _rows(family: list[Race]) -> list[Comparison]:
    share = f"{100.0 * _mean([one.solved.share for one in family]):.0f} %"
    labels = {"data": family[0].task.name, "support vectors": share}
    measured = {
        "ε_GD / ε_MU": [one.bound_ratio for one in family],
        "epochs, gradient ascent / multiplicative": [one.epoch_ratio for one in family],
    }
    return [averaged(labels | {"quantity": name}, values) for name, values in measured.items()]


def _checks(races: list[Race], teachers: list[list[Race]]) -> list[Check]:
    sparse, dense = (_mean([one.epoch_ratio for one in family]) for family in (teachers[0], teachers[-1]))
    ratios = [_mean([one.bound_ratio for one in family]) for family in teachers]
    shares = [_mean([one.solved.share for one in family]) for family in teachers]
    use = max(one.largest_use(name) for one in races for name in (_UPDATES, _ASCENT))
    smallest = min(one.bound_ratio for one in races)
    return [
        Check("ε_MU is smaller than ε_GD", smallest > 1.0, f"at least {smallest:.0f} times, on all problems"),
        Check(
            "The fewer support vectors, the greater the advantage of ε_MU",
            bool((np.diff(shares) > 0.0).all() and (np.diff(ratios) < 0.0).all()),
            f"ε_GD / ε_MU from {ratios[0]:.0f} at {shares[0]:.0%} support vectors to {ratios[-1]:.0f} "
            f"at {shares[-1]:.0%}",
        ),
        Check(
            "With few support vectors multiplicative updates need fewer epochs than gradient ascent",
            sparse > 1.0,
            f"{sparse:.2g} times fewer at {shares[0]:.0%} support vectors",
        ),
        Check(
            "For general targets neither is always faster",
            sparse > 1.0 > dense,
            f"gradient ascent needs {dense:.2g} times the epochs at {shares[-1]:.0%} support vectors",
        ),
        Check(
            "Both bounds hold at every epoch",
            use <= 1.0,
            f"the distance from the maximum is at most {use:.2g} of its bound",
        ),
    ]


def _notes(races: list[Race], teachers: list[list[Race]]) -> list[str]:
    one = teachers[-1][0]
    informative = (one.bounds[_UPDATES] / one.solved.objective) ** 2
    quicker = sum(min(one.epochs.values()) == one.epochs[METHODS[2]] for one in races)
    return [
        f"The bounds are loose: for {one.task.name}, ε_MU falls below the maximum itself after "
        f"{informative:,.0f} epochs, where {one.epochs[_UPDATES]:,} come within 1 % of it.",
        f"Kernel-Adatron with its own rate 1/K_ii needs the fewest epochs on {quicker} of {len(races)} "
        "problems: a point that sees the latest α bears a rate that simultaneous updates do not.",
    ]


def _figure(families: list[list[Race]], teachers: list[list[Race]]) -> Figure:
    away = ("epoch", "relative distance from maximum")
    labels = [away, away, ("share of support vectors", "gradient ascent / multiplicative")]
    titles = [f"{family[0].task.name}, {family[0].solved.share:.0%} support vectors" for family in
              (teachers[0], teachers[-1])]  # fmt: skip
    figure, axes = new_figure(3, labels, log_x=True, log_y=True, titles=[*titles, ""])
    for ax, family in zip(axes, (teachers[0], teachers[-1]), strict=False):
        for name, (epochs, distances) in family[0].curves.items():
            ax.plot(epochs, distances, label=name)
    add_legend(axes[0], loc="lower left")
    ax = axes[2]
    ax.set_xscale("linear")
    others = families[len(teachers) :]
    for i, name in enumerate(("bound_ratio", "epoch_ratio")):
        text = ("ε of the bounds", "epochs measured")[i]
        ax.plot(*_points(teachers, name), "o-", color=COLOURS[i], label=text)
        ax.plot(*_points(others, name), "x", color=COLOURS[i], label=f"{text}, section 4")
    mark_threshold(ax, y=1.0)
    ax.set_ylim(0.2, 3e4)  # room for the legend
    add_legend(ax, loc="upper right")
    return figure


def _points(families: list[list[Race]], name: str) -> tuple[list[float], list[float]]:
    shares = [_mean([one.solved.share for one in family]) for family in families]
    return shares, [_mean([getattr(one, name) for one in family]) for family in families]


def _mean(values: list[float]) -> float:
    return float(np.mean(values))
