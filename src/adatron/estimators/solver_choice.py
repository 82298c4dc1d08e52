"""From the parameters of an estimator to a solver that can serve the request."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from adatron.estimators.parameters import check_choice, check_number
from adatron.problems import DualProblem
from adatron.solvers import SOLVERS, KernelAdatron

__all__ = ["check_solver_can_serve", "solver_from"]

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
        lambda problem: problem.is_nonnegative,
        "needs K >= 0, but this kernel has negative values; use solver='m3', which splits K+ and K-",
    ),
    "entries": (
        lambda problem: getattr(problem.gram, "has_entries", True),
        "splits the entries of the kernel matrix, which does not survive a low-rank factor; set rank=None, "
        "or use solver='adatron', 'multiplicative' or 'rho'",
    ),
}


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
