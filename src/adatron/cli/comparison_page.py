"""The page of ``adatron compare``: a table and bars."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["write_page"]


def write_page(found: dict[str, Any], path: Path) -> str | None:
    """Write it; None without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    from adatron.display.page import figure_html, items, page, paragraph, table
    from adatron.files.atomic import atomic_write

    rows = [
        [m["name"], f"{m['error']:.2f} ± {m['standard_error']:.2f}", f"{m['seconds']:.3g}"]
        for m in found["models"]
    ]
    body = [
        paragraph(
            f"{found['folds']}-fold cross-validation on {found['rows']:,} rows, the same folds for all. "
            "Errors are means with their standard error; seconds are the median time of a fit, search "
            "included. The grid search tries 25 pairs of C and gamma by 5-fold cross-validation."
        ),
        items([*found["notes"], *(f"Warning: {text}" for text in found["warnings"])]),
        table(["model", found["measure"], "seconds"], rows, numeric=[1, 2]),
        figure_html(_bars(found), "Error with its standard error over the folds, and time of a fit"),
    ]
    atomic_write(path, [page(f"Models on {found['name']}", body).encode()])
    return str(path)


def _bars(found: dict[str, Any]) -> Any:
    from adatron.display.figures import COLOURS, INK_STAND_IN, new_figure

    models = found["models"]
    names = [model["name"].replace(" + ", " +\n") for model in models]
    figure, (left, right) = new_figure(2, [(found["measure"], ""), ("seconds", "")])
    colours = [COLOURS[0] if name.startswith("adatron") else COLOURS[1] for name in names]
    errors, spreads = ([model[key] for model in models] for key in ("error", "standard_error"))
    left.barh(names, errors, xerr=spreads, color=colours, ecolor=INK_STAND_IN)
    left.set_xlim(left=0.0)
    right.barh(names, [model["seconds"] for model in models], color=colours)
    right.set_xscale("log")
    right.set_yticklabels([])
    for ax in (left, right):
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
    return figure
