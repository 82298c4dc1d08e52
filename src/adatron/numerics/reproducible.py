"""Matrix products and sums with the same bits in memory and on a cluster.

A fit in memory and a fit on a cluster must agree bit for bit: algorithms that amplify rounding, such as
ensembles of hundreds of stages, would otherwise drift apart. Both multiply the same small groups of rows
(`rows_at_once` rows, counted from the first row of all) and add up the results of the groups in twice the
precision. Such a sum, rounded at the end, is the same in any order. A block on a cluster has whole groups.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from adatron.numerics.compiled import compiled, ordered_part
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

_GROUPS = 64  # at least, where there are many rows
_FEWEST, _MOST = 8, 4_096  # rows of a group
_WORTH_A_THREAD = 2**18  # entries of a matrix
_SPANS = 4  # spans of groups per thread, so that slow threads take fewer


def rows_at_once(m: int) -> int:
    """Return the number of rows in a group for m rows in all: a power of two."""
    return min(max(1 << (m // _GROUPS).bit_length() >> 1, _FEWEST), _MOST)


def aligned(bounds: Any, m: int) -> np.ndarray:
    """Bounds of blocks of m rows, moved to the nearest beginning of a group; empty blocks vanish."""
    step, bounds = rows_at_once(m), np.asarray(bounds)
    inner = np.round(bounds[bounds < m] / step).astype(np.int64) * step
    return np.unique(np.concatenate([[0], inner[(inner > 0) & (inner < m)], [m]]))


def times(M: np.ndarray, W: np.ndarray, size: int, n_threads: int | None = None) -> np.ndarray:
    """``M W`` in float64, multiplied in the precision of M; on all threads unless `n_threads` is given."""
    W = np.ascontiguousarray(W, dtype=M.dtype)
    outputs = np.empty((len(M), *W.shape[1:]), order="F")

    def work(part: slice) -> None:
        outputs[part] = np.matmul(_stacked(M[part], size), W).reshape(-1, *W.shape[1:])

    _on_threads(work, M, size, n_threads)
    return outputs


def transposed_times(M: np.ndarray, V: np.ndarray, size: int) -> np.ndarray:
    """``Mᵀ V`` in float64."""
    return rounded_sum([transposed_times_pair(M, V, size)])


def transposed_times_pair(M: np.ndarray, V: np.ndarray, size: int, n_threads: Any = None) -> np.ndarray:
    """``Mᵀ V`` as a pair, the sum and its rounding error, of shape (2, width, …)."""
    columns = V.reshape(len(V), -1)
    parts = np.empty((-(-len(M) // size), columns.shape[1], M.shape[1]), dtype=M.dtype)

    def work(part: slice) -> None:
        lines = _stacked(columns[part], size).transpose(0, 2, 1)
        place = slice(part.start // size, -(-part.stop // size))
        np.matmul(np.ascontiguousarray(lines, dtype=M.dtype), _stacked(M[part], size), out=parts[place])

    _on_threads(work, M, size, n_threads)
    pairs = np.zeros((2, *parts.shape[1:]))
    _add_up(parts.reshape(len(parts), -1), pairs.reshape(2, -1))
    return np.ascontiguousarray(pairs.transpose(0, 2, 1)).reshape(2, -1, *V.shape[1:])


def _stacked(rows: np.ndarray, size: int) -> np.ndarray:
    """Rows of whole groups, or of one shorter group, with an axis for the groups."""
    return rows.reshape(-1, min(size, len(rows)), rows.shape[1])


def _on_threads(work: Callable[[slice], None], M: np.ndarray, size: int, n_threads: int | None) -> None:
    """Call `work` for spans of whole groups, on threads whose number does not change the result."""
    many = usable_threads() if n_threads is None and M.size >= _WORTH_A_THREAD else 1
    n_threads, whole = n_threads or many, len(M) // size
    n_spans = 1 if n_threads == 1 else _SPANS * n_threads
    cuts = [whole * k // n_spans * size for k in range(n_spans + 1)]
    spans = [slice(a, b) for a, b in pairwise([*cuts, len(M)]) if a < b]

    def quietly(part: slice) -> None:  # the caller checks for infinity
        with np.errstate(over="ignore", invalid="ignore"):
            work(part)

    with one_blas_thread():
        in_parallel(quietly, spans, n_threads)


def add_pairs(pairs: list[np.ndarray]) -> np.ndarray:
    total = np.zeros_like(pairs[0])
    _add_up(np.stack([pair[0].ravel() for pair in pairs]), total.reshape(2, -1))
    total[1] += sum(pair[1] for pair in pairs)
    return total


def rounded_sum(pairs: list[np.ndarray]) -> np.ndarray:
    """The sum of several pairs as one number each."""
    total, error = add_pairs(pairs)
    return np.where(np.isfinite(error), total + error, total)  # the error of an infinite sum is NaN


@compiled
def _add_up(parts, pair):
    """Add the lines of `parts` to a pair."""
    for g in range(parts.shape[0]):
        for k in range(parts.shape[1]):
            pair[0, k], left = _sum_and_rest(pair[0, k], float(parts[g, k]))
            pair[1, k] += left


@ordered_part
def _sum_and_rest(a, b):
    """``a + b`` rounded, and its rounding error, which is exact (Knuth)."""
    total = a + b
    shift = total - a
    return total, (a - (total - shift)) + (b - shift)
