"""Compiled code for the rows of a `PartialMatrix`: it evaluates those that are missing itself."""

from __future__ import annotations

import numpy as np

from adatron.numerics.compiled import compiled_part, ordered_part
from adatron.numerics.exponential import exponential


@compiled_part
def row_of(i, matrix):
    """Row i of a `PartialMatrix`, evaluated if it is missing; there must be room for it."""
    if matrix.place[i] < 0:
        row = _begun_row(i, matrix)
        columns, scale = matrix.columns, matrix.numbers[0]
        for k in range(columns.shape[0]):
            weight, column = scale * columns[k, i], columns[k]
            for j in range(len(row)):
                row[j] += weight * column[j]
        _finish_row(row, matrix.function, matrix.numbers)
    return matrix.K[matrix.place[i]]


@compiled_part
def evaluate_pair(a, b, matrix):
    """Evaluate two missing rows in little more time than one, which is that of reading all points."""
    row, other = _begun_row(a, matrix), _begun_row(b, matrix)
    _add_products(a, b, matrix.columns, matrix.numbers[0], row, other)
    _finish_row(row, matrix.function, matrix.numbers)
    _finish_row(other, matrix.function, matrix.numbers)


@ordered_part
def _add_products(a, b, columns, scale, row, other):
    """Add the products of points a and b with all points; sums are those of `row_of`, four at a time."""
    whole = columns.shape[0] - columns.shape[0] % 4
    for k in range(0, whole, 4):
        p, q, r, s = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        pa, qa, ra, sa = scale * p[a], scale * q[a], scale * r[a], scale * s[a]
        pb, qb, rb, sb = scale * p[b], scale * q[b], scale * r[b], scale * s[b]
        for j in range(len(row)):
            row[j] = (((row[j] + pa * p[j]) + qa * q[j]) + ra * r[j]) + sa * s[j]
            other[j] = (((other[j] + pb * p[j]) + qb * q[j]) + rb * r[j]) + sb * s[j]
    for k in range(whole, columns.shape[0]):
        weight, another, column = scale * columns[k, a], scale * columns[k, b], columns[k]
        for j in range(len(row)):
            row[j] += weight * column[j]
            other[j] += another * column[j]


@compiled_part
def _begun_row(i, matrix):
    """The next free row for the values of point i, with what does not depend on products."""
    row, offsets = matrix.K[matrix.filled[0]], matrix.offsets
    for j in range(len(row)):
        row[j] = offsets[i] + offsets[j] + matrix.numbers[1]
    matrix.place[i] = matrix.filled[0]
    matrix.filled[0] += 1
    return row


@compiled_part
def _finish_row(row, function, numbers):
    """From the sums to the kernel values."""
    if function == 1:
        for j in range(len(row)):
            row[j] = exponential(row[j])
    elif function == 2:
        for j in range(len(row)):
            row[j] = row[j] ** numbers[2]
    elif function == 3:
        for j in range(len(row)):
            row[j] = np.tanh(row[j])
    elif function == 4:
        for j in range(len(row)):
            row[j] = exponential(-np.sqrt(max(-row[j], 0.0)))
