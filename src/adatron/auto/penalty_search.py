"""The exact soft-margin SVM beside the one whose training is stopped early: a search for its C and width.

It begins at the width that early stopping found and at a moderate C, and goes on to neighbours, larger and
smaller C and wider kernels, as long as the criterion on held-out rows falls. The folds, times the classes,
share the kernel matrix of all rows, and begin where another C has ended.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adatron.auto.found import Found
from adatron.auto.rows import Rows
from adatron.auto.stages import Score
from adatron.auto.width_search import Choice
from adatron.estimators.expansion import dense_coef
from adatron.estimators.svc import SVC
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.numerics.threads import usable_threads
from adatron.problems import DualProblem
from adatron.solvers import GreedyAdatron
from adatron.training import Run, Status, rounds

__all__ = ["PenaltySearch", "Trial", "less_by"]

_STEP = 4.0  # between values of C
_FIRST = 1  # power of it
_LEAST, _MOST = -3, 5
_WIDER = 4  # octaves at most
_HOPELESS, _LOST = 1.0, 0.25  # parts of the rival's criterion by which the first trial, or the best of the
# first three, must be behind to be the last
_GAIN = 0.01  # part of the criterion by which it must fall for the search to go on
_TOL, _MOST_EPOCHS = 1e-2, 500  # relative duality gap
_IN_DOUBLE = 2_048  # rows up to which a working set is all of them, in float64


@dataclass(frozen=True)
class Trial:
    """The folds of one C and width."""

    octave: int
    power: int  # C is a power of 4
    gamma: float
    error: float
    criterion: float
    alpha: np.ndarray  # (m, F k)
    decisions: np.ndarray  # (m, F k)
    epochs: int
    seconds: float

    @property
    def C(self) -> float:
        return _STEP**self.power


@dataclass
class PenaltySearch:
    """Trials of exact SVMs with the folds of `rows`.

    Parameters
    ----------
    rows : Rows
        With one loss.
    score : callable
        The criterion, as for stages.
    gamma_of : callable
        γ of an octave.
    gram_of : callable
        The kernel matrix of all rows for a γ.
    seconds_left : callable
        None if there is no limit; no trial begins, and none counts, when none are left.
    after_trial : callable
    """

    rows: Rows
    score: Score
    gamma_of: Callable[[int], float]
    gram_of: Callable[[float], Any]
    seconds_left: Callable[[], float | None]
    after_trial: Callable[[], None]
    trials: dict[tuple[int, int], Trial] = field(default_factory=dict)
    is_over: bool = False
    _last: tuple[float, Any] = field(default=(np.nan, None), init=False)  # γ and its kernel matrix

    def run(self, octave: int, rival: float) -> Trial | None:
        """The best trial, from the width of another model on whose criterion is `rival`; None without any."""
        self._look_at([(octave, _FIRST)])
        if self.trials and self.best.criterion > less_by(-_HOPELESS, rival):
            return self.best
        self._look_at([(octave, _FIRST - 1), (octave, _FIRST + 1)])
        last = less_by(-_LOST, rival)
        while self.trials and not self.is_over and self.best.criterion < last:
            last, o, p = less_by(_GAIN, self.best.criterion), self.best.octave, self.best.power
            around = [(o, p - 1), (o, p + 1), (o - 1, p), (o - 1, p + 1)]
            self._look_at([(o, p) for o, p in around if octave - o <= _WIDER and _LEAST <= p <= _MOST])
        return self.best if self.trials else None

    @property
    def best(self) -> Trial:
        return min(self.trials.values(), key=lambda trial: (trial.criterion, trial.power, trial.octave))

    @property
    def unit(self) -> float:
        """The mean weight of a row: weights tell rows apart but do not scale C."""
        return float(self.rows.task.weights.mean())

    def C_of(self, trial: Trial) -> float:
        """The C of a trial for the user's weights."""
        return trial.C / self.unit * self.rows.data.weight_scale

    def trained(self, trial: Trial, time_limit: float | None) -> Found | None:
        """The SVM of all rows; None if there is no time for it."""
        svm = SVC(trial.C / self.unit, Gaussian(trial.gamma), multi_class="ovr", time_limit=time_limit)
        task = self.rows.task
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it is not taken then
            svm.fit(self.rows.X, task.codes, task.weights)
        if not svm.converged_:
            return None
        by_fold = trial.decisions.reshape(len(task.codes), task.folds.n_folds, -1)
        decisions = by_fold[task.held.rows, task.held.folds]
        epochs, penalty = float(svm.n_iter_.max()), (float(svm.C), svm.duality_gap_)
        choice = Choice(trial.octave, trial.gamma, 0, epochs, trial.error, trial.criterion)
        expansion = svm.support_, dense_coef(svm).T, svm.intercept_
        return Found(choice, *expansion, decisions, penalty, self.rows, is_exact=True)

    def _look_at(self, places: list[tuple[int, int]]) -> None:
        for octave, power in places:
            if (octave, power) not in self.trials and not self.is_over:
                trial = self._trial(octave, power)
                if trial is not None:
                    self.trials[octave, power] = trial
                    self.after_trial()

    def _trial(self, octave: int, power: int) -> Trial | None:
        began, gamma, task = perf_counter(), self.gamma_of(octave), self.rows.task
        gram = self._gram(gamma)
        runs = list(self._runs(gram, octave, power))
        left = self.seconds_left()
        if left is None or left > 0.0:
            for _ in rounds(runs, time_limit=left, n_threads=usable_threads()):
                pass
        solutions = [solution for run in runs for solution in run.snapshot()]
        if any(solution.status in (Status.TIME_LIMIT, Status.STOPPED) for solution in solutions):
            self.is_over = True
            return None
        alpha = np.column_stack([solution.alpha for solution in solutions])
        signs = np.tile(task.signs, task.folds.n_folds)
        decisions = gram.matmul(signs * alpha) + np.array([solution.bias for solution in solutions])
        try:
            error, criterion = self.score(decisions, decisions, 1.0)[0]
        except (ValueError, ArithmeticError):  # a scorer may not like what is predicted
            return None
        epochs, seconds = max(solution.n_iter for solution in solutions), perf_counter() - began
        return Trial(octave, power, gamma, float(error), float(criterion), alpha, decisions, epochs, seconds)

    def _gram(self, gamma: float) -> Any:
        if self._last[0] != gamma:
            gram = self.gram_of(gamma)
            self._last = gamma, gram if gram.m > _IN_DOUBLE else DenseGram(gram.block(slice(0, gram.m)))
        return self._last[1]

    def _runs(self, gram: Any, octave: int, power: int) -> Iterator[Run]:
        """One for each fold and class."""
        task, C = self.rows.task, _STEP**power / self.unit
        start = self._start(octave, power)
        places = product(range(task.folds.n_folds), range(task.signs.shape[1]))
        for number, (fold, column) in enumerate(places):
            y, upper = task.signs[:, [column]], C * task.folds.training[:, [fold]]
            problem = DualProblem(gram, y, np.ones_like(y), upper, equality=0.0)
            alpha = None if start is None else start[:, [number]]
            yield Run(problem, GreedyAdatron(), tol=_TOL, max_iter=_MOST_EPOCHS, alpha=alpha)

    def _start(self, octave: int, power: int) -> np.ndarray | None:
        """The multipliers of the nearest C, in proportion to C: those at their bound stay there."""
        known = [trial for trial in self.trials.values() if trial.octave == octave]
        if not known:
            return None
        nearest = min(known, key=lambda trial: abs(trial.power - power))
        return nearest.alpha * _STEP ** (power - nearest.power)


def less_by(part: float, criterion: float) -> float:
    """A criterion that is lower by a part of its size; scorers may give negative ones."""
    return criterion - part * abs(criterion)
