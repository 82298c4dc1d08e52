"""`KernelPathDisplay`: the score of each kernel width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adatron.display import figures
from adatron.display.figures import COLOURS, INK, EstimatorDisplay
from adatron.selection import KernelPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_LOG_FROM = 10.0  # ratio of the largest criterion to the smallest from which its axis is logarithmic
_LEGEND_COLUMNS = 4
_SYMBOLS = {"sigma": "σ", "gamma": "γ"}
_X_LABELS = {"sigma": "width σ", "gamma": "γ", "C": "C"}
_SUPPORT = "#9A6A00"  # dark enough for the labels of an axis


class KernelPathDisplay(EstimatorDisplay):
    """Criterion and number of support vectors along a path of kernel widths, the best width marked.

    Use `from_path` or `from_estimator`, or give a path and call `plot`.

    Parameters
    ----------
    path : KernelPath

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Of the criterion.
    support_ax_ : Axes or None
        Of the number of support vectors, on the right.
    line_ : Line2D
        The criterion, for the kernel of the best step.
    lines_ : dict of Line2D
        That of each kernel, by its name.
    weighted_ : dict of Line2D
        Diamonds for steps with feature weights, by the name of the kernel.
    support_line_ : Line2D or None
    best_ : Line2D
        The ring around the best step.
    failed_ : Line2D or None
        Crosses at the bottom for steps that have no finite criterion.

    See Also
    --------
    adatron.selection.sigma_path : makes a path of widths.
    adatron.selection.c_path : makes a path of penalties.
    adatron.AutoSVC : keeps the path of its search as ``path_``.

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> from adatron.display import KernelPathDisplay
    >>> from adatron.selection import sigma_path
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> display = KernelPathDisplay.from_path(sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6]))
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('width σ', 'R²/γ²')
    >>> display.best_.get_xdata()
    array([0.4])
    """

    def __init__(self, path: KernelPath) -> None:
        if not isinstance(path, KernelPath):
            raise TypeError(f"path must be a KernelPath, as sigma_path returns it, got {type(path).__name__}")
        self.path = path

    @classmethod
    def from_path(cls, path: KernelPath, **plot_kw: Any) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : KernelPath
        **plot_kw
            Those of `plot`.

        Returns
        -------
        Self
        """
        return cls(path).plot(**plot_kw)

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        hint = "KernelPathDisplay needs an estimator that searched a path, or from_path(sigma_path(X, y))"
        return cls(figures.fitted_with("path_", estimator, hint).path_)

    def plot(
        self, *, ax: Axes | None = None, support_vectors: bool = True, log_criterion: bool | None = None,
        **line_kw: Any,
    ) -> Self:  # fmt: skip
        """Draw the path.

        Parameters
        ----------
        ax : Axes, optional
            Default: a new figure.
        support_vectors : bool, default=True
            Whether an axis on the right shows their number, if the path has it.
        log_criterion : bool, optional
            Whether the criterion is on a logarithmic scale; default: if it spans a factor of 10 and is not
            a share (at most 1).
        **line_kw
            Passed on to ``Axes.plot`` for the criterion.

        Returns
        -------
        Self
        """
        self.ax_ = ax = figures.new_panels(1, (6.0, 3.8))[1][0] if ax is None else ax
        self.figure_ = ax.figure
        self._draw_kernels(line_kw)
        best, name, steps = self.path.best, self.path.x, self._shown()
        ax.axvline(best[name], color=INK, linestyle=":", linewidth=1.0)
        self.best_: Line2D = ax.plot(
            [best[name]], [best.get("criterion", np.nan)], "o", markersize=10.0, markerfacecolor="none",
            color=COLOURS[1], zorder=4, label=f"best: {_SYMBOLS.get(name, name)} = {best[name]:.3g}",
        )[0]  # fmt: skip
        x, criterion = self._column(name)[steps], self._column("criterion")[steps]
        failed = x[~np.isfinite(criterion)]
        self.failed_: Line2D | None = None
        if len(failed):
            style: dict[str, Any] = {"color": INK, "markersize": 5.0, "transform": ax.get_xaxis_transform()}
            (self.failed_,) = ax.plot(failed, np.full(len(failed), 0.03), "x", label="failed", **style)
        self._set_scales(criterion[np.isfinite(criterion)], log_criterion)
        self.support_ax_: Axes | None = None
        self.support_line_: Line2D | None = None
        if support_vectors and np.isfinite(self._column("n_support")).any():
            self._draw_support(x, self._column("n_support")[steps])
        handles = [*self.lines_.values(), *list(self.weighted_.values())[:1], self.best_, self.failed_]
        drawn = [line for line in [*handles, self.support_line_] if line is not None]
        ax.legend(
            handles=drawn, loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=8, frameon=False,
            ncols=min(len(drawn), _LEGEND_COLUMNS), columnspacing=1.2,
        )  # fmt: skip
        return self

    def _draw_kernels(self, line_kw: Any) -> None:
        """Draw a line for each kernel, and diamonds for its steps with feature weights."""
        self.lines_: dict[str, Line2D] = {}
        self.weighted_: dict[str, Line2D] = {}
        kernels = self.path["kernel"] if "kernel" in self.path.columns else np.full(len(self.path), "")
        is_weighted = self._column("power") > 0.0
        names = [str(name) for name in dict.fromkeys(kernels.tolist())]
        colours = dict(zip(names, [COLOURS[0], *COLOURS[2:]] * len(names), strict=False))
        for name in names:
            label = name if len(names) > 1 else self.path.criterion
            style = {"linewidth": 1.6, "marker": "o", "markersize": 3.5, "zorder": 3, "color": colours[name]}
            steps = self._shown((kernels == name) & ~is_weighted)
            self.lines_[name] = self._draw_steps(steps, style | {"label": label} | line_kw)
            steps = self._shown((kernels == name) & is_weighted)
            if np.isfinite(self._column("criterion")[steps]).any():
                style |= {"marker": "D", "markersize": 5.0, "linestyle": "none", "label": "weighted features"}
                self.weighted_[name] = self._draw_steps(steps, style)
        self.line_ = self.lines_[self.path.best.get("kernel", "")]

    def _draw_steps(self, steps: np.ndarray, style: dict[str, Any]) -> Line2D:
        x, criterion = self._column(self.path.x)[steps], self._column("criterion")[steps]
        is_finite = np.isfinite(criterion)
        return self.ax_.plot(x[is_finite], criterion[is_finite], **style)[0]

    def _shown(self, chosen: Any = True) -> np.ndarray:
        """Places of the steps in order of σ, from the level of the search that holds the best step.

        Among steps with the same σ, only the best is shown.
        """
        x, criterion, level = map(self._column, (self.path.x, "criterion", "level"))
        is_of_level = (level == level[self.path.best_index]) | np.isnan(level)
        best_first = np.argsort(criterion, kind="stable")
        steps = best_first[(is_of_level & chosen)[best_first]]
        return steps[np.unique(x[steps], return_index=True)[1]]

    def _column(self, name: str) -> np.ndarray:
        """A column as numbers, NaN where the path has none."""
        if name not in self.path.columns:
            return np.full(len(self.path), np.nan)
        return self.path[name].astype(float)

    def _set_scales(self, values: np.ndarray, log_criterion: bool | None) -> None:
        ax = self.ax_
        low, high = values.min(initial=np.inf), values.max(initial=0.0)
        if log_criterion is None:
            log_criterion = bool(high > 1.0 and 0.0 < _LOG_FROM * low < high)
        ax.set(xscale="log", yscale="log" if log_criterion else "linear")
        if not log_criterion and low >= 0.0:
            ax.set_ylim(bottom=0.0)
        ax.set(xlabel=_X_LABELS.get(self.path.x, self.path.x), ylabel=self.path.criterion)
        figures.quieten(ax)
        figures.plain_ticks(ax.xaxis)
        figures.plain_ticks(ax.yaxis)

    def _draw_support(self, x: np.ndarray, counts: np.ndarray) -> None:
        self.support_ax_ = right = self.ax_.twinx()
        style: dict[str, Any] = {"color": _SUPPORT, "linewidth": 1.2, "label": "support vectors"}
        (self.support_line_,) = right.plot(x, counts, "--", **style)
        right.set_ylim(bottom=0.0)
        right.set_ylabel("support vectors", color=_SUPPORT)
        right.tick_params(axis="y", colors=_SUPPORT, labelsize=9)
        right.spines[["top", "left"]].set_visible(False)
        right.spines["right"].set_color(_SUPPORT)
