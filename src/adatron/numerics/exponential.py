"""``exp`` as arithmetic that compilers turn into vector instructions.

NumPy's float64 ``exp`` is a scalar routine on processors without AVX-512; so is the one of compiled loops.
``e^x = 2^n e^r`` with n whole and ``|r| ≤ ½ log 2``: e^r is a polynomial, 2^n is written as bits.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adatron.numerics.compiled import IS_COMPILED, compiled, ordered_part

# Numbers of this size (1.5 · 2⁵², 1.5 · 2²³) have no fractional digits, so adding one of them rounds.
_ROUND, _SINGLE_ROUND = 6755399441055744.0, np.float32(12582912.0)
# log 2 in two parts: the first has few digits, so its product with n is exact.
_LOG2, _LOG2_REST, _PER_LOG2 = 0.6931471803691238, 1.9082149292705877e-10, 1.4426950408889634
_SINGLE_LOG2, _SINGLE_LOG2_REST = np.float32(0.693359375), np.float32(-2.1219444e-4)
_SINGLE_PER_LOG2 = np.float32(1.442695)
# The last coefficients of the series in float32: 1, 1, 1/2!, 1/3!, …
_S1, _S2, _S3, _S4, _S5, _S6, _S7 = (np.float32(1.0 / k) for k in (1, 2, 6, 24, 120, 720, 5040))
_NOTHING, _INFINITE = np.float32(0.0), np.float32(np.inf)
_SINGLE_LEAST, _SINGLE_MOST = np.float32(-87.0), np.float32(88.0)


@ordered_part
def _double(x):
    """``e^x`` to about two units in the last place; 0 below −708, infinite above 709."""
    shifted = x * _PER_LOG2 + _ROUND  # its last bits are n
    n = shifted - _ROUND
    r = x - n * _LOG2 - n * _LOG2_REST
    series = (1.0 / 479001600.0 * r + 1.0 / 39916800.0) * r + 1.0 / 3628800.0
    series = ((series * r + 1.0 / 362880.0) * r + 1.0 / 40320.0) * r + 1.0 / 5040.0
    series = ((series * r + 1.0 / 720.0) * r + 1.0 / 120.0) * r + 1.0 / 24.0
    series = (((series * r + 1.0 / 6.0) * r + 0.5) * r + 1.0) * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    value = 0.0 if x < -708.0 else series * power
    return np.inf if x > 709.0 else value


@ordered_part
def _single(x):
    """Like `_double`, in float32; 0 below −87, infinite above 88."""
    shifted = x * _SINGLE_PER_LOG2 + _SINGLE_ROUND
    n = shifted - _SINGLE_ROUND
    r = x - n * _SINGLE_LOG2 - n * _SINGLE_LOG2_REST
    series = ((_S7 * r + _S6) * r + _S5) * r + _S4
    series = (((series * r + _S3) * r + _S2) * r + _S1) * r + _S1
    bits = (np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)
    value = _NOTHING if x < _SINGLE_LEAST else series * np.int32(bits).view(np.float32)
    return _INFINITE if x > _SINGLE_MOST else value


# Without the compiler NumPy's routine is the fast one.
exponential = _double if IS_COMPILED else np.exp


@ordered_part
def _take_roots(row):
    """``−√−x`` of every entry; 0 for those that rounding has made positive."""
    for j in range(len(row)):
        x = row[j]
        row[j] = -np.sqrt(-x) if x < 0.0 else x * 0  # NaN stays


@compiled
def _each_double(flat, n_rows, n_columns, step, of_roots):
    for i in range(n_rows):
        row = flat[i * step : i * step + n_columns]
        if of_roots:
            _take_roots(row)
        for j in range(n_columns):
            row[j] = _double(row[j])


@compiled  # two loops: numba does not cache functions passed as arguments
def _each_single(flat, n_rows, n_columns, step, of_roots):
    for i in range(n_rows):
        row = flat[i * step : i * step + n_columns]
        if of_roots:
            _take_roots(row)
        for j in range(n_columns):
            row[j] = _single(row[j])


def exponentials(values: np.ndarray, *, of_roots: bool = False) -> np.ndarray:
    """``exp(x)`` of every entry of a matrix, or ``exp(−√−x)``, in place and returned."""
    (rows, columns), (apart, together), size = values.shape, values.strides, values.itemsize
    if not IS_COMPILED or together != size or apart < size or not values.size:
        if of_roots:
            values[:] = -np.sqrt(-np.minimum(values, 0.0))
        return np.exp(values, out=values)
    step = apart // size
    # A 1-D view of the memory: with gaps between rows the compiler could not tell that the entries of a
    # row are contiguous.
    flat = as_strided(values, ((rows - 1) * step + columns,), (size,))
    each = _each_single if values.dtype == np.float32 else _each_double
    each(flat, rows, columns, step, of_roots)
    return values
