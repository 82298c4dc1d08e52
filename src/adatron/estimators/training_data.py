"""What an estimator trains on: checked rows, classes or targets, weights; rows of weight 0 are gone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from adatron.estimators.base import is_far
from adatron.estimators.inputs import check_labels, check_sample_weight, check_targets, check_training_X
from adatron.estimators.kernel_choice import check_precomputed, is_precomputed
from adatron.gram import is_distributed, kept_rows
from adatron.kernels import Linear

__all__ = ["TrainingData", "WeightedRows", "centred_if_far", "classification_data", "weighted_rows"]

_ROUNDING = 1e-13
_MODERATE = 20  # powers of two up to which weights are left as they are


@dataclass(frozen=True)
class Moved:
    """How rows were moved before training."""

    by: np.ndarray  # (n_features,)
    X: np.ndarray  # as it was


@dataclass(frozen=True)
class TrainingData:
    """Rows that take part in a fit."""

    X: Any
    rows: np.ndarray  # of the user's X
    codes: np.ndarray  # index of the class of each row
    classes: np.ndarray
    sample_weight: np.ndarray  # as the user gave it
    weights: np.ndarray  # sample weight times class weight
    class_weight: np.ndarray
    shape: tuple[int, ...]  # of the user's X
    weight_scale: float = 1.0  # by which weights were multiplied
    moved: Moved | None = None

    def with_moderate_weights(self) -> TrainingData:
        """Weights of extreme size brought near 1 by a power of two, which rounds nothing."""
        exponent = int(np.frexp(self.weights.max())[1])
        if abs(exponent) <= _MODERATE:
            return self
        tiny = np.finfo(float).tiny
        weights, given = (
            np.maximum(np.ldexp(w, -exponent), tiny) for w in (self.weights, self.sample_weight)
        )
        scale = float(np.ldexp(1.0, -exponent))
        return replace(self, weights=weights, sample_weight=given, weight_scale=scale)


def classification_data(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """Check everything that `fit` is given."""
    X = check_training_X(estimator, X)
    classes, codes = check_labels(X, y)
    if len(classes) < 2:
        name = type(estimator).__name__
        raise ValueError(f"{name} needs at least two classes, y has only 1 class: {classes.tolist()[0]!r}")
    given = check_sample_weight(sample_weight, X.shape[0])
    class_weight = _check_class_weight(getattr(estimator, "class_weight", None), classes, codes, given)
    weights = given * class_weight[codes]
    rows = np.flatnonzero(weights > 0.0)
    _check_no_class_vanished(codes[rows], classes)
    shape = tuple(X.shape)
    X = _taking_part(estimator, X, rows)
    return TrainingData(X, rows, codes[rows], classes, given[rows], weights[rows], class_weight, shape)


@dataclass(frozen=True)
class WeightedRows:
    """Rows that take part in a fit without classes."""

    X: Any
    rows: np.ndarray  # of the user's X
    targets: np.ndarray  # empty where there are none
    weights: np.ndarray
    shape: tuple[int, ...]  # of the user's X
    moved: Moved | None = None


def weighted_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, has_targets: bool) -> WeightedRows:
    """Check everything that the `fit` of a regression, or without targets, is given."""
    X = check_training_X(estimator, X)
    targets = check_targets(X, y) if has_targets else np.zeros(X.shape[0])
    weights = check_sample_weight(sample_weight, X.shape[0])
    rows = np.flatnonzero(weights > 0.0)
    shape = tuple(X.shape)
    return WeightedRows(_taking_part(estimator, X, rows), rows, targets[rows], weights[rows], shape)


def centred_if_far(data: Any, estimator: Any) -> Any:
    """Data whose rows lie around the origin, where that changes nothing but the rounding.

    With a bias the linear kernel does not care where the origin is, but its values do: those of rows at a
    distance of 1e7 have no digit left after the sum over multipliers that add up to zero. The published
    algorithms are left with the kernel that they are given.
    """
    kernel = estimator.kernel
    is_linear = isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")
    has_choice = estimator._is_greedy and estimator.fit_intercept and estimator.rank is None
    if not is_linear or not has_choice:
        return data
    if sparse.issparse(data.X) or is_distributed(data.X):
        return data
    with np.errstate(over="ignore", invalid="ignore"):
        centre = data.X.mean(axis=0)
    if not np.isfinite(centre).all() or not is_far(centre, data.X):
        return data
    rows = data.X - centre
    if np.abs(rows).max() <= _ROUNDING * np.abs(centre).max():  # all rows are equal
        return data
    return replace(data, X=rows, moved=Moved(centre, data.X))


def _taking_part(estimator: Any, X: Any, rows: np.ndarray) -> Any:
    """The rows of X, or of both sides of a kernel matrix."""
    if is_precomputed(estimator.kernel):
        return check_precomputed(X)[np.ix_(rows, rows)]
    if is_distributed(X):
        return kept_rows(X, rows)
    return X if len(rows) == X.shape[0] else X[rows]  # no second copy


def _check_class_weight(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            if label not in classes:
                raise ValueError(f"class_weight names class {label!r}, but y has only {classes.tolist()!r}")
            if not isinstance(weight, Real) or not 0.0 <= float(weight) < np.inf:
                raise ValueError(f"class_weight must be finite and >= 0, got {weight!r} for class {label!r}")
    elif not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}")
    if class_weight == "balanced" and not weights.any():
        weights = np.ones_like(weights)  # the check for vanished classes says what is wrong
    moderate = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # sums of huge ones overflow
    with np.errstate(divide="ignore"):
        found = compute_class_weight(class_weight, classes=classes, y=classes[codes], sample_weight=moderate)
    return np.where(np.isfinite(found), found, 1.0)  # a class without weight is named afterwards


def _check_no_class_vanished(codes: np.ndarray, classes: np.ndarray) -> None:
    missing = classes[np.bincount(codes, minlength=len(classes)) == 0].tolist()
    if missing:
        raise ValueError(f"every row of the classes {missing!r} has zero weight; each class needs some rows")
