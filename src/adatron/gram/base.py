"""The abstract class of all kernel matrices, with declared capabilities.

Four methods are required; all others have defaults that are right for a matrix whose entries can be read.
Solvers and rules look at the capabilities, never at the class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from adatron.exceptions import KernelError
from adatron.gram.row_source import slices
from adatron.numerics.compiled import compiled

Rows: TypeAlias = "slice | np.ndarray"
FUNCTIONS = ("identity", "exp", "power", "tanh", "exp of root")  # that `row_of` applies
_VALUES_AT_ONCE = 10_000_000


class Gram(ABC):
    """A symmetric m × m kernel matrix that need not exist in memory."""

    m: int
    has_entries: bool = True  # entries are those of the kernel, unlike those of a low-rank approximation
    is_single: bool = False  # kernel values are float32; `exact` and `exact_outputs` then have float64 ones
    evaluates_rows: bool = False  # rows are evaluated on demand, so solvers should ask for few
    has_own_threads: bool = False  # evaluates kernel values on its own threads, so BLAS should use one
    is_elsewhere: bool = False  # rows are on the workers of a cluster
    is_whole: bool = False  # all entries are in memory, so products with the whole matrix are cheap
    factor: np.ndarray | None = None  # Z (m, r), if ``K = Z Zᵀ`` with Z in memory
    lower_half: np.ndarray | None = None  # the lower triangle, if compiled code may multiply by it
    cost: int = 0  # most bytes held in addition to what the caller passed
    # Of a low-rank approximation: places and rows of its landmarks, the projection P of
    # ``z(x) = k(x, landmark_rows) P``, and the error relative to the trace.
    landmarks: np.ndarray = np.empty(0, dtype=np.int64)
    landmark_rows: np.ndarray = np.empty((0, 0))
    projection: np.ndarray = np.empty((0, 0))
    trace_error: float = 0.0
    copies: int = 1  # how often each of the `points` occurs in this matrix

    @property
    def points(self) -> Gram:
        """The matrix of the distinct points."""
        return self

    @property
    def is_exact(self) -> bool:
        """Whether the entries are float64 values of the kernel itself."""
        return self.has_entries and not self.is_single

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """``K_ii`` of every point, shape (m,)."""

    @abstractmethod
    def matmul(self, V: np.ndarray) -> np.ndarray:
        """``K V`` for `V` of shape (m, B)."""

    @abstractmethod
    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        """``K[rows][:, cols]`` (all columns by default); read-only for the caller."""

    @abstractmethod
    def restrict(self, rows: np.ndarray) -> Gram:
        """The matrix of some of the points."""

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """``f += Σ weights_k K[rows_k]``."""
        f += weights @ self.block(rows)

    def exact(self) -> Gram:
        """The same matrix with float64 kernel values; this one may release what it keeps."""
        return self

    def exact_outputs(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``K[rows] @ weights`` with float64 kernel values."""
        return self.block(rows) @ weights

    def long_outputs(self, weights: np.ndarray) -> np.ndarray | None:
        """``K @ weights`` in extended precision; None where that would take long."""
        return None

    def release(self) -> None:
        """Free memory for values that can be evaluated again; by default there are none."""
        return

    def partial(self) -> PartialMatrix:
        """The matrix for compiled code, which may evaluate rows by itself."""
        return PartialMatrix.whole(np.asarray(self.block(slice(0, self.m)), dtype=np.float64))

    def grow(self, room: int = 0) -> PartialMatrix:
        """The partial matrix with room for more rows."""
        return self.partial()

    def weights_of(self, V: np.ndarray) -> np.ndarray:
        """The compressed form of expansions with coefficients V: ``Zᵀ V`` for a low-rank matrix, else V."""
        return V

    def outputs_of(self, W: np.ndarray) -> np.ndarray:
        """Outputs of all points from the result of `weights_of`."""
        return self.matmul(W)

    def visit(self, function: Callable, V: np.ndarray, passes: list, rest: tuple) -> tuple:
        """Let ``w = Zᵀ V`` visit the rows of a factor that is elsewhere."""
        raise NotImplementedError(f"{type(self).__name__} has its rows here")

    def split_matmul(self, V: np.ndarray, pause: Callable[[], None]) -> tuple[np.ndarray, np.ndarray]:
        """``K⁺ V`` and ``K⁻ V``, the positive and the negative entries of K apart."""
        above, below = np.empty_like(V), np.empty_like(V)
        for rows in slices(self.m, max(1, 2 * _VALUES_AT_ONCE // (self.m * V.shape[1]))):
            pause()
            block = self.block(rows)
            above[rows] = np.maximum(block, 0.0) @ V
            below[rows] = above[rows] - block @ V
        return above, below

    def is_nonnegative(self) -> bool:
        """Whether no entry is negative."""
        parts = slices(self.m, max(1, _VALUES_AT_ONCE // self.m))
        return all(self.block(rows).min() >= 0.0 for rows in parts)

    def cancel_twins(self, alpha: np.ndarray) -> np.ndarray:
        """Subtract from α what a point and its twin have in common, where points occur twice."""
        return alpha


class GramView(Gram):
    """Some of the points of a matrix, sharing its row cache."""

    def __init__(self, parent: Gram, rows: np.ndarray) -> None:
        self.parent, self.rows, self.m = parent, rows, len(rows)
        self.has_entries, self.has_own_threads = parent.has_entries, parent.has_own_threads

    @property
    def is_exact(self) -> bool:
        return self.parent.is_exact

    def diagonal(self) -> np.ndarray:
        return self.parent.diagonal()[self.rows]

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """From the rows that belong to non-zero entries: K is symmetric, its columns are rows."""
        result, used = np.zeros((self.m, V.shape[1])), np.flatnonzero(np.any(V != 0.0, axis=1))
        for start in range(0, len(used), 256):
            rows = used[start : start + 256]
            result += self.block(rows).T @ V[rows]
        return result

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        return self.parent.block(self.rows[rows], self.rows if cols is None else self.rows[cols])

    def restrict(self, rows: np.ndarray) -> GramView:
        return GramView(self.parent, self.rows[rows])


class TwinGram(Gram):
    """The matrix ``[[K, K], [K, K]]`` of m points and their twins; only K is stored.

    These are the twin variables of regression. Rows are those of K, so a point and its twin share them in
    the cache; products fold the two halves before they multiply.
    """

    copies = 2

    def __init__(self, points: Gram) -> None:
        self._points, self.m = points, 2 * points.m
        self.has_entries, self.is_single, self.cost = points.has_entries, points.is_single, points.cost
        self.evaluates_rows, self.has_own_threads = points.evaluates_rows, points.has_own_threads
        self.landmarks, self.is_elsewhere = points.landmarks, points.is_elsewhere

    @property
    def points(self) -> Gram:
        return self._points

    @property
    def is_exact(self) -> bool:
        return self.points.is_exact

    def diagonal(self) -> np.ndarray:
        return np.tile(self.points.diagonal(), 2)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        return np.tile(self.points.matmul(self._folded(V)), (2, 1))

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = np.arange(self.m)[rows] % self.points.m
        if cols is None:
            return np.tile(self.points.block(places), (1, 2))
        return self.points.block(places, places if cols is rows else cols % self.points.m)

    def restrict(self, rows: np.ndarray) -> GramView:
        return GramView(self, np.asarray(rows))

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        places, which = np.unique(rows % self.points.m, return_inverse=True)
        outputs = np.zeros(self.points.m)
        self.points.add_rows(places, np.bincount(which, weights), outputs)
        f.reshape(2, -1)[:] += outputs

    def exact(self) -> TwinGram:
        return TwinGram(self.points.exact())

    def exact_outputs(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        places, which = np.unique(rows % self.points.m, return_inverse=True)
        return self.points.exact_outputs(places, self._folded(weights))[which]

    def long_outputs(self, weights: np.ndarray) -> np.ndarray | None:
        outputs = self.points.long_outputs(self._folded(weights))
        return None if outputs is None else np.tile(outputs, 2)

    def release(self) -> None:
        self.points.release()

    def cancel_twins(self, alpha: np.ndarray) -> np.ndarray:
        """The signs of a point and its twin are opposite, so w stays the same."""
        pairs = alpha.reshape(2, -1)
        return (pairs - pairs.min(axis=0)).ravel()

    def _folded(self, values: np.ndarray) -> np.ndarray:
        return values[: self.points.m] + values[self.points.m :]


class PartialMatrix(NamedTuple):
    """A matrix for compiled code, which evaluates missing rows itself: plain arrays and numbers.

    ``K_ij = function(scale ⟨x_i, x_j⟩ + o_i + o_j + constant)``
    """

    K: np.ndarray  # (room, n): rows in the order of their evaluation
    place: np.ndarray  # (n,): where in K a row is, −1 if nowhere
    filled: np.ndarray  # (1,): how many are there
    columns: np.ndarray  # (d, n): the points as columns
    offsets: np.ndarray  # (n,): o
    function: int  # place in `FUNCTIONS`
    numbers: np.ndarray  # scale, constant, exponent

    @property
    def is_full(self) -> bool:
        """Whether two more rows would have no room."""
        return len(self.K) < len(self.place) and int(self.filled[0]) + 2 > len(self.K)

    @classmethod
    def whole(cls, K: np.ndarray) -> PartialMatrix:
        """Wrap a matrix whose rows are all evaluated."""
        n, nothing = len(K), np.empty((0, 0), dtype=K.dtype)
        return cls(K, np.arange(n), np.array([n]), nothing, np.empty(0, dtype=K.dtype), 0, np.zeros(3))


@compiled
def add_kept_rows(kept, slots, weights, f, first, last):
    """``f[first:last] += Σ_k weights_k kept[slots_k, first:last]``, four rows at a time."""
    part = f[first:last]
    n = len(slots)
    for k in range(0, n - 3, 4):
        a, b = kept[slots[k]][first:last], kept[slots[k + 1]][first:last]
        c, d = kept[slots[k + 2]][first:last], kept[slots[k + 3]][first:last]
        wa, wb, wc, wd = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for j in range(len(part)):
            part[j] += wa * a[j] + wb * b[j] + wc * c[j] + wd * d[j]
    for k in range(n - n % 4, n):
        a, wa = kept[slots[k]][first:last], weights[k]
        for j in range(len(part)):
            part[j] += wa * a[j]


def check_finite(values: np.ndarray, rows: np.ndarray | None, cols: np.ndarray | None) -> np.ndarray:
    """Return `values`; an error names the rows if one is NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass; a sum can overflow by itself, hence the second look
            return values
    bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0:
        return values
    i, j = bad[0]
    row, col = i if rows is None else rows[i], j if cols is None else cols[j]
    raise KernelError(
        f"the kernel value is {values[i, j]} for rows {row} and {col} of X ({len(bad)} such values); "
        "scale X (e.g. with StandardScaler) or change the kernel's parameters"
    )
