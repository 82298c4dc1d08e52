"""`AutoSVR`: a tuned kernel regression without C, ε and γ."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from adatron.auto.base import AutoEstimator, Task
from adatron.auto.exact import Model
from adatron.auto.rows import SearchRows
from adatron.auto.scoring import Criterion, regression_metric
from adatron.auto.search import Search
from adatron.estimators.expansion import ExpansionMachine
from adatron.estimators.folds import Folds
from adatron.estimators.training_set import TrainingSet, weighted_set


class AutoSVR(AutoEstimator, RegressorMixin, ExpansionMachine):
    """A tuned kernel regression for tables: no C, ε, γ and no scaling to choose.

    The search is that of `AutoSVC`: three kernels, their widths and penalties, with and without weights of
    features, and the mean of up to four machines where held-out rows prefer it. Tables, many rows and text
    are treated as there.

    Parameters
    ----------
    cv, scoring : as in `sklearn.model_selection.GridSearchCV`, default=5, None
        By default the score is the squared error of all held-out rows.
    time_limit, random_state, n_jobs, verbose : as for `AutoSVC`, default=None, None, None, False

    Attributes
    ----------
    best_score_ : R² on held-out rows, or their mean score by `scoring`
    gamma_, C_, kernels_, feature_importances_, path_, cv_results_, encoder_ : as for `AutoSVC`
    duality_gap_, n_iter_, status_, converged_ : as for `AutoSVC`

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

    def __init__(self, *, cv=5, scoring=None, time_limit=None, random_state=None, n_jobs=None, verbose=False):
        self.cv, self.scoring, self.time_limit = cv, scoring, time_limit
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        return weighted_set(self, X, y, sample_weight, has_targets=True)

    def _order_keys(self, data: TrainingSet) -> tuple[np.ndarray, ...]:
        return (data.targets,)

    def _check_folds(self, folds: Folds, data: TrainingSet, order: np.ndarray) -> None:
        if not folds.held.any():
            raise ValueError("no fold of cv holds rows out; choose another cv")

    def _targets(self, data: TrainingSet) -> np.ndarray:
        """In deviations from their mean."""
        share = data.weights / data.weights.sum()
        centre = float(share @ data.targets)
        deviation = float(np.sqrt(share @ (data.targets - centre) ** 2))
        self._unit = deviation if deviation > 1e-12 * abs(centre) and deviation > 0.0 else 1.0
        return data.targets[:, None] / self._unit

    def _criterion(self, data: TrainingSet) -> Callable[[SearchRows], Criterion]:
        unit = self._unit
        metric = None if self.scoring is None else regression_metric(self)

        def criterion_for(rows: SearchRows) -> Criterion:
            targets, weights, folds = (rows.Y + rows.mean)[rows.held, 0], rows.held_weights, rows.held_folds

            def criterion(decisions: np.ndarray) -> float:
                if metric is None:
                    return float(weights @ (targets - decisions[:, 0]) ** 2 / weights.sum())
                parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
                pairs = [(unit * targets[part], unit * decisions[part, 0]) for part in parts]
                scores = [metric(own, predicted) for own, predicted in pairs]
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
        criterion, judged = task.criterion_for(model.judged), model.judged
        score = -criterion(model.decisions)
        if self.scoring is None:
            weights, targets = judged.held_weights, (judged.Y + judged.mean)[judged.held, 0]
            share = weights / weights.sum()
            variance = float(share @ (targets - share @ targets) ** 2)
            score = 1.0 + score / variance if variance > 0.0 else float(score == 0.0)
        machines = [
            replace(machine, coefficients=self._unit * machine.coefficients, bias=self._unit * machine.bias)
            for machine in model.machines
        ]
        return self._shared_attributes(task, search, model) | {
            "best_score_": score, "support_": task.data.rows.astype(np.int32), "_machines": machines,
        }  # fmt: skip
