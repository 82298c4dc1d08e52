"""Checks of constructor parameters: every error names the parameter, its value and what is allowed.

A solver is checked against the problem that it is to serve.
"""

from __future__ import annotations

import os
from dataclasses import fields
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from adatron.problems import DualProblem
from adatron.solvers import SOLVERS, KernelAdatron

__all__ = [
    "as_random_state",
    "check_choice",
    "check_common_parameters",
    "check_finite_number",
    "check_flag",
    "check_integer",
    "check_max_iter",
    "check_number",
    "check_solver_can_serve",
    "closest_name",
    "count_threads",
    "solver_from",
]

# What a solver may need, the test of it, and the way out when it fails.
_REQUIREMENTS = {
    "classification": (
        lambda problem: not problem.equality and bool((problem.p == 1.0).all()),
        "is for classification only; use solver='auto', 'adatron' or 'multiplicative'",
    ),
    "free sum": (
        lambda problem: not problem.equality,
        "cannot keep the sum of the multipliers; use solver='auto', 'adatron' or 'multiplicative'",
    ),
    "no bias": (
        lambda problem: not problem.has_bias,
        "fits no bias; set fit_intercept=False, or use solver='adatron' or 'multiplicative'",
    ),
    "its own estimator": (
        lambda problem: False,
        "has an estimator of its own, KernelPerceptron; use that",
    ),
    "hard margin": (
        lambda problem: bool(np.isinf(problem.upper).all()),
        "knows hard margins only; set C=float('inf'), or use solver='adatron', 'multiplicative' or 'm3'",
    ),
    "nonnegative": (
        lambda problem: problem.gram.is_nonnegative(),
        "needs K >= 0, but this kernel has negative values; use solver='m3', which splits K+ and K-",
    ),
    "entries": (
        lambda problem: problem.gram.has_entries,
        "splits the entries of the kernel matrix, which does not survive a low-rank factor; set rank=None, "
        "or use solver='adatron', 'multiplicative' or 'rho'",
    ),
}


def check_number(
    name: str, value: Any, *, allow_inf: bool = False, allowed: str = "a finite number > 0"
) -> float:
    """A positive number."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not value > 0.0 or (np.isinf(value) and not allow_inf):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return float(value)


def check_finite_number(name: str, value: Any) -> float:
    """A number of any sign."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or not isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
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


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_) and value not in (0, 1):
        raise ValueError(f"{name} must be a bool, got {value!r}")


def check_max_iter(value: Any, default: int) -> int:
    """Epochs at most; -1 is the default."""
    if isinstance(value, Integral) and value == -1:
        return default
    return check_integer("max_iter", value, at_least=1, allowed="-1 or an integer >= 1")


def check_common_parameters(estimator: Any) -> None:
    """Parameters that all kernel estimators share."""
    if estimator.time_limit is not None:
        check_number("time_limit", estimator.time_limit, allowed="None or a finite number > 0")
    if not isinstance(estimator.cache_size, str) or estimator.cache_size != "auto":
        check_number("cache_size", estimator.cache_size, allowed="'auto' or a number of MB > 0")
    if not isinstance(estimator.verbose, bool | np.bool_ | Integral):
        raise ValueError(f"verbose must be a bool or an integer, got {estimator.verbose!r}")
    check_rank(estimator.rank)
    as_random_state(estimator.random_state)


def check_rank(rank: Any) -> None:
    """None, a number of landmarks, or a trace error."""
    is_number = isinstance(rank, int | float | np.number) and not isinstance(rank, bool)
    if rank is None or (is_number and (0.0 < rank < 1.0 or (rank >= 1 and rank == int(rank)))):
        return
    raise ValueError(f"rank must be None, an integer >= 1 or a number between 0 and 1, got {rank!r}")


def as_random_state(random_state: Any) -> np.random.RandomState:
    """scikit-learn's kinds of random states, and NumPy's generators."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32))
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ValueError(f"random_state must be None, an integer or a generator: {error}") from error


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


def solver_from(solver: Any, learning_rate: Any) -> Any:
    """The solver that `solver` names, or is, with its rate."""
    automatic = isinstance(learning_rate, str) and learning_rate == "auto"
    if not automatic:
        check_number("learning_rate", learning_rate, allowed="'auto' or a finite number > 0")
    if not isinstance(solver, str | type) and hasattr(solver, "epoch"):
        if not automatic:
            raise ValueError(
                f"learning_rate={learning_rate!r} belongs to a solver given by name; "
                f"set it in the solver object {solver!r}, or name the solver"
            )
        return solver
    kind: Any = SOLVERS[check_choice("solver", solver, list(SOLVERS))]
    if solver == "auto" and not automatic:
        kind = KernelAdatron  # the fast path takes exact steps; a rate asks for sweeps
    if any(field.name == "learning_rate" for field in fields(kind)):
        return kind(learning_rate=learning_rate)
    if not automatic:
        raise ValueError(
            f"solver={solver!r} has no rate, got learning_rate={learning_rate!r}; leave it 'auto'"
        )
    return kind(eps=1e-13) if solver == "rho" else kind()


def check_solver_can_serve(name: Any, solver: Any, problem: DualProblem) -> None:
    """Raise when a solver cannot serve the problem, saying which can."""
    for need in sorted(solver.needs):
        holds, way_out = _REQUIREMENTS[need]
        if not holds(problem):
            raise ValueError(f"solver={name!r} {way_out}")
