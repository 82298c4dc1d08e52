"""Probabilities of classes from decision values, in agreement with the predictions.

Two classes: the log-odds are a slope times the decision value plus an intercept, as Platt's are. More
classes: the softmax of a slope times the decisions plus an intercept for each class. Slope and intercepts
maximise the likelihood of held-out decisions. Pairs of classes: each pair has its own, and a class the
product of its probabilities against the others. Where intercepts would make another class than the predicted
one the most probable, probabilities are moved until they agree.

Isotonic regression, temperature scaling, and a slope on either side of zero were compared with it on tables,
and so was whichever of them held-out rows prefer: none had a lower log loss on test rows.

Held-out decisions come from the kernel matrix of the fit. The folds are columns of the problems that were
solved already: a held-out row has the bound 0, and each column starts from the solution of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
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
_FLATTEST = 1e-3  # slope, in units of the mean size of the decisions; the steepest is its inverse
AGREEMENT = 1e-3  # part of the slope that is left where the intercept would contradict the prediction
_NEWTON_STEPS, _SOLVED, _SHORTEST, _RIDGE = 100, 1e-12, 1e-9, 1e-12
_MODERATE = 1e3  # mean weight up to which weights count rows
_ROUNDING = 1e-9  # log-odds that are no more than rounding
_TOL = 1e-3  # relative duality gap that is small enough for calibration


@dataclass(frozen=True)
class ClassProbabilities:
    """A map from decisions (n, 1), or (n, n_classes), to probabilities (n, n_classes)."""

    slope: float
    intercepts: np.ndarray  # (1,), or one for each class

    def __post_init__(self) -> None:
        if not (self.slope > 0.0 and self.intercepts.ndim == 1 and np.isfinite(self.intercepts).all()):
            raise ValueError("probabilities need a slope > 0 and finite intercepts")

    @classmethod
    def from_held_out(cls, decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> Self:
        """Fit slope and intercepts to decisions of rows of known classes.

        As in Platt's method, each class has one more row on the other side: without it the slope of rows that
        are all decided rightly would grow without end, and a later mistake would cost as much.
        """
        mean = float(weights.mean())
        if not 1.0 / _MODERATE <= mean <= _MODERATE:  # else a row of weight 2 is the row twice
            weights = weights / mean
        size = float(weights @ np.abs(decisions).mean(axis=1)) / float(weights.sum()) or 1.0
        n_classes = max(2, decisions.shape[1])
        if n_classes == 2:
            counts = np.bincount(codes, weights=weights, minlength=2)
            missed = 2.0 / (counts[codes] + 2.0)
        else:
            missed = np.full(len(codes), 1.0 / (float(weights.sum()) + n_classes))
        targets = np.repeat(missed[:, None] / n_classes, n_classes, axis=1)  # spread over all classes
        targets[np.arange(len(codes)), codes] += 1.0 - missed
        slope, intercepts = _fitted(decisions / size, targets, weights)
        return cls(slope / size, intercepts)

    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        if decisions.shape[1] != len(self.intercepts):
            raise ValueError(
                f"{len(self.intercepts)} intercepts are not those of {decisions.shape[1]} decisions"
            )
        if decisions.shape[1] > 1:
            return softmax(self.slope * decisions + self.intercepts, axis=1)
        positive = expit(self.log_odds(decisions[:, 0]))
        return np.column_stack([1.0 - positive, positive])

    def log_odds(self, decisions: np.ndarray) -> np.ndarray:
        """Log-odds of the second class: they have the sign of the decision, and rise with it.

        They jump at 0, so that rounding must not decide on which side of it a decision is.
        """
        slopes = self.slope * decisions
        least, found = AGREEMENT * slopes, slopes + self.intercepts[0]
        return np.where(slopes > _ROUNDING, np.maximum(found, least), np.minimum(found, least))


def _fitted(z: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Slope and intercepts of the largest likelihood, by Newton's method.

    Intercepts are drawn to 0 by a prior that weighs as much as a row.
    """
    n, k = z.shape
    scores = np.column_stack([np.zeros(n), z]) if k == 1 else z
    prior = np.concatenate([[0.0], np.ones(k)])

    def log_probabilities(theta: np.ndarray) -> np.ndarray:
        intercepts = theta[1:] if k > 1 else np.array([0.0, theta[1]])
        return log_softmax(theta[0] * scores + intercepts, axis=1)

    def loss(theta: np.ndarray) -> float:
        fit = float(weights @ np.sum(targets * log_probabilities(theta), axis=1))
        return 0.5 * float(prior @ theta**2) - fit

    theta = np.concatenate([[1.0], np.zeros(k)])
    for _ in range(_NEWTON_STEPS):
        p = np.exp(log_probabilities(theta))
        own, misfit = p[:, -k:], weights[:, None] * (p - targets)
        means = np.sum(p * scores, axis=1)
        gradient = prior * theta
        gradient += np.concatenate([[np.sum(misfit * scores)], misfit[:, -k:].sum(axis=0)])
        weighted = weights[:, None] * own
        curvature = np.diag(prior)
        curvature[0, 0] += weights @ (np.sum(p * scores**2, axis=1) - means**2)
        curvature[0, 1:] = curvature[1:, 0] = np.sum(weighted * (scores[:, -k:] - means[:, None]), axis=0)
        curvature[1:, 1:] += np.diag(weighted.sum(axis=0)) - weighted.T @ own
        if theta[0] <= _FLATTEST and gradient[0] > 0.0:  # the slope stays where it is
            gradient[0], curvature[0, 1:], curvature[1:, 0] = 0.0, 0.0, 0.0
        curvature[0, 0] += _RIDGE * (1.0 + curvature[0, 0])
        step, before, length = np.linalg.solve(curvature, gradient), loss(theta), 1.0
        most = before + _SOLVED * abs(before)  # rounding may raise the loss
        while loss(_bounded(theta - length * step)) > most and length > _SHORTEST:
            length *= 0.5
        change = _bounded(theta - length * step) - theta
        if length <= _SHORTEST or np.abs(change).max() <= _SOLVED * np.abs(theta).max():
            break
        theta = theta + change
    return float(theta[0]), theta[1:]


def _bounded(theta: np.ndarray) -> np.ndarray:
    """The parameters with the slope clipped to its bounds."""
    return np.concatenate([np.clip(theta[:1], _FLATTEST, 1.0 / _FLATTEST), theta[1:]])


def agreeing(probabilities: np.ndarray, winners: np.ndarray) -> np.ndarray:
    """Probabilities whose largest is that of the predicted class: they are exchanged where it is not."""
    result, rows, largest = probabilities.copy(), np.arange(len(winners)), probabilities.argmax(axis=1)
    result[rows, largest], result[rows, winners] = probabilities[rows, winners], probabilities[rows, largest]
    return result


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
        return agreeing(self._probabilities(decisions), self._winners(decisions))


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
    """The problems of a run for each fold, without the rows of that fold, and where to start."""
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
        n_columns = self.decisions.shape[1]
        plain = ClassProbabilities(2.0 if n_columns == 1 else 1.0, np.zeros(n_columns))
        found = self.probabilities or plain
        return found(self._decisions(X))
