"""Decision values of rows by models that were trained without them, from the kernel matrix of the fit.

The folds are columns of the problems that were solved already: a held-out row has the bound 0. Each starts
from the solution of the fit, which is close. The coupled problem of all classes has no columns: it is solved
for one fold after the other, on what the matrix has for the other rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from adatron.estimators.base import FitPlan
from adatron.estimators.folds import stratified_numbers
from adatron.estimators.multiclass import Layout
from adatron.gram import expand
from adatron.kernels import Precomputed
from adatron.problems import DualProblem
from adatron.training import DualSolution, GapRule, Run, rounds

__all__ = ["HeldOutModel", "HeldOutRegressor", "held_out_decisions"]

_TOL = 1e-3  # relative duality gap that is small enough for calibration


def held_out_decisions(
    plan: FitPlan, solutions: list[DualSolution], n_folds: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Decisions (m, n_problems) of each row, by problems that were trained without its fold."""
    data, layout, m = plan.data, plan.layout, plan.data.m
    folds = stratified_numbers(data.codes, n_folds, random_state)
    if layout.is_direct:
        decisions = np.vstack(list(_direct(plan, solutions[0], folds)))  # fold after fold
        return decisions[np.argsort(np.argsort(folds, kind="stable"))]
    parts = [rows for rows, _ in layout.pair_rows(data.codes)] if layout.is_pairwise else [np.arange(m)]
    runs = [
        _without_folds(run, solutions, folds[rows], n_folds)
        for run, rows in zip(plan.runs, parts, strict=True)
    ]
    _solve(plan, runs)
    decisions = np.empty((m, len(solutions)))
    found = [run.snapshot() for run in runs]
    for fold in range(n_folds):
        held = np.flatnonzero(folds == fold)
        coefficients, bias = np.zeros((m, len(solutions))), np.zeros(len(solutions))
        for run, rows, own in zip(plan.runs, parts, found, strict=True):
            for b in range(run.problem.n_columns):
                solution = own[fold * run.problem.n_columns + b]
                coefficients[rows, run.first + b] = run.problem.y[:, b] * solution.alpha
                bias[run.first + b] = solution.bias
        decisions[held] = _outputs(plan, held, coefficients) + bias
        for run, rows in zip(plan.runs, parts, strict=True):
            for b in range(run.problem.n_columns):
                left = np.unique(run.problem.y[folds[rows] != fold, b])
                if len(left) < 2:  # without a class to train on the other is the decision, as in LIBSVM
                    decisions[held, run.first + b] = left.sum()
    return decisions


def _solve(plan: FitPlan, runs: list[Run]) -> None:
    remaining = None if plan.time_limit is None else plan.time_limit - (monotonic() - plan.began)
    for _ in rounds(runs, time_limit=remaining, n_threads=plan.n_threads):
        pass


def _direct(plan: FitPlan, solution: DualSolution, folds: np.ndarray) -> Iterator[np.ndarray]:
    """Decisions of the rows of each fold by the coupled problem of all classes without them."""
    whole: Any = plan.runs[0]
    tol, known = max(whole.rule.tol, _TOL), {"indefinite": whole.rule.indefinite, "regime": whole.rule.regime}
    for fold in range(int(folds.max()) + 1):
        held, rows = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        old = whole.problem
        problem = replace(old, gram=old.gram.restrict(rows), codes=old.codes[rows], upper=old.upper[rows])
        rule, start = GapRule(tol, eager=True, **known), solution.alpha[rows]
        run = Run(problem, whole.solver, rule, max_iter=whole.max_iter, alpha=start)
        _solve(plan, [run])
        of_classes = plan.layout.of_classes(run.snapshot()[0].alpha)
        coefficients = np.zeros((len(folds), of_classes.shape[1]))
        coefficients[rows] = of_classes
        yield _outputs(plan, held, coefficients) + plan.constant * of_classes.sum(axis=0)


def _without_folds(run: Run, solutions: list[DualSolution], folds: np.ndarray, n_folds: int) -> Run:
    """The problems of a run once for each fold, without the rows of that fold."""
    old = run.problem
    y, p = np.tile(old.y, (1, n_folds)), np.tile(old.p, (1, n_folds))
    upper = np.hstack([np.where((folds == fold)[:, None], 0.0, old.upper) for fold in range(n_folds)])
    lacks_a_class = np.abs(np.sum(np.where(upper > 0.0, y, 0.0), axis=0)) == np.sum(upper > 0.0, axis=0)
    upper = np.where(lacks_a_class, np.tile(old.upper, (1, n_folds)), upper)  # any problem will do
    problem = DualProblem(old.gram, y, p, upper, old.equality)
    own = solutions[run.first : run.first + old.n_columns]
    alpha = np.minimum(np.tile(np.column_stack([s.alpha for s in own]), (1, n_folds)), upper)
    old_rule: Any = run.rule
    rule = GapRule(max(old_rule.tol, _TOL), indefinite=old_rule.indefinite, regime=old_rule.regime)
    return Run(problem, run.solver, rule, max_iter=run.max_iter, alpha=alpha)


def _outputs(plan: FitPlan, held: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Outputs of the held-out rows, without bias."""
    X, gram = plan.data.X, plan.gram
    support = np.flatnonzero(coefficients.any(axis=1))
    if gram.factor is not None or gram.is_elsewhere:
        return gram.matmul(coefficients)[held]
    if isinstance(plan.kernel, Precomputed):
        return X[np.ix_(held, support)] @ coefficients[support]
    return expand(plan.kernel, X[held], X[support], coefficients[support], np.float64)


class HeldOutModel(ClassifierMixin, BaseEstimator):
    """A fitted classifier for whose rows the decisions are known: its X are places in a table."""

    def __init__(self, decisions=None, classes=None):
        self.decisions = decisions
        self.classes = classes

    def fit(self, X: Any = None, y: Any = None) -> HeldOutModel:
        self.classes_ = self.classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        values = self.decisions[np.asarray(X)[:, 0]]
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        layout = Layout(len(self.classes), "ovr")
        return self.classes[layout.vote(self.decisions[np.asarray(X)[:, 0]])]

    def predict_proba(self, X: Any) -> np.ndarray:
        values = self.decisions[np.asarray(X)[:, 0]]
        if values.shape[1] > 1:
            return softmax(values, axis=1)
        positive = expit(2.0 * values[:, 0])
        return np.column_stack([1.0 - positive, positive])


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """The same for targets."""

    def __init__(self, outputs=None):
        self.outputs = outputs

    def fit(self, X: Any = None, y: Any = None) -> HeldOutRegressor:
        self.is_fitted_ = True
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.outputs[np.asarray(X)[:, 0]]
