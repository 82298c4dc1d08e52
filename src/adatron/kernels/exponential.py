"""``exp`` in float64 as arithmetic that compilers turn into vector instructions.

NumPy's own is a scalar routine on processors without AVX-512, and so is that of compiled loops.
``e^x = 2^n e^r`` with n whole and ``|r| ≤ ½ log 2``: e^r is a polynomial, 2^n is written as bits.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adatron.compiled import IS_COMPILED, compiled, ordered_part

__all__ = ["exponential", "exponentials"]

_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: a float64 of this size has no digits after the point
_PER_LOG2, _LOG2, _LOG2_REST = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
_SMALLEST, _LARGEST = -708.0, 709.0


@ordered_part
def _polynomial(x):
    """``e^x`` to about two units in the last place; 0 below −708, infinite above 709."""
    shifted = x * _PER_LOG2 + _ROUND  # its last bits are n
    n = shifted - _ROUND
    r = x - n * _LOG2 - n * _LOG2_REST
    series = 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = (series * r + 1.0) * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    value = 0.0 if x < _SMALLEST else series * power
    return np.inf if x > _LARGEST else value


# Without the compiler NumPy's routine is the fast one.
exponential = _polynomial if IS_COMPILED else np.exp


@compiled
def _in_place(flat, n_rows, n_columns, step):
    for i in range(n_rows):
        row = flat[i * step : i * step + n_columns]
        for j in range(n_columns):
            row[j] = exponential(row[j])


def exponentials(values: np.ndarray) -> np.ndarray:
    """``exp`` of every entry of a matrix, in place and returned.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels.exponential import exponentials
    >>> exponentials(np.array([[0.0, -1.0]])).round(4)
    array([[1.    , 0.3679]])
    """
    rows, columns = values.shape
    apart, together = values.strides
    if not IS_COMPILED or values.dtype != np.float64 or together != 8 or apart < 8 or not values.size:
        return np.exp(values, out=values)
    step = apart // 8
    # The memory that the rows lie in, as one line: in a matrix with gaps the compiler could not tell
    # that the entries of a row are neighbours.
    flat = as_strided(values, ((rows - 1) * step + columns,), (8,))
    _in_place(flat, rows, columns, step)
    return values
