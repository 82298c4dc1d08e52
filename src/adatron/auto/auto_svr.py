"""`AutoSVR`: a tuned kernel regression without C, ε and γ."""

import warnings
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adatron.auto.base import AutoEstimator, Candidate, Search
from adatron.auto.scoring import regression_metric
from adatron.auto.search_data import divided_by, feature_scales
from adatron.estimators import SVR
from adatron.estimators.folds import Folds
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.training_set import TrainingSet, row_sums, weighted_set
from adatron.gram import DenseGram, whole_matrix
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.paths.kernel_path import KernelPath
from adatron.problems import regression
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, Status, solved

_CS = 4.0 ** np.arange(-2, 6)  # in deviations of the target
_EPSILON, _EPSILONS = 0.1, (0.01, 0.03, 0.3)  # of the search for C and γ; those that are tried after it
_PATIENCE = 2  # values of C without gain after which a path ends
_TOL = 1e-2  # relative duality gap of the search


class RegressionSearch(Search):
    """The search for C, ε and the width on a sample of the rows, with scaled features and targets."""

    def __init__(self, model: Any, data: TrainingSet, given: tuple, began: float) -> None:
        super().__init__(model, began)
        self.scales, self.spread = feature_scales(data.X, data.weights)
        share = data.weights / data.weights.sum()
        self.centre = float(share @ data.targets)
        deviation = float(np.sqrt(share @ (data.targets - self.centre) ** 2))
        self.unit = deviation if deviation > 1e-12 * abs(self.centre) and deviation > 0.0 else 1.0
        self.data = replace(data, targets=(data.targets - self.centre) / self.unit)
        # an order that does not depend on the one the rows came in
        order, state = np.lexsort((data.weights, data.targets, row_sums(data.X))), model._random_state()
        order = order[np.sort(state.permutation(len(order))[: model._regime.regression_sample])]
        self.folds = Folds.of(model.cv, data, order, given, state)
        self.X, self.targets = divided_by(data.X[order], self.scales), self.data.targets[order]
        self.metric = None if model.scoring is None else regression_metric(model)
        self.choice: dict[str, Any] = {}

    def run(self) -> None:
        with one_blas_thread():
            self.look_for_width(self.spread, self._judge)
            self.choice = self.choose()

    def _judge(self, new: Candidate, rival: float) -> Candidate:
        """The best C at one width: the path ends soon after the held-out error rises."""
        began, gram, alpha = perf_counter(), DenseGram(whole_matrix(Gaussian(new.gamma), self.X)), None
        errors: list[float] = []
        for C in _CS:
            alpha, outputs = self._solved(gram, C, _EPSILON, alpha)
            errors.append(self._error(outputs))
            best = int(np.argmin(errors))
            if self.is_over() or len(errors) - best > _PATIENCE:
                break
        error, seconds = errors[best], perf_counter() - began
        return replace(new, error=error, criterion=error, C=float(_CS[best]), seconds=seconds)

    def choose(self) -> dict[str, Any]:
        """Take the best width and C so far, and the best ε for them if there is time."""
        chosen = self.best
        best, epsilon, alpha = chosen.criterion, _EPSILON, None
        if not self.is_over():
            gram = DenseGram(whole_matrix(Gaussian(chosen.gamma), self.X))
            for tried in _EPSILONS:
                alpha, outputs = self._solved(gram, chosen.C, tried, alpha)
                with suppress(ValueError, ArithmeticError):  # a scorer may not like what is predicted
                    if (error := self._error(outputs)) < best:
                        best, epsilon = error, tried
        score, criterion = -best, "minus the held-out score"
        if self.metric is None:
            total = self._error(np.zeros_like(self.folds.held)) or 1.0
            score, criterion = 1.0 - best / total, "held-out squared error"
        judged = [own for _, own in sorted(self.levels[0].items()) if not own.reason]
        records = [own.record("gamma", "criterion", "C", "seconds") for own in judged]
        path = KernelPath(records, criterion=criterion, best_index=judged.index(chosen))
        values = {"gamma_": chosen.gamma, "C_": chosen.C, "epsilon_": epsilon * self.unit}
        return values | {"best_score_": score, "path_": path}

    def _solved(self, gram: Any, C: float, epsilon: float, alpha: Any) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers (2m, F) of all folds at one C, from `alpha` on, and the outputs (m, F) of every row."""
        n_folds = self.folds.n_folds
        targets = np.tile(self.targets[:, None], (1, n_folds))
        problem = regression(gram, targets, np.ones(gram.m), epsilon=epsilon, bias=True)
        problem = replace(problem, upper=C * np.tile(self.folds.training, (2, 1)))
        run = Run(problem, GreedyAdatron(), GapRule(_TOL), max_iter=2_000, alpha=alpha)
        solutions = solved([run], time_limit=self.seconds_left())
        alpha = np.column_stack([solution.alpha for solution in solutions])
        above, below = alpha.reshape(2, gram.m, n_folds)
        return alpha, gram.matmul(above - below) + np.array([solution.bias for solution in solutions])

    def _error(self, outputs: np.ndarray) -> float:
        """Mean squared error of the held-out rows; with a metric, minus its mean over the folds."""
        held, centre, unit = self.folds.held, self.centre, self.unit
        if self.metric is None:
            return float((held * (self.targets[:, None] - outputs) ** 2).sum() / held.sum())
        parts = [(np.flatnonzero(column), fold) for fold, column in enumerate(held.T) if column.any()]
        pairs = [(centre + unit * self.targets[rows], centre + unit * outputs[rows, f]) for rows, f in parts]
        scores = [self.metric(targets, predicted) for targets, predicted in pairs]
        if not np.isfinite(scores).all():
            raise ValueError("the score of some fold is not a finite number; choose another scoring or cv")
        return -float(np.mean(scores))


class AutoSVR(RegressorMixin, AutoEstimator):
    """A tuned support vector regression with a Gaussian kernel: no C, ε, γ and no scaling to choose.

    Features and the target are divided by their standard deviations (a feature with only two values, by half
    their distance). For each width, C grows step by step and each solution starts the next. ε is chosen last,
    at the best width and C. The search uses at most 1,000 rows; the final `SVR` is trained on all.

    Parameters
    ----------
    cv, scoring : as in `sklearn.model_selection.GridSearchCV`, default=5, None
        By default the score is the squared error of all held-out rows.
    time_limit : seconds, of which the search takes at most half, default=None
    random_state, n_jobs, verbose : as for `AutoSVC`, default=None, None, False

    Attributes
    ----------
    C_, epsilon_, gamma_ : chosen values: C and γ for scaled features and targets, ε in the target's units
    svr_ : SVR
        The final model, for scaled features and targets; `duality_gap_`, `status_` and `converged_` are its.
    path_ : KernelPath
        For every width minus the score or, in squared deviations of the target, the error on held-out rows.
    best_score_ : R² on the held-out rows of the search, or their mean score by `scoring`
    feature_scale_ : ndarray of shape (n_features,)

    References
    ----------
    A. J. Smola, B. Schölkopf, *A Tutorial on Support Vector Regression*, Statistics and Computing 14, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from adatron import AutoSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(AutoSVR().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4)
    True
    """

    def __init__(self, *, cv=5, scoring=None, time_limit=None, random_state=None, n_jobs=None, verbose=False):
        self.cv, self.scoring, self.time_limit = cv, scoring, time_limit
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any, began: float) -> RegressionSearch:
        data = weighted_set(self, X, y, sample_weight, has_targets=True)
        return RegressionSearch(self, data, (X, y, groups), began)

    def _attributes_of(self, search: RegressionSearch) -> dict[str, Any]:
        """Train on all rows with what was chosen."""
        chosen, left, data = search.choice or search.choose(), search.seconds_left(1.0), search.data
        limit = None if left is None else max(1e-3, left)
        epsilon, kernel = chosen["epsilon_"] / search.unit, Gaussian(chosen["gamma_"])
        X, svr = divided_by(data.X, search.scales), SVR(chosen["C_"], epsilon, kernel, time_limit=limit)
        svr._fit_checked(replace(data, X=X, rows=np.arange(data.m), shape=tuple(X.shape)))
        status = Status.STOPPED if search.is_stopped else svr.status_
        return chosen | {
            "svr_": svr, "feature_scale_": search.scales, "_centre": search.centre, "_unit": search.unit,
            "duality_gap_": svr.duality_gap_, "status_": status, "converged_": status is Status.CONVERGED,
        }  # fmt: skip

    def _warn(self, search: RegressionSearch) -> None:
        if not self.converged_ and self.status_ is not Status.STOPPED:
            advice = "raise time_limit" if self.status_ is Status.TIME_LIMIT else "scale y"
            message = f"AutoSVR did not converge: {self.status_.sentence}; {advice}"
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def predict(self, X: Any) -> np.ndarray:
        """The target of each row of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = divided_by(check_predict_X(self, X), self.feature_scale_)
        return self._centre + self._unit * self.svr_.predict(X)
