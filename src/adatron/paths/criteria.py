"""By what a width is judged, and the rows held out for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from adatron.estimators.inputs import check_labels, check_predict_X
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import as_random_state, check_integer, closest_name
from adatron.estimators.training_data import TrainingData
from adatron.gram import expand
from adatron.paths.width_fit import PathRows, WidthFit

__all__ = ["CRITERIA", "Criterion", "criterion_from"]

CRITERIA = {"vc": "R²/γ²", "loo": "share of support vectors", "cv": "cv error"}


@dataclass(frozen=True)
class Criterion:
    """A name, what it is called in pictures, and what is held out."""

    name: str
    label: str
    layout: Layout
    training: np.ndarray  # (m, F): which rows each fold trains on
    held: np.ndarray  # (m, F): which rows each fold is measured on
    X_val: Any = field(default=None, repr=False)
    codes_val: np.ndarray | None = field(default=None, repr=False)

    def predicted(self, decisions: np.ndarray) -> np.ndarray:
        """Index of the class of each row."""
        return self.layout.vote(decisions)

    def held_out_error(self, rows: PathRows, fit: WidthFit) -> float:
        """Share of the held-out rows that are misclassified; NaN if none are held out."""
        k = rows.n_problems
        if self.X_val is not None:
            used = np.flatnonzero(fit.coefficients[:, :k].any(axis=1))
            decisions = expand(fit.kernel, self.X_val, rows.X[used], fit.coefficients[used, :k])
            decisions += np.array([solution.bias for solution in fit.solutions[:k]])
            return float(np.mean(self.predicted(decisions) != self.codes_val))
        if not self.held.any():
            return float("nan")
        wrong = 0
        for fold in range(self.held.shape[1]):
            decisions = fit.outputs[:, k * (1 + fold) : k * (2 + fold)]
            wrong += int(np.sum((self.predicted(decisions) != rows.codes) & self.held[:, fold]))
        return wrong / int(self.held.sum())


def criterion_from(
    criterion: Any, cv: Any, random_state: Any, estimator: Any, data: TrainingData
) -> Criterion:
    """The criterion a user asks for, by name or by a pair of validation rows and labels."""
    layout = Layout(len(data.classes), "ovr")
    none = np.zeros((len(data.codes), 0), dtype=bool)
    if isinstance(criterion, tuple | list) and len(criterion) == 2:
        X_val, codes_val = _validation(criterion, estimator, data)
        return Criterion("validation", "validation error", layout, none, none, X_val, codes_val)
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise ValueError(
            f"criterion must be one of {list(CRITERIA)} or a pair (X_val, y_val), got {criterion!r}"
            f"{closest_name(criterion, list(CRITERIA))}"
        )
    training, held = _folds(cv, random_state, data) if criterion == "cv" else (none, none)
    return Criterion(criterion, CRITERIA[criterion], layout, training, held)


def _validation(pair: Any, estimator: Any, data: TrainingData) -> tuple[Any, np.ndarray]:
    """Validation rows and the index of each one's class, −1 for a class that training has not seen."""
    X_val = check_predict_X(estimator, pair[0])
    if X_val.shape[0] == 0:
        raise ValueError("criterion=(X_val, y_val) needs at least one validation row, got none")
    labels, places = check_labels(X_val, pair[1])
    known = {label: code for code, label in enumerate(data.classes.tolist())}
    codes = np.array([known.get(label, -1) for label in labels.tolist()])
    if (codes < 0).all():
        raise ValueError(
            f"criterion=(X_val, y_val): none of the labels {labels.tolist()[:5]!r} of y_val is a class of y, "
            f"which has {data.classes.tolist()[:5]!r}"
        )
    return X_val, codes[places]


def _folds(cv: Any, random_state: Any, data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Which rows each fold trains on and which it holds out, (m, F) each."""
    if isinstance(cv, Integral):
        allowed = "an integer >= 2, a splitter or an iterable of splits"
        n_folds = check_integer("cv", cv, at_least=2, allowed=allowed)
        state = as_random_state(random_state)
        splitter: Any = StratifiedKFold(n_folds, shuffle=True, random_state=state)
        _check_members(data, n_folds)
    else:
        splitter = check_cv(cv, data.codes, classifier=True)
    splits = list(splitter.split(data.X, data.codes))
    training, held = (np.zeros((len(data.codes), len(splits)), dtype=bool) for _ in range(2))
    for fold, parts in enumerate(splits):
        training[parts[0], fold] = held[parts[1], fold] = True
        missing = np.setdiff1d(np.arange(len(data.classes)), data.codes[training[:, fold]])
        if len(missing):
            raise ValueError(
                f"fold {fold} of cv leaves no row of the classes {data.classes[missing].tolist()!r} "
                "to train on; add rows of these classes, or choose another cv"
            )
    if not held.any():
        raise ValueError(f"cv={cv!r} holds no rows out")
    return training, held


def _check_members(data: TrainingData, n_folds: int) -> None:
    counts = np.bincount(data.codes)
    if counts.min() < n_folds:
        label = data.classes[counts.argmin()].item()
        raise ValueError(
            f"cv={n_folds} needs at least {n_folds} rows of every class, class {label!r} has {counts.min()}; "
            "lower cv or add rows"
        )
