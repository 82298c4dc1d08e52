"""The compiled steps of `greedy_adatron` inside one working set.

``v`` is measured from the bias. What may not rise is hidden by adding −inf to its v, what may not
fall by +inf. The points are scanned in blocks, for which the largest value is a vectorised
reduction; only the best block is then searched for the point itself. A step makes the v of its two
points equal: of nearly equal values the first is taken, so that rounding does not choose the path.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from adatron.compiled import compiled

__all__ = ["pair_steps", "single_steps"]

_BLOCK = 64
_TIED = 1e-6  # part of the violation, or of a gain, by which values may differ and count as equal
_MET = 1.0 - 1e-12  # part of the way to a bound that counts as all of it
_CHECK_EVERY = 16  # steps between two looks at the stopping rule
# Comparisons of values without NaN become vector instructions. No NaN can arise: blocks of the kernel
# matrix are checked, and the infinities here are only added to finite numbers.
_NO_NAN = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp", "nnan"}}


@compiled
def pair_steps(K, v, y, alpha, upper, tolerance, most):
    """Move pairs until ``max v that may rise − min v that may fall ≤ tolerance``; the number of steps."""
    n = len(v)
    rising, falling, diagonal = np.empty_like(v), np.empty_like(v), np.empty_like(v)
    for t in range(n):
        diagonal[t] = K[t, t]
        _hide(t, y, alpha, upper, rising, falling)
    best = np.empty((n + _BLOCK - 1) // _BLOCK, v.dtype)
    gain = np.empty_like(best)
    floor = 8.0 * np.finfo(v.dtype).eps
    least = max(np.finfo(v.dtype).eps * diagonal.max(), np.finfo(v.dtype).tiny)  # both at the origin
    spread = v.dtype.type(0.0)
    _move(v, rising, K[0], K[0], v.dtype.type(0.0), best)
    for step in range(most):
        if step % _CHECK_EVERY == 0:
            spread = best.max() - _lowest(v, falling)
            if spread <= tolerance:
                return step
        i = _place_of(v, rising, best, _TIED * spread)
        row = K[i]
        _gains(v, falling, row, diagonal, v[i] + rising[i], diagonal[i], floor, least, gain)
        j = _best_partner(v, falling, row, diagonal, i, floor, least, gain)
        if j < 0:
            return step
        both = diagonal[i] + diagonal[j]
        length = float(v[i] - v[j]) / max(both - 2.0 * row[j], floor * both, least)
        length = _limited(length, i, j, y, alpha, upper)
        _hide(i, y, alpha, upper, rising, falling)
        _hide(j, y, alpha, upper, rising, falling)
        _move(v, rising, row, K[j], v.dtype.type(length), best)
    return most


@compiled
def single_steps(K, v, y, alpha, upper, tolerance, most):
    """Move single points until no violation exceeds the tolerance; the number of steps."""
    n = len(v)
    rising, falling, inverse = np.empty_like(v), np.empty_like(v), np.empty_like(v)
    least = np.finfo(v.dtype).tiny
    for t in range(n):
        least = max(least, np.finfo(v.dtype).eps * K[t, t])
    for t in range(n):
        inverse[t] = 1.0 / max(K[t, t], least)
        _hide(t, y, alpha, upper, rising, falling)
    gain = np.empty((n + _BLOCK - 1) // _BLOCK, v.dtype)
    _move_single(v, rising, falling, inverse, K[0], v.dtype.type(0.0), gain)
    for step in range(most):
        if step % _CHECK_EVERY == 0 and _largest_violation(v, rising, falling) <= tolerance:
            return step
        i = _best_single(v, rising, falling, inverse, gain)
        if i < 0:
            return step
        old = alpha[i]
        alpha[i] = min(max(old + y[i] * v[i] * inverse[i], 0.0), upper[i])
        _hide(i, y, alpha, upper, rising, falling)
        _move_single(v, rising, falling, inverse, K[i], v.dtype.type(y[i] * (alpha[i] - old)), gain)
    return most


@register_jitable
def _hide(t, y, alpha, upper, rising, falling):
    can_grow, can_shrink = alpha[t] < upper[t], alpha[t] > 0.0
    may_rise, may_fall = (can_grow, can_shrink) if y[t] > 0.0 else (can_shrink, can_grow)
    rising[t] = 0.0 if may_rise else -np.inf
    falling[t] = 0.0 if may_fall else np.inf


@register_jitable
def _limited(length, i, j, y, alpha, upper):
    """Move the pair as far as `length` and both bounds allow; a bound that is nearly met is met."""
    room_i = upper[i] - alpha[i] if y[i] > 0.0 else alpha[i]
    room_j = alpha[j] if y[j] > 0.0 else upper[j] - alpha[j]
    length = min(length, room_i, room_j)
    alpha[i] += y[i] * length
    alpha[j] -= y[j] * length
    if length >= _MET * room_i:
        alpha[i] = upper[i] if y[i] > 0.0 else 0.0
    if length >= _MET * room_j:
        alpha[j] = 0.0 if y[j] > 0.0 else upper[j]
    return length


@register_jitable
def _first(values, enough):
    """The first place whose value is good enough."""
    for k in range(len(values)):
        if values[k] >= enough:
            return k
    return 0


@register_jitable
def _place_of(v, rising, best, tied):
    enough = best.max() - tied
    block = _first(best, enough)
    for t in range(block * _BLOCK, min(len(v), (block + 1) * _BLOCK)):
        if v[t] + rising[t] >= enough:
            return t
    return block * _BLOCK


@register_jitable
def _best_partner(v, falling, row, diagonal, i, floor, least, gain):
    enough = (1.0 - _TIED) * gain.max()
    block = _first(gain, enough)
    for t in range(block * _BLOCK, min(len(v), (block + 1) * _BLOCK)):
        distance = v[i] - v[t] - falling[t]
        if distance > 0.0:
            both = diagonal[i] + diagonal[t]
            if distance * distance / max(both - 2.0 * row[t], floor * both, least) >= enough:
                return t
    return -1


@register_jitable
def _best_single(v, rising, falling, inverse, gain):
    enough = (1.0 - _TIED) * gain.max()
    block = _first(gain, enough)
    for t in range(block * _BLOCK, min(len(v), (block + 1) * _BLOCK)):
        value = max(v[t] + rising[t], -v[t] - falling[t])
        if value > 0.0 and value * value * inverse[t] >= enough:
            return t
    return -1


@register_jitable(**_NO_NAN)
def _move(v, rising, row_i, row_j, length, best):
    """``v −= length (K_i − K_j)`` and, of each block, the largest v that may rise."""
    n = len(v)
    for block in range(len(best)):
        highest = v.dtype.type(-np.inf)
        for t in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            value = v[t] - length * (row_i[t] - row_j[t])
            v[t] = value
            value += rising[t]
            highest = value if value > highest else highest
        best[block] = highest


@register_jitable(**_NO_NAN)
def _gains(v, falling, row, diagonal, top, own, floor, least, gain):
    n, zero, two = len(v), v.dtype.type(0.0), v.dtype.type(2.0)
    floor, least = v.dtype.type(floor), v.dtype.type(least)
    for block in range(len(gain)):
        highest = zero
        for t in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            distance = top - v[t] - falling[t]
            distance = distance if distance > zero else zero
            both = own + diagonal[t]
            curvature = both - two * row[t]
            curvature = curvature if curvature > floor * both else floor * both
            curvature = curvature if curvature > least else least
            value = distance * distance / curvature
            highest = value if value > highest else highest
        gain[block] = highest


@register_jitable(**_NO_NAN)
def _move_single(v, rising, falling, inverse, row, length, gain):
    """``v −= length K_i`` and, of each block, the largest gain."""
    n, zero = len(v), v.dtype.type(0.0)
    for block in range(len(gain)):
        highest = zero
        for t in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            value = v[t] - length * row[t]
            v[t] = value
            up, down = value + rising[t], -value - falling[t]
            value = up if up > down else down
            value = value if value > zero else zero
            value = value * value * inverse[t]
            highest = value if value > highest else highest
        gain[block] = highest


@register_jitable(**_NO_NAN)
def _lowest(v, falling):
    lowest = v.dtype.type(np.inf)
    for t in range(len(v)):
        value = v[t] + falling[t]
        lowest = value if value < lowest else lowest
    return lowest


@register_jitable(**_NO_NAN)
def _largest_violation(v, rising, falling):
    highest = v.dtype.type(0.0)
    for t in range(len(v)):
        up, down = v[t] + rising[t], -v[t] - falling[t]
        value = up if up > down else down
        highest = value if value > highest else highest
    return highest
