"""Products with tall matrices whose rounding does not depend on where their rows are.

Algorithms that amplify rounding, as ensembles of hundreds of stages do, can agree between memory and a
cluster only bit for bit. So both multiply the same few rows at a time, as many as `rows_at_once` says and
counted from the first row of all, and add up what these give in twice the precision: such a sum, rounded at
the end, is the same in any order. Blocks on a cluster begin where one of these groups of rows does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from adatron.numerics.compiled import compiled, ordered_part
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

__all__ = [
    "add_pairs",
    "aligned",
    "group_by_group",
    "groups",
    "rounded",
    "rows_at_once",
    "times",
    "transposed_times",
    "transposed_times_pair",
]

_GROUPS = 64  # at least, of many rows
_FEWEST, _MOST = 8, 4_096  # rows of a group
_WORTH_A_THREAD = 2**18  # entries of a matrix
_SPANS = 4  # of groups for every thread, should one of them be slower


def rows_at_once(m: int) -> int:
    """Rows of a group for m of them: a power of two.

    Examples
    --------
    >>> from adatron.numerics.reproducible import rows_at_once
    >>> [rows_at_once(m) for m in (10, 10_000, 32_561, 1_000_000)]
    [8, 128, 256, 4096]
    """
    return min(max(1 << (m // _GROUPS).bit_length() >> 1, _FEWEST), _MOST)


def aligned(bounds: Any, m: int) -> np.ndarray:
    """Bounds of blocks of m rows, moved to where groups begin; empty blocks vanish."""
    step = rows_at_once(m)
    inner = np.round(np.asarray(bounds) / step).astype(np.int64) * step
    return np.unique(np.concatenate([[0], inner[(inner > 0) & (inner < m)], [m]]))


def groups(n_rows: int, size: int) -> Iterator[slice]:
    """The groups of a block that begins with one."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def group_by_group(function: Callable[..., Any], M: Any, size: int, *values: Any) -> np.ndarray:
    """``function(M, *values)``, which has a result for every row, evaluated for each group on its own."""
    if M.shape[0] <= size:
        return np.asarray(function(M, *values))
    return np.concatenate([function(M[part], *values) for part in groups(M.shape[0], size)])


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
    return rounded(transposed_times_pair(M, V, size))


def transposed_times_pair(
    M: np.ndarray, V: np.ndarray, size: int, n_threads: int | None = None
) -> np.ndarray:
    """``Mᵀ V`` as a sum and what rounding took from it, shape (2, width, …)."""
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
    """Rows of whole groups, or of one that is not whole, group by group."""
    size = min(size, len(rows))
    return rows.reshape(-1, size, rows.shape[1])


def add_pairs(pairs: list[np.ndarray]) -> np.ndarray:
    """The sum of several pairs."""
    total = np.zeros_like(pairs[0])
    flat = total.reshape(2, -1)
    _add_up(np.stack([pair[0].ravel() for pair in pairs]), flat)
    flat[1] += sum(pair[1].ravel() for pair in pairs)
    return total


def rounded(pair: np.ndarray) -> np.ndarray:
    """The sum that a pair stands for."""
    return np.where(np.isfinite(pair[1]), pair[0] + pair[1], pair[0])  # infinity leaves no number behind


@compiled
def _add_up(parts, pair):
    """Add the lines of `parts` to a pair."""
    for g in range(parts.shape[0]):
        for k in range(parts.shape[1]):
            pair[0, k], left = _sum_and_rest(pair[0, k], float(parts[g, k]))
            pair[1, k] += left


@ordered_part
def _sum_and_rest(a, b):
    """``a + b`` rounded, and exactly what rounding took from it (Knuth)."""
    total = a + b
    shift = total - a
    return total, (a - (total - shift)) + (b - shift)


def _on_threads(work: Callable[[slice], None], M: np.ndarray, size: int, n_threads: int | None) -> None:
    """Each group is multiplied by one thread: their number would change the rounding."""
    many = usable_threads() if n_threads is None and M.size >= _WORTH_A_THREAD else 1
    n_threads, whole = n_threads or many, len(M) // size
    cuts = [whole * k // (_SPANS * n_threads) * size for k in range(_SPANS * n_threads + 1)]
    cuts = [0, whole * size] if n_threads == 1 else cuts
    spans = [slice(a, b) for a, b in pairwise([*cuts, len(M)]) if a < b]

    def quietly(part: slice) -> None:  # whoever uses the numbers looks for infinity
        with np.errstate(over="ignore", invalid="ignore"):
            work(part)

    with one_blas_thread():
        in_parallel(quietly, spans, n_threads)
