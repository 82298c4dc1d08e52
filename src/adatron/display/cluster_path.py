"""`ClusterPathDisplay`: how clusters split as the width of the kernel falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adatron.clustering import ClusterPath
from adatron.display.figures import COLOURS, INK, EstimatorDisplay, fitted_with, new_panels, quieten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY = "#BBBBBB"  # outliers
_BAR = 0.35  # width of a bar, in steps of σ


class ClusterPathDisplay(EstimatorDisplay):
    """Bars of clusters for each σ, bands between clusters that share rows, and the number of clusters.

    Use `from_estimator`, or give a path and call `plot`.

    Parameters
    ----------
    path : ClusterPath
        As from ``SupportVectorClustering.path`` or its ``path_``.
    chosen : tuple of two int, optional
        Indices of the ν and σ to mark; default: those of ``path.choice()``.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of two Axes
        Bars of the chosen ν; numbers of clusters for every ν.
    bars_ : list of BarContainers
        One for each σ, the outliers last.
    numbers_ : ndarray of Text
        Number of clusters for every ν and σ.

    See Also
    --------
    adatron.SupportVectorClustering : chooses from such a path.
    adatron.clustering.ClusterPath : holds the clusterings.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from adatron import SupportVectorClustering
    >>> from adatron.display import ClusterPathDisplay
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> display = ClusterPathDisplay.from_estimator(SupportVectorClustering(nu=0.1).fit(X))
    >>> len(display.bars_) == len(display.path.sigmas), display.axes_[1].get_ylabel()
    (True, 'ν')
    """

    def __init__(self, path: ClusterPath, *, chosen: tuple[int, int] | None = None) -> None:
        if not isinstance(path, ClusterPath):
            raise TypeError(f"path must be a ClusterPath, got {type(path).__name__}")
        self.path, self.chosen = path, chosen

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        hint = (
            "ClusterPathDisplay needs a SupportVectorClustering with sigma='auto', or "
            "ClusterPathDisplay(model.path(X)).plot()"
        )
        return cls(fitted_with("path_", estimator, hint).path_)

    def plot(self, *, axes: Any = None) -> Self:
        """Draw bars and numbers.

        Parameters
        ----------
        axes : array of two Axes, optional
            Default: a new figure.

        Returns
        -------
        Self
        """
        panels = new_panels(2, (9.6, 4.0))[1] if axes is None else np.ravel(np.asarray(axes, dtype=object))
        if len(panels) != 2:
            raise ValueError(f"axes must be two Axes, for bars and numbers, got {len(panels)}")
        self.axes_, self.figure_ = panels, panels[0].figure
        nu, sigma = self.path.choice() if self.chosen is None else self.chosen
        self._draw_bars(panels[0], nu, sigma)
        self._draw_numbers(panels[1], nu, sigma)
        return self

    def _draw_bars(self, ax: Axes, nu: int, chosen: int) -> None:
        labels, self.bars_ = self.path.labels[nu], []
        colours = _colours(labels)
        for place, own in enumerate(labels):
            edges, fill = _edges(own), [colours[place][name] for name in _names(own)]
            self.bars_.append(ax.bar(place, np.diff(edges), _BAR, edges[:-1], color=fill, edgecolor="white"))
            if place:
                _draw_bands(ax, place - 1, labels[place - 1], own, colours[place])
        ax.plot(chosen, 1.02, "v", color=INK, clip_on=False)
        self._label_widths(ax)
        ax.set(ylabel="share of the rows", ylim=(0.0, 1.0))
        ax.set_title(f"clusters, ν = {self.path.nus[nu]:g} (grey: outliers)", fontsize=10, pad=12)

    def _draw_numbers(self, ax: Axes, nu: int, chosen: int) -> None:
        """The number of clusters for every ν and σ; those equal to the chosen number are shaded."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Rectangle

        counts = self.path.n_clusters
        agrees, shades = counts == counts[nu, chosen], ListedColormap(["#F4F4F4", "#CFE3F0"])
        ax.pcolormesh(agrees, cmap=shades, vmin=0, vmax=1, edgecolors="white", linewidth=1.5)
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": INK}
        self.numbers_ = np.empty(counts.shape, dtype=object)
        for i, j in np.ndindex(counts.shape):
            self.numbers_[i, j] = ax.text(j + 0.5, i + 0.5, str(counts[i, j]), **style)
        box: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": 2.0, "zorder": 3}
        ax.add_patch(Rectangle((chosen, nu), 1.0, 1.0, **box))
        self._label_widths(ax, shift=0.5)
        ax.set_yticks(np.arange(len(self.path.nus)) + 0.5, [f"{v:g}" for v in self.path.nus])
        ax.set(ylabel="ν")
        ax.set_title("number of clusters (framed: chosen)", fontsize=10, pad=12)
        ax.spines[["left", "bottom"]].set_visible(False)

    def _label_widths(self, ax: Axes, shift: float = 0.0) -> None:
        places = np.arange(len(self.path.sigmas))
        step = -(-len(places) // 8)  # so that labels do not overlap
        ax.set_xticks(places[::step] + shift, [f"{s:.2g}" for s in self.path.sigmas[::step]])
        ax.set(xlabel="σ, falling", xlim=(shift - 0.5, len(places) - 0.5 + shift))
        quieten(ax, grid=False)


def _names(labels: np.ndarray) -> list[int]:
    """Clusters from bottom to top, the outliers above them."""
    return [*range(int(labels.max()) + 1), -1]


def _edges(labels: np.ndarray) -> np.ndarray:
    shares = [np.mean(labels == name) for name in _names(labels)]
    return np.concatenate([[0.0], np.cumsum(shares)])


def _colours(labels: np.ndarray) -> list[dict[int, str]]:
    """A colour for each cluster of each σ; when a cluster splits, its largest part keeps the colour."""
    every: list[dict[int, str]] = []
    for place, own in enumerate(labels):
        colours = {-1: _GREY}
        names = sorted(_names(own)[:-1], key=lambda name: -int(np.sum(own == name)))
        for name in names:
            old = labels[place - 1][(own == name) & (labels[place - 1] >= 0)] if place else []
            wanted = [every[-1][int(np.bincount(old).argmax())]] if len(old) else []
            free = [colour for colour in (*wanted, *COLOURS) if colour not in colours.values()]
            colours[name] = (free or COLOURS)[0]
        every.append(colours)
    return every


def _draw_bands(ax: Axes, place: int, before: np.ndarray, after: np.ndarray, colours: dict[int, str]) -> None:
    """Draw a band between each pair of clusters, before and after, that share rows."""
    left, right = _edges(before)[:-1].copy(), _edges(after)[:-1].copy()
    ends = np.array([place + _BAR / 2, place + 1 - _BAR / 2])
    for i, old in enumerate(_names(before)):
        for j, new in enumerate(_names(after)):
            share = float(np.mean((before == old) & (after == new)))
            if share > 0.0:
                low = np.array([left[i], right[j]])
                ax.fill_between(ends, low, low + share, color=colours[new], alpha=0.3, linewidth=0.0)
                left[i], right[j] = left[i] + share, right[j] + share
