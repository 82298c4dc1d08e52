"""`MarginDisplay`: boundary, margins and support vectors of a classifier of two features."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from adatron.display.figures import INK, NEGATIVE, POSITIVE, innermost, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = ("o", "^")
_PADDING = 0.1  # of the range of each feature
_SOFT = ("#A9CDE4", "#F7F7F7", "#F2C6A5")  # negative side, boundary, positive side


class MarginDisplay:
    """The decision boundary ``f = 0``, the margins ``f = ±1`` and the support vectors, ringed.

    Use `from_estimator`, or give the values on a grid and call `plot`.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (r, r)
        The grid, as from ``numpy.meshgrid``.
    response : ndarray of shape (r, r)
        Decision values on the grid.
    X : ndarray of shape (n_samples, 2)
        Points to draw.
    is_positive : ndarray of bool, shape (n_samples,)
        Whether a point belongs to the second class.
    class_names : tuple of two str, default=("-1", "+1")
    support_vectors : ndarray of shape (n_support, 2), optional
    feature_names : tuple of two str, default=("feature 0", "feature 1")

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    surface_ : contour set of the filled surface
    boundary_, margins_ : contour sets of the lines, None where the grid does not reach that value
    points_ : list of two PathCollections, one for each class
    rings_ : PathCollection of the support vectors, or None

    See Also
    --------
    ConvergenceDisplay : shows the course of a fit.
    sklearn.inspection.DecisionBoundaryDisplay : draws the regions of any classifier or regressor.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from adatron import SVC
    >>> from adatron.display import MarginDisplay
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> display = MarginDisplay.from_estimator(SVC(C=10.0).fit(X, y), X, y, grid_resolution=50)
    >>> display.ax_.get_xlabel(), len(display.points_)
    ('feature 0', 2)
    """

    def __init__(
        self, xx0: np.ndarray, xx1: np.ndarray, response: np.ndarray, *, X: np.ndarray,
        is_positive: np.ndarray, class_names: tuple[str, str] = ("-1", "+1"),
        support_vectors: np.ndarray | None = None,
        feature_names: tuple[str, str] = ("feature 0", "feature 1"),
    ) -> None:  # fmt: skip
        self.xx0, self.xx1, self.response = xx0, xx1, response
        self.X, self.is_positive, self.class_names = X, is_positive, class_names
        self.support_vectors, self.feature_names = support_vectors, feature_names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, grid_resolution: int = 200,
        legend: bool = True,
    ) -> MarginDisplay:  # fmt: skip
        """Draw a fitted classifier of two features and two classes.

        Parameters
        ----------
        estimator : fitted classifier with ``decision_function``
            Its support vectors are ringed if it has ``support_vectors_``.
        X : array-like of shape (n_samples, 2)
        y : array-like of shape (n_samples,)
        ax : Axes, optional
            Default: a new figure.
        grid_resolution : int, default=200
            Values of each feature at which the decision function is evaluated.
        legend : bool, default=True

        Returns
        -------
        MarginDisplay
        """
        return display_of(estimator, X, y, grid_resolution).plot(ax=ax, legend=legend)

    def plot(self, *, ax: Axes | None = None, legend: bool = True) -> MarginDisplay:
        """Draw the surface, its lines and the points.

        Parameters
        ----------
        ax : Axes, optional
            Default: a new figure.
        legend : bool, default=True

        Returns
        -------
        MarginDisplay
        """
        self.ax_ = ax = new_panels(1, (5.6, 4.6))[1][0] if ax is None else ax
        from matplotlib.colors import LinearSegmentedColormap  # there is matplotlib, as there are axes

        self.figure_ = ax.figure
        colours = LinearSegmentedColormap.from_list("adatron_margin", _SOFT)
        surface: dict[str, Any] = {"levels": np.linspace(-2.0, 2.0, 17), "cmap": colours, "extend": "both"}
        self.surface_ = ax.contourf(self.xx0, self.xx1, self.response, zorder=0, **surface)
        self.boundary_ = self._draw_level([0.0], "-", 1.8)
        self.margins_ = self._draw_level([-1.0, 1.0], "--", 1.1)
        self._draw_points()
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        ax.set(xlim=(self.xx0.min(), self.xx0.max()), ylim=(self.xx1.min(), self.xx1.max()))
        if legend:
            self._draw_legend()
        return self

    def _draw_level(self, levels: list[float], linestyle: str, width: float) -> Any:
        reached = [level for level in levels if self.response.min() < level < self.response.max()]
        if not reached:
            return None
        style: dict[str, Any] = {"colors": INK, "linestyles": linestyle, "linewidths": width, "zorder": 1}
        return self.ax_.contour(self.xx0, self.xx1, self.response, levels=reached, **style)

    def _draw_points(self) -> None:
        self.points_ = []
        for side, colour in enumerate((NEGATIVE, POSITIVE)):
            style: dict[str, Any] = {"s": 34, "marker": _MARKERS[side], "color": colour, "zorder": 2}
            style |= {"edgecolor": "white", "linewidth": 0.5, "label": f"class {self.class_names[side]}"}
            self.points_.append(self.ax_.scatter(*self.X[self.is_positive == bool(side)].T, **style))
        self.rings_ = None
        if self.support_vectors is not None:
            style = {"facecolors": "none", "edgecolors": INK, "linewidths": 1.0, "s": 85, "zorder": 2}
            self.rings_ = self.ax_.scatter(*self.support_vectors.T, label="support vector", **style)

    def _draw_legend(self) -> None:
        handles: list[Any] = [*self.points_] if self.rings_ is None else [*self.points_, self.rings_]
        for lines, label in ((self.boundary_, "f = 0"), (self.margins_, "f = ±1")):
            if lines is not None:
                (handle, *_), _ = lines.legend_elements()
                handle.set_label(label)
                handles.append(handle)
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
        self.ax_.legend(handles=handles, fontsize=9, frameon=False, **place)


def display_of(estimator: Any, X: Any, y: Any, grid_resolution: int) -> MarginDisplay:
    """The display of a fitted classifier, not drawn yet."""
    check_is_fitted(estimator)
    points, labels = np.asarray(X.toarray() if sparse.issparse(X) else X), np.asarray(y).ravel()
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(
            f"MarginDisplay draws two features, but X has shape {points.shape}; choose two columns, or "
            "reduce X to two (for instance with PCA), and fit on those"
        )
    check_consistent_length(points, labels)
    classes = np.asarray(getattr(estimator, "classes_", np.unique(labels)))
    if classes.shape != (2,):
        raise ValueError(
            f"MarginDisplay draws two classes, but classes_ has shape {classes.shape}: {classes.tolist()!r}; "
            "fit on the rows of two of them, or on one against the rest"
        )
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"y must hold only the classes {classes.tolist()!r}, got also {unknown.tolist()!r}")
    if not isinstance(grid_resolution, Integral) or grid_resolution < 2:
        raise ValueError(f"grid_resolution must be an integer >= 2, got {grid_resolution!r}")
    points = points.astype(float)
    low, high = points.min(axis=0), points.max(axis=0)
    extra = np.where(high > low, _PADDING * (high - low), 1.0)
    xx0, xx1 = np.meshgrid(*np.linspace(low - extra, high + extra, int(grid_resolution)).T)
    grid = np.column_stack([xx0.ravel(), xx1.ravel()])
    if hasattr(X, "columns"):  # estimators compare names
        grid = type(X)(grid, **{"columns" if hasattr(X, "iloc") else "schema": list(X.columns)})
    first, second = getattr(X, "columns", ("feature 0", "feature 1"))
    return MarginDisplay(
        xx0, xx1, np.asarray(estimator.decision_function(grid)).reshape(xx0.shape),
        X=points, is_positive=labels == classes[1], class_names=(str(classes[0]), str(classes[1])),
        support_vectors=_support_vectors_of(estimator, points), feature_names=(str(first), str(second)),
    )  # fmt: skip


def _support_vectors_of(estimator: Any, points: np.ndarray) -> np.ndarray | None:
    """Where the support vectors lie, in the coordinates of `points`.

    A pipeline holds them in transformed coordinates; they can be drawn if `points` are the training data.
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
