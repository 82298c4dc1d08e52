"""The pivots of incomplete Cholesky when the rows are on workers.

Every round the row with the largest error becomes a pivot, as in memory. A worker keeps, for each of its
blocks, the columns so far and the errors; only the largest error and its row travel. The factor itself is
built from the pivots afterwards, so that what a lost worker held is not r rounds away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adatron.gram.finite import check_finite
from adatron.gram.low_rank import FLOOR
from adatron.gram.row_blocks import RowBlocks
from adatron.kernels import Kernel

__all__ = ["pivots_of"]


class _Block(NamedTuple):
    """What a worker knows of its rows."""

    columns: np.ndarray  # (n_b, j) of the factor
    errors: np.ndarray  # (n_b,)


class _Worst(NamedTuple):
    """The row of a block with the largest error."""

    error: float
    place: int
    total: float  # of the errors of the block
    row: np.ndarray  # of X
    columns: np.ndarray  # of the factor


def pivots_of(kernel: Kernel, X: RowBlocks, rank: int, tolerance: float) -> np.ndarray:
    """Places of at most `rank` pivots, fewer if their relative trace error falls to `tolerance`."""
    cluster, pivots = X.cluster, []
    states = X.each("pivot-start", _start, *X.alike(kernel))
    trace = 0.0
    for j in range(rank):
        worst = cluster.gather(cluster.map("pivot-worst", _worst, states, X.blocks), X.partitions)
        total, best = sum(own.total for own in worst), int(np.argmax([own.error for own in worst]))
        trace = trace if j else total
        if total <= tolerance * trace or worst[best].error <= FLOOR * trace / X.shape[0]:
            break
        pivots.append(int(X.bounds[best]) + worst[best].place)
        pivot = cluster.shared(worst[best])
        own = [worst[best].place if b == best else -1 for b in range(len(states))]
        states = cluster.map("pivot", _next, states, X.blocks, [kernel] * len(own), [pivot] * len(own), own)
    places = np.array(pivots, dtype=np.int64)
    return places if X.order is None else np.argsort(X.order)[places]


def _start(X: np.ndarray, kernel: Kernel) -> _Block:
    return _Block(np.empty((len(X), 0)), np.array(kernel.diagonal(X), dtype=np.float64))


def _worst(state: _Block, X: np.ndarray) -> _Worst:
    place = int(state.errors.argmax())
    total = float(state.errors.sum())
    return _Worst(float(state.errors[place]), place, total, X[[place]], state.columns[place])


def _next(state: _Block, X: np.ndarray, kernel: Kernel, pivot: _Worst, own: int) -> _Block:
    column = check_finite(kernel(X, pivot.row), None, np.array([pivot.place]))[:, 0]
    column = (column - state.columns @ pivot.columns) / np.sqrt(pivot.error)
    errors = np.maximum(state.errors - column**2, 0.0)
    if own >= 0:
        errors[own] = 0.0
    return _Block(np.column_stack([state.columns, column]), errors)
