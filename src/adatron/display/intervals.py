"""`IntervalDisplay`: targets beside the intervals that were predicted for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adatron.display.figures import COLOURS, INK, new_panels, quieten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class IntervalDisplay:
    """Targets against predictions, each with its interval; targets outside of theirs stand out.

    Use `from_estimator`, or give predictions, intervals and targets and call `plot`.

    Parameters
    ----------
    predictions : ndarray of shape (n_samples,)
    intervals : ndarray of shape (n_samples, 2)
        Lower and upper ends.
    targets : ndarray of shape (n_samples,)
    coverage : float, optional
        What the intervals are meant to hold, for the label.

    Attributes
    ----------
    inside_ : ndarray of bool, shape (n_samples,)
        Whether each target is within its interval.
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : LineCollection
        The intervals.
    points_ : list of PathCollection
        Targets within their intervals, and outside.

    See Also
    --------
    adatron.AutoSVR.predict_interval : says what the intervals mean.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from adatron import AutoSVR
    >>> from adatron.display import IntervalDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoSVR().fit(X[:300], y[:300])
    >>> display = IntervalDisplay.from_estimator(model, X[300:], y[300:], coverage=0.8)
    >>> bool(0.7 < display.inside_.mean() < 0.9), display.ax_.get_xlabel()
    (True, 'prediction')
    """

    def __init__(self, predictions: Any, intervals: Any, targets: Any, coverage: float | None = None) -> None:
        self.predictions, self.targets = (np.asarray(a, dtype=float) for a in (predictions, targets))
        self.intervals, self.coverage = np.asarray(intervals, dtype=float), coverage
        n = len(self.targets)
        if self.predictions.shape != (n,) or self.intervals.shape != (n, 2) or self.targets.shape != (n,):
            raise ValueError(
                f"predictions, intervals and targets have the shapes {self.predictions.shape}, "
                f"{self.intervals.shape} and {self.targets.shape}; expected ({n},), ({n}, 2) and ({n},)"
            )
        low, high = self.intervals.T
        self.inside_ = (low <= self.targets) & (self.targets <= high)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, coverage: float = 0.9, **plot_kw: Any
    ) -> IntervalDisplay:
        """Draw the intervals that a fitted estimator predicts, with targets that it has not seen.

        Parameters
        ----------
        estimator : fitted estimator with ``predict_interval``, such as `AutoSVR` of one target
        X : rows as for ``predict``
        y : array-like of shape (n_samples,)
            Their targets.
        coverage : float, default=0.9
        **plot_kw
            Those of `plot`.

        Returns
        -------
        IntervalDisplay
        """
        if not hasattr(estimator, "predict_interval"):
            raise TypeError(f"{type(estimator).__name__} has no predict_interval; AutoSVR has")
        intervals = estimator.predict_interval(X, coverage=coverage)
        return cls(estimator.predict(X), intervals, y, coverage).plot(**plot_kw)

    def plot(self, *, ax: Axes | None = None, **line_kw: Any) -> IntervalDisplay:
        """Draw intervals and targets.

        Parameters
        ----------
        ax : Axes, optional
            Default: a new figure.
        **line_kw
            Passed on to ``Axes.vlines``.

        Returns
        -------
        IntervalDisplay
        """
        self.ax_ = ax = new_panels(1)[1][0] if ax is None else ax
        self.figure_ = ax.figure
        shown = np.isfinite(self.intervals).all(axis=1)  # too few held-out rows have infinite ones
        style: dict[str, Any] = {"color": COLOURS[5], "alpha": 0.4, "linewidth": 1.5, "zorder": 1} | line_kw
        self.lines_ = ax.vlines(self.predictions[shown], *self.intervals[shown].T, **style)
        self.points_ = []
        for part, colour, label in [(self.inside_, 0, "inside"), (~self.inside_, 1, "outside")]:
            share = f"{label}: {100.0 * part.mean():.1f} %" if len(part) else label
            style = {"s": 10, "c": COLOURS[colour], "label": share, "zorder": 3}
            self.points_.append(ax.scatter(self.predictions[part], self.targets[part], **style))
        low, high = self.predictions.min(initial=np.inf), self.predictions.max(initial=-np.inf)
        if low <= high:
            ax.plot([low, high], [low, high], color=INK, linewidth=0.8, zorder=2)
        title = None if self.coverage is None else f"intervals of {100.0 * self.coverage:g} %"
        ax.legend(frameon=False, fontsize=9, title=title, title_fontsize=9)
        ax.set(xlabel="prediction", ylabel="target")
        quieten(ax, grid=False)
        return self
