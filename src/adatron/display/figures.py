"""One style for the figures of pages; the colour of ink and grid follows the page's theme.

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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "GRID_STAND_IN",
    "INK_STAND_IN",
    "add_legend",
    "figure_svg",
    "new_figure",
]

# Stand-ins for colours that depend on the theme: drawn by matplotlib, replaced in the SVG.
INK_STAND_IN, GRID_STAND_IN = "#123456", "#abcdef"

# Okabe and Ito's colours without black and yellow, which are invisible in one of the themes
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_SVG_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "adatron", "font.family": "sans-serif"}
# figure_1, axes_1, …: the same in every figure, while ids must be unique in a page
_GROUP_NAMES = re.compile(r' id="[a-zA-Z0-9]+_\d+"')
_FEW_DECADES = 2.5


def new_figure(
    n_panels: int,
    labels: Sequence[tuple[str, str]],
    *,
    log_x: bool = False,
    log_y: bool = False,
    titles: Sequence[str] = (),
) -> tuple[Figure, list[Axes]]:
    """A figure of `n_panels` side by side, at most three in a row, with axis labels (x, y)."""
    figure = _empty_figure(n_panels)
    columns = min(n_panels, 3)
    axes = [figure.add_subplot(-(-n_panels // columns), columns, i + 1) for i in range(n_panels)]
    for i, ax in enumerate(axes):
        ax.set_prop_cycle(color=COLOURS)
        ax.set(xlabel=labels[i % len(labels)][0], ylabel=labels[i % len(labels)][1])
        ax.set(xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
        ax.set_title(titles[i] if titles else "", fontsize=10, color=INK_STAND_IN)
        _quieten(ax)
    return figure, axes


def _empty_figure(n_panels: int) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    columns = min(n_panels, 3)
    size = ({1: 5.6, 2: 8.4, 3: 10.2}[columns], 3.2 * -(-n_panels // columns))
    return Figure(figsize=size, layout="constrained")


def _quieten(ax: Axes) -> None:
    ax.grid(visible=True, which="major", color=GRID_STAND_IN, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    for part in ax.spines.values():
        part.set_color(INK_STAND_IN)
    ax.tick_params(labelsize=9, colors=INK_STAND_IN, which="both")
    ax.xaxis.label.set_color(INK_STAND_IN)
    ax.yaxis.label.set_color(INK_STAND_IN)


def add_legend(ax: Axes, **options: Any) -> None:
    """A legend without a box, readable on either theme."""
    ax.legend(frameon=False, fontsize=9, labelcolor=INK_STAND_IN, **options)


def figure_svg(figure: Figure | str) -> str:
    """The figure as SVG with stand-ins for colours, the same text whenever it is written.

    A string is such an SVG already.
    """
    if isinstance(figure, str):
        return figure
    import matplotlib as mpl

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            _tick_few_decades(axis)
    text = io.StringIO()
    with mpl.rc_context(_SVG_STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()[text.getvalue().index("<svg") :]  # HTML wants no XML declaration
    return _GROUP_NAMES.sub("", svg)


def _tick_few_decades(axis: Axis) -> None:
    """Plain numbers 1, 2, 5 on a logarithmic axis that is too short for powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if axis.get_scale() != "log" or not 0.0 < low < high < low * 10.0**_FEW_DECADES:
        return
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
