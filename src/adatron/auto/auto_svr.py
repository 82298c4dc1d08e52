"""`AutoSVR`: a tuned kernel regression without C, ε and σ."""

from __future__ import annotations

import warnings
from copy import copy
from functools import partial
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from adatron.auto.folds import check_search, is_number_of_folds
from adatron.auto.metrics import RegressionMetric, regression_metric
from adatron.auto.stages import StageCurve
from adatron.auto.svr_paths import RegressionFolds, SearchClock, given_members, solved
from adatron.auto.width_search import SearchLevels, WidthSearch
from adatron.estimators import SVR
from adatron.estimators.base import forget_fit, unfitted_on_error
from adatron.estimators.callback_bridge import FitTasks
from adatron.estimators.held_out import HeldOutRegressor
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.merging import row_sums
from adatron.estimators.parameters import as_random_state
from adatron.estimators.scaling import divided_by, feature_scales
from adatron.estimators.training_data import WeightedRows, weighted_rows
from adatron.gram import DenseGram
from adatron.gram.tiles import whole_matrix
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.paths.kernel_path import KernelPath
from adatron.training import Status

__all__ = ["AutoSVR"]

_SAMPLE = 1_000  # rows of the search
_CS = 4.0 ** np.arange(-2, 6)  # in deviations of the target
_EPSILON, _EPSILONS = 0.1, (0.01, 0.03, 0.3)  # of the search for C and σ; those that are tried after it
_PATIENCE = 2  # values of C without gain after which a path ends


class AutoSVR(RegressorMixin, CallbackSupportMixin, BaseEstimator):
    """A tuned support vector regression with a Gaussian kernel: no C, ε and σ to choose.

    Features are divided by their standard deviations (those with two values by half their distance), the
    target by its own. For each width a path in C is followed, every solution the start of the next, with
    the folds as columns of one kernel matrix; ε is chosen at the best of them. The search uses at most 1,000
    rows; the final `SVR` is trained on all.

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
        What was chosen: C in units of the target's deviation, ε in the target's units, γ for scaled features.
    svr_ : SVR
        The final model, of scaled features and targets.
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
                data = weighted_rows(self, X, y, sample_weight, has_targets=True)
                self.feature_scale_, spread = feature_scales(data.X, data.weights)
                self._centre, self._unit = _moments(data)
                folds = self._folds(data, X, y, groups)
                tasks = FitTasks(self, X, y, sample_weight, None)

            def model_so_far() -> dict[str, Any]:
                model = copy(self)
                model._choose(search, folds, clock)
                model._train(data, clock)
                return {name: value for name, value in vars(model).items() if name != "_skl_callbacks"}

            def after_width() -> None:
                clock.is_stopped = clock.is_stopped or tasks.round_ended(model_so_far)

            search = levels.begin(spread, lambda gamma, _: self._curve(folds, gamma, clock), after_width)
            try:
                tasks.prepared(levels)
                search.known = levels.known(0)
                with one_blas_thread():
                    search.run()
                    self._choose(search, folds, clock)
                self._train(data, clock)
            except KeyboardInterrupt:
                tasks.interrupted()
                self._interrupted(search, folds, data, clock)
                raise
            if clock.is_stopped:
                self.status_, self.converged_ = Status.STOPPED, False
            tasks.ended(model_so_far)
        return self

    def _interrupted(
        self, search: WidthSearch, folds: RegressionFolds, data: WeightedRows, clock: SearchClock
    ) -> None:
        """Keep the best model so far; without any width that was judged there is none."""
        if not any(not curve.reason for curve in search.curves.values()):
            forget_fit(self)
            return
        clock.stop()
        if "path_" not in vars(self):  # the last thing that is chosen
            self._choose(search, folds, clock)
        self._train(data, clock)
        self.status_, self.converged_ = Status.STOPPED, False

    def _folds(self, data: WeightedRows, X: Any, y: Any, groups: Any) -> RegressionFolds:
        """A sample of the rows in a fixed order, and its folds."""
        state = as_random_state(0 if self.random_state is None else self.random_state)
        order = np.lexsort((data.weights, data.targets, row_sums(data.X)))
        if is_number_of_folds(self.cv) and groups is None:
            order = order[np.sort(state.permutation(len(order))[:_SAMPLE])]
            n_folds = min(5 if self.cv is None else int(self.cv), len(order))
            turn = state.permutation(np.arange(len(order)) % max(n_folds, 1))
            held = turn[:, None] == np.arange(max(n_folds, 1))
            training = ~held if n_folds > 1 else held
        else:
            training, held = given_members(data, self.cv, X, y, groups)
            order = order[np.sort(state.permutation(len(order))[:_SAMPLE])]
            training, held = training[order], held[order]
        weights = data.weights[order][:, None]
        targets = (data.targets[order] - self._centre) / self._unit
        return RegressionFolds(
            divided_by(data.X[order], self.feature_scale_),
            targets,
            training * weights,
            held * weights,
            self._score(),
        )

    def _score(self) -> RegressionMetric | None:
        """A score of scaled targets and outputs, by what `scoring` says of the unscaled ones."""
        if self.scoring is None:
            return None
        metric = regression_metric(self.scoring) or partial(_by_scorer, check_scoring(self, self.scoring))
        centre, unit = self._centre, self._unit
        return lambda targets, outputs: metric(centre + unit * targets, centre + unit * outputs)

    def _curve(self, folds: RegressionFolds, gamma: float, clock: SearchClock) -> StageCurve:
        """Held-out errors along the path in C at one width."""
        if clock.is_over and clock.has_begun:
            return StageCurve(gamma, [], [], reason="the search had ended")
        start, clock.has_begun = perf_counter(), True
        gram = DenseGram(whole_matrix(Gaussian(gamma), folds.X))
        errors: list[float] = []
        alpha: np.ndarray | None = None
        for C in _CS:
            alpha, outputs = solved(gram, folds, C, _EPSILON, alpha, clock)
            try:
                errors.append(folds.error(outputs))
            except (ValueError, ArithmeticError) as error:  # a scorer may not like what is predicted
                return StageCurve(gamma, [], [], reason=str(error))
            if clock.is_over or len(errors) - int(np.argmin(errors)) > _PATIENCE:
                break
        if self.verbose:
            print(f"[adatron] gamma {gamma:.3g}: held-out error {min(errors):.4g}")
        return StageCurve(gamma, [errors], [errors], perf_counter() - start)

    def _choose(self, search: WidthSearch, folds: RegressionFolds, clock: SearchClock) -> None:
        curve = search.curves[search.best_octave()]
        self.gamma_, self.C_ = curve.gamma, float(_CS[int(np.argmin(curve.errors[0]))])
        best, epsilon = curve.best, _EPSILON
        gram, alpha = DenseGram(whole_matrix(Gaussian(self.gamma_), folds.X)), None
        for tried in () if clock.is_over else _EPSILONS:
            alpha, outputs = solved(gram, folds, self.C_, tried, alpha, clock)
            try:
                error = folds.error(outputs)
            except (ValueError, ArithmeticError):
                continue
            if error < best:
                best, epsilon = error, tried
        self.epsilon_ = epsilon * self._unit
        if folds.score is None:
            spread = folds.error(np.zeros_like(folds.held)) or 1.0
            self.best_score_, criterion = 1.0 - best / spread, "held-out squared error"
        else:
            self.best_score_, criterion = -best, "minus the held-out score"
        self.path_ = _path(search, criterion)

    def _train(self, data: WeightedRows, clock: SearchClock) -> None:
        left = clock.left_for_training
        svr = SVR(self.C_, self.epsilon_ / self._unit, Gaussian(self.gamma_), time_limit=left)
        targets = (data.targets - self._centre) / self._unit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ours follows
            self.svr_ = svr.fit(divided_by(data.X, self.feature_scale_), targets, data.weights)
        self.duality_gap_, self.status_ = svr.duality_gap_, svr.status_
        self.converged_ = svr.converged_
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


def _moments(data: WeightedRows) -> tuple[float, float]:
    """Mean of the targets and their deviation, 1 if there is none."""
    share = data.weights / data.weights.sum()
    mean = float(share @ data.targets)
    deviation = float(np.sqrt(share @ (data.targets - mean) ** 2))
    return mean, deviation if deviation > 1e-12 * abs(mean) and deviation > 0.0 else 1.0


def _by_scorer(scorer: Any, targets: np.ndarray, outputs: np.ndarray) -> float:
    return float(scorer(HeldOutRegressor(outputs).fit(), np.arange(len(targets))[:, None], targets))


def _path(search: WidthSearch, criterion: str) -> KernelPath:
    octaves = sorted(octave for octave, curve in search.curves.items() if not curve.reason)
    records = []
    for octave in octaves:
        curve = search.curves[octave]
        C = float(_CS[int(np.argmin(curve.errors[0]))])
        record = {"sigma": (2.0 * curve.gamma) ** -0.5, "gamma": curve.gamma, "criterion": curve.best, "C": C}
        records.append(record | {"seconds": curve.seconds})
    best = octaves.index(search.best_octave())
    return KernelPath(records, criterion=criterion, best_index=best)
