"""The two kinds of candidates that `AutoSVC` chooses from: training that is stopped early, and the exact SVM.

All folds times classes are columns of one problem. Early stopping measures every stage on the way: the kernel
matrix gives the outputs of held-out rows, too, and the middle of a step is one more stage that costs nothing.
The search for an exact SVM begins at the width found by early stopping and a moderate C, and goes on to
neighbours as long as the criterion falls.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from adatron.auto.base import Candidate
from adatron.auto.scoring import Score, criterion_of
from adatron.auto.search_data import SearchData
from adatron.estimators.expansion import dense_coef
from adatron.estimators.svc import SVC
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.numerics.threads import usable_threads
from adatron.problems import DualProblem
from adatron.solvers import ConjugateHinge, GreedyAdatron
from adatron.training import GapRule, Run, Status, solved

# early stopping
_MOST_EPOCHS = 200
_EPOCHS_AFTER_BEST = 5, 0.6  # so many, plus this part of the epochs that the best took
_RACE = ((4, 1.25, 0.02), (12, 1.05, 0.005))  # from which epoch on, and how far behind, a width has lost
# exact SVMs
_STEP, _FIRST, _LEAST, _MOST = 4.0, 1, -3, 5  # between values of C; powers of it
_WIDER = 4  # octaves at most
_HOPELESS, _LOST = 1.0, 0.25  # how far behind the rival the first trial, or the best of three, is the last
_GAIN = 0.01  # part of the criterion by which it must fall for the search to go on
_TOL, _MOST_ROUNDS = 1e-2, 500  # relative duality gap
_IN_DOUBLE = 2_048  # rows up to which a working set is all of them, in float64

IsOver = Callable[[], bool]


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
    stage: float  # epochs of training
    gram_of: Any = None  # the kernel matrix of the rows for a γ, if it was used as a whole


def _epochs(gram: Any, signs: np.ndarray, weights: np.ndarray, caps: Any, is_over: IsOver) -> Iterator[Any]:
    """The state after every epoch, for each cap with each column of `weights` (m, F) and `signs` (m, k)."""
    y = np.tile(signs, (1, len(caps) * weights.shape[1]))
    upper = np.tile(np.repeat(weights, signs.shape[1], axis=1), (1, len(caps)))
    problem = DualProblem(gram, y, np.ones_like(y), upper, equality=0.0)
    solver = ConjugateHinge(np.repeat(caps, y.shape[1] // len(caps)))
    yield (state := solver.epoch(problem, solver.init(problem), lambda: None))
    while not is_over():
        yield (state := solver.epoch(problem, state, lambda: None))


def best_stage(
    data: SearchData, gram_of: Any, score: Score, is_over: IsOver, new: Candidate, rival: float
) -> Candidate:
    """Train until the criterion has not improved for a while; earlier where it is far above the `rival`."""
    gram = gram_of(new.gamma)
    began, least, best, best_epoch, last = perf_counter(), np.inf, np.inf, 0, None
    stages: list[np.ndarray] = []  # error and criterion of each loss, in the middle and at the end of epochs
    for epoch, state in enumerate(_epochs(gram, data.signs, data.folds.training, data.caps, is_over), 1):
        now = state.f + state.bias
        stages += [score(now if last is None else last, now, share) for share in (0.5, 1.0)]
        last, least = now, min(least, *(float(losses[:, 1].min()) for losses in stages[-2:]))
        if least < (1.0 - data.gain) * best:
            best, best_epoch = least, epoch
        is_late = epoch >= _EPOCHS_AFTER_BEST[0] + (1.0 + _EPOCHS_AFTER_BEST[1]) * best_epoch
        lost = any(epoch >= first and best > part * rival + more for first, part, more in _RACE)
        if is_late or lost or epoch >= _MOST_EPOCHS or not np.any(state.rate > 0.0):
            break
    table = np.array(stages)
    loss, place = divmod(int(np.argmin(table[:, :, 1].T)), len(stages))
    error, criterion = table[place, loss].tolist()
    return replace(
        new, error=error, criterion=criterion, loss=loss, stage=max(1.0, 0.5 * (place + 1)), epochs=epoch,
        seconds=perf_counter() - began,
    )  # fmt: skip


def trained_until(
    gram: Any, signs: np.ndarray, weights: np.ndarray, cap: float, stage: float, is_over: IsOver
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α (m, B), outputs (m, B) and bias (B,) after `stage` epochs; between two epochs, their mean."""
    before = now = ()
    for epoch, state in enumerate(_epochs(gram, signs, weights, [cap], is_over), 1):
        now = state[:3]
        if epoch >= stage:
            break
        before = tuple(array.copy() for array in now) if epoch + 1 > stage else ()
    if not before or epoch <= stage:
        return now  # type: ignore[return-value]
    return tuple(0.5 * (a + b) for a, b in zip(before, now, strict=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial(Candidate):
    """The folds of one C and width; C is for the user's weights."""

    power: int  # of `_STEP`: C for weights with mean 1
    alpha: np.ndarray  # (m, F k)
    decisions: np.ndarray  # (m, F k)


class ExactSearch:
    """Trials of exact SVMs on the rows and folds of the model `early`, as part of the search `owner`."""

    def __init__(self, owner: Any, early: SearchResult) -> None:
        self.owner, self.data = owner, replace(early.data, caps=(np.inf,))
        self.score = criterion_of(owner.model, self.data)
        self.trials: dict[tuple[int, int], Trial] = {}  # by octave and power
        self.is_over = False  # for want of time
        self._mean_weight = float(self.data.weights.mean())  # weights tell rows apart but do not scale C
        self._gram_of = lru_cache(1)(lambda gamma: _precise(early.gram_of(gamma)))

    def run(self, octave: int, rival: float) -> Trial | None:
        """The best trial, from the width of another model on whose criterion is `rival`; None without any."""
        self._try(octave, _FIRST)
        if self.trials and self.best.criterion > less_by(-_HOPELESS, rival):
            return self.best
        self._try(octave, _FIRST - 1)
        self._try(octave, _FIRST + 1)
        last = less_by(-_LOST, rival)
        while self.trials and not self.is_over and self.best.criterion < last:
            last, best = less_by(_GAIN, self.best.criterion), self.best
            for wider, more in ((0, -1), (0, 1), (1, 0), (1, 1)):
                if octave - best.octave + wider <= _WIDER and _LEAST <= best.power + more <= _MOST:
                    self._try(best.octave - wider, best.power + more)
        return self.best if self.trials else None

    @property
    def best(self) -> Trial:
        return min(self.trials.values(), key=lambda trial: (trial.criterion, trial.power, trial.octave))

    def trained(self, trial: Trial, time_limit: float | None) -> SearchResult | None:
        """The SVM of all rows; None if there is no time for it."""
        data, X, C = self.data, self.data.scaled, _STEP**trial.power / self._mean_weight
        svm = SVC(C, Gaussian(trial.gamma), multi_class="ovr", time_limit=time_limit)
        svm._fit_checked(replace(data, X=X, rows=np.arange(data.m), shape=tuple(X.shape)))
        if not svm.converged_:
            return None
        by_fold = trial.decisions.reshape(data.m, data.folds.n_folds, -1)
        held, coefficients = by_fold[data.held.rows, data.held.folds], dense_coef(svm).T
        own = svm.support_, coefficients, svm.intercept_, held, C, svm.duality_gap_, float(svm.n_iter_.max())
        return SearchResult(trial, data, *own)

    def _try(self, octave: int, power: int) -> None:
        """Train all folds and classes; if time is short or they cannot be scored, it does not count."""
        if (octave, power) in self.trials or self.is_over:
            return
        began, gamma, data = perf_counter(), 2.0**octave / self.data.spread, self.data
        gram, start = self._gram_of(gamma), None
        known = [trial for trial in self.trials.values() if trial.octave == octave]
        if known:  # in proportion to C, so that multipliers at their bound stay there
            nearest = min(known, key=lambda trial: abs(trial.power - power))
            start = nearest.alpha * _STEP ** (power - nearest.power)
        runs, C = [], _STEP**power / self._mean_weight
        for number, (fold, column) in enumerate(product(range(data.folds.n_folds), range(data.n_problems))):
            y, upper = data.signs[:, [column]], C * data.folds.training[:, [fold]]
            problem = DualProblem(gram, y, np.ones_like(y), upper, equality=0.0)
            alpha, rule = (
                None if start is None else start[:, [number]],
                GapRule(_TOL, regime=self.owner.regime),
            )
            runs.append(Run(problem, GreedyAdatron(), rule, max_iter=_MOST_ROUNDS, alpha=alpha))
        left = 0.0 if self.owner.is_stopped else self.owner.seconds_left()
        solutions = solved(runs, time_limit=left, n_threads=usable_threads())
        if any(solution.status is Status.TIME_LIMIT for solution in solutions):
            self.is_over = True
            return
        alpha, signs = np.column_stack([s.alpha for s in solutions]), np.tile(data.signs, data.folds.n_folds)
        decisions = gram.matmul(signs * alpha) + np.array([solution.bias for solution in solutions])
        try:
            error, criterion = self.score(decisions, decisions, 1.0)[0]
        except (ValueError, ArithmeticError):  # a scorer may not like what is predicted
            return
        self.trials[octave, power] = trial = Trial(
            octave, gamma, float(error), float(criterion), C=C * data.weight_scale,
            epochs=max(solution.n_iter for solution in solutions), seconds=perf_counter() - began,
            power=power, alpha=alpha, decisions=decisions,
        )  # fmt: skip
        self.owner.width_ended(trial)


def _precise(gram: Any) -> Any:
    return gram if gram.m > _IN_DOUBLE else DenseGram(gram.block(slice(0, gram.m)))


def less_by(part: float, criterion: float) -> float:
    """A criterion that is lower by a part of its size; scorers may give negative ones."""
    return criterion - part * abs(criterion)
