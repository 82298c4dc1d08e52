"""Training all folds of one kernel width side by side, and measuring every stage on the way.

The folds, times the classes, are columns of one problem. After each epoch the decision values of the
held-out rows are there already, as the product with the kernel matrix gives the outputs of all rows; the
middle of a step is one more stage that costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from adatron.auto.search_data import SearchData
from adatron.problems import DualProblem
from adatron.solvers import ConjugateHinge

__all__ = ["Score", "StageCurve", "TimeIsUp", "stage_curve", "trained_until"]

_MOST_EPOCHS = 200
_EPOCHS_AFTER_BEST = 5, 0.6  # so many, plus this part of the epochs that the best took
_RACE = ((4, 1.25, 0.02), (12, 1.05, 0.005))  # from which epoch on, and how far behind, a width has lost

Pause = Callable[[], None]
Score = Callable[[np.ndarray, np.ndarray, float], np.ndarray]  # as `SearchData.errors`


class TimeIsUp(Exception):
    """Raised between epochs to end a training with what it has."""


@dataclass
class StageCurve:
    """Held-out errors of one width, a list for each loss.

    Entry s belongs to stage (s + 1)/2: the middle or the end of an epoch.
    """

    gamma: float
    errors: list[list[float]]
    criterion: list[list[float]]  # what is minimised
    seconds: float = 0.0
    reason: str = ""  # why the width failed, if it did

    @property
    def best(self) -> float:
        return min((min(values) for values in self.criterion if values), default=np.inf)

    @property
    def epochs(self) -> int:
        return len(self.errors[0]) // 2 if self.errors else 0


def _epochs(
    gram: Any, signs: np.ndarray, weights: np.ndarray, caps: Sequence[float], pause: Pause
) -> Iterator[Any]:
    """The state after every epoch, for each cap with each column of `weights` (m, F) and `signs` (m, k)."""
    y = np.tile(signs, (1, len(caps) * weights.shape[1]))
    upper = np.tile(np.repeat(weights, signs.shape[1], axis=1), (1, len(caps)))
    problem = DualProblem(gram, y, np.ones_like(y), upper, equality=0.0)
    solver = ConjugateHinge(np.repeat(caps, y.shape[1] // len(caps)))
    state = solver.epoch(problem, solver.init(problem), lambda: None)
    with suppress(TimeIsUp):
        while True:
            yield state
            state = solver.epoch(problem, state, pause)


def stage_curve(
    gram: Any, gamma: float, data: SearchData, score: Score, pause: Pause, rival: float
) -> StageCurve:
    """Train until the criterion has not improved for a while; earlier where it is far above the `rival`."""
    began = perf_counter()
    curve = StageCurve(gamma, [[] for _ in data.caps], [[] for _ in data.caps])
    best, best_epoch, last = np.inf, 0, None
    for epoch, state in enumerate(_epochs(gram, data.signs, data.folds.training, data.caps, pause), 1):
        now = state.f + state.bias
        for share in (0.5, 1.0):
            for loss, (error, value) in enumerate(score(now if last is None else last, now, share)):
                curve.errors[loss].append(float(error))
                curve.criterion[loss].append(float(value))
        last = now
        if curve.best < (1.0 - data.gain) * best:
            best, best_epoch = curve.best, epoch
        is_over = epoch >= _EPOCHS_AFTER_BEST[0] + (1.0 + _EPOCHS_AFTER_BEST[1]) * best_epoch
        lost = any(epoch >= first and best > part * rival + more for first, part, more in _RACE)
        if is_over or lost or epoch >= _MOST_EPOCHS or not np.any(state.rate > 0.0):
            break
    curve.seconds = perf_counter() - began
    return curve


def trained_until(
    gram: Any, signs: np.ndarray, weights: np.ndarray, cap: float, stage: float, pause: Pause
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α (m, B), outputs (m, B) and bias (B,) after `stage` epochs; between two epochs, their mean."""
    before = now = ()
    for epoch, state in enumerate(_epochs(gram, signs, weights, [cap], pause), 1):
        now = state[:3]
        if epoch >= stage:
            break
        before = tuple(array.copy() for array in now) if epoch + 1 > stage else ()
    if not before or epoch <= stage:
        return now  # type: ignore[return-value]
    return tuple(0.5 * (a + b) for a, b in zip(before, now, strict=True))
