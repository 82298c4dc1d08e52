"""Margin and errors epoch by epoch: what the document's figures show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from adatron.display.figures import add_legend, new_figure
from adatron.estimators import SVC
from adatron.numerics.threads import one_blas_thread
from adatron.papers.cristianini1999.lines import mark_published
from adatron.papers.cristianini1999.tasks import Task, multiplicative

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Progress", "first_separation", "progress_figure", "watch"]

_GROWTH = 1.06  # of the epochs at which errors are counted, after the first few
_TOL = 1e-3


@dataclass
class Progress:
    """A machine and the errors (%) that it made on its way, with λ or the midway threshold as its bias."""

    model: SVC
    epochs: list[int] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    test: list[float] = field(default_factory=list)
    test_midway: list[float] = field(default_factory=list)

    @property
    def final_error(self) -> float:
        return self.test_midway[-1]

    def first_without_error(self) -> int:
        """First epoch of those looked at without a training error, λ being the bias; 0 for none."""
        return next((e for e, wrong in zip(self.epochs, self.train, strict=True) if wrong == 0.0), 0)


@one_blas_thread()
def watch(task: Task, rate: float) -> Progress:
    """Train by multiplicative updates and count errors on the way."""
    progress = Progress(multiplicative(task, rate, tol=_TOL))
    due = 1.0
    for record in progress.model.iter_fit(task.X_train, task.y_train):
        if record.epoch >= due or progress.model.converged_:
            due = max(record.epoch + 1.0, due * _GROWTH)
            _count(progress, task, record.epoch, record.bias)
    return progress


def _count(progress: Progress, task: Task, epoch: int, multiplier: float) -> None:
    model = progress.model
    midway = float(model.intercept_[0])
    # the last model is the optimum, whose bias λ approaches
    shift = 0.0 if model.converged_ else multiplier - midway
    trained, tested = model.decision_function(task.X_train), model.decision_function(task.X_test)
    progress.epochs.append(epoch)
    progress.train.append(_percent_wrong(trained + shift, task.y_train))
    progress.test.append(_percent_wrong(tested + shift, task.y_test))
    progress.test_midway.append(_percent_wrong(tested, task.y_test))


def _percent_wrong(decisions: np.ndarray, y: np.ndarray) -> float:
    return 100.0 * float(np.mean(decisions * y <= 0.0))


def first_separation(model: SVC) -> int | None:
    """First epoch after which some threshold separates the training set: its margin is positive."""
    pairs = zip(model.history_["epoch"], model.history_["margin"], strict=True)
    return next((int(epoch) for epoch, margin in pairs if margin > 0.0), None)


def progress_figure(progress: Progress, published: float | None = None) -> Figure:
    """Margin on the left, errors on the right, `published` the final test error of the document."""
    figure, (left, right) = new_figure(2, [("epoch", "margin"), ("epoch", "error (%)")], log_x=True)
    left.plot(progress.model.history_["epoch"], progress.model.history_["margin"])
    right.plot(progress.epochs, progress.test, label="test, bias λ")
    right.plot(progress.epochs, progress.test_midway, label="test, bias midway")
    right.plot(progress.epochs, progress.train, label="training, bias λ")
    if published is not None:
        mark_published(right, published, "test, published")
    right.set_ylim(bottom=0.0)
    add_legend(right)
    return figure
