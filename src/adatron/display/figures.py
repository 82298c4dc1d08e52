"""Figures for HTML pages, whose ink and grid follow the theme of the page.

Examples
--------
>>> from adatron.display.figures import new_figure
>>> figure, (left, right) = new_figure(2, [("epoch", "margin"), ("epoch", "error (%)")])
>>> left.get_ylabel(), right.get_xlabel()
('margin', 'epoch')
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adatron.display.style import GRID, INK, plain_ticks, quieten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Stand-ins for colours that depend on the theme: drawn by matplotlib, replaced in the SVG.
INK_STAND_IN, GRID_STAND_IN = "#123456", "#abcdef"

# Okabe and Ito's colours without black and yellow, which are invisible in one of the themes
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_SVG_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "adatron", "font.family": "sans-serif"}
# figure_1, axes_1, …: every figure has them, but ids must be unique in a page
_GROUP_NAMES = re.compile(r' id="[a-zA-Z0-9]+_\d+"')


def new_figure(
    n_panels: int, labels: Sequence[tuple[str, str]], *, log_x: bool = False, log_y: bool = False,
    titles: Sequence[str] = (),
) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """A figure of `n_panels` side by side, at most three in a row, with axis labels (x, y)."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    columns = min(n_panels, 3)
    n_rows = -(-n_panels // columns)
    figure = Figure(figsize=({1: 5.6, 2: 8.4, 3: 10.2}[columns], 3.2 * n_rows), layout="constrained")
    axes = [figure.add_subplot(n_rows, columns, i + 1) for i in range(n_panels)]
    for i, ax in enumerate(axes):
        ax.set_prop_cycle(color=COLOURS)
        ax.set(xlabel=labels[i % len(labels)][0], ylabel=labels[i % len(labels)][1])
        ax.set(xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
        ax.set_title(titles[i] if titles else "", fontsize=10, color=INK_STAND_IN)
        quieten(ax)
        ax.spines[:].set_color(INK_STAND_IN)
        ax.tick_params(colors=INK_STAND_IN, which="both")
        ax.xaxis.label.set_color(INK_STAND_IN)
        ax.yaxis.label.set_color(INK_STAND_IN)
    return figure, axes


def add_legend(ax: Axes, **options: Any) -> None:
    """A legend without a box, readable on either theme."""
    ax.legend(frameon=False, fontsize=9, labelcolor=INK_STAND_IN, **options)


def figure_svg(figure: Figure | str) -> str:
    """The figure as SVG with stand-ins for colours; the same figure gives the same text.

    A string is such an SVG already.
    """
    if isinstance(figure, str):
        return figure
    import matplotlib as mpl

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            plain_ticks(axis)
    text = io.StringIO()
    with mpl.rc_context(_SVG_STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()[text.getvalue().index("<svg") :]  # HTML has no XML declaration
    svg = svg.replace(INK, INK_STAND_IN).replace(GRID.lower(), GRID_STAND_IN)  # what a Display has drawn
    return _GROUP_NAMES.sub("", svg)
