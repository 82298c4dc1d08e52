"""The data of a fit of `AutoSVC` or `AutoSVR`, and what is reported about its search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.auto.rows import SearchRows, fold_list
from adatron.auto.scaling import Scaler
from adatron.auto.scoring import Criterion
from adatron.auto.search import Candidate
from adatron.estimators.folds import Folds
from adatron.estimators.training_set import TrainingSet


@dataclass(frozen=True)
class Task:
    """What a fit is about: rows, how they are scaled, and the targets of the machines."""

    data: TrainingSet  # in an order that does not depend on the one the rows came in
    folds: Folds
    scale: Scaler
    Y: np.ndarray  # (m, k)
    blocks: np.ndarray  # (d,): the column that each scaled feature came from
    criterion_for: Callable[[SearchRows], Criterion]
    state: np.random.RandomState
    means: list[np.ndarray]  # for every fold, the target means that know no target of its held-out rows
    mean_places: np.ndarray | None  # of the features that they are

    def rows(self, X: Any) -> SearchRows:
        """All rows, with `X` in scaled features."""
        return self._rows(X, np.arange(self.data.m))

    def sample(self, places: np.ndarray) -> SearchRows:
        """Some rows; those that a fold holds out come together."""
        places = places[np.argsort(self.folds.held[places].argmax(axis=1), kind="stable")]
        return self._rows(self.scale(self.data.X[places]), places)

    def _rows(self, X: Any, places: np.ndarray) -> SearchRows:
        data, means = self.data, self.means
        mean = data.weights @ self.Y / data.weights.sum()
        codes = data.codes[places] if len(data.codes) else data.codes
        folds = fold_list(self.folds.some(places), [own[places] for own in means] if means else None)
        Y, weights = self.Y[places] - mean, data.weights[places]
        return SearchRows(X, Y, mean, codes, weights, self.blocks, folds, self.mean_places)


def cv_results(tried: list[Candidate], best_score: float) -> dict[str, Any]:
    """``cv_results_`` as in scikit-learn's searches; the criterion is `best_score` less the score."""
    scores = np.array([best_score - one.criterion if np.isfinite(one.criterion) else np.nan for one in tried])
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
    ranks = np.empty(len(tried), dtype=np.int32)
    ranks[order] = np.arange(1, len(tried) + 1)
    params = [
        {"kernel": c.kernel, "gamma": c.gamma, "C": 1.0 / c.penalty, "power": c.power, "rounds": c.rounds}
        for c in tried
    ]
    columns = {f"param_{name}": np.array([p[name] for p in params]) for name in params[0]}
    seconds = np.array([one.seconds for one in tried])
    return {
        "params": params,
        "mean_test_score": scores,
        "rank_test_score": ranks,
        "mean_fit_time": seconds,
    } | columns
