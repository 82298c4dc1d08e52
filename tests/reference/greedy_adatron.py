"""Working-set Kernel-Adatron as literal loops: slow, and nothing else."""

import numpy as np


def may_rise(y, alpha, upper, i):
    return alpha[i] < upper[i] if y[i] > 0 else alpha[i] > 0.0


def may_fall(y, alpha, upper, i):
    return alpha[i] > 0.0 if y[i] > 0 else alpha[i] < upper[i]


def violations(y, alpha, upper, v, bias):
    """Bias, violation, and what each point exceeds the bias by when rising or falls short of it by."""
    m = len(y)
    rise = {i: v[i] for i in range(m) if may_rise(y, alpha, upper, i)}
    fall = {i: -v[i] for i in range(m) if may_fall(y, alpha, upper, i)}
    if not bias:
        return 0.0, max([*rise.values(), *fall.values()]), rise, fall
    high, low = max(rise.values()), -max(fall.values())
    middle = (high + low) / 2
    return (
        middle,
        high - low,
        {i: x - middle for i, x in rise.items()},
        {i: x + middle for i, x in fall.items()},
    )


def largest(candidates, count):
    """The points with the largest values, the first of equal ones."""
    return sorted(sorted(candidates), key=lambda i: -candidates[i])[:count]


def working_set(size, rise, fall, previous):
    worst = {i: max(rise.get(i, -np.inf), fall.get(i, -np.inf)) for i in {*rise, *fall}}
    noise = 1e-6 * max(worst.values())
    worst, rise, fall = ({i: x // noise for i, x in part.items()} for part in (worst, rise, fall))
    chosen = set(largest({i: worst[i] for i in previous if i in worst}, size // 2))
    half = (size - len(chosen)) // 2
    chosen |= set(largest({i: x for i, x in rise.items() if i not in chosen and x > 0}, half))
    room = size - len(chosen)
    chosen |= set(largest({i: x for i, x in fall.items() if i not in chosen and x > 0}, room))
    room = size - len(chosen)
    chosen |= set(largest({i: x for i, x in rise.items() if i not in chosen and x > 0}, room))
    return sorted(chosen)


def first_of_largest(values, tied):
    """The first key whose value is the largest, or as good as that."""
    top = max(values.values())
    return min(t for t in values if values[t] >= top - tied)


def pair_steps(K, y, alpha, upper, v, members, tolerance):
    floor = 8 * np.finfo(float).eps
    step = 0
    while True:
        up = [i for i in members if may_rise(y, alpha, upper, i)]
        down = [j for j in members if may_fall(y, alpha, upper, j)]
        if step % 16 == 0:
            spread = max(v[t] for t in up) - min(v[t] for t in down)
            if spread <= tolerance:
                return
        i = first_of_largest({t: v[t] for t in up}, 1e-6 * spread)
        gains = {}
        for j in down:
            if v[i] - v[j] > 0:
                both = K[i, i] + K[j, j]
                gains[j] = (v[i] - v[j]) ** 2 / max(both - 2 * K[i, j], floor * both)
        if not gains:
            return
        j = first_of_largest(gains, 1e-6 * max(gains.values()))
        both = K[i, i] + K[j, j]
        length = (v[i] - v[j]) / max(both - 2 * K[i, j], floor * both)
        room_i = upper[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else upper[j] - alpha[j]
        length = min(length, room_i, room_j)
        alpha[i] += y[i] * length
        alpha[j] -= y[j] * length
        if length >= (1.0 - 1e-12) * room_i:
            alpha[i] = upper[i] if y[i] > 0 else 0.0
        if length >= (1.0 - 1e-12) * room_j:
            alpha[j] = 0.0 if y[j] > 0 else upper[j]
        for t in members:
            v[t] -= length * (K[i, t] - K[j, t])
        step += 1


def single_steps(K, y, alpha, upper, v, members, tolerance):
    step = 0
    while True:
        excess = {}
        for t in members:
            up = v[t] if may_rise(y, alpha, upper, t) else -np.inf
            down = -v[t] if may_fall(y, alpha, upper, t) else -np.inf
            excess[t] = max(up, down, 0.0)
        if step % 16 == 0 and max(excess.values()) <= tolerance:
            return
        gains = {t: excess[t] ** 2 / K[t, t] for t in members}
        i = first_of_largest(gains, 1e-6 * max(gains.values()))
        if excess[i] == 0.0:
            return
        old = alpha[i]
        alpha[i] = min(max(old + y[i] * v[i] / K[i, i], 0.0), upper[i])
        for t in members:
            v[t] -= y[i] * (alpha[i] - old) * K[i, t]
        step += 1


def outputs(K, y, alpha):
    return [sum(alpha[j] * y[j] * K[i, j] for j in range(len(y))) for i in range(len(y))]


def filled(y, upper, r):
    """A start with yᵀα = r: the first points with y = +1 at their bounds."""
    alpha = np.zeros(len(y))
    for i in range(len(y)):
        if y[i] > 0:
            alpha[i] = min(upper[i], r - sum(alpha))
    return alpha


def rounds(K, y, upper, n_rounds, size=1024, bias=True, p=None, r=0.0, copies=1):
    """α and the bias after each round, until nothing is wrong any more."""
    m = len(y)
    p = np.ones(m) if p is None else p
    alpha, members = filled(y, upper, r), []
    largest = max(upper[i] * K[i, i] for i in range(m))
    of_zero = 0.0
    if r == 0.0:
        of_zero = violations(y, np.zeros(m), upper, {i: y[i] * p[i] for i in range(m)}, bias)[1]
        of_zero = 0.5 * of_zero if bias else of_zero
    reach = 1.0 if np.isinf(largest) or r > 0.0 else min(1.0, 100.0 * of_zero / largest)
    whole = m / copies <= 2 * size
    for _ in range(n_rounds):
        while True:
            bounds = [reach * u for u in upper]
            f = outputs(K, y, alpha)
            v = {i: y[i] * p[i] - f[i] for i in range(m)}
            middle, violation, rise, fall = violations(y, alpha, bounds, v, bias)
            if reach == 1.0 or violation > of_zero:
                break
            factor = min(10.0, 1.0 / reach)
            reach = min(1.0, 10.0 * reach)
            for i in range(m):
                alpha[i] = reach * upper[i] if alpha[i] >= bounds[i] else factor * alpha[i]
        if violation < 1e-7:
            return
        members = range(m) if whole else working_set(size, rise, fall, members)
        inner = {i: v[i] - middle for i in members}
        steps = pair_steps if bias else single_steps
        steps(K, y, alpha, bounds, inner, members, (0.01 if whole else 0.1) * violation)
        f = outputs(K, y, alpha)
        free = [y[i] * p[i] - f[i] for i in range(m) if 0.0 < alpha[i] < bounds[i]]
        yield alpha.copy(), (sum(free) / len(free) if free else middle) if bias else 0.0
