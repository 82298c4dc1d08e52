"""`MarginDisplay`: boundary, margins and support vectors of a classifier of two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.display.plane import (
    check_classes,
    check_points,
    feature_names_of,
    grid_around,
    like,
    support_vectors_of,
)
from adatron.display.style import INK, NEGATIVE, POSITIVE, import_pyplot, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MarginDisplay"]

_MARKERS = ("o", "^")
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
        self,
        xx0: np.ndarray,
        xx1: np.ndarray,
        response: np.ndarray,
        *,
        X: np.ndarray,
        is_positive: np.ndarray,
        class_names: tuple[str, str] = ("-1", "+1"),
        support_vectors: np.ndarray | None = None,
        feature_names: tuple[str, str] = ("feature 0", "feature 1"),
    ) -> None:
        self.xx0, self.xx1, self.response = xx0, xx1, response
        self.X, self.is_positive, self.class_names = X, is_positive, class_names
        self.support_vectors, self.feature_names = support_vectors, feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        ax: Axes | None = None,
        grid_resolution: int = 200,
        legend: bool = True,
    ) -> MarginDisplay:
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
        check_is_fitted(estimator)
        points, labels = check_points(X, y)
        classes = check_classes(estimator, labels)
        xx0, xx1 = grid_around(points, grid_resolution)
        grid = like(X, np.column_stack([xx0.ravel(), xx1.ravel()]))
        display = cls(
            xx0,
            xx1,
            np.asarray(estimator.decision_function(grid)).reshape(xx0.shape),
            X=points,
            is_positive=labels == classes[1],
            class_names=(str(classes[0]), str(classes[1])),
            support_vectors=support_vectors_of(estimator, points),
            feature_names=feature_names_of(X),
        )
        return display.plot(ax=ax, legend=legend)

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
        import_pyplot()
        if ax is None:
            figure, axes = new_panels(1)
            figure.set_size_inches(5.6, 4.6)
            ax = axes[0]
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_surface()
        self.boundary_ = self._draw_level([0.0], "-", 1.8)
        self.margins_ = self._draw_level([-1.0, 1.0], "--", 1.1)
        self._draw_points()
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        ax.set(xlim=(self.xx0.min(), self.xx0.max()), ylim=(self.xx1.min(), self.xx1.max()))
        if legend:
            self._draw_legend()
        return self

    def _draw_surface(self) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("adatron_margin", _SOFT)
        levels = np.linspace(-2.0, 2.0, 17)
        self.surface_ = self.ax_.contourf(
            self.xx0, self.xx1, self.response, levels=levels, cmap=colours, extend="both", zorder=0
        )

    def _draw_level(self, levels: list[float], linestyle: str, width: float) -> Any:
        reached = [level for level in levels if self.response.min() < level < self.response.max()]
        if not reached:
            return None
        return self.ax_.contour(
            self.xx0,
            self.xx1,
            self.response,
            levels=reached,
            colors=INK,
            linestyles=linestyle,
            linewidths=width,
            zorder=1,
        )

    def _draw_points(self) -> None:
        self.points_ = [
            self._scatter(
                self.X[self.is_positive == bool(side)],
                label=f"class {self.class_names[side]}",
                s=34,
                marker=_MARKERS[side],
                color=colour,
                edgecolor="white",
                linewidth=0.5,
            )
            for side, colour in enumerate((NEGATIVE, POSITIVE))
        ]
        self.rings_ = None
        if self.support_vectors is not None:
            rings = {"facecolors": "none", "edgecolors": INK, "linewidths": 1.0}
            self.rings_ = self._scatter(self.support_vectors, label="support vector", s=85, **rings)

    def _scatter(self, points: np.ndarray, **style: Any) -> Any:
        return self.ax_.scatter(points[:, 0], points[:, 1], zorder=2, **style)

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D

        handles: list[Any] = [*self.points_]
        if self.rings_ is not None:
            handles.append(self.rings_)
        if self.boundary_ is not None:
            handles.append(Line2D([], [], color=INK, linewidth=1.8, label="f = 0"))
        if self.margins_ is not None:
            handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle="--", label="f = ±1"))
        self.ax_.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=9, frameon=False
        )
