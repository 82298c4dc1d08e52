"""The compiled steps of `greedy_adatron` inside one working set.

``v`` is measured from the bias. Points that may not rise are hidden by adding −inf to their v, points that
may not fall by adding +inf. Values are first written to a scratch array, then reduced to the largest of each
block; only the best block is searched for the point itself. Both loops become vector instructions, which one
loop would not. A step makes the v of its two points equal: of nearly equal values the first is taken, so
that rounding does not choose the path. In regression every point occurs twice: v is then twice as long as a
row, which is used for both copies.
"""

import numpy as np

from adatron.gram import evaluate_pair, row_of
from adatron.numerics.compiled import compiled, compiled_part

_BLOCK = 64
_TIED = 1e-6  # values that differ by less than this part of the violation, or of a gain, count as equal
_MET = 1.0 - 1e-12  # a step that reaches this part of the way to a bound reaches the bound
_MANY_FEATURES = 200  # from which two rows together take much less time than one after the other
_CHECK_EVERY = 16  # steps between two looks at the stopping rule


@compiled
def pair_steps(matrix, diagonal, v, y, alpha, upper, tolerance, most):
    """Move pairs until ``max v that may rise − min v that may fall ≤ tolerance``; the number of steps.

    It also ends when the matrix has no room for two more rows.
    """
    n, K, place, width = len(v), matrix.K, matrix.place, matrix.K.shape[1]
    rising, falling, scratch = np.empty_like(v), np.empty_like(v), np.empty_like(v)
    for t in range(n):
        _hide(t, y, alpha, upper, rising, falling)
    best = np.empty((n + _BLOCK - 1) // _BLOCK, v.dtype)
    gain = np.empty_like(best)
    floor = 8.0 * np.finfo(v.dtype).eps
    least = max(np.finfo(v.dtype).eps * diagonal.max(), np.finfo(v.dtype).tiny)  # both at the origin
    spread = v.dtype.type(0.0)
    _move(v, rising, v, v, v.dtype.type(0.0), scratch, best)
    for step in range(most):
        if step % _CHECK_EVERY == 0:
            lowest = v.dtype.type(np.inf)
            for t in range(n):
                lowest = min(lowest, v[t] + falling[t])
            spread = _largest(best) - lowest
            if spread <= tolerance:
                return step
        i = _first_place(scratch, best, _largest(best) - _TIED * spread)
        if len(matrix.K) < len(matrix.place) and matrix.filled[0] + 2 > len(matrix.K):
            return step
        if place[i % width] < 0:  # handing over the matrix takes longer than looking
            _evaluate(i % width, v, falling, -1.0, matrix)
        row = K[place[i % width]]
        _gains(v, falling, row, diagonal, v[i] + rising[i], diagonal[i], floor, least, scratch, gain)
        most_gain = _largest(gain)
        if not most_gain > 0.0:
            return step
        j = _first_place(scratch, gain, (1.0 - _TIED) * most_gain)
        both = diagonal[i] + diagonal[j]
        length = float(v[i] - v[j]) / max(both - 2.0 * row[j % width], floor * both, least)
        room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i]
        room_j = alpha[j] if y[j] > 0.0 else upper[j] - alpha[j]
        length = min(length, room_i, room_j)
        alpha[i] += y[i] * length
        alpha[j] -= y[j] * length
        if length >= _MET * room_i:  # nearly at the bound counts as at the bound
            alpha[i] = upper[i] if y[i] > 0.0 else 0.0
        if length >= _MET * room_j:
            alpha[j] = 0.0 if y[j] > 0.0 else upper[j]
        _hide(i, y, alpha, upper, rising, falling)
        _hide(j, y, alpha, upper, rising, falling)
        if place[j % width] < 0:
            _evaluate(j % width, v, rising, 1.0, matrix)
        _move(v, rising, row, K[place[j % width]], v.dtype.type(length), scratch, best)
    return most


@compiled
def single_steps(matrix, diagonal, v, y, alpha, upper, tolerance, most):
    """Move single points until no violation exceeds the tolerance; the number of steps."""
    n, K, place, width = len(v), matrix.K, matrix.place, matrix.K.shape[1]
    rising, falling, inverse, scratch = np.empty_like(v), np.empty_like(v), np.empty_like(v), np.empty_like(v)
    least = max(np.finfo(v.dtype).eps * diagonal.max(), np.finfo(v.dtype).tiny)
    for t in range(n):
        inverse[t] = 1.0 / max(diagonal[t], least)
        _hide(t, y, alpha, upper, rising, falling)
    gain = np.empty((n + _BLOCK - 1) // _BLOCK, v.dtype)
    _move_single(v, rising, falling, inverse, v, v.dtype.type(0.0), scratch, gain)
    for step in range(most):
        if step % _CHECK_EVERY == 0:
            highest = v.dtype.type(0.0)
            for t in range(n):
                highest = max(highest, v[t] + rising[t], -v[t] - falling[t])
            if highest <= tolerance:
                return step
        is_full = len(matrix.K) < len(matrix.place) and matrix.filled[0] + 1 > len(matrix.K)
        most_gain = _largest(gain)
        if is_full or not most_gain > 0.0:
            return step
        i = _first_place(scratch, gain, (1.0 - _TIED) * most_gain)
        old = alpha[i]
        alpha[i] = min(max(old + y[i] * v[i] * inverse[i], 0.0), upper[i])
        _hide(i, y, alpha, upper, rising, falling)
        length = v.dtype.type(y[i] * (alpha[i] - old))
        if place[i % width] < 0:
            row_of(i % width, matrix)
        _move_single(v, rising, falling, inverse, K[place[i % width]], length, scratch, gain)
    return most


@compiled_part
def _evaluate(i, v, hidden, sign, matrix):
    """Evaluate row i, and of many features also that of the worst other point, which is likely to follow."""
    other, worst, width = -1, -np.inf, len(matrix.place)
    if matrix.columns.shape[0] >= _MANY_FEATURES and matrix.filled[0] + 3 <= len(matrix.K):
        for t in range(len(v)):
            value = sign * (v[t] + hidden[t])
            if value > worst and matrix.place[t % width] < 0 and t % width != i:
                other, worst = t % width, value
    if other < 0:
        row_of(i, matrix)
    else:
        evaluate_pair(i, other, matrix)


@compiled_part
def _hide(t, y, alpha, upper, rising, falling):
    can_grow, can_shrink = alpha[t] < upper[t], alpha[t] > 0.0
    may_rise, may_fall = (can_grow, can_shrink) if y[t] > 0.0 else (can_shrink, can_grow)
    rising[t] = 0.0 if may_rise else -np.inf
    falling[t] = 0.0 if may_fall else np.inf


@compiled_part
def _largest(values):
    """Like ``values.max()``, which takes longer to begin than a short loop to end."""
    largest = values[0]
    for t in range(1, len(values)):
        largest = max(largest, values[t])
    return largest


@compiled_part
def _first_place(values, maxima, enough):
    """The first of the values that is good enough, given the largest one of each block."""
    block = 0
    for k in range(len(maxima)):
        if maxima[k] >= enough:
            block = k
            break
    for t in range(block * _BLOCK, len(values)):
        if values[t] >= enough:
            return t
    return 0


@compiled_part
def _block_maxima(values, out):
    """The largest value of each block, by eight independent chains of comparisons."""
    whole = len(values) // _BLOCK
    for block in range(whole):
        x = values[block * _BLOCK : (block + 1) * _BLOCK]
        a, b, c, d, e, f, g, h = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
        for t in range(8, _BLOCK, 8):
            a, b = max(a, x[t]), max(b, x[t + 1])
            c, d = max(c, x[t + 2]), max(d, x[t + 3])
            e, f = max(e, x[t + 4]), max(f, x[t + 5])
            g, h = max(g, x[t + 6]), max(h, x[t + 7])
        out[block] = max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))
    if whole < len(out):
        out[whole] = _largest(values[whole * _BLOCK :])


@compiled_part
def _move(v, rising, row_i, row_j, length, scratch, best):
    """``v −= length (K_i − K_j)`` and, of each block, the largest v that may rise."""
    n = len(row_i)
    for first in range(0, len(v), n):
        own, hidden, out = v[first : first + n], rising[first : first + n], scratch[first : first + n]
        for t in range(n):
            value = own[t] - length * (row_i[t] - row_j[t])
            own[t] = value
            out[t] = value + hidden[t]
    _block_maxima(scratch, best)


@compiled_part
def _gains(v, falling, row, diagonal, top, own, floor, least, scratch, gain):
    """``(v_i − v_t)²/(K_ii + K_tt − 2K_it)`` of every t that may fall and is below."""
    zero, two = v.dtype.type(0.0), v.dtype.type(2.0)
    floor, least = v.dtype.type(floor), v.dtype.type(least)
    n = len(row)
    for first in range(0, len(v), n):
        values, hidden, out = v[first : first + n], falling[first : first + n], scratch[first : first + n]
        for t in range(n):
            distance = top - values[t] - hidden[t]
            distance = distance if distance > zero else zero
            both = own + diagonal[t]
            curvature = both - two * row[t]
            curvature = curvature if curvature > floor * both else floor * both
            curvature = curvature if curvature > least else least
            out[t] = distance * distance / curvature
    _block_maxima(scratch, gain)


@compiled_part
def _move_single(v, rising, falling, inverse, row, length, scratch, gain):
    """``v −= length K_i`` and the gain of every point."""
    zero, n = v.dtype.type(0.0), len(row)
    for first in range(0, len(v), n):
        own, out = v[first : first + n], scratch[first : first + n]
        above, below = rising[first : first + n], falling[first : first + n]
        for t in range(n):
            value = own[t] - length * row[t]
            own[t] = value
            up, down = value + above[t], -value - below[t]
            value = up if up > down else down
            value = value if value > zero else zero
            out[t] = value * value * inverse[t]
    _block_maxima(scratch, gain)
