"""A fit, how good it is on rows that it was not trained on, and how certain that is."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import binomtest
from scipy.stats import t as student
from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor
from sklearn.metrics import roc_auc_score

from adatron.display.figures import innermost

_BOOTSTRAP_DRAWS = 500
_TASKS = {
    "classification": is_classifier, "regression": is_regressor, "outliers": is_outlier_detector,
    "clusters": is_clusterer,
}  # fmt: skip


@dataclass(frozen=True)
class FitStory:
    """A fit, as the summary and the report need it; without test rows the training rows are judged."""

    name: str  # of the data
    model: Any  # fitted; a pipeline that ends in one of ours will do
    X_train: Any  # in the form that `model` predicts from
    y_train: Any
    X_test: Any = None
    y_test: Any = None
    seconds: float = math.nan  # of the fit
    memory: float | None = None  # bytes at the peak
    data: Mapping[str, str] = field(default_factory=dict)  # what else is known; "target" is its name
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    model_file: str | None = None

    @cached_property
    def machine(self) -> Any:
        """The estimator inside the pipeline."""
        return innermost(self.model)

    @cached_property
    def task(self) -> str:
        """ "classification", "regression", "outliers" or "clusters"."""
        return next(task for task, has_task in _TASKS.items() if has_task(self.machine))

    @property
    def has_test_rows(self) -> bool:
        return self.X_test is not None

    @property
    def judged(self) -> tuple[Any, np.ndarray]:
        """The test rows and their targets; those of training where there are none for testing."""
        if self.has_test_rows:
            return self.X_test, np.asarray(self.y_test)
        return self.X_train, np.asarray(self.y_train)

    @cached_property
    def predictions(self) -> np.ndarray:
        return np.asarray(self.model.predict(self.judged[0]))

    @cached_property
    def judgement(self) -> dict[str, Any]:
        X, y = self.judged
        return judge(self.model, X, y, self.y_train, self.predictions)


def judge(model: Any, X: Any, y: Any, y_train: Any, predicted: Any = None) -> dict[str, Any]:
    """Error with its interval, that of the best constant guess, and AUC, or RMSE and R².

    The best constant guess is the most frequent class, or the mean, of the training rows.
    """
    predicted = np.asarray(model.predict(X) if predicted is None else predicted)
    y, y_train = np.asarray(y), np.asarray(y_train)
    if not is_classifier(innermost(model)):
        squared, squared_of_guess = (y - predicted) ** 2, (y - np.mean(y_train)) ** 2
        variance = float(np.var(y))
        return {
            "n_judged": len(y),
            "rmse": math.sqrt(squared.mean()),
            "rmse_interval": [math.sqrt(end) for end in _mean_interval(squared)],
            "baseline_rmse": math.sqrt(squared_of_guess.mean()),
            "is_better": is_clearly_less(squared, squared_of_guess),
            "r2": 1.0 - float(squared.mean()) / variance if variance > 0.0 else math.nan,
        }
    n, is_wrong = len(y), predicted != y
    n_wrong = int(is_wrong.sum())
    guess, interval = Counter(y_train.tolist()).most_common(1)[0][0], binomtest(n_wrong, n).proportion_ci
    found = {
        "n_judged": n,
        "n_wrong": n_wrong,
        "error_percent": 100.0 * n_wrong / n,
        "error_interval_percent": [100.0 * float(end) for end in interval(0.95, "wilson")],
        "baseline": str(guess),
        "baseline_error_percent": 100.0 * float(np.mean(y != guess)),
        "is_better": is_clearly_less(is_wrong, y != guess),
    }
    classes = np.asarray(model.classes_)
    is_positive = y == classes[-1]
    if len(classes) == 2 and 0 < is_positive.sum() < n:
        found["positive_class"] = str(classes[1])
        found["auc"] = float(roc_auc_score(is_positive, model.decision_function(X)))
    return found


def is_clearly_less(losses: Any, others: Any) -> bool:
    """Whether losses are smaller on average than others on the same rows or folds, with 95 % confidence."""
    gain, n = np.asarray(others, dtype=float) - np.asarray(losses, dtype=float), len(losses)
    return n > 1 and bool(gain.mean() > student.ppf(0.975, n - 1) * gain.std(ddof=1) / math.sqrt(n))


def _mean_interval(values: np.ndarray) -> tuple[float, float]:
    """A likely range of the mean of values >= 0 (bootstrap-t, 95 %).

    Squared errors are skewed: for few rows, mean ± two standard errors covers the truth in seven of ten
    cases, this interval in nine.
    """
    n, mean = len(values), float(values.mean())
    deviation = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    if not 0.0 < deviation < math.inf:
        return (mean, mean) if deviation == 0.0 else (0.0, math.inf)
    draw, statistics = np.random.default_rng(0), []
    for _ in range(_BOOTSTRAP_DRAWS):
        drawn = values[draw.integers(0, n, n)]
        spread = float(drawn.std(ddof=1)) / math.sqrt(n)
        statistics.append((float(drawn.mean()) - mean) / spread if spread > 0.0 else 0.0)
    low, high = np.quantile(statistics, [0.025, 0.975])
    return max(0.0, mean - float(high) * deviation), mean - float(low) * deviation


def what_mattered(model: Any, columns: list[str]) -> list[tuple[str, float]]:
    """Columns with their share of the importance, largest first; empty if the model has none.

    Outputs of an encoder count towards the column they came from.
    """
    values = getattr(innermost(model), "feature_importances_", None)
    if values is None or not columns:
        return []
    values = np.abs(np.asarray(values, dtype=float))
    origin = getattr(model[0], "output_columns_", None) if hasattr(model, "steps") else None
    if origin is not None and len(origin) == len(values):
        values = np.bincount(origin, weights=values, minlength=len(columns))
    if len(values) != len(columns) or not values.sum() > 0.0:
        return []
    in_use = values[values > 0.0]
    if len(in_use) > 1 and np.ptp(in_use) == 0.0:  # all alike: importances were not learned
        return []
    shares = values / values.sum()
    return [(columns[i], float(shares[i])) for i in np.argsort(-shares, kind="stable")]
