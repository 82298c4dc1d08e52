"""What a solver is: a state, ``init`` and ``epoch``; no loop, clock, print or stopping tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import numpy as np

from adatron.operators import GramOperator
from adatron.problems import DualProblem

__all__ = ["Pause", "Solver", "State", "empty_state_arrays", "sweep", "take_columns"]

Pause = Callable[[], None]
StateT = TypeVar("StateT", bound=tuple)

_WORK_PER_TILE = 10_000_000  # multiply-adds in one compiled call: some 10 ms, so Ctrl-C is seen in time


class State(Protocol):
    """What every solver's NamedTuple has; all its arrays have the columns as last axis."""

    @property
    def alpha(self) -> np.ndarray: ...  # (m, B)
    @property
    def f(self) -> np.ndarray: ...  # (m, B), outputs without bias
    @property
    def bias(self) -> np.ndarray: ...  # (B,)


class Solver(Protocol):
    """One algorithm of the documents.

    ``epoch`` updates the arrays of the state in place and calls ``pause`` between compiled
    chunks; whatever ``pause`` raises leaves α and f consistent with each other.
    """

    needs: frozenset[str]

    def init(self, problem: DualProblem, alpha: np.ndarray | None = None) -> Any: ...

    def epoch(self, problem: DualProblem, state: Any, pause: Pause) -> Any: ...


def sweep(gram: GramOperator, n_columns: int, pause: Pause) -> Iterator[tuple[int, np.ndarray]]:
    """All rows of the kernel matrix in order, in tiles ``(index of the first row, rows)``."""
    size = max(1, _WORK_PER_TILE // (gram.m * n_columns))
    for start in range(0, gram.m, size):
        pause()
        yield start, gram.block(slice(start, min(start + size, gram.m)))


def empty_state_arrays(problem: DualProblem, alpha: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """α (zero, or a warm start clipped to the box) and the outputs f that belong to it."""
    if alpha is None:
        zeros = np.zeros((problem.m, problem.n_columns), order="F")
        return zeros, zeros.copy(order="F")
    alpha = np.asfortranarray(np.clip(alpha, 0.0, problem.upper))
    return alpha, np.asfortranarray(problem.gram.matmul(problem.y * alpha))


def take_columns(state: StateT, which: np.ndarray) -> StateT:
    """The state of some of the columns."""
    return type(state)(*(np.asfortranarray(array[..., which]) for array in state))
