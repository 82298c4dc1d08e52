"""Checks of constructor parameters: every error names the parameter, its value and what is allowed."""

from __future__ import annotations

import os
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_choice", "check_integer", "check_number", "closest_name", "count_threads"]


def check_number(
    name: str, value: Any, *, allow_inf: bool = False, allowed: str = "a finite number > 0"
) -> float:
    """A positive number."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not value > 0.0 or (np.isinf(value) and not allow_inf):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return float(value)


def check_integer(name: str, value: Any, *, at_least: int, allowed: str) -> int:
    """A whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_) or value < at_least:
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: list[str]) -> str:
    """One of a few names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}{closest_name(value, choices)}")
    return value


def closest_name(value: Any, names: list[str]) -> str:
    """``"; did you mean …?"`` when a name comes close."""
    found = get_close_matches(str(value), names, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def count_threads(n_jobs: Any) -> int:
    """Number of threads for `n_jobs` as scikit-learn means it, at most one per core."""
    cores = os.cpu_count() or 1
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    wanted = int(n_jobs)
    return min(cores, wanted) if wanted > 0 else max(1, cores + 1 + wanted)
