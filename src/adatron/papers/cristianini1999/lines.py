"""Straight lines in figures: published values, and thresholds that mean something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adatron.display.figures import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["INK", "mark_published", "mark_threshold"]

_DASHED: dict[str, Any] = dict(PUBLISHED)
_DOTTED: dict[str, Any] = _DASHED | {"linestyle": ":"}
INK: str = _DASHED["color"]


def mark_published(ax: Axes, level: float, label: str) -> None:
    """A level that the document prints."""
    ax.axhline(level, label=label, **_DASHED)


def mark_threshold(ax: Axes, *, x: float | None = None, y: float | None = None) -> None:
    """A place that separates two kinds of outcome."""
    if x is not None:
        ax.axvline(x, **_DOTTED)
    if y is not None:
        ax.axhline(y, **_DOTTED)
