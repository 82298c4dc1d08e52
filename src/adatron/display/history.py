"""Checks of a history to draw, and names of its problems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adatron.estimators.classifier import Layout

__all__ = [
    "check_axes",
    "check_history",
    "check_problems",
    "check_quantities",
    "positive",
    "problem_names_of",
    "summary_of",
]

_SMALLEST = 1e-16  # stands for zero when nothing positive is there


def check_quantities(quantities: str | Iterable[str], known: Collection[str]) -> list[str]:
    """Names of quantities, each known and given once."""
    names = [quantities] if isinstance(quantities, str) else list(quantities)
    unknown = [name for name in names if name not in known]
    if unknown or not names or len(set(names)) < len(names):
        raise ValueError(f"quantities must be some of {list(known)}, each at most once, got {names!r}")
    return names


def check_history(history: Mapping[str, Sequence[float]], names: list[str]) -> dict[str, np.ndarray]:
    """The columns `names`, with problem and epoch, as arrays of one length."""
    wanted = ["problem", "epoch", *names]
    missing = [name for name in wanted if name not in history]
    if missing:
        raise ValueError(f"history must have the lists {wanted}; {missing} missing")
    columns = {name: np.asarray(history[name], dtype=float) for name in wanted}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the lists of history must have one length, got {lengths}")
    return columns


def check_problems(problem: int | Iterable[int] | None, column: np.ndarray) -> list[int]:
    """Numbers of the problems to draw, each in the history."""
    there = [int(number) for number in np.unique(column)]
    if problem is None:
        return there
    chosen = [int(number) for number in np.atleast_1d(np.asarray(problem, dtype=int))]
    unknown = [number for number in chosen if number not in there]
    if unknown:
        raise ValueError(f"problem must be among the numbers {there} of the history, got {unknown}")
    return chosen


def check_axes(axes: Any, names: list[str]) -> np.ndarray:
    """One Axes for each quantity."""
    flat = np.asarray(axes, dtype=object).ravel()
    if len(flat) != len(names):
        raise ValueError(f"axes must be {len(names)} Axes, one for each of {names}, got {len(flat)}")
    return flat


def positive(values: np.ndarray) -> np.ndarray:
    """Values for a logarithmic scale: zero becomes the smallest positive one."""
    above = values[values > 0.0]
    return np.maximum(values, above.min() if len(above) else _SMALLEST)


def problem_names_of(estimator: Any) -> list[str] | None:
    """The classes that each problem separates, for a classifier of more than two."""
    classes = getattr(estimator, "classes_", ())
    if len(classes) < 3:
        return None
    layout = Layout(len(classes), getattr(estimator, "multi_class", "ovr"))
    if layout.is_direct:
        return [" / ".join(map(str, classes))]
    if layout.is_pairwise:
        return [f"{classes[i]} / {classes[j]}" for i, j in layout.pairs]
    return [f"{c} / rest" for c in classes]


def summary_of(estimator: Any) -> str:
    """One line on how the fit ended."""
    parts = [type(estimator).__name__]
    if hasattr(estimator, "status_"):
        parts.append(str(estimator.status_))
    if hasattr(estimator, "n_iter_"):
        epochs = int(np.max(estimator.n_iter_))
        parts.append(f"{epochs:,} epoch{'s' if epochs != 1 else ''}")
    if hasattr(estimator, "duality_gap_"):
        parts.append(f"relative duality gap {estimator.duality_gap_:.1e}")
    line = " · ".join(parts)
    is_exact = getattr(estimator, "finished_exactly_", False)
    return f"{line}\n(finished exactly after the last epoch shown)" if is_exact else line
