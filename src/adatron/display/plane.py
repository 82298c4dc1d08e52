"""Points, classes and support vectors of a classifier in the plane."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from adatron.display.style import innermost

__all__ = ["check_classes", "check_points", "feature_names_of", "grid_around", "like", "support_vectors_of"]

_PADDING = 0.1  # of the range of each feature


def check_points(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """`X` as an array with two columns, `y` as an array of as many labels."""
    points = np.asarray(X.toarray() if sparse.issparse(X) else X)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(
            f"MarginDisplay draws two features, but X has shape {points.shape}; choose two columns, or "
            "reduce X to two (for instance with PCA), and fit on those"
        )
    labels = np.asarray(y).ravel()
    check_consistent_length(points, labels)
    return points.astype(float), labels


def check_classes(estimator: Any, labels: np.ndarray) -> np.ndarray:
    """The two classes of the estimator, with `labels` among them."""
    classes = np.asarray(getattr(estimator, "classes_", np.unique(labels)))
    if classes.shape != (2,):
        raise ValueError(
            f"MarginDisplay draws two classes, but classes_ has shape {classes.shape}: {classes.tolist()!r}; "
            "fit on the rows of two of them, or on one against the rest"
        )
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"y must hold only the classes {classes.tolist()!r}, got also {unknown.tolist()!r}")
    return classes


def grid_around(points: np.ndarray, resolution: int) -> list[np.ndarray]:
    """``resolution × resolution`` places over the range of `points` and a little more."""
    if not isinstance(resolution, Integral) or resolution < 2:
        raise ValueError(f"grid_resolution must be an integer >= 2, got {resolution!r}")
    low, high = points.min(axis=0), points.max(axis=0)
    extra = np.where(high > low, _PADDING * (high - low), 1.0)
    sides = [np.linspace(a, b, int(resolution)) for a, b in zip(low - extra, high + extra, strict=True)]
    return np.meshgrid(*sides)


def like(X: Any, values: np.ndarray) -> Any:
    """`values` in a frame with the columns of `X`, if that is a frame: estimators compare names."""
    if hasattr(X, "iloc"):
        return type(X)(values, columns=X.columns)
    return type(X)(values, schema=list(X.columns)) if hasattr(X, "columns") else values


def feature_names_of(X: Any) -> tuple[str, str]:
    """The names of the two columns."""
    first, second = getattr(X, "columns", ("feature 0", "feature 1"))
    return str(first), str(second)


def support_vectors_of(estimator: Any, points: np.ndarray) -> np.ndarray | None:
    """Where the support vectors lie, in the coordinates of `points`.

    A pipeline has them in its inner coordinates, so there `points` must be the training data.
    """
    inner = innermost(estimator)
    support = getattr(inner, "support_", None)
    vectors: Any = getattr(inner, "support_vectors_", None)
    if support is None or vectors is None:  # all rows of a least-squares machine are support vectors
        return None
    vectors = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
    if inner is estimator and vectors.shape == (len(support), 2):
        return vectors
    is_training_data = getattr(inner, "shape_fit_", (len(points),))[0] == len(points)
    return points[support] if is_training_data and np.all(support < len(points)) else None
