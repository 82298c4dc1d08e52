"""Shared by the Displays: colours, panels, the import of matplotlib, the estimator inside a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "INK",
    "NEGATIVE",
    "POSITIVE",
    "import_pyplot",
    "innermost",
    "label_panel",
    "new_panels",
]

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
NEGATIVE, POSITIVE = COLOURS[0], COLOURS[1]
INK = "#333333"


def import_pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("adatron.display needs matplotlib: pip install matplotlib") from error
    return plt


def innermost(estimator: Any) -> Any:
    """The estimator that was trained last inside a search or a pipeline."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def new_panels(n_panels: int) -> tuple[Figure, np.ndarray]:
    """A figure with `n_panels` axes, two in a row."""
    n_columns = min(n_panels, 2)
    n_rows = -(-n_panels // n_columns)
    size = (4.4 * n_columns, 3.0 * n_rows + 0.3)
    figure, axes = import_pyplot().subplots(
        n_rows, n_columns, squeeze=False, figsize=size, layout="constrained"
    )
    for unused in axes.flat[n_panels:]:
        unused.remove()
    return figure, axes.ravel()[:n_panels]


def label_panel(ax: Axes, y_label: str, *, log_x: bool, log_y: bool, is_empty: bool) -> None:
    """Labels, scales and a quiet frame for a panel of curves against epochs."""
    ax.set(xlabel="epoch", ylabel=y_label)
    ax.grid(visible=True, which="major", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)
    if is_empty:
        ax.text(0.5, 0.5, "no epoch was completed", transform=ax.transAxes, ha="center", color=INK)
        return
    if log_x:
        ax.set_xscale("log")
    if log_y:
        ax.set_yscale("log")
        _widen_to_decades(ax)


def _widen_to_decades(ax: Axes) -> None:
    """Ticks of a logarithmic axis read well only when it spans a power of ten."""
    low, high = ax.get_ylim()
    if 0.0 < low < high < 10.0 * low:
        ax.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
