"""How all figures are drawn: colours, panels, SVG for HTML pages; and which part of a model they draw.

Pages replace the colours INK and GRID by those of the reader's theme.

>>> figure, (left, right) = new_figure(2, [("epoch", "margin"), ("epoch", "error (%)")])
>>> left.get_ylabel(), right.get_xlabel()
('margin', 'epoch')
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.tables import TableEncoder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; without black and
# yellow, which are invisible on dark or light pages.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
NEGATIVE, POSITIVE = COLOURS[0], COLOURS[1]
INK, GRID = "#333333", "#dddddd"  # as SVG files spell them; nothing else is drawn in these colours

_LONGEST_NAME = 30  # characters
_SVG_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "adatron", "font.family": "sans-serif"}
# figure_1, axes_1, …: every figure has them, but ids must be unique in a page
_GROUP_NAMES = re.compile(r' id="[a-zA-Z0-9]+_\d+"')


def innermost(estimator: Any) -> Any:
    """The last estimator of a pipeline, or of the best pipeline of a search."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


class EstimatorDisplay:
    """Base of the displays that need nothing but a fitted estimator."""

    plot: Callable[..., Self]

    @classmethod
    def from_estimator(cls, estimator: Any, **plot_kw: Any) -> Self:
        """Draw what a fitted estimator holds.

        Parameters
        ----------
        estimator : fitted estimator
            Or a pipeline that ends in one, or a search over one.
        **plot_kw
            Those of `plot`.

        Returns
        -------
        Self
        """
        return cls._of(estimator).plot(**plot_kw)

    @classmethod
    def _of(cls, estimator: Any) -> Self:
        """The display of a fitted estimator, not drawn yet."""
        raise NotImplementedError


def fitted_with(attribute: str, estimator: Any, hint: str) -> Any:
    """The innermost estimator, if it has this attribute; else an error that ends in the hint."""
    check_is_fitted(estimator)
    inner = innermost(estimator)
    if not hasattr(inner, attribute):
        raise TypeError(f"{type(inner).__name__} has no {attribute}; {hint}")
    return inner


def encoder_of(model: Any) -> TableEncoder | None:
    """The encoder in front of a model, or inside it; None where the columns were numbers already."""
    first = model.steps[0][1] if hasattr(model, "steps") else None
    return first if isinstance(first, TableEncoder) else getattr(innermost(model), "encoder_", None)


def import_pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("adatron.display needs matplotlib: pip install matplotlib") from error
    return plt


def new_panels(n_panels: int, size: tuple[float, float] | None = None) -> tuple[Figure, np.ndarray]:
    """A figure of pyplot with `n_panels` axes, two in a row; its size in inches."""
    n_rows, n_columns = -(-n_panels // 2), min(n_panels, 2)
    style: Any = {"figsize": size or (4.4 * n_columns, 3.0 * n_rows + 0.3), "layout": "constrained"}
    figure, axes = import_pyplot().subplots(n_rows, n_columns, squeeze=False, **style)
    for unused in axes.flat[n_panels:]:
        unused.remove()
    return figure, axes.ravel()[:n_panels]


def new_figure(n_panels: int, labels: Sequence[tuple[str, str]]) -> tuple[Figure, list[Axes]]:
    """A figure for a page: `n_panels` side by side, at most three in a row, with axis labels (x, y)."""
    from matplotlib.figure import Figure

    n_columns = min(n_panels, 3)
    n_rows = -(-n_panels // n_columns)
    figure = Figure(figsize=({1: 5.6, 2: 8.4, 3: 10.2}[n_columns], 3.2 * n_rows), layout="constrained")
    axes = [figure.add_subplot(n_rows, n_columns, i + 1) for i in range(n_panels)]
    for i, ax in enumerate(axes):
        x_label, y_label = labels[i % len(labels)]
        ax.set_prop_cycle(color=COLOURS)
        ax.set_xlabel(x_label, color=INK)
        ax.set_ylabel(y_label, color=INK)
        quieten(ax)
        ax.spines[:].set_color(INK)
        ax.tick_params(colors=INK, which="both")
    return figure, axes


def quieten(ax: Axes, *, grid: bool = True) -> None:
    """Draw the frame and grid lightly."""
    if grid:
        ax.grid(visible=True, which="major", color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)


def plain_ticks(axis: Axis) -> None:
    """Plain numbers on a logarithmic axis that spans only a few powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if axis.get_scale() != "log" or not 0.0 < low < high < 1e4 * low:
        return
    steps = (1.0, 2.0, 5.0) if high < 300.0 * low else (1.0,)
    axis.set_major_locator(LogLocator(base=10.0, subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def add_legend(ax: Axes, **options: Any) -> None:
    """A legend without a box, readable on either theme."""
    ax.legend(frameon=False, fontsize=9, labelcolor=INK, **options)


def shortened(name: str) -> str:
    """A name that fits beside a figure."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def figure_svg(figure: Figure) -> str:
    """The figure as SVG; the same figure gives the same text."""
    import matplotlib as mpl

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            plain_ticks(axis)
    text = io.StringIO()
    with mpl.rc_context(_SVG_STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()[text.getvalue().index("<svg") :]  # HTML has no XML declaration
    return _GROUP_NAMES.sub("", svg)
