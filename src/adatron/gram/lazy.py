"""The kernel matrix of a small problem, row by row as they are needed, also from compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from adatron.gram.finite import check_finite
from adatron.gram.protocol import Rows
from adatron.gram.rows import add_kept_rows
from adatron.gram.tiles import as_dense, usable_form, whole_matrix
from adatron.kernels import Kernel, squared_norms
from adatron.numerics.compiled import compiled, compiled_part
from adatron.numerics.exponential import exponential

__all__ = ["LazyGram", "PartialMatrix", "row_of"]

_FIRST_ROOM = 64  # rows
_DENSE_AT_MOST = 2**26  # bytes that sparse rows may take when filled up
_FUNCTIONS = ("identity", "exp", "power", "tanh")


class PartialMatrix(NamedTuple):
    """A square matrix of which compiled code evaluates missing rows itself: plain arrays and numbers.

    ``K_ij = function(scale ⟨x_i, x_j⟩ + o_i + o_j + constant)``
    """

    K: np.ndarray  # (room, n): rows in the order of their evaluation
    place: np.ndarray  # (n,): where in K a row is, −1 if nowhere
    filled: np.ndarray  # (1,): how many are there
    columns: np.ndarray  # (d, n): the points as columns
    offsets: np.ndarray  # (n,): o
    function: int  # place in `_FUNCTIONS`
    numbers: np.ndarray  # scale, constant, exponent

    @property
    def is_full(self) -> bool:
        """Whether two more rows would have no room."""
        return len(self.K) < len(self.place) and int(self.filled[0]) + 2 > len(self.K)

    @classmethod
    def whole(cls, K: np.ndarray) -> PartialMatrix:
        """A matrix whose rows are all there."""
        n, nothing = len(K), np.empty((0, 0), dtype=K.dtype)
        return cls(K, np.arange(n), np.array([n]), nothing, np.empty(0, dtype=K.dtype), 0, np.zeros(3))


@compiled_part
def row_of(i, matrix):
    """Row i of a `PartialMatrix`, evaluated first if need be; there must be room."""
    if matrix.place[i] < 0:
        row = matrix.K[matrix.filled[0]]
        offsets, columns, numbers = matrix.offsets, matrix.columns, matrix.numbers
        for j in range(len(row)):
            row[j] = offsets[i] + offsets[j] + numbers[1]
        for k in range(columns.shape[0]):
            weight, column = numbers[0] * columns[k, i], columns[k]
            for j in range(len(row)):
                row[j] += weight * column[j]
        if matrix.function == 1:
            for j in range(len(row)):
                row[j] = exponential(row[j])
        elif matrix.function == 2:
            for j in range(len(row)):
                row[j] = row[j] ** numbers[2]
        elif matrix.function == 3:
            for j in range(len(row)):
                row[j] = np.tanh(row[j])
        matrix.place[i] = matrix.filled[0]
        matrix.filled[0] += 1
    return matrix.K[matrix.place[i]]


@compiled
def _evaluate(rows, matrix):
    for i in rows:
        if matrix.place[i] < 0:  # `rows` may name one twice
            row_of(i, matrix)


class LazyGram:
    """A kernel matrix in float64 of which only the rows that are used exist.

    It forgets them when released, so that the matrices of many problems need not exist at once.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> from adatron.gram import LazyGram
    >>> LazyGram(Linear(), np.array([[1.0], [2.0]])).block(np.array([1]))
    array([[2., 4.]])
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.X, self.m = kernel, X, X.shape[0]
        self._partial: PartialMatrix | None = None

    @property
    def cost(self) -> int:
        """Bytes held at most."""
        return 8 * self.m * self.m

    @property
    def partial(self) -> PartialMatrix:
        """The matrix for compiled code."""
        if self._partial is None:
            self._partial = self._prepared()
        return self._partial

    def _prepared(self) -> PartialMatrix:
        is_wide = sparse.issparse(self.X) and 8 * self.X.shape[0] * self.X.shape[1] > _DENSE_AT_MOST
        form = None if is_wide else usable_form(self.kernel, self.X, np.float64)
        if form is None:
            return PartialMatrix.whole(whole_matrix(self.kernel, self.X))
        X = as_dense(self.X)
        X = X - X.mean(axis=0) if form.moves_with_data else X
        numbers = np.array([form.scale, form.constant, form.degree], dtype=np.float64)
        columns = np.ascontiguousarray(X.T, dtype=np.float64)
        function = _FUNCTIONS.index(form.function)
        K, nowhere = np.empty((min(self.m, max(_FIRST_ROOM, self.m // 8)), self.m)), np.full(self.m, -1)
        return PartialMatrix(
            K, nowhere, np.array([0]), columns, form.offsets(squared_norms(X)), function, numbers
        )

    def grow(self, room: int = 0) -> PartialMatrix:
        """Twice the room for rows, or as much as asked for."""
        old = self.partial
        K = np.empty((min(self.m, max(room, 2 * len(old.K))), self.m))
        K[: old.filled[0]] = old.K[: old.filled[0]]
        self._partial = old._replace(K=K)
        return self._partial

    def release(self) -> None:
        """Forget the matrix; it comes back when needed."""
        self._partial = None

    def _places(self, rows: np.ndarray) -> np.ndarray:
        """Where some rows are, once they are there."""
        partial = self.partial
        missing = rows[partial.place[rows] < 0]
        if len(missing):
            needed = int(partial.filled[0]) + len(missing)
            partial = partial if needed <= len(partial.K) else self.grow(needed)
            _evaluate(missing, partial)
            check_finite(partial.K[partial.place[missing]], missing, None)
        return partial.place[rows]

    def diagonal(self) -> np.ndarray:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        result = np.zeros((self.m, V.shape[1]), order="F")
        for b in range(V.shape[1]):
            rows = np.flatnonzero(V[:, b])
            self.add_rows(rows, V[rows, b], result[:, b])
        return result

    def add_rows(self, rows: np.ndarray, weights: np.ndarray, f: np.ndarray) -> None:
        """``f += Σ weights_k K[rows_k]``."""
        places = self._places(rows)
        add_kept_rows(self.partial.K, places, weights, f, 0, self.m)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = self._places(np.arange(self.m)[rows])
        return self.partial.K[places] if cols is None else self.partial.K[np.ix_(places, cols)]

    def restrict(self, rows: np.ndarray) -> LazyGram:
        return LazyGram(self.kernel, self.X[rows])
