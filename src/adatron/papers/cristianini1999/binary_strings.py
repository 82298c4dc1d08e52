"""Sections 4.1 and 4.2: majority rule and mirror symmetry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adatron.estimators import SVC
from adatron.papers.cristianini1999.averages import averaged
from adatron.papers.cristianini1999.progress import Progress, first_separation, progress_figure, watch
from adatron.papers.cristianini1999.tasks import (
    RATE_SHARE,
    Task,
    draws,
    learning_rate,
    majority,
    mirror_symmetry,
    multiplicative,
)
from adatron.papers.experiment import Check, Effort, Findings

__all__ = ["margin_check", "run_majority", "run_mirror_symmetry"]

_SEPARATED_AT = 2  # published, majority rule
_MIRROR_ERROR = 0.0455  # published
_HASTY_RATE = 2.0
_MORE_STRINGS = 300
_FIRST_DRAW = "The figure shows the first draw; the numbers are means over {n} draws."


def run_majority(effort: Effort) -> Findings:
    """Figure 1: margin and test error by epoch; the first epoch without a training error."""
    tasks = [majority(seed) for seed in draws(effort, effort.count(full=20, quick=4))]
    shown = watch(tasks[0], learning_rate(tasks[0]))
    steady, limiting, hasty = [], [], []
    for task in effort.over(tasks):
        rate = learning_rate(task)
        steady.append(_fitted(task, rate))
        limiting.append(_fitted(task, rate / RATE_SHARE))
        hasty.append(_fitted(task, _HASTY_RATE))
    epochs = [first_separation(model) or np.inf for model in steady]
    errors = [100.0 * _error(model, task) for model, task in zip(steady, tasks, strict=True)]
    comparisons = [
        averaged(
            {"quantity": "first epoch that separates the training set"},
            epochs,
            _SEPARATED_AT,
            why=_why_later(limiting, hasty),
        ),
        averaged({"quantity": "test error at the end, 500 strings"}, errors, unit="%"),
    ]
    return Findings(
        comparisons, [margin_check(shown)], progress_figure(shown), [_FIRST_DRAW.format(n=len(tasks))]
    )


def run_mirror_symmetry(effort: Effort) -> Findings:
    """Figure 2, left: margin by epoch; the error on 10,000 strings."""
    seeds = draws(effort, effort.count(full=20, quick=3))
    task = mirror_symmetry(seeds[0])
    shown = watch(task, learning_rate(task))
    few, more = [], []
    for seed in effort.over(seeds):
        few.append(_draw_error(mirror_symmetry(seed)))
        more.append(_draw_error(mirror_symmetry(seed, _MORE_STRINGS)))
    comparisons = [
        averaged(
            {"quantity": "test error, 200 training strings"},
            few,
            _MIRROR_ERROR,
            n_test=10_000,
            why=_why_worse(few, more),
        ),
        averaged({"quantity": f"test error, {_MORE_STRINGS} training strings"}, more),
    ]
    figure = progress_figure(shown, 100.0 * _MIRROR_ERROR)
    return Findings(comparisons, [margin_check(shown)], figure, [_FIRST_DRAW.format(n=len(seeds))])


def margin_check(progress: Progress) -> Check:
    """Whether the margin has come to 1, that of the optimum."""
    margin = progress.model.history_["margin"][-1]
    epoch = progress.model.history_["epoch"][-1]
    return Check(
        "The margin rises to 1, that of the maximal margin hyperplane",
        progress.model.converged_ and abs(margin - 1.0) < 0.01,
        f"{margin:.4f} after {epoch} epochs, relative duality gap below {progress.model.tol:g}",
    )


def _fitted(task: Task, rate: float | str) -> SVC:
    return multiplicative(task, rate).fit(task.X_train, task.y_train)


def _error(model: SVC, task: Task) -> float:
    return 1.0 - float(model.score(task.X_test, task.y_test))


def _draw_error(task: Task) -> float:
    return _error(_fitted(task, "auto"), task)


def _why_later(limiting: Sequence[SVC], hasty: Sequence[SVC]) -> str:
    soonest = min(first_separation(model) or np.inf for model in limiting)
    in_time = sum((first_separation(model) or np.inf) <= _SEPARATED_AT for model in hasty)
    diverged = sum(not model.converged_ for model in hasty)
    return (
        f"The rate is not printed: the largest stable one takes {soonest} epochs at least, and "
        f"η = {_HASTY_RATE:g}, which separates {in_time} of {len(hasty)} draws within two epochs, "
        f"diverges on {diverged} of the {len(hasty)}."
    )


def _why_worse(few: Sequence[float], more: Sequence[float]) -> str:
    return (
        f"The lowest of {len(few)} draws of 200 strings gives {min(few):.4f}, whereas draws of "
        f"{_MORE_STRINGS} strings give {np.mean(more):.4f} on average: the number fits a larger training set."
    )
