"""Regressions of all folds side by side: what `AutoSVR` follows its paths with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from adatron.auto.folds import splits
from adatron.estimators.training_data import WeightedRows
from adatron.gram import DenseGram
from adatron.problems import regression
from adatron.solvers import GreedyAdatron
from adatron.training import Run, rounds

__all__ = ["RegressionFolds", "SearchClock", "given_members", "solved"]

_TOL = 1e-2  # relative duality gap
_FOR_SEARCH = 0.5  # part of the time limit
_AFTER_CTRL_C = 0.1  # seconds


@dataclass(frozen=True)
class RegressionFolds:
    """Scaled rows of the search: targets (m,), weights to train with and held out (m, F)."""

    X: Any
    targets: np.ndarray
    training: np.ndarray
    held: np.ndarray
    score: Callable[[np.ndarray, np.ndarray], float] | None = None  # of targets and outputs of one fold

    def error(self, outputs: np.ndarray) -> float:
        """Mean squared error of the held-out rows; with a score, minus its mean over the folds."""
        if self.score is None:
            return float((self.held * (self.targets[:, None] - outputs) ** 2).sum() / self.held.sum())
        parts = [(f, np.flatnonzero(column)) for f, column in enumerate(self.held.T) if column.any()]
        scores = [self.score(self.targets[rows], outputs[rows, f]) for f, rows in parts]
        if not np.isfinite(scores).all():
            raise ValueError("the score of some fold is not a finite number; choose another scoring or cv")
        return -float(np.mean(scores))


@dataclass
class SearchClock:
    """How much of the time limit the search has left."""

    began: float
    time_limit: float | None
    has_begun: bool = False  # whether a width was looked at
    is_stopped: bool = False  # by a callback

    @property
    def left(self) -> float | None:
        if self.time_limit is None:
            return None
        return max(0.0, _FOR_SEARCH * self.time_limit - (monotonic() - self.began))

    @property
    def left_for_training(self) -> float | None:
        """Seconds for the final fit: what is left of the limit, next to nothing after Ctrl-C."""
        if self.time_limit is None:
            return None
        return max(1e-3, self.time_limit - (monotonic() - self.began))

    def stop(self) -> None:
        """End the search and let the final fit take a tenth of a second."""
        self.is_stopped, self.time_limit = True, monotonic() - self.began + _AFTER_CTRL_C

    @property
    def is_over(self) -> bool:
        return self.is_stopped or self.left == 0.0


def given_members(data: WeightedRows, cv: Any, X: Any, y: Any, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """Membership (m, F) of the rows in the training and test parts of a splitter."""
    parts = splits(cv, X, y, groups, of_classes=False)
    members = np.zeros((2, data.shape[0], len(parts)), dtype=bool)
    for fold, both in enumerate(parts):
        for kind, rows in enumerate(both):
            members[kind, rows, fold] = True
    training, held = members[:, data.rows]
    return training, held


def solved(
    gram: DenseGram,
    folds: RegressionFolds,
    C: float,
    epsilon: float,
    alpha: np.ndarray | None,
    clock: SearchClock,
) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers (2m, F) of all folds at one C, and the outputs (m, F) of every row."""
    n_folds = folds.held.shape[1]
    targets = np.tile(folds.targets[:, None], (1, n_folds))
    problem = regression(gram, targets, np.ones(gram.m), epsilon=epsilon, bias=True)
    problem = replace(problem, upper=C * np.tile(folds.training, (2, 1)))
    run = Run(problem, GreedyAdatron(), tol=_TOL, max_iter=2_000, alpha=alpha)
    for _ in rounds([run], time_limit=clock.left):
        pass
    solutions = run.snapshot()
    alpha = np.column_stack([solution.alpha for solution in solutions])
    above, below = alpha.reshape(2, gram.m, n_folds)
    return alpha, gram.matmul(above - below) + np.array([solution.bias for solution in solutions])
