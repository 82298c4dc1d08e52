"""Hard margins that cannot exist: say so, and which rows are to blame."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.exceptions import InfeasibleError
from adatron.gram import row_keys
from adatron.training import DualSolution, Status

__all__ = ["check_coincident", "check_one_tube", "not_separable"]


def check_coincident(X: Any, codes: np.ndarray, rows: np.ndarray, classes: np.ndarray) -> None:
    """Refuse equal rows of different classes: no kernel separates them."""
    labels = classes.tolist()
    seen: dict[bytes, int] = {}
    for i, key in enumerate(row_keys(X)):
        j = seen.setdefault(key, i)
        if codes[i] != codes[j]:
            raise InfeasibleError(
                f"the classes are not separable with any kernel: rows {rows[j]} and {rows[i]} of X coincide "
                f"but are labelled {labels[codes[j]]!r} and {labels[codes[i]]!r}; set C < inf"
            )


def check_one_tube(X: Any, targets: np.ndarray, rows: np.ndarray, epsilon: float) -> None:
    """Refuse equal rows whose targets do not fit into one tube: no function passes within epsilon of both."""
    ends: dict[bytes, tuple[int, int]] = {}  # the rows of the least and the greatest target
    for i, key in enumerate(row_keys(X)):
        low, high = ends.setdefault(key, (i, i))
        low, high = min(low, i, key=targets.__getitem__), max(high, i, key=targets.__getitem__)
        ends[key] = low, high
        if targets[high] - targets[low] > 2.0 * epsilon:
            raise InfeasibleError(
                f"no function stays within epsilon={epsilon:g} of all targets, as C=inf asks for: rows "
                f"{rows[low]} and {rows[high]} of X coincide but have the targets {targets[low]:g} and "
                f"{targets[high]:g}; set C < inf or a larger epsilon"
            )


def not_separable(solutions: list[DualSolution], plan: Any) -> InfeasibleError:
    """What to raise when a hard-margin problem was found to have no solution."""
    number = next(i for i, solution in enumerate(solutions) if solution.status is Status.NOT_SEPARABLE)
    solution = solutions[number]
    return InfeasibleError(
        f"the classes {plan.data.classes.tolist()!r} are not separable with this kernel (problem {number}): "
        f"after {solution.n_iter} epochs the margin must be below {solution.margin_interval[1]:.3g}"
        f"{_blame(plan, number)}; set C < inf or choose a richer kernel (where C * sample_weight * "
        "max k(x, x) >= 1e100, a bound is as good as infinite: lower C or the weights, or scale X)"
    )


def _blame(plan: Any, number: int) -> str:
    """Rows of opposite classes that coincide in feature space, if there are any."""
    run = next(r for r in plan.runs if r.first <= number < r.first + r.problem.n_columns)
    y, gram = run.problem.y[:, number - run.first], run.problem.gram
    heavy = np.argsort(-np.abs(run.problem.diagonal), kind="stable")[:1_000]
    K, signs, diagonal = gram.block(heavy, heavy), y[heavy], run.problem.diagonal[heavy]
    sizes = diagonal[:, None] + diagonal[None, :]
    distances = (sizes - 2.0 * K) / sizes
    distances[signs[:, None] == signs[None, :]] = np.inf
    i, j = np.unravel_index(int(distances.argmin()), distances.shape)
    if distances[i, j] > 1e-12:
        return ""
    first, second = sorted(_user_rows(plan, number)[heavy[[i, j]]].tolist())
    return f"; rows {first} and {second} of X coincide"


def _user_rows(plan: Any, number: int) -> np.ndarray:
    """The rows of the user's X behind the points of one problem."""
    layout, data = plan.layout, plan.data
    if not layout.is_pairwise:
        return data.rows
    return data.rows[layout.pair_rows(data.codes)[number][0]]
