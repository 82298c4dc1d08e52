"""The loop for Crammer & Singer's problem: its certificate, its records, and a run that uses them.

With the losses ``s_ic = 1 − δ_{c,y_i} + f_ic − f_{i,y_i}``, ``ξ_i = max_c s_ic`` and the distances
``β_ic = C_i δ_{c,y_i} − A_ic ≥ 0`` of a feasible A from its bounds, whose rows sum to C_i, the gap is
again a sum of non-negative terms::

    P − D = Σ_ic β_ic (ξ_i − s_ic)

A hard margin is one in the joint space of rows and classes, where every ``f_{i,y_i} − f_ic`` is to be
at least 1, and is certified like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.problems import CrammerSingerProblem
from adatron.solvers import CrammerSinger
from adatron.training.certificate import (
    Certificate,
    hard_margin,
    is_as_good_as_hard,
    precise_sum,
    soft_margin,
    with_smaller_gap,
)
from adatron.training.coupled_finish import exact_coupled_finish
from adatron.training.run import Run

__all__ = ["CoupledRun", "certify_coupled", "measure_coupled"]


class CoupledRun(Run):
    """A run of one `CrammerSingerProblem`; everything but the mathematics is that of `Run`.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import crammer_singer
    >>> from adatron.training import CoupledRun, rounds
    >>> problem = crammer_singer(DenseGram(np.eye(3)), np.arange(3), 3, np.ones(3))
    >>> run = CoupledRun(problem, tol=1e-6, max_iter=100)
    >>> for records in rounds([run]):
    ...     pass
    >>> print(run.solutions[0].status, run.solutions[0].alpha[0].round(3))
    converged [ 0.667 -0.333 -0.333]
    """

    problem: Any

    def __init__(self, problem: CrammerSingerProblem, **options: Any) -> None:
        solver: Any = CrammerSinger()
        super().__init__(problem, solver, **options)  # type: ignore[arg-type]

    def _outputs(self) -> np.ndarray:
        return self.problem.gram.matmul(self.state.alpha[..., 0])[:, :, None]

    def _measure(self) -> np.ndarray:
        return measure_coupled(self.problem, *self._iterate(0))[None, :]

    def _certify(self, column: int, alpha: np.ndarray, f: np.ndarray | None = None) -> Certificate:
        return certify_coupled(self.problem, alpha)

    def _exact_finish(self, column: int, alpha: np.ndarray) -> np.ndarray | None:
        return exact_coupled_finish(self.problem, alpha, self._pause)


def certify_coupled(problem: CrammerSingerProblem, alpha: np.ndarray) -> Certificate:
    """Make A feasible, recompute its outputs from the kernel and measure the gap."""
    alpha = problem.feasible(np.asarray(alpha, dtype=np.float64))
    f = problem.gram.matmul(alpha)
    losses = problem.losses(f)
    margins = _margins(problem, losses)
    quadratic = max(precise_sum(alpha * f), 0.0)
    linear = precise_sum(alpha[problem.own])
    known = (alpha, f, 0.0, (0.0, 0.0), quadratic, linear)
    hard = hard_margin(*known, margins)
    if np.isinf(problem.upper).any():
        return hard
    room = problem.bounds - alpha
    difference = precise_sum(room * (losses.max(axis=1, keepdims=True) - losses))
    soft = soft_margin(*known, float(margins.min()), difference)
    return with_smaller_gap(soft, hard) if is_as_good_as_hard(problem, 0) else soft


def measure_coupled(problem: CrammerSingerProblem, alpha: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Objective, margin and violation, shape (3,).

    The margin is the smallest ``f_{i,y_i} − f_ic`` over rows below their bound, 1 at the optimum.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what diverges is recorded, then recognised
        losses = problem.losses(f)
        objective = alpha[problem.own].sum() - 0.5 * (alpha * f).sum()
        below = alpha[problem.own] < problem.upper[:, 0]
        margins = _margins(problem, losses)
        short = losses.max(axis=1, keepdims=True) - losses
        violation = np.where(alpha < problem.bounds, short, 0.0).max()
    return np.array([objective, margins[below].min() if below.any() else margins.min(), violation])


def _margins(problem: CrammerSingerProblem, losses: np.ndarray) -> np.ndarray:
    """``f_{i,y_i} − max f_ic`` over the other classes, of every row."""
    return 1.0 - np.where(problem.own, -np.inf, losses).max(axis=1)
