"""Probabilities of classes from decision values, in agreement with the predictions.

Two classes: the log-odds are the decision value times a slope, one slope on either side of zero, so that
the probability is above one half exactly where the decision is positive. More classes: the softmax of the
decisions times one slope. The slopes maximise the likelihood of held-out decisions, as Platt's do. Pairs
of classes: each pair has its two slopes, and a class the product of its probabilities against the others.

Held-out decisions come from the kernel matrix of the fit. The folds are columns of the problems that were
solved already: a held-out row has the bound 0, and each column starts from the solution of the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import FitPlan
from adatron.estimators.classifier import Layout, LayoutClassifier
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.folds import stratified_folds
from adatron.estimators.parameters import as_random_state
from adatron.gram import expand
from adatron.kernels import Precomputed
from adatron.problems import DualProblem
from adatron.training import DualSolution, GapRule, Run

_FOLDS = 5
_STEEPEST = 1e3  # slope, in units of the mean size of the decisions: held-out rows may be separable
_MODERATE = 1e3  # mean weight up to which weights count rows
_TOL = 1e-3  # relative duality gap that is small enough for calibration


@dataclass(frozen=True)
class ClassProbabilities:
    """A map from decisions (n, 1), or (n, n_classes), to probabilities (n, n_classes)."""

    slopes: np.ndarray  # below and above zero, or one

    @classmethod
    def from_held_out(cls, decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> Self:
        """Fit the slopes to decisions of rows of known classes.

        As in Platt's method, each class has one more row on the other side: without it the slopes of rows
        that are all decided rightly would grow without end, and a later mistake would cost as much.
        """
        mean = float(weights.mean())
        if not 1.0 / _MODERATE <= mean <= _MODERATE:  # else a row of weight 2 is the row twice
            weights = weights / mean
        size = float(weights @ np.abs(decisions).mean(axis=1)) / float(weights.sum()) or 1.0
        z = decisions / size
        if decisions.shape[1] > 1:
            missed = 1.0 / (float(weights.sum()) + decisions.shape[1])  # spread over all classes
            own = (1.0 - missed) * z[np.arange(len(codes)), codes] + missed * z.mean(axis=1)
            slopes = [_root(lambda a: float(weights @ (own - (softmax(a * z, axis=1) * z).sum(axis=1))))]
        else:
            n_first, n_second = np.bincount(codes, weights=weights, minlength=2)
            targets = np.where(codes == 1, (n_second + 1.0) / (n_second + 2.0), 1.0 / (n_first + 2.0))
            sides = [z[:, 0] < 0.0, z[:, 0] > 0.0]
            slopes = [_slope(z[side, 0], targets[side], weights[side]) for side in sides]
        return cls(np.array(slopes) / size)

    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        if decisions.shape[1] > 1:
            return softmax(self.slopes[0] * decisions, axis=1)
        positive = expit(self.log_odds(decisions[:, 0]))
        return np.column_stack([1.0 - positive, positive])

    def log_odds(self, decisions: np.ndarray) -> np.ndarray:
        """Of the second class against the first."""
        return np.where(decisions > 0.0, self.slopes[1], self.slopes[0]) * decisions


def _slope(values: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> float:
    return _root(lambda slope: float((weights * values) @ (targets - expit(slope * values))))


def _root(gain: Callable[[float], float]) -> float:
    """Where the derivative of the log-likelihood, which falls with the slope, vanishes; else an end."""
    low, high = 1.0 / _STEEPEST, _STEEPEST
    if gain(low) <= 0.0:
        return low
    return high if gain(high) >= 0.0 else float(brentq(gain, low, high, xtol=1e-13, rtol=1e-13))


@dataclass(frozen=True)
class PairProbabilities:
    """A map from the decisions (n, n_pairs) of all pairs of classes (class i positive in the pair i < j)."""

    pairs: list[ClassProbabilities]
    together: ClassProbabilities

    @classmethod
    def from_held_out(cls, decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> Self:
        """Fit to decisions of rows of known classes."""
        pairs = []
        for pair, (rows, signs) in enumerate(Layout(int(codes.max()) + 1, "ovo").pair_rows(codes)):
            own, is_first = decisions[rows, pair][:, None], (signs > 0.0).astype(int)
            pairs.append(ClassProbabilities.from_held_out(own, is_first, weights[rows]))
        scores = _pair_scores(decisions, pairs)
        return cls(pairs, ClassProbabilities.from_held_out(scores, codes, weights))

    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        return self.together(_pair_scores(decisions, self.pairs))


def _pair_scores(decisions: np.ndarray, pairs: list[ClassProbabilities]) -> np.ndarray:
    """Sum of the log-probabilities of each class against every other."""
    n_classes = round(0.5 + (0.25 + 2.0 * len(pairs)) ** 0.5)
    log_odds = np.stack([pair.log_odds(own) for pair, own in zip(pairs, decisions.T, strict=True)], axis=1)
    return Layout(n_classes, "ovo").by_class(log_expit(log_odds), log_expit(-log_odds))


def _has_probabilities(model: Any) -> bool:
    """For `available_if`, which shows the reason why a method is missing."""
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class CalibratedMixin:
    """Probabilities of a classifier that has calibrated its decisions."""

    probability = True  # unless it is a parameter

    @available_if(_has_probabilities)
    @lazy_on_dask
    def predict_proba(self: Any, X: Any) -> np.ndarray:
        """Probability of each class, calibrated on held-out decisions; `SVC` needs ``probability=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if "_probabilities" not in vars(self):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False, by iter_fit or by a fit "
                "that was interrupted; call fit with probability=True"
            )
        return self._calibrated(self._decisions(X))

    @available_if(_has_probabilities)
    @lazy_on_dask
    def predict_log_proba(self: Any, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    def _check_fitted(self: Any) -> None:
        super()._check_fitted()  # type: ignore[misc]
        found = vars(self).get("_probabilities")
        if found is not None and isinstance(found, PairProbabilities) != self._layout.is_pairwise:
            raise ValueError("_probabilities are those of another strategy")

    def _calibrated(self: Any, decisions: np.ndarray) -> np.ndarray:
        """Probabilities whose largest is that of the predicted class, also where votes are tied."""
        found, winners = self._probabilities(decisions), self._winners(decisions)
        result, rows, largest = found.copy(), np.arange(len(found)), found.argmax(axis=1)
        result[rows, largest], result[rows, winners] = found[rows, winners], found[rows, largest]
        return result


def calibrated(plan: FitPlan, random_state: Any) -> ClassProbabilities | PairProbabilities:
    """The probabilities of a fit that has ended, from decisions by models without a fold of its rows."""
    codes, state = plan.data.codes, as_random_state(random_state)
    n_folds = max(2, min(_FOLDS, int(np.bincount(codes).min())))
    decisions = held_out_decisions(plan, plan.solutions(), n_folds, state)
    kind = PairProbabilities if plan.layout.is_pairwise else ClassProbabilities
    return kind.from_held_out(decisions, codes, plan.data.weights)


def held_out_decisions(
    plan: FitPlan, solutions: list[DualSolution], n_folds: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Decisions (m, n_problems) of each row, by problems that were trained without its fold."""
    data, layout = plan.data, plan.layout
    folds = stratified_folds(data.codes, n_folds, random_state)
    decisions = np.empty((data.m, layout.n_outputs))
    if layout.is_direct:
        for fold in range(n_folds):
            decisions[folds == fold] = _without_fold(plan, solutions[0], folds, fold)
        return decisions
    rows_of = [rows for rows, _ in layout.pair_rows(data.codes)] if layout.is_pairwise else [slice(None)]
    parts = list(zip(plan.runs, rows_of, strict=True))
    found = _solved(plan, [_without_folds(run, solutions, folds[rows], n_folds) for run, rows in parts])
    for fold in range(n_folds):
        held, coefficients = np.flatnonzero(folds == fold), np.zeros_like(decisions)
        bias, certain = np.zeros(layout.n_outputs), np.full(layout.n_outputs, np.nan)
        for (run, rows), of_run in zip(parts, found, strict=True):
            for column, y in enumerate(run.problem.y.T):
                solution, place = of_run[fold * run.problem.n_columns + column], run.first + column
                coefficients[rows, place], bias[place] = y * solution.alpha, solution.bias
                labels = np.unique(y[folds[rows] != fold])
                if len(labels) < 2:  # without a class to train on the other is the decision, as in LIBSVM
                    certain[place] = labels.sum()
        decisions[held] = np.where(np.isnan(certain), _outputs(plan, held, coefficients) + bias, certain)
    return decisions


def _without_folds(run: Run, solutions: list[DualSolution], folds: np.ndarray, n_folds: int) -> tuple:
    """The problems of a run once for each fold, without the rows of that fold, and where to start."""
    old = run.problem
    y, p = np.tile(old.y, (1, n_folds)), np.tile(old.p, (1, n_folds))
    upper = np.hstack([np.where((folds == fold)[:, None], 0.0, old.upper) for fold in range(n_folds)])
    lacks_a_class = np.abs(np.sum(np.where(upper > 0.0, y, 0.0), axis=0)) == np.sum(upper > 0.0, axis=0)
    upper = np.where(lacks_a_class, np.tile(old.upper, (1, n_folds)), upper)  # any problem will do
    own = solutions[run.first : run.first + old.n_columns]
    alpha = np.minimum(np.tile(np.column_stack([s.alpha for s in own]), (1, n_folds)), upper)
    return run, DualProblem(old.gram, y, p, upper, old.equality), alpha


def _without_fold(plan: FitPlan, solution: DualSolution, folds: np.ndarray, fold: int) -> np.ndarray:
    """Decisions of the rows of a fold by the coupled problem of all classes, which has no columns."""
    held, rows, old = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold), plan.runs[0].problem
    problem = replace(old, gram=old.gram.restrict(rows), codes=old.codes[rows], upper=old.upper[rows])
    ((found,),) = _solved(plan, [(plan.runs[0], problem, solution.alpha[rows])], eager=True)
    of_classes = plan.layout.of_classes(found.alpha)
    coefficients = np.zeros((len(folds), of_classes.shape[1]))
    coefficients[rows] = of_classes
    return _outputs(plan, held, coefficients) + plan.constant * of_classes.sum(axis=0)


def _solved(plan: FitPlan, problems: list[tuple], *, eager: bool = False) -> list[list[DualSolution]]:
    """Solve problems like a run of the fit, each from a start, within the time that the fit has left."""
    runs = []
    for run, problem, alpha in problems:
        old = run.rule
        rule = GapRule(max(old.tol, _TOL), indefinite=old.indefinite, eager=eager, regime=old.regime)
        runs.append(Run(problem, run.solver, rule, max_iter=run.max_iter, alpha=alpha))
    for _ in replace(plan, runs=runs).rounds():
        pass
    return [run.snapshot() for run in runs]


def _outputs(plan: FitPlan, held: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Outputs of the held-out rows, without bias."""
    X, gram, support = plan.data.X, plan.gram, np.flatnonzero(coefficients.any(axis=1))
    if gram.factor is not None or gram.is_elsewhere:
        return gram.matmul(coefficients)[held]
    if isinstance(plan.kernel, Precomputed):
        return X[np.ix_(held, support)] @ coefficients[support]
    return expand(plan.kernel, X[held], X[support], coefficients[support], np.float64)


class HeldOutModel(LayoutClassifier, BaseEstimator):
    """A classifier for scikit-learn's scorers whose decisions are known: its X are row numbers.

    Probabilities are those that `probabilities` makes of the decisions.
    """

    def __init__(self, decisions, classes, probabilities=None):
        self.decisions, self.classes, self.probabilities = decisions, classes, probabilities
        self.classes_, self._layout = classes, Layout(len(classes), "ovr")

    def _decisions(self, X: Any) -> np.ndarray:
        return self.decisions[np.asarray(X)[:, 0]]

    def predict_proba(self, X: Any) -> np.ndarray:
        slopes = [2.0, 2.0] if self.decisions.shape[1] == 1 else [1.0]
        found = self.probabilities or ClassProbabilities(np.array(slopes))
        return found(self._decisions(X))
