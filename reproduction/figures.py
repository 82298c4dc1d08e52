"""How all figures are drawn, and kept as SVG files. The style is that of the library's own reports."""

from collections.abc import Callable, Sequence
from typing import Any

from adatron.display import figures as style

COLOURS, add_legend, svg_of = style.COLOURS, style.add_legend, style.figure_svg
INK = style.INK  # replaced by the theme's own colour in the page
PUBLISHED: dict[str, Any] = {"color": INK, "linestyle": "--", "linewidth": 1.0}  # printed values and bounds
DOTTED: dict[str, Any] = PUBLISHED | {"linestyle": ":"}  # places that separate two kinds of outcome

# Files have dark ink on white, as Markdown does not know the reader's theme.
_ON_PAPER = {INK: "#1f2328", style.GRID: "#d8dee4", "<svg ": '<svg style="background:#ffffff" '}


def on_paper(svg: str, *, back: bool = False) -> str:
    """Replace the theme colours in an SVG by those of a file, or `back`."""
    for stand_in, colour in _ON_PAPER.items():
        svg = svg.replace(colour, stand_in) if back else svg.replace(stand_in, colour)
    return svg


def new_figure(
    n_panels: int, labels: Sequence[tuple[str, str]], *, log_x: bool = False, log_y: bool = False,
    titles: Sequence[str] = (),
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Panels side by side, at most three in a row, with axis labels (x, y)."""
    figure, axes = style.new_figure(n_panels, labels)
    for i, ax in enumerate(axes):
        ax.set(xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
        ax.set_title(titles[i] if titles else "", fontsize=10, color=INK)
    return figure, axes


def published_line(ax: Any, level: float, name: str, *, end: float = 1.0, below: bool = False) -> None:
    """A dashed line at a published value; its name ends at a fraction of the width."""
    ax.axhline(level, **PUBLISHED)
    place: dict[str, Any] = {"xytext": (0, -2 if below else 2), "textcoords": "offset points", "ha": "right"}
    place |= {"va": "top" if below else "bottom", "xycoords": ("axes fraction", "data")}
    ax.annotate(name, (end, level), fontsize=8, color=INK, **place)


def plain_ticks(ax: Any, ticks: Sequence[float]) -> None:
    """Plain numbers on a logarithmic x axis that spans a few powers of ten only."""
    low, high = ax.get_xlim()
    inside = [tick for tick in ticks if low <= tick <= high]
    ax.minorticks_off()
    ax.set_xticks(inside, [f"{tick:g}" for tick in inside])


def draw_band(ax: Any, x: Any, mean: Any, error: Any, colour: str, label: str) -> None:
    """A curve of means with a band of one standard error."""
    ax.plot(x, mean, marker=".", color=colour, label=label)
    ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)


def thinning(growth: float) -> Callable[..., bool]:
    """A function that tells which epochs a curve shows: ever fewer, and those that must be shown."""
    due = 1.0

    def is_shown(epoch: int, must: bool = False) -> bool:
        nonlocal due
        if epoch < due and not must:
            return False
        due = max(epoch + 1.0, due * growth)
        return True

    return is_shown
