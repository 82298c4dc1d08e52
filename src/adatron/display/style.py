"""Shared by the Displays: colours, panels, the import of matplotlib, the estimator inside a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adatron.tables import TableEncoder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
NEGATIVE, POSITIVE = COLOURS[0], COLOURS[1]
INK, GRID = "#333333", "#DDDDDD"
_LONGEST_NAME = 30  # characters


def import_pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("adatron.display needs matplotlib: pip install matplotlib") from error
    return plt


def innermost(estimator: Any) -> Any:
    """The last estimator of a pipeline, or of the best pipeline of a search."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def fitted_with(attribute: str, estimator: Any, hint: str) -> Any:
    """The innermost estimator, if it has this attribute; else an error that ends in the hint."""
    check_is_fitted(estimator)
    inner = innermost(estimator)
    if not hasattr(inner, attribute):
        raise TypeError(f"{type(inner).__name__} has no {attribute}; {hint}")
    return inner


def encoder_of(model: Any) -> TableEncoder | None:
    """The encoder in front of a model, or inside it; None where the columns were numbers already."""
    steps = getattr(model, "steps", [("", None)])
    first = steps[0][1]
    return first if isinstance(first, TableEncoder) else getattr(innermost(model), "encoder_", None)


def new_panels(n_panels: int, size: tuple[float, float] | None = None) -> tuple[Figure, np.ndarray]:
    """A figure with `n_panels` axes, two in a row; its size in inches."""
    n_columns = min(n_panels, 2)
    n_rows = -(-n_panels // n_columns)
    size = size or (4.4 * n_columns, 3.0 * n_rows + 0.3)
    figure, axes = import_pyplot().subplots(
        n_rows, n_columns, squeeze=False, figsize=size, layout="constrained"
    )
    for unused in axes.flat[n_panels:]:
        unused.remove()
    return figure, axes.ravel()[:n_panels]


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


def shortened(name: str) -> str:
    """A name that fits beside a figure."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
