"""`AutoSVR`: a tuned kernel regression without C, ε and γ."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from adatron.auto.base import SEARCH_FOLDS, AutoEstimator
from adatron.auto.exact import Model
from adatron.auto.intervals import Residuals, check_level
from adatron.auto.rows import SearchRows
from adatron.auto.scoring import Criterion, regression_metric
from adatron.auto.search import Search
from adatron.auto.targets import LogTarget
from adatron.auto.task import Task
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.expansion import ExpansionMachine
from adatron.estimators.folds import Folds
from adatron.estimators.inputs import check_targets
from adatron.estimators.training_set import TrainingSet, weighted_set
from adatron.gram import on_client


class AutoSVR(AutoEstimator, RegressorMixin, ExpansionMachine):
    """A tuned kernel regression for tables: no C, ε, γ and no scaling to choose.

    The search is that of `AutoSVC`: three kernels, their widths and penalties, with and without weights of
    features, and the mean of two machines where held-out rows prefer it. The loss is squared; up to
    3,000 rows the best machine is also tried with Huber's, on which outliers among the targets weigh less.
    Tables and text are treated as in `AutoSVC`; above 45,000 rows it also tries the exact kernel on 25,000
    of them. If held-out rows show that positive, skewed targets such as prices and counts are clearly easier
    to predict by their logarithms, machines are trained on these; predictions are targets again.

    `y` may have several columns, (n_samples, n_targets): they share kernels and penalties, and the time is
    nearly that of one. Scores are means over the targets, each in its own deviations.

    Parameters
    ----------
    cv, scoring : as in `sklearn.model_selection.GridSearchCV`, default=5, None
        By default the score is the squared error of all held-out rows.
    time_limit, random_state, n_jobs, verbose : as for `AutoSVC`, default=None, None, None, False

    Attributes
    ----------
    best_score_ : R² on held-out rows, or their mean score by `scoring`
    gamma_, C_, kernels_, feature_importances_, path_, cv_results_, encoder_ : as for `AutoSVC`
    losses_ : list of {"squared", "huber"}
        The loss that each machine of `kernels_` was trained with.
    duality_gap_, gap_is_exact_, n_iter_, status_, converged_ : as for `AutoSVC`

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

    _target_type, _criterion_name = "continuous", "held-out squared error"
    _clearly_better, _kernels_compared, _iterates_up_to = 0.9, None, float("inf")
    _huber_limits = 1.5, 2.5

    def __init__(self, *, cv=5, scoring=None, time_limit=None, random_state=None, n_jobs=None, verbose=False):
        self.cv, self.scoring, self.time_limit = cv, scoring, time_limit
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _checked_target(self, n: int, y: Any) -> np.ndarray:
        return np.column_stack([check_targets(np.empty((n, 0)), own) for own in target_columns(y)])

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        columns = target_columns(y)
        data = weighted_set(self, X, columns[0], sample_weight, has_targets=True)
        others = [check_targets(np.empty((data.shape[0], 0)), own)[data.rows] for own in columns[1:]]
        return replace(data, targets=np.column_stack([data.targets, *others]))

    def _task(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Task:
        """The task, with logarithms of the targets where these are clearly easier to predict."""
        self._log = None
        task = super()._task(X, y, sample_weight, groups)
        data = task.data
        log = LogTarget.of(data.targets[:, 0]) if data.targets.shape[1] == 1 else None
        if log is None or task.scale.is_text:
            return task
        sample = task.sample(np.arange(0, data.m, -(-data.m // self._regime.search_rows)))
        if not log.is_better(sample.with_folds(SEARCH_FOLDS), self._unit * (sample.Y + sample.mean)[:, 0]):
            return task
        self._log = log
        if self.verbose:
            print("[adatron] machines learn logarithms of the targets, which are easier to predict")
        return replace(task, Y=self._targets(data), criterion_for=self._criterion(data))

    def _order_keys(self, data: TrainingSet) -> tuple[np.ndarray, ...]:
        return tuple(data.targets.T)

    def _check_folds(self, folds: Folds, data: TrainingSet, order: np.ndarray) -> None:
        if not folds.held.any():
            raise ValueError("no fold of cv holds rows out; choose another cv")

    def _targets(self, data: TrainingSet) -> np.ndarray:
        """In deviations."""
        targets = data.targets if self._log is None else self._log.inward(data.targets)
        share = data.weights / data.weights.sum()
        centre = share @ targets
        deviation = np.sqrt(share @ (targets - centre) ** 2)
        self._unit = np.where((deviation > 1e-12 * np.abs(centre)) & (deviation > 0.0), deviation, 1.0)
        return targets / self._unit

    def _held_out(self, rows: SearchRows, decisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Targets of held-out rows, and what is predicted for them."""
        targets, outputs = self._unit * (rows.Y + rows.mean)[rows.held], self._unit * decisions
        if self._log is None:
            return targets, outputs
        targets = self._log.quantiles(targets)
        return targets, self._log.adjusted(outputs, targets, rows.held_weights).means(outputs)

    def _criterion(self, data: TrainingSet) -> Callable[[SearchRows], Criterion]:
        metric = None if self.scoring is None else regression_metric(self)
        unit = self._unit if self._log is None else data.targets.std(axis=0)

        def criterion_for(rows: SearchRows) -> Criterion:
            weights, folds = rows.held_weights, rows.held_folds

            def criterion(decisions: np.ndarray) -> float:
                targets, outputs = self._held_out(rows, decisions)
                if metric is None:
                    errors = np.mean(((targets - outputs) / unit) ** 2, axis=1)
                    return float(weights @ errors / weights.sum())
                parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
                columns = [zip(targets[part].T, outputs[part].T, strict=True) for part in parts]
                scores = [metric(own, predicted) for pairs in columns for own, predicted in pairs]
                if not np.isfinite(scores).all():
                    raise ValueError(
                        "the score of some fold is not a finite number; choose another scoring or cv"
                    )
                return -float(np.mean(scores))

            return criterion

        return criterion_for

    def _sample(self, data: TrainingSet, state: np.random.RandomState, size: int) -> np.ndarray:
        return np.sort(state.permutation(data.m)[:size])

    def _attributes_of(self, task: Task, search: Search, model: Model) -> dict[str, Any]:
        judged, weights = model.judged, model.judged.held_weights
        targets, predicted = self._held_out(judged, model.decisions)
        if self.scoring is None:
            score = r2_score(targets, predicted, sample_weight=weights) if len(targets) > 1 else np.nan
        else:
            score = -task.criterion_for(judged)(model.decisions)
        machines = [
            replace(machine, coefficients=self._unit * machine.coefficients, bias=self._unit * machine.bias)
            for machine in model.machines
        ]
        held, of_features = judged.X[judged.held], vars(machines[0].kernel).get("weights")
        pairs = self._unit * model.decisions, self._unit * (judged.Y + judged.mean)[judged.held]
        columns = list(zip(pairs[0].T, pairs[1].T, strict=True))
        return self._shared_attributes(task, search, model) | {
            "losses_": ["squared" if np.isinf(one.limit) else "huber" for one in model.members],
            "best_score_": float(score), "support_": task.data.rows.astype(np.int32), "_machines": machines,
            "_residuals": [Residuals.from_held_out(held, f, t, weights, of_features) for f, t in columns],
            "_log": None if self._log is None else self._log.adjusted(pairs[0], targets, weights),
        }  # fmt: skip

    def _predicted(self, decisions: np.ndarray) -> np.ndarray:
        found = decisions if self._log is None else self._log.means(decisions)
        return found[:, 0] if found.shape[1] == 1 else found

    @lazy_on_dask
    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """For each row an interval that holds its target with a probability of about `coverage`.

        Its half-width is a quantile of the absolute residuals of held-out rows (of logarithms, if these were
        learned), with the correction for their number of conformal prediction. Residuals are divided by the
        size that they have near each row first, if that makes intervals narrower: they are then wide where
        the model errs more.

        The one assumption is that new rows are drawn like the training rows; noise may have any shape. For a
        model chosen without the held-out rows the probability would be `coverage` or slightly more. Here
        they have chosen among some dozen machines (which makes intervals narrower), and were predicted by
        machines of fewer rows (which makes them wider): docs/measurements.md has what remains. It holds on
        average over rows, not for every group of them.

        Parameters
        ----------
        X : as for `predict`
        coverage : float, default=0.9
            Between 0 and 1. With fewer than ``coverage / (1 - coverage)`` held-out rows intervals are
            infinite.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends; (n_samples, n_targets, 2) for several targets, each held by itself.

        References
        ----------
        J. Lei et al., *Distribution-Free Predictive Inference for Regression*, JASA 113, 2018; R. F. Barber
        et al., *Predictive Inference with the Jackknife+*, Annals of Statistics 49, 2021.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_diabetes
        >>> from adatron import AutoSVR
        >>> X, y = load_diabetes(return_X_y=True)
        >>> ends = AutoSVR().fit(X[:300], y[:300]).predict_interval(X[300:], coverage=0.8)
        >>> bool(0.7 < np.mean((ends[:, 0] <= y[300:]) & (y[300:] <= ends[:, 1])) < 0.9)
        True
        """
        level = check_level("coverage", coverage)
        return self._for_each_target(X, lambda own, *rows: own.interval(*rows, level))

    @lazy_on_dask
    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target of each row: it is below the one of 0.95 with a probability of about 0.95.

        They are the prediction plus quantiles of held-out residuals, in units of the size that residuals
        have nearby; assumptions are those of `predict_interval`. Unlike its ends, those of 0.05 and 0.95
        need not be equally far from the prediction.

        Parameters
        ----------
        X : as for `predict`
        quantiles : float or sequence of float, default=(0.05, 0.5, 0.95)
            Between 0 and 1. Where held-out rows are too few to tell, they are infinite.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles), or (n_samples, n_targets, n_quantiles)

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from adatron import AutoSVR
        >>> X, y = load_diabetes(return_X_y=True)
        >>> low, high = AutoSVR().fit(X[:300], y[:300]).predict_quantiles(X[300:], [0.25, 0.75]).T
        >>> bool(0.4 < ((low < y[300:]) & (y[300:] < high)).mean() < 0.6)
        True
        """
        levels = np.array([check_level("quantiles", level) for level in np.ravel(quantiles)])
        return self._for_each_target(X, lambda own, *rows: own.quantiles(*rows, levels))

    def _for_each_target(self, X: Any, of: Callable[..., np.ndarray]) -> np.ndarray:
        """What residuals say of rows and their outputs, in targets; (n, k, …) for several."""
        scaled = self._rows_to_expand(X)
        pairs = zip(self._residuals, self._outputs(scaled).T, strict=True)
        found = np.stack([of(own, scaled, outputs) for own, outputs in pairs], axis=1)
        found = found if self._log is None else self._log.quantiles(found)
        return found[:, 0] if found.shape[1] == 1 else found

    @property
    def _n_columns(self) -> int:
        return len(self._residuals)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        own, vectors, log = self._residuals, self._machines[0].vectors, self._log
        width = 1 if sparse.issparse(vectors) else vectors.shape[1] + 1
        is_sound = type(own) is list and all(type(one) is Residuals for one in own)
        is_sound = is_sound and {one.local.vectors.shape[1] for one in own if one.local} <= {width}
        if not is_sound or not (log is None or (type(log) is LogTarget and len(own) == 1)):
            raise ValueError("_residuals are those of another model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def target_columns(y: Any) -> list[Any]:
    """The targets, if there are several, else all that was given."""
    y = on_client(y)
    values = np.asarray(y)
    return list(values.T) if values.ndim == 2 and values.shape[1] > 1 else [y]
