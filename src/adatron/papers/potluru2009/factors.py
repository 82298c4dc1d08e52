"""Factors by which the multipliers of points that support nothing shrink, epoch by epoch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adatron.gram import DenseGram
from adatron.numerics.threads import one_blas_thread
from adatron.papers.potluru2009.settings import Problem
from adatron.problems import classification
from adatron.solvers import M3, Munk

__all__ = ["SOLVERS", "Rates", "bound", "factors_in_training", "measure_rates"]

SOLVERS: dict[str, Any] = {"M³": M3(), "MUNK": Munk()}
_SHARES = {"M³": 0.5, "MUNK": 1.0}  # of (d_i − d) d/(l_i l) in the bounds (10) and (11)
_OUTSIDE = 1e-6  # y f beyond 1 from which a point is off the margin; copies of support vectors are on it


class Rates(NamedTuple):
    """Factors per epoch of the multipliers of all points off the margin."""

    points: np.ndarray
    distance: np.ndarray  # (d_i − d) d/(l_i l), which the bounds depend on
    measured: dict[str, np.ndarray]  # (epochs, points)
    exact: dict[str, np.ndarray]
    bounds: dict[str, np.ndarray]


def bound(algorithm: str, distance: np.ndarray) -> np.ndarray:
    """The document's bounds (10) and (11) on the factor.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.papers.potluru2009.factors import bound
    >>> bound("M³", np.array([0.5])), bound("MUNK", np.array([0.5]))
    (array([0.8]), array([0.66666667]))
    """
    return 1.0 / (1.0 + _SHARES[algorithm] * distance)


@one_blas_thread()
def measure_rates(problem: Problem, n_epochs: int) -> Rates:
    """Start at the solution with all zeros raised a little, and watch them fall."""
    alpha = np.zeros(len(problem.y))
    alpha[problem.optimum.support_] = np.abs(problem.optimum.dual_coef_[0])
    K = problem.kernel(problem.X, problem.X)
    same_class = problem.y[:, None] == problem.y
    above, below = (K * same_class) @ alpha, (K * ~same_class) @ alpha  # z⁺ and z⁻
    outside = (alpha == 0.0) & (above - below > 1.0 + _OUTSIDE)
    exact = {"M³": (1.0 + np.sqrt(1.0 + 4.0 * above * below)) / (2.0 * above), "MUNK": (below + 1.0) / above}
    squared_norm, lengths = alpha.sum(), np.sqrt(K.diagonal())  # at the solution ‖w‖² = Σα
    distance = ((above - below - 1.0) / squared_norm / (lengths * lengths.max()))[outside]
    dual = classification(DenseGram(K), problem.y, np.full(len(alpha), np.inf), bias=False)
    return Rates(
        np.flatnonzero(outside),
        distance,
        {name: _factors(solver, dual, alpha, n_epochs)[:, outside] for name, solver in SOLVERS.items()},
        {name: values[outside] for name, values in exact.items()},
        {name: bound(name, distance) for name in SOLVERS},
    )


def _factors(solver: Any, dual: Any, alpha: np.ndarray, n_epochs: int) -> np.ndarray:
    """α after each epoch over α before it; a warm start of these solvers has no zeros."""
    state = solver.init(dual, alpha[:, None])
    path = [state.alpha[:, 0].copy()]
    for _ in range(n_epochs):
        state = solver.epoch(dual, state, lambda: None)
        path.append(state.alpha[:, 0].copy())
    return np.array(path[1:]) / np.array(path[:-1])


@one_blas_thread()
def factors_in_training(problem: Problem, algorithm: str, point: int, n_epochs: int) -> np.ndarray:
    """The factors of one multiplier in a training from the usual start, epoch by epoch.

    They end where it has become so small that the machine leaves it out.
    """
    model = problem.machine(algorithm, n_epochs)
    path = [
        float(np.abs(model.dual_coef_[0][model.support_ == point]).sum())
        for _ in model.iter_fit(problem.X, problem.y)
    ]
    kept = np.array(path[: path.index(0.0)] if 0.0 in path else path)
    return kept[1:] / kept[:-1]
