"""The kernel matrix of a small problem, row by row as they are needed, also from compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram.base import Gram, PartialMatrix, Rows, row_of
from adatron.gram.dense import add_kept_rows
from adatron.gram.tiles import as_dense, check_finite, usable_form, whole_matrix
from adatron.kernels import Kernel, squared_norms
from adatron.numerics.compiled import compiled

__all__ = ["LazyGram"]

_FIRST_ROOM = 64  # rows
_DENSE_AT_MOST = 2**26  # bytes that sparse rows may take when filled up


@compiled
def _evaluate(rows, matrix):
    for i in rows:
        if matrix.place[i] < 0:  # `rows` may name one twice
            row_of(i, matrix)


class LazyGram(Gram):
    """A kernel matrix in float64 of which only the rows that are used exist.

    It forgets them when released, so that the matrices of many problems need not exist at once.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import LazyGram
    >>> from adatron.kernels import Linear
    >>> LazyGram(Linear(), np.array([[1.0], [2.0]])).block(np.array([1]))
    array([[2., 4.]])
    """

    has_own_threads = True

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel, self.X, self.m = kernel, X, X.shape[0]
        self.cost = 8 * self.m * self.m
        self._partial: PartialMatrix | None = None

    def partial(self) -> PartialMatrix:
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
        return PartialMatrix(
            K=np.empty((min(self.m, max(_FIRST_ROOM, self.m // 8)), self.m)),
            place=np.full(self.m, -1),
            filled=np.array([0]),
            columns=np.ascontiguousarray(X.T, dtype=np.float64),
            offsets=form.offsets(squared_norms(X)),
            function=PartialMatrix.function_number(form.function),
            numbers=np.array([form.scale, form.constant, form.degree], dtype=np.float64),
        )

    def grow(self, room: int = 0) -> PartialMatrix:
        """Twice the room for rows, or as much as asked for."""
        old = self.partial()
        K = np.empty((min(self.m, max(room, 2 * len(old.K))), self.m))
        K[: old.filled[0]] = old.K[: old.filled[0]]
        self._partial = old._replace(K=K)
        return self._partial

    def release(self) -> None:
        self._partial = None

    def _places(self, rows: np.ndarray) -> np.ndarray:
        """Where some rows are, once they are there."""
        partial = self.partial()
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
        places = self._places(rows)
        add_kept_rows(self.partial().K, places, weights, f, 0, self.m)

    def block(self, rows: Rows, cols: np.ndarray | None = None) -> np.ndarray:
        places = self._places(np.arange(self.m)[rows])
        K = self.partial().K
        return K[places] if cols is None else K[np.ix_(places, cols)]

    def restrict(self, rows: np.ndarray) -> LazyGram:
        return LazyGram(self.kernel, self.X[rows])
