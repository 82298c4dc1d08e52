"""What a solver is: a state, ``init`` and ``epoch``; no loop, clock, print or stopping tolerance."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from adatron.gram import Gram
from adatron.numerics.compiled import compiled_part

Pause = Callable[[], None]
StateT = TypeVar("StateT", bound=tuple)

_WORK_PER_TILE = 10_000_000  # multiply-adds in one compiled call: some 10 ms, so Ctrl-C is seen in time


class Solver(Protocol):
    """An algorithm: any object with these two methods.

    A state is a NamedTuple of arrays with the columns as last axis, of which ``alpha`` and ``f`` (outputs
    without bias) have shape (m, B), ``bias`` (B,). Fields named "diverged", "ended" or "stalled", (B,), say
    so of each column. ``epoch`` updates the arrays in place and calls ``pause`` between compiled chunks;
    whatever ``pause`` raises leaves α and f consistent. ``needs`` names what a problem must offer.
    """

    needs: ClassVar[frozenset[str]]

    def init(self, problem: Any, alpha: np.ndarray | None = None) -> Any:
        """The first state, perhaps from the multipliers `alpha`."""

    def epoch(self, problem: Any, state: Any, pause: Pause) -> Any:
        """The state after one more epoch."""


def take_columns(state: StateT, which: np.ndarray) -> StateT:
    """The state of some of the columns."""
    return type(state)(*(np.asfortranarray(array[..., which]) for array in state))


def output_sweep(
    gram: Gram, coefficients: np.ndarray, f: np.ndarray, pause: Pause
) -> Iterator[tuple[int, np.ndarray, np.ndarray, bool]]:
    """Tiles for point-by-point sweeps: ``(first row, rows, outputs, factored)``.

    With a whole kernel matrix the rows are its rows and the outputs (B, m) are f. With a factor,
    ``K = Z Zᵀ``, they are rows of Z and ``w = Zᵀ(y∘α)`` (B, r), so that f_i is their product, a sweep
    costs O(mr), and f is brought up to date at the end. Either way a step of α_i adds a multiple of row i.
    The twin points of a regression are swept twice, over the rows and outputs (B, n) of the n distinct ones.
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
