"""Hard margins that cannot exist: say so, and which rows are to blame."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.exceptions import InfeasibleError
from adatron.solving import DualSolution, Status

__all__ = ["check_coincident", "check_separable"]


def check_coincident(X: Any, codes: np.ndarray, rows: np.ndarray, classes: np.ndarray) -> None:
    """Refuse equal rows of different classes: no kernel separates them."""
    seen: dict[bytes, int] = {}
    for i in range(X.shape[0]):
        j = seen.setdefault(_row_bytes(X, i), i)
        if codes[i] != codes[j]:
            raise InfeasibleError(
                f"the classes are not separable with any kernel: rows {rows[j]} and {rows[i]} of X coincide "
                f"but are labelled {classes[codes[j]]!r} and {classes[codes[i]]!r}; set C < inf"
            )


def _row_bytes(X: Any, i: int) -> bytes:
    if sparse.issparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        stored = X.data[part] != 0.0
        return X.indices[part][stored].tobytes() + X.data[part][stored].tobytes()
    return (X[i] + 0.0).tobytes()  # −0.0 becomes 0.0


def check_separable(solutions: list[DualSolution], plan: Any, classes: np.ndarray) -> None:
    """Raise when a hard-margin problem was found to have no solution."""
    for number, solution in enumerate(solutions):
        if solution.status is Status.NOT_SEPARABLE:
            raise InfeasibleError(
                f"the classes {classes.tolist()!r} are not separable with this kernel (problem {number}): "
                f"after {solution.n_iter} epochs the margin must be below {solution.margin_interval[1]:.3g}"
                f"{_blame(plan, number)}; set C < inf or choose a richer kernel"
            )


def _blame(plan: Any, number: int) -> str:
    """Points of opposite classes that coincide in feature space, if there are any."""
    run = next(r for r in plan.runs if r.first <= number < r.first + r.problem.n_columns)
    y, gram = run.problem.y[:, number - run.first], run.problem.gram
    heavy = np.argsort(-np.abs(run.problem.diagonal), kind="stable")[:1_000]
    K, signs, diagonal = gram.block(heavy, heavy), y[heavy], run.problem.diagonal[heavy]
    distances = diagonal[:, None] + diagonal[None, :] - 2.0 * K
    distances[signs[:, None] == signs[None, :]] = np.inf
    i, j = np.unravel_index(int(distances.argmin()), distances.shape)
    if distances[i, j] > 1e-12 * diagonal.max():
        return ""
    first, second = sorted((int(heavy[i]), int(heavy[j])))
    return f"; points {first} and {second} of that problem coincide"
