"""`ImportanceDisplay`: which columns matter most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adatron.display.figures import COLOURS, EstimatorDisplay, fitted_with, new_panels, quieten, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ImportanceDisplay(EstimatorDisplay):
    """The most important columns as horizontal bars, the most important one on top.

    Use `from_estimator`, or give importances and names and call `plot`. Of a pipeline, columns are those that
    the last step gets.

    Parameters
    ----------
    importances : ndarray of shape (n_features,)
    names : list of str
        Of the columns.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bars_ : BarContainer

    See Also
    --------
    adatron.AutoSVC : says what its ``feature_importances_`` mean.
    sklearn.inspection.permutation_importance : measures what an estimator loses without a column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from adatron import AutoSVC
    >>> from adatron.display import ImportanceDisplay
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> display = ImportanceDisplay.from_estimator(AutoSVC().fit(X, y), n_columns=3)
    >>> len(display.bars_), display.ax_.get_xlabel()
    (3, 'importance')
    """

    def __init__(self, importances: np.ndarray, names: list[str]) -> None:
        self.importances, self.names = np.asarray(importances, dtype=float), [str(name) for name in names]
        if self.importances.shape != (len(self.names),):
            raise ValueError(
                f"importances have shape {self.importances.shape}, but there are {len(self.names)} names"
            )

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        hint = "AutoSVC and AutoSVR have, and sklearn.inspection.permutation_importance measures those of any"
        inner = fitted_with("feature_importances_", estimator, f"{hint} estimator")
        importances = inner.feature_importances_
        names = getattr(inner, "feature_names_in_", [f"feature {j}" for j in range(len(importances))])
        return cls(importances, list(names))

    def plot(self, *, ax: Axes | None = None, n_columns: int = 10, **bar_kw: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
            Default: a new figure.
        n_columns : int, default=10
            Columns to show at most.
        **bar_kw
            Passed on to ``Axes.barh``.

        Returns
        -------
        Self
        """
        if n_columns < 1:
            raise ValueError(f"n_columns must be an integer >= 1, got {n_columns!r}")
        shown = np.argsort(-self.importances, kind="stable")[:n_columns]
        self.ax_ = ax = new_panels(1, (6.0, 1.0 + 0.3 * len(shown)))[1][0] if ax is None else ax
        self.figure_ = ax.figure
        places = np.arange(len(shown))
        self.bars_ = ax.barh(places, self.importances[shown], **({"color": COLOURS[0]} | bar_kw))
        ax.set_yticks(places, labels=[shortened(self.names[j]) for j in shown])
        ax.invert_yaxis()
        ax.set(xlabel="importance", xlim=(0.0, None))
        quieten(ax, grid=False)
        return self
