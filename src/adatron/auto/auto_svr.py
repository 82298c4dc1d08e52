"""`AutoSVR`: a tuned kernel regression without C, ε and σ."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from adatron.auto.scoring import RegressionMetric, regression_metric
from adatron.auto.stages import StageCurve
from adatron.auto.width_search import SearchLevels, WidthSearch
from adatron.estimators import SVR
from adatron.estimators.base import forget_fit, unfitted_on_error
from adatron.estimators.callback_bridge import FitTasks
from adatron.estimators.folds import Folds, check_search, is_number_of_folds
from adatron.estimators.held_out import HeldOutRegressor
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.parameters import as_random_state
from adatron.estimators.scaling import divided_by, feature_scales
from adatron.estimators.training_set import TrainingSet, row_sums, weighted_set
from adatron.gram import REGIME, DenseGram, whole_matrix
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.paths.kernel_path import KernelPath
from adatron.problems import regression
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, Status, rounds

__all__ = ["AutoSVR"]

_CS = 4.0 ** np.arange(-2, 6)  # in deviations of the target
_EPSILON, _EPSILONS = 0.1, (0.01, 0.03, 0.3)  # of the search for C and σ; those that are tried after it
_PATIENCE = 2  # values of C without gain after which a path ends
_TOL = 1e-2  # relative duality gap of the search
_FOR_SEARCH = 0.5  # part of the time limit
_AFTER_CTRL_C = 0.1  # seconds that the final fit may still take


@dataclass(frozen=True)
class RegressionData:
    """What the search trains and judges on: scaled rows and targets, and their folds."""

    X: Any
    targets: np.ndarray
    folds: Folds
    score: RegressionMetric | None  # of targets and outputs of one fold

    def error(self, outputs: np.ndarray) -> float:
        """Mean squared error of the held-out rows; with a score, minus its mean over the folds."""
        held = self.folds.held
        if self.score is None:
            return float((held * (self.targets[:, None] - outputs) ** 2).sum() / held.sum())
        parts = [(f, np.flatnonzero(column)) for f, column in enumerate(held.T) if column.any()]
        scores = [self.score(self.targets[rows], outputs[rows, f]) for f, rows in parts]
        if not np.isfinite(scores).all():
            raise ValueError("the score of some fold is not a finite number; choose another scoring or cv")
        return -float(np.mean(scores))


@dataclass
class SearchClock:
    """How much of the time limit is left."""

    began: float
    time_limit: float | None
    has_begun: bool = False  # whether a width was looked at
    is_stopped: bool = False  # by a callback or Ctrl-C

    def left(self, part: float, at_least: float = 0.0) -> float | None:
        """Seconds left of a part of the limit; None without a limit."""
        limit = self.time_limit
        return None if limit is None else max(at_least, part * limit - (monotonic() - self.began))

    @property
    def is_over(self) -> bool:
        return self.is_stopped or self.left(_FOR_SEARCH) == 0.0


def solved(
    gram: DenseGram, data: RegressionData, C: float, epsilon: float,
    alpha: np.ndarray | None, clock: SearchClock,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Multipliers (2m, F) of all folds at one C, from `alpha` on, and the outputs (m, F) of every row."""
    n_folds = data.folds.n_folds
    targets = np.tile(data.targets[:, None], (1, n_folds))
    problem = regression(gram, targets, np.ones(gram.m), epsilon=epsilon, bias=True)
    problem = replace(problem, upper=C * np.tile(data.folds.training, (2, 1)))
    run = Run(problem, GreedyAdatron(), GapRule(_TOL), max_iter=2_000, alpha=alpha)
    for _ in rounds([run], time_limit=clock.left(_FOR_SEARCH)):
        pass
    solutions = run.snapshot()
    alpha = np.column_stack([solution.alpha for solution in solutions])
    above, below = alpha.reshape(2, gram.m, n_folds)
    return alpha, gram.matmul(above - below) + np.array([solution.bias for solution in solutions])


class AutoSVR(RegressorMixin, CallbackSupportMixin, BaseEstimator):
    """A tuned support vector regression with a Gaussian kernel: no C, ε and σ to choose.

    Each feature is divided by its standard deviation (one with only two values, by half their distance), the
    target by its own. For each width, C grows step by step and each solution starts the next one, with the
    folds as columns of one kernel matrix. ε is chosen last, at the best width and C. The search uses at most
    1,000 rows; the final `SVR` is trained on all.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable, default=5
        As in `sklearn.model_selection.GridSearchCV`.
    scoring : str or callable, default=None
        As in `GridSearchCV`; by default the squared error of all held-out rows.
    time_limit : float, default=None
        Seconds, of which the search takes at most half.
    random_state : int, RandomState instance or None, default=None
        Draws the sample and the folds; None is a fixed seed.
    n_jobs : int, default=None
        Accepted; the folds are trained together.
    verbose : bool or int, default=False

    Attributes
    ----------
    C_, epsilon_, gamma_ : float
        The chosen values: C and γ for scaled features and targets, ε in the target's units.
    svr_ : SVR
        The final model, for scaled features and targets.
    path_ : KernelPath
        Mean squared error on held-out rows for every width, in squared deviations of the target; minus the
        score with `scoring`.
    best_score_ : float
        R² on the held-out rows of the search, or their mean score by `scoring`.
    feature_scale_ : ndarray of shape (n_features,)
    duality_gap_, status_, converged_ : of the final model

    References
    ----------
    H. Drucker, C. J. C. Burges, L. Kaufman, A. Smola, V. Vapnik, *Support Vector Regression Machines*,
    Advances in Neural Information Processing Systems 9, 1997.

    A. J. Smola, B. Schölkopf, *A Tutorial on Support Vector Regression*, Statistics and Computing 14, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from adatron import AutoSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(AutoSVR().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4)
    True
    """

    kernel = "rbf"  # the only one; not a parameter
    _scales_features = True
    _regime = REGIME

    def __init__(self, *, cv=5, scoring=None, time_limit=None, random_state=None, n_jobs=None, verbose=False):
        self.cv = cv
        self.scoring = scoring
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> AutoSVR:
        """Choose C, ε and the kernel's width, and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows of one group are never on both sides of a split; for a `cv` that is a number, the folds are
            those of `sklearn.model_selection.GroupKFold`.

        Returns
        -------
        AutoSVR
        """
        with unfitted_on_error(self):
            check_search(self)
            clock, levels = SearchClock(monotonic(), self.time_limit), SearchLevels()
            forget_fit(self)
            with unfitted_on_error(self, BaseException):  # Ctrl-C before the search: nothing to keep yet
                training_set = weighted_set(self, X, y, sample_weight, has_targets=True)
                self.feature_scale_, spread = feature_scales(training_set.X, training_set.weights)
                self._centre, self._unit = _moments(training_set)
                data = self._search_data(training_set, X, y, groups)
                tasks = FitTasks(self, X, y, sample_weight, None)

            def model_so_far() -> dict[str, Any]:
                model = copy(self)
                model._choose(levels.searches[0], data, clock)
                model._train(training_set, clock)
                return {name: value for name, value in vars(model).items() if name != "_skl_callbacks"}

            def after_width() -> None:
                clock.is_stopped = clock.is_stopped or tasks.round_ended(model_so_far)

            try:
                tasks.prepared(levels)
                search = levels.begin(spread, lambda gamma, _: self._curve(data, gamma, clock), after_width)
                with one_blas_thread():
                    search.run()
                    self._choose(search, data, clock)
                self._train(training_set, clock)
            except KeyboardInterrupt:
                tasks.interrupted()
                if not levels.have_judged:
                    forget_fit(self)
                    raise
                clock.is_stopped, clock.time_limit = True, monotonic() - clock.began + _AFTER_CTRL_C
                if "path_" not in vars(self):  # the last thing that is chosen
                    self._choose(levels.searches[0], data, clock)
                self._train(training_set, clock)
                self.status_, self.converged_ = Status.STOPPED, False
                raise
            if clock.is_stopped:
                self.status_, self.converged_ = Status.STOPPED, False
            tasks.ended(model_so_far)
        return self

    def _search_data(self, data: TrainingSet, X: Any, y: Any, groups: Any) -> RegressionData:
        """A sample of the rows in an order that does not depend on the one they came in, and its folds."""
        state = as_random_state(0 if self.random_state is None else self.random_state)
        is_drawn = is_number_of_folds(self.cv) and groups is None
        folds = None if is_drawn else Folds.given(data, self.cv, X, y, groups, of_classes=False)
        order = np.lexsort((data.weights, data.targets, row_sums(data.X)))
        order = order[np.sort(state.permutation(len(order))[: self._regime.regression_sample])]
        if folds is None:
            n_folds = min(5 if self.cv is None else int(self.cv), len(order))
            numbers = state.permutation(np.arange(len(order)) % n_folds)
            folds = Folds.numbered(numbers, n_folds, data.weights[order])
        else:
            folds = folds.some(order)
        targets = (data.targets[order] - self._centre) / self._unit
        return RegressionData(divided_by(data.X[order], self.feature_scale_), targets, folds, self._score())

    def _score(self) -> RegressionMetric | None:
        """A score of scaled targets and outputs, by what `scoring` says of the unscaled ones."""
        if self.scoring is None:
            return None
        metric = regression_metric(self.scoring)
        if metric is None:
            scorer = check_scoring(self, self.scoring)

            def metric(targets: np.ndarray, outputs: np.ndarray) -> float:
                model = HeldOutRegressor(outputs).fit()
                return float(scorer(model, np.arange(len(targets))[:, None], targets))

        centre, unit = self._centre, self._unit
        return lambda targets, outputs: metric(centre + unit * targets, centre + unit * outputs)

    def _curve(self, data: RegressionData, gamma: float, clock: SearchClock) -> StageCurve:
        """Held-out errors along the path in C at one width."""
        if clock.is_over and clock.has_begun:
            return StageCurve(gamma, [], [], reason="the search had ended")
        start, clock.has_begun = perf_counter(), True
        gram = DenseGram(whole_matrix(Gaussian(gamma), data.X))
        errors: list[float] = []
        alpha: np.ndarray | None = None
        for C in _CS:
            alpha, outputs = solved(gram, data, C, _EPSILON, alpha, clock)
            try:
                errors.append(data.error(outputs))
            except (ValueError, ArithmeticError) as error:  # a scorer may not like what is predicted
                return StageCurve(gamma, [], [], reason=str(error))
            if clock.is_over or len(errors) - int(np.argmin(errors)) > _PATIENCE:
                break
        if self.verbose:
            print(f"[adatron] gamma {gamma:.3g}: held-out error {min(errors):.4g}")
        return StageCurve(gamma, [errors], [errors], perf_counter() - start)

    def _choose(self, search: WidthSearch, data: RegressionData, clock: SearchClock) -> None:
        """Take the best width and C so far, and the best ε for them if there is time."""
        curve = search.curves[search.best_octave()]
        self.gamma_, self.C_ = curve.gamma, _best_C(curve)
        best, epsilon = curve.best, _EPSILON
        gram, alpha = DenseGram(whole_matrix(Gaussian(self.gamma_), data.X)), None
        for tried in () if clock.is_over else _EPSILONS:
            alpha, outputs = solved(gram, data, self.C_, tried, alpha, clock)
            try:
                error = data.error(outputs)
            except (ValueError, ArithmeticError):
                continue
            if error < best:
                best, epsilon = error, tried
        self.epsilon_ = epsilon * self._unit
        if data.score is None:
            spread = data.error(np.zeros_like(data.folds.held)) or 1.0
            self.best_score_, criterion = 1.0 - best / spread, "held-out squared error"
        else:
            self.best_score_, criterion = -best, "minus the held-out score"
        records, judged = [], sorted(octave for octave, curve in search.curves.items() if not curve.reason)
        for curve in (search.curves[octave] for octave in judged):
            record = {"sigma": (2.0 * curve.gamma) ** -0.5, "gamma": curve.gamma, "criterion": curve.best}
            records.append(record | {"C": _best_C(curve), "seconds": curve.seconds})
        best_index = judged.index(search.best_octave())
        self.path_ = KernelPath(records, criterion=criterion, best_index=best_index)

    def _train(self, data: TrainingSet, clock: SearchClock) -> None:
        left = clock.left(1.0, at_least=1e-3)
        svr = SVR(self.C_, self.epsilon_ / self._unit, Gaussian(self.gamma_), time_limit=left)
        X, targets = divided_by(data.X, self.feature_scale_), (data.targets - self._centre) / self._unit
        scaled = replace(data, X=X, targets=targets, rows=np.arange(data.m), shape=tuple(X.shape))
        self.svr_ = svr._fit_checked(scaled)
        self.duality_gap_, self.status_, self.converged_ = svr.duality_gap_, svr.status_, svr.converged_
        if not self.converged_ and not clock.is_stopped:
            advice = "raise time_limit" if self.status_ is Status.TIME_LIMIT else "scale y"
            message = f"AutoSVR did not converge: {self.status_.sentence}; {advice}"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

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
        X = check_predict_X(self, X)
        return self._centre + self._unit * self.svr_.predict(divided_by(X, self.feature_scale_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _moments(data: TrainingSet) -> tuple[float, float]:
    """Mean of the targets and their deviation, 1 if there is none."""
    share = data.weights / data.weights.sum()
    mean = float(share @ data.targets)
    deviation = float(np.sqrt(share @ (data.targets - mean) ** 2))
    return mean, deviation if deviation > 1e-12 * abs(mean) and deviation > 0.0 else 1.0


def _best_C(curve: StageCurve) -> float:
    return float(_CS[int(np.argmin(curve.errors[0]))])
