"""What an estimator trains on, checked once: rows, classes or targets, weights."""

from dataclasses import dataclass, field, replace
from functools import partial
from math import fsum
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from adatron.estimators.inputs import check_labels, check_sample_weight, check_targets, check_training_X
from adatron.estimators.parameters import is_precomputed
from adatron.gram import Regime, by_rows, kept_rows, row_bytes, row_keys

_FAR = 1e4  # squared distance of rows from the origin, relative to that from their mean
_ROUNDING = 1e-13
_MODERATE = 20  # powers of two up to which weights are left as they are
_nothing: Any = partial(np.empty, 0, np.int64)


@dataclass(frozen=True)
class TrainingSet:
    """Rows that take part in a fit: finite, of positive weight, and never checked again."""

    X: Any  # array, CSR matrix, objects, rows on a cluster, or a kernel matrix
    rows: np.ndarray  # of the user's X
    weights: np.ndarray  # sample weight times class weight
    sample_weight: np.ndarray  # as the user gave it
    shape: tuple[int, ...]  # of the user's X
    codes: np.ndarray = field(default_factory=_nothing)  # index of the class of each row
    classes: np.ndarray = field(default_factory=_nothing)
    class_weight: np.ndarray = field(default_factory=_nothing)
    targets: np.ndarray = field(default_factory=_nothing)
    weight_scale: float = 1.0  # by which weights were multiplied
    origin: np.ndarray | None = None  # what was subtracted from the rows before training
    given: Any = None  # the rows before that

    @property
    def m(self) -> int:
        return len(self.rows)

    def some(self, places: np.ndarray, X: Any = None) -> Self:
        """Some of the rows, in the order given, where they are unless `X` has them."""
        names = ("rows", "weights", "sample_weight", "codes", "targets")
        chosen = {name: getattr(self, name)[places] for name in names if len(getattr(self, name))}
        return replace(self, X=kept_rows(self.X, places) if X is None else X, **chosen)

    def with_moderate_weights(self) -> Self:
        """Weights of extreme size brought near 1 by a power of two, which rounds nothing."""
        exponent = int(np.frexp(self.weights.max())[1])
        if abs(exponent) <= _MODERATE:
            return self
        tiny, scale = np.finfo(float).tiny, float(np.ldexp(1.0, -exponent))
        both = self.weights, self.sample_weight
        weights, given = (np.maximum(np.ldexp(w, -exponent), tiny) for w in both)
        return replace(self, weights=weights, sample_weight=given, weight_scale=scale)

    def merged(self, regime: Regime) -> Self:
        """Each distinct (row, class) once, with the summed weights of its copies.

        Only rows whose class and weighted sum another row has too can be equal: only these are compared.
        """
        if self.m > regime.merge_up_to:
            return self
        sums = row_sums(self.X)
        order = np.lexsort((sums, self.codes))
        same = (np.diff(sums[order]) == 0.0) & (np.diff(self.codes[order]) == 0)
        suspects = np.union1d(order[1:][same], order[:-1][same])
        rows, owner = self.X[suspects], np.arange(self.m)
        first: dict[tuple[int, bytes], int] = {}
        for k, i in enumerate(suspects.tolist()):
            owner[i] = first.setdefault((int(self.codes[i]), row_bytes(rows, k)), i)
        kept, place = np.unique(owner, return_inverse=True)
        weights, given = (np.bincount(place, weights=w) for w in (self.weights, self.sample_weight))
        return replace(self.some(kept), weights=weights, sample_weight=given) if len(kept) < self.m else self

    def conflict(self, values: np.ndarray, apart: float = 0.0) -> tuple[int, int] | None:
        """Places of two equal rows whose values differ by more than `apart`, the lesser value first."""
        ends: dict[bytes, tuple[int, int]] = {}  # of equal rows, those of the least and the greatest value
        get = values.tolist().__getitem__
        for i, key in enumerate(row_keys(self.X)):
            if key not in ends:  # as nearly all are
                ends[key] = i, i
                continue
            ends[key] = low, high = min(*ends[key], i, key=get), max(*ends[key], i, key=get)
            if get(high) - get(low) > apart:
                return low, high
        return None

    def centred_if_far(self) -> Self:
        """Rows moved to the origin where products of them would lose digits, for a linear kernel with a bias.

        At a distance of 1e7, values have no digit left after a sum over multipliers that add up to zero.
        """
        if not isinstance(self.X, np.ndarray):
            return self
        with np.errstate(over="ignore", invalid="ignore"):
            centre = self.X.mean(axis=0)
        if not np.isfinite(centre).all() or not is_far(centre, self.X):
            return self
        moved = self.X - centre
        if np.abs(moved).max() <= _ROUNDING * np.abs(centre).max():  # all rows are equal
            return self
        return replace(self, X=moved, origin=centre, given=self.X)


def classification_set(estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
    """Check everything that the `fit` of a classifier is given."""
    X = check_training_X(estimator, X)
    classes, codes = check_labels(X, y)
    if len(classes) < 2:
        name = type(estimator).__name__
        raise ValueError(f"{name} needs at least two classes, y has only 1 class: {classes.tolist()[0]!r}")
    given = check_sample_weight(sample_weight, X.shape[0])
    class_weight = _class_weight(estimator.class_weight, classes, codes, given)
    weights = given * class_weight[codes]
    rows = np.flatnonzero(weights > 0.0)
    missing = classes[np.bincount(codes[rows], minlength=len(classes)) == 0].tolist()
    if missing:
        raise ValueError(f"every row of the classes {missing!r} has zero weight; each class needs some rows")
    return TrainingSet(
        _taking_part(estimator, X, rows), rows, weights[rows], given[rows], tuple(X.shape), codes[rows],
        classes, class_weight,
    )  # fmt: skip


def weighted_set(estimator: Any, X: Any, y: Any, sample_weight: Any, *, has_targets: bool) -> TrainingSet:
    """Check everything that the `fit` of a regression, or without targets, is given."""
    X = check_training_X(estimator, X)
    targets = check_targets(X, y) if has_targets else None
    weights = check_sample_weight(sample_weight, X.shape[0])
    rows = np.flatnonzero(weights > 0.0)
    data = TrainingSet(_taking_part(estimator, X, rows), rows, weights[rows], weights[rows], tuple(X.shape))
    return data if targets is None else replace(data, targets=targets[rows])


def _taking_part(estimator: Any, X: Any, rows: np.ndarray) -> Any:
    """The rows of X, or of both sides of a kernel matrix, which has to be symmetric."""
    if not is_precomputed(estimator.kernel):
        return kept_rows(X, rows)
    K = X.toarray() if sparse.issparse(X) else X
    if K.shape[0] != K.shape[1]:
        needs = "kernel='precomputed' needs the square matrix of kernel values of the training rows"
        raise ValueError(f"{needs}, got shape {K.shape}")
    difference = np.abs(K - K.T)
    i, j = np.unravel_index(int(difference.argmax()), K.shape)
    if difference[i, j] > 1e-12 * np.abs(K).max():
        raise ValueError(
            f"the precomputed kernel matrix is not symmetric: K[{i}, {j}] = {K[i, j]} but "
            f"K[{j}, {i}] = {K[j, i]} (largest difference {difference[i, j]:.3g}); pass (K + K.T) / 2"
        )
    return (K if difference[i, j] == 0.0 else 0.5 * (K + K.T))[np.ix_(rows, rows)]


def _class_weight(given: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, dict):
        for label, weight in given.items():
            if label not in classes:
                raise ValueError(f"class_weight names class {label!r}, but y has only {classes.tolist()!r}")
            if not isinstance(weight, Real) or not 0.0 <= float(weight) < np.inf:
                raise ValueError(f"class_weight must be finite and >= 0, got {weight!r} for class {label!r}")
    elif not (isinstance(given, str) and given == "balanced"):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {given!r}")
    moderate = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # sums of huge ones overflow
    with np.errstate(divide="ignore"):
        found = compute_class_weight(given, classes=classes, y=classes[codes], sample_weight=moderate)
    return np.where(np.isfinite(found), found, 1.0)  # a class without weight is named afterwards


def _row_sums(X: Any) -> np.ndarray:
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    # not by BLAS, whose sums depend on the place of a row
    return np.asarray(X @ weights) if sparse.issparse(X) else np.einsum("ij,j->i", X, weights)


row_sums = partial(by_rows, _row_sums)  # random weighted sums: equal for equal rows, hardly ever for others


def with_constant(X: Any, value: float) -> Any:
    """The rows with one more feature, a constant."""
    constant = np.full((X.shape[0], 1), value)
    return sparse.csr_array(sparse.hstack([X, constant])) if sparse.issparse(X) else np.hstack([X, constant])


def linear_weights(vectors: Any, coefficients: np.ndarray) -> np.ndarray:
    """``Σ_i coefficients_i x_i`` for each column, about the mean of the vectors: fewer digits cancel.

    Coefficients add up to nearly 0; far from the origin what is left matters, and is summed exactly.
    """
    if sparse.issparse(vectors) or not len(vectors):
        return np.asarray(coefficients.T @ vectors)
    centre, totals = vectors.mean(axis=0), coefficients.sum(axis=0)
    if is_far(centre, vectors):
        totals = np.array([fsum(column) for column in coefficients.T])
    return coefficients.T @ (vectors - centre) + np.outer(totals, centre)


def is_far(centre: np.ndarray, X: np.ndarray) -> bool:
    """Whether rows are so far from the origin that products of them lose digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(float(centre @ centre) > _FAR * float(X.var(axis=0).sum()))
