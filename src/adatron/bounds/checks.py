"""Checks of the arguments of bounds: every error names the argument, its value and what is allowed."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

__all__ = ["check_count", "check_delta", "check_margin", "check_radius", "squared_ratio"]


def check_radius(radius: Any) -> float:
    """A finite number that is not negative."""
    if not _is_number(radius) or not (math.isfinite(radius) and radius >= 0.0):
        raise ValueError(f"radius must be a finite number >= 0, got {radius!r}")
    return float(radius)


def check_margin(margin: Any) -> float:
    """Any number; one that is not positive means that the classes are not separated."""
    if not _is_number(margin) or math.isnan(margin):
        raise ValueError(f"margin must be a number, got {margin!r}")
    return float(margin)


def check_count(name: str, value: Any, *, at_least: int) -> int:
    """A whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {value!r}")
    return int(value)


def check_delta(delta: Any) -> float:
    """A probability strictly between 0 and 1."""
    if not _is_number(delta) or not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be a number between 0 and 1, both excluded, got {delta!r}")
    return float(delta)


def squared_ratio(radius: float, margin: float) -> float:
    """``R²/γ²``; infinity where the classes are not separated (γ ≤ 0), or where it overflows."""
    if margin <= 0.0:
        return math.inf
    ratio = radius / margin if radius <= margin * 1e200 else math.inf
    return ratio * ratio


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
