"""What a solver is: a state, ``init`` and ``epoch``; no loop, clock, print or stopping tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from adatron.gram import Gram
from adatron.numerics.compiled import compiled_part
from adatron.problems import DualProblem

__all__ = [
    "Pause",
    "Solver",
    "State",
    "empty_state_arrays",
    "feasible_start",
    "output_of",
    "output_sweep",
    "outputs_of",
    "positive_start",
    "revive",
    "scaled",
    "take_columns",
]

Pause = Callable[[], None]
StateT = TypeVar("StateT", bound=tuple)

_WORK_PER_TILE = 10_000_000  # multiply-adds in one compiled call: some 10 ms, so Ctrl-C is seen in time
_ROWS_AT_ONCE = 1024


class State(Protocol):
    """What every solver's NamedTuple has; all its arrays have the columns as last axis."""

    @property
    def alpha(self) -> np.ndarray: ...  # (m, B)
    @property
    def f(self) -> np.ndarray: ...  # (m, B), outputs without bias
    @property
    def bias(self) -> np.ndarray: ...  # (B,)


class Solver(Protocol):
    """One algorithm of the papers: any object with these two methods.

    ``epoch`` updates the arrays of the state in place and calls ``pause`` between compiled
    chunks; whatever ``pause`` raises leaves α and f consistent with each other. Fields of the state named
    "diverged", "ended" or "stalled", of shape (B,), say that about its columns. ``needs`` names what a
    problem must offer: "entries", "no bias", "hard margin", …
    """

    needs: ClassVar[frozenset[str]]

    def init(self, problem: Any, alpha: np.ndarray | None = None) -> Any:
        """The first state, perhaps from the multipliers `alpha`."""

    def epoch(self, problem: Any, state: Any, pause: Pause) -> Any:
        """The state after one more epoch."""


def output_sweep(
    gram: Gram, coefficients: np.ndarray, f: np.ndarray, pause: Pause
) -> Iterator[tuple[int, np.ndarray, np.ndarray, bool]]:
    """Tiles for point-by-point sweeps: ``(first row, rows, outputs, factored)``.

    With a whole kernel matrix the rows are its rows and the outputs (B, m) are f. With a factor,
    ``K = Z Zᵀ``, they are rows of Z and ``w = Zᵀ(y∘α)`` (B, r), so that f_i is their product, a sweep
    costs O(mr), and f is brought up to date at the end. Either way a step of α_i adds a multiple of row i.
    Points that stand twice are swept twice, over the rows and outputs (B, n) of the n distinct ones.
    The `coefficients` are y∘α before the sweep.
    """
    points, copies, factor = gram.points, gram.copies, gram.points.factor
    if factor is None:
        outputs = f.T if copies == 1 else np.ascontiguousarray(f[: points.m].T)
        work_per_row = points.m * f.shape[1]
    else:
        folded = coefficients if copies == 1 else coefficients.reshape(copies, points.m, -1).sum(axis=0)
        outputs = np.ascontiguousarray(points.weights_of(folded).T)
        work_per_row = max(outputs.size, 1)
    size = max(1, _WORK_PER_TILE // work_per_row)
    try:
        for copy in range(copies):
            for start in range(0, points.m, size):
                pause()
                part = slice(start, min(start + size, points.m))
                rows = points.block(part) if factor is None else factor[part]
                yield copy * points.m + start, rows, outputs, factor is not None
    finally:
        if factor is not None or copies > 1:
            new = outputs.T if factor is None else points.outputs_of(outputs.T)
            f[...] = new if copies == 1 else np.tile(new, (copies, 1))


@compiled_part
def output_of(row, outputs, i, factored):
    """f_i of one column."""
    if not factored:
        return outputs[i % len(outputs)]
    total = 0.0
    for j in range(len(row)):
        total += row[j] * outputs[j]
    return total


def outputs_of(gram: Gram, rows: np.ndarray, weights: np.ndarray, pause: Pause) -> np.ndarray:
    """``Σ weights_k K[rows_k]``, the outputs that some points cause."""
    outputs = np.zeros(gram.m)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        pause()
        part = slice(start, start + _ROWS_AT_ONCE)
        gram.add_rows(rows[part], weights[part], outputs)
    return outputs


def empty_state_arrays(problem: DualProblem, alpha: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """α (zero, or a warm start clipped to the box) and the outputs f that belong to it."""
    if alpha is None:
        zeros = np.zeros((problem.m, problem.n_columns), order="F")
        return zeros, zeros.copy(order="F")
    alpha = np.asfortranarray(np.clip(alpha, 0.0, problem.upper))
    return alpha, np.asfortranarray(problem.gram.matmul(problem.y * alpha))


def feasible_start(problem: DualProblem, alpha: np.ndarray | None) -> np.ndarray | None:
    """A start with ``yᵀα = r``, which pairs of steps then keep; None where α = 0 will do.

    The heavier class is scaled down; what is still missing is put on the first points with ``y = +1``.
    """
    if not problem.has_bias or (alpha is None and not problem.equality):
        return alpha
    alpha = np.zeros_like(problem.y) if alpha is None else np.clip(alpha, 0.0, problem.upper)
    positive, r = problem.y > 0.0, problem.equality
    above, below = (np.where(side, alpha, 0.0).sum(axis=0) for side in (positive, ~positive))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(positive, (below + r) / above, (above - r) / below)
    alpha = np.where(alpha > 0.0, alpha * np.clip(shares, 0.0, 1.0), 0.0)
    if not r:
        return alpha
    room = np.where(positive, problem.upper - alpha, 0.0)
    before = np.cumsum(room, axis=0) - room
    return alpha + np.clip(-problem.imbalance(alpha) - before, 0.0, room)


def positive_start(problem: DualProblem, alpha: np.ndarray | None) -> np.ndarray:
    """A start without zeros for multiplicative updates, which could never leave one."""
    if alpha is None:
        return np.asfortranarray(np.minimum(1.0 / problem.m, 0.5 * problem.upper))
    floor = np.minimum(1e-6 / problem.diagonal[:, None], 0.5 * problem.upper)
    return np.asfortranarray(np.maximum(np.minimum(alpha, problem.upper), floor))


def revive(
    problem: DualProblem, alpha: np.ndarray, outputs: np.ndarray, where: np.ndarray | bool = True
) -> np.ndarray:
    """Raise zeros that the gradient ``p − outputs`` (y∘f) wants to be positive."""
    locked = (alpha <= 0.0) & (problem.p > outputs) & (problem.upper > 0.0) & where
    if not locked.any():
        return alpha
    small = 1e-6 * np.minimum(1.0 / problem.diagonal[:, None], problem.upper)
    return np.where(locked, small, alpha)


def scaled(alpha: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """α · factor, where 0 · ∞ is 0 and ∞ stays within float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(alpha > 0.0, np.minimum(alpha * factor, 1e150), 0.0)


def take_columns(state: StateT, which: np.ndarray) -> StateT:
    """The state of some of the columns."""
    return type(state)(*(np.asfortranarray(array[..., which]) for array in state))
