"""The linear system of the points on the margin, kept factorised while points come and go.

On a segment of the path the multipliers of the elbow E and the bias move along the solution of::

    Q_EE d + y_E b = r,    y_Eᵀ d = s,    Q = (y yᵀ) ∘ K

As ``y_Eᵀ d`` is known, adding a constant c to the kernel changes b alone, by ``c s``. It makes the matrix
as well conditioned as the whole system is: two points on a line are linearly dependent, but they determine a
direction and a bias. Points that are dependent all the same (equal ones) get a pivot that is small but not
zero: their system has many solutions, and any of them will do.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtpsv

from adatron.numerics.compiled import compiled

__all__ = ["Elbow"]

_LEAST_PIVOT = 1e-12  # in units of the diagonal
_DEPENDENT = 1e-10  # the same
_FIRST_ROOM = 64


class Elbow:
    """Points whose multipliers are free, with the Cholesky factor L of ``Q_EE + c y yᵀ``.

    The rows of L stand one after the other in one array, so that a new point only lengthens it.

    Parameters
    ----------
    K : array of shape (m, m)
    y : array of shape (m,)
        −1 or +1.
    noise : float
        What rounding may have added to the values of K.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.paths.elbow import Elbow
    >>> elbow = Elbow(np.diag([1.0, 2.0, 4.0]), np.array([1.0, -1.0, 1.0]))
    >>> for point in (0, 1, 2):
    ...     elbow.add(point)
    >>> elbow.remove(1)
    >>> direction, bias = elbow.solve(np.array([1.0, 1.0]), 5.0)
    >>> elbow.rows, direction.round(6), round(bias, 6)
    (array([0, 2]), array([4., 1.]), -3.0)
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, noise: float = 0.0) -> None:
        self._K, self._y = K, y
        self._constant = float(K.diagonal().mean())
        self._scale = self._constant + float(K.diagonal().max())
        self._least = max(_LEAST_PIVOT * self._scale, noise)
        self._rows = np.empty(0, dtype=np.int64)
        self._factor = np.empty(_size(_FIRST_ROOM))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def rows(self) -> np.ndarray:
        """The points, in the order of the solutions."""
        return self._rows

    def is_dependent(self, row: int) -> bool:
        """Whether a point is, but for rounding, a combination of those here."""
        return self._new_row(row)[-1] ** 2 <= _DEPENDENT * self._scale

    def add(self, row: int) -> None:
        """Take in one more point."""
        n = len(self)
        if len(self._factor) < _size(n + 1):
            self._factor = np.concatenate([self._factor, np.empty(3 * len(self._factor))])
        self._factor[_size(n) : _size(n + 1)] = self._new_row(row)
        self._rows = np.append(self._rows, row)

    def _new_row(self, row: int) -> np.ndarray:
        """The row of L that a point would add."""
        old = self._rows
        values = self._forward(self._y[old] * self._y[row] * (self._K[row, old] + self._constant))
        rest = float(self._K[row, row]) + self._constant - float(values @ values)
        return np.append(values, np.sqrt(max(rest, self._least)))

    def remove(self, row: int) -> None:
        """Let a point go."""
        place = int(np.flatnonzero(self._rows == row)[0])
        _delete(self._factor, len(self), place)
        self._rows = np.delete(self._rows, place)

    def solve(self, r: np.ndarray, s: float) -> tuple[np.ndarray, float]:
        """d and b, in the order of `rows`."""
        right, along = self._forward(r), self._forward(self._y[self._rows])
        b = float(along @ right - s) / float(along @ along)
        d = dtpsv(len(self), self._factor, right - b * along, lower=0, trans=0)
        return d, b + self._constant * s

    def _forward(self, right: np.ndarray) -> np.ndarray:
        """``L⁻¹ right``; rows of L are columns of an upper triangular matrix to LAPACK."""
        return dtpsv(len(self), self._factor, right, lower=0, trans=1) if len(self) else right


def _size(n: int) -> int:
    return n * (n + 1) // 2


@compiled
def _delete(factor, n, place):
    """Remove a row; rotations of neighbouring columns make what follows triangular again."""
    cosines, sines = np.empty(n), np.empty(n)
    to = place * (place + 1) // 2
    for i in range(place, n - 1):
        start = to + i + 1  # of the row that becomes row i
        kept = factor[start + place]
        for k in range(place):
            factor[to + k] = factor[start + k]
        for k in range(place, i):
            following = factor[start + k + 1]
            factor[to + k] = cosines[k] * kept + sines[k] * following
            kept = cosines[k] * following - sines[k] * kept
        last = factor[start + i + 1]
        length = np.sqrt(kept * kept + last * last)
        cosines[i], sines[i] = kept / length, last / length
        factor[to + i] = length
        to = start
