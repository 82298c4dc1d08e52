"""The points on the margin: their linear system, and which point is the next to change its side."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtpsv

from adatron.numerics.compiled import compiled

RIGHT, ELBOW, LEFT, PARKED = 0, 1, 2, 3  # sides of the margin; see `homotopy`
_LEAST_PIVOT = 1e-12  # in units of the diagonal
_DEPENDENT = 1e-10  # pivot of a point that is a combination of others, in the same units


class Elbow:
    """Points whose multipliers are free, with the Cholesky factor L of ``Q_EE + c y yᵀ``.

    It solves ``Q_EE d + y_E b = r, y_Eᵀ d = s`` with ``Q = (y yᵀ) ∘ K`` for the multipliers and the bias. As
    ``y_Eᵀ d`` is known, adding c to the kernel changes b alone, by ``c s``, and makes the matrix as well
    conditioned as the whole system: two points on a line are linearly dependent, but they determine a
    direction and a bias. Points that are still dependent (equal ones) get a small positive pivot. The rows of
    L stand one after the other in one array. `noise` is what rounding may have added to K.
    """

    def __init__(self, K: np.ndarray, y: np.ndarray, noise: float) -> None:
        self._K, self._y, self._constant = K, y, float(K.diagonal().mean())
        self._scale = self._constant + float(K.diagonal().max())
        self._least = max(_LEAST_PIVOT * self._scale, noise)
        self.rows = np.empty(0, dtype=np.int64)  # the points, in the order of the solutions
        self._factor = np.empty(2_080)

    def add(self, row: int, *, only_independent: bool = False) -> bool:
        """Add a point, unless it is, but for rounding, a combination of those here and `only_independent`."""
        n, old = len(self.rows), self.rows
        values = self._forward(self._y[old] * self._y[row] * (self._K[row, old] + self._constant))
        rest = float(self._K[row, row]) + self._constant - float(values @ values)
        pivot = np.sqrt(max(rest, self._least))
        if only_independent and pivot**2 <= _DEPENDENT * self._scale:
            return False
        start = n * (n + 1) // 2
        if len(self._factor) < start + n + 1:
            self._factor = np.concatenate([self._factor, np.empty(3 * len(self._factor))])
        self._factor[start : start + n + 1] = np.append(values, pivot)
        self.rows = np.append(old, row)
        return True

    def remove(self, row: int) -> None:
        place = int(np.flatnonzero(self.rows == row)[0])
        _delete(self._factor, len(self.rows), place)
        self.rows = np.delete(self.rows, place)

    def solve(self, r: np.ndarray, s: float) -> tuple[np.ndarray, float]:
        """d and b, in the order of `rows`."""
        right, along = self._forward(r), self._forward(self._y[self.rows])
        b = float(along @ right - s) / float(along @ along)
        d = dtpsv(len(self.rows), self._factor, right - b * along, lower=0, trans=0)
        return d, b + self._constant * s

    def _forward(self, right: np.ndarray) -> np.ndarray:
        """``L⁻¹ right``; rows of L are columns of an upper triangular matrix to LAPACK."""
        return dtpsv(len(self.rows), self._factor, right, lower=0, trans=1) if len(self.rows) else right


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


@compiled
def next_event(side, w, C, alpha, speeds, slack, slopes, allowed, still):
    """The step to the next event and its point; (inf, −1) if there is none.

    Of events that rounding cannot tell apart the one that moves fastest comes first, as in the ratio test of
    P. M. J. Harris, *Pivot selection methods of the Devex LP code*, 1973: `allowed` says by how much a slack,
    and a multiplier, may go too far. What moves by less than `still` while C doubles does not move.
    """
    m = len(side)
    rooms, rates, pivots = np.empty(m), np.empty(m), np.empty(m)
    longest = np.inf
    for i in range(m):
        if side[i] == ELBOW:
            grows = speeds[i] > 0.5 * w[i]
            rooms[i] = C * w[i] - alpha[i] if grows else alpha[i]
            rates[i] = speeds[i] - w[i] if grows else -speeds[i]
            pivots[i] = rates[i] / w[i]
        else:
            sign = 1.0 if side[i] == LEFT else -1.0
            rooms[i], rates[i] = sign * slack[i], -sign * slopes[i]
            if side[i] == PARKED:
                rooms[i], rates[i] = 0.0, abs(slopes[i])
            pivots[i] = C * rates[i]
        if pivots[i] > still:
            further = allowed[1] if side[i] == ELBOW else allowed[0]
            longest = min(longest, (max(rooms[i], 0.0) + further) / rates[i])
    best, point = still, -1
    for i in range(m):
        if pivots[i] > best and rooms[i] <= longest * rates[i]:
            best, point = pivots[i], i
    return (max(rooms[point], 0.0) / rates[point], point) if point >= 0 else (np.inf, -1)
