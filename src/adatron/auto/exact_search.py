"""The exact soft-margin SVM beside the one whose training is stopped early: a search for its C and width.

It begins at the width that early stopping found and at a moderate C, and goes on to neighbours, larger and
smaller C and wider kernels, as long as the criterion on held-out rows falls. The folds, times the classes,
share the kernel matrix of all rows, and begin where another C has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from adatron.auto.search_data import SearchData
from adatron.auto.stages import Score
from adatron.auto.width_search import Candidate
from adatron.estimators.expansion import dense_coef
from adatron.estimators.svc import SVC
from adatron.gram import DenseGram, Regime
from adatron.kernels import Gaussian
from adatron.numerics.threads import usable_threads
from adatron.problems import DualProblem
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, Status, rounds

__all__ = ["ExactSearch", "SearchResult", "less_by"]

_STEP = 4.0  # between values of C
_FIRST = 1  # power of it
_LEAST, _MOST = -3, 5
_WIDER = 4  # octaves at most
# parts of the rival's criterion by which the first trial, or the best of the first three, must be behind to
# be the last
_HOPELESS, _LOST = 1.0, 0.25
_GAIN = 0.01  # part of the criterion by which it must fall for the search to go on
_TOL, _MOST_EPOCHS = 1e-2, 500  # relative duality gap
_IN_DOUBLE = 2_048  # rows up to which a working set is all of them, in float64


@dataclass(frozen=True)
class SearchResult:
    """A trained model: coefficients of some rows, and held-out decisions for calibration."""

    candidate: Candidate
    data: SearchData
    places: np.ndarray  # of the rows that carry coefficients
    coefficients: np.ndarray  # (len(places), k)
    intercept: np.ndarray  # (k,)
    held_decisions: np.ndarray  # (n, k)
    C: float  # of the nearest SVM
    duality_gap: float  # relative, of that SVM
    level: int = -1
    gram_of: Any = None  # the kernel matrix of the rows for a γ, if it was used as a whole
    is_exact: bool = False


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
        """For weights with mean 1."""
        return _STEP**self.power


@dataclass
class ExactSearch:
    """Trials of exact SVMs on the folds of `data`, which has one loss."""

    data: SearchData
    score: Score
    gamma_of: Callable[[int], float]  # of an octave
    gram_of: Callable[[float], Any]  # kernel matrix of all rows for a γ
    seconds_left: Callable[[], float | None]  # None: no limit; a trial for which none are left does not count
    after_trial: Callable[[], None]
    regime: Regime
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
    def _mean_weight(self) -> float:
        """Weights tell rows apart but do not scale C."""
        return float(self.data.weights.mean())

    def C_of(self, trial: Trial) -> float:
        """The C of a trial for the user's weights."""
        return trial.C / self._mean_weight * self.data.training_set.weight_scale

    def trained(self, trial: Trial, time_limit: float | None) -> SearchResult | None:
        """The SVM of all rows; None if there is no time for it."""
        data, X = self.data, self.data.X
        kernel = Gaussian(trial.gamma)
        svm = SVC(trial.C / self._mean_weight, kernel, multi_class="ovr", time_limit=time_limit)
        svm._fit_checked(replace(data.training_set, X=X, rows=np.arange(data.m), shape=tuple(X.shape)))
        if not svm.converged_:
            return None
        candidate = Candidate(
            trial.octave, trial.gamma, 0, float(svm.n_iter_.max()), trial.error, trial.criterion
        )
        by_fold = trial.decisions.reshape(data.m, data.folds.n_folds, -1)
        decisions = by_fold[data.held.rows, data.held.folds]
        return SearchResult(
            candidate, data, svm.support_, dense_coef(svm).T, svm.intercept_, decisions,
            float(svm.C), svm.duality_gap_, is_exact=True,
        )  # fmt: skip

    def _look_at(self, places: list[tuple[int, int]]) -> None:
        for octave, power in places:
            if (octave, power) not in self.trials and not self.is_over:
                trial = self._trial(octave, power)
                if trial is not None:
                    self.trials[octave, power] = trial
                    self.after_trial()

    def _trial(self, octave: int, power: int) -> Trial | None:
        """Train all folds and classes; None if there is no time for it, or if they cannot be scored."""
        began, gamma, data = perf_counter(), self.gamma_of(octave), self.data
        if self._last[0] != gamma:
            gram = self.gram_of(gamma)
            self._last = gamma, gram if data.m > _IN_DOUBLE else DenseGram(gram.block(slice(0, data.m)))
        gram = self._last[1]
        start, known = None, [trial for trial in self.trials.values() if trial.octave == octave]
        if known:  # in proportion to C, so that multipliers at their bound stay there
            nearest = min(known, key=lambda trial: abs(trial.power - power))
            start = nearest.alpha * _STEP ** (power - nearest.power)
        runs, C = [], _STEP**power / self._mean_weight
        for number, (fold, column) in enumerate(product(range(data.folds.n_folds), range(data.n_problems))):
            y, upper = data.signs[:, [column]], C * data.folds.training[:, [fold]]
            problem = DualProblem(gram, y, np.ones_like(y), upper, equality=0.0)
            alpha = None if start is None else start[:, [number]]
            rule = GapRule(_TOL, regime=self.regime)
            runs.append(Run(problem, GreedyAdatron(), rule, max_iter=_MOST_EPOCHS, alpha=alpha))
        left = self.seconds_left()
        if left is None or left > 0.0:
            for _ in rounds(runs, time_limit=left, n_threads=usable_threads()):
                pass
        solutions = [solution for run in runs for solution in run.snapshot()]
        if any(solution.status in (Status.TIME_LIMIT, Status.STOPPED) for solution in solutions):
            self.is_over = True
            return None
        alpha = np.column_stack([solution.alpha for solution in solutions])
        signs = np.tile(data.signs, data.folds.n_folds)
        decisions = gram.matmul(signs * alpha) + np.array([solution.bias for solution in solutions])
        try:
            error, criterion = self.score(decisions, decisions, 1.0)[0]
        except (ValueError, ArithmeticError):  # a scorer may not like what is predicted
            return None
        epochs, seconds = max(solution.n_iter for solution in solutions), perf_counter() - began
        return Trial(octave, power, gamma, float(error), float(criterion), alpha, decisions, epochs, seconds)


def less_by(part: float, criterion: float) -> float:
    """A criterion that is lower by a part of its size; scorers may give negative ones."""
    return criterion - part * abs(criterion)
