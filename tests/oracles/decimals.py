"""The duality gap of a fitted machine in 50 decimal digits, from its public attributes and nothing else.

Everything a float64 says is exact here; sums, products and exponentials have 50 digits.
"""

from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
from scipy import sparse

DIGITS = 50


def exact(values):
    """Numbers as decimals, in lists of lists."""
    array = np.asarray(values, dtype=np.float64)
    return [exact(row) for row in array] if array.ndim > 1 else [Decimal(float(v)) for v in array]


def kernel_values(rows, kernel, gamma, coef0=0.0, degree=3):
    """All ``k(x, z)``; rows are decimals."""
    gamma, coef0 = Decimal(gamma), Decimal(coef0)

    def value(x, z):
        if kernel == "rbf":
            return (-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True))).exp()
        if kernel == "laplacian":
            return (-gamma * sum(abs(a - b) for a, b in zip(x, z, strict=True))).exp()
        product = sum(a * b for a, b in zip(x, z, strict=True))
        return product if kernel == "linear" else (gamma * product + coef0) ** degree

    return [[value(x, z) for z in rows] for x in rows]


def relative_gap(K, y, p, upper, coefficients, bias, r):
    """The gap of the function ``K @ coefficients + bias`` and the multipliers ``y * coefficients``.

    All lists have one entry for each row. Multipliers are clipped, and the heavier side is scaled down.
    """
    n, zero = range(len(y)), Decimal(0)
    f = [sum(K[i][j] * coefficients[j] for j in n if coefficients[j]) for i in n]
    norm = sum(coefficients[i] * f[i] for i in n)
    alpha = [min(max(y[i] * coefficients[i], zero), upper[i]) for i in n]
    above = sum(a for a, sign in zip(alpha, y, strict=True) if sign > 0)
    below = sum(a for a, sign in zip(alpha, y, strict=True) if sign < 0) + r
    if above > below:
        alpha = [a * below / above if sign > 0 else a for a, sign in zip(alpha, y, strict=True)]
    elif below > above and not r:
        alpha = [a if sign > 0 else a * above / below for a, sign in zip(alpha, y, strict=True)]
    else:  # one class
        room = sum(u - a for a, u in zip(alpha, upper, strict=True) if a > 0)
        part = (below - above) / room if room else zero
        alpha = [a + (u - a) * part if a > 0 else a for a, u in zip(alpha, upper, strict=True)]
    g = [sum(K[i][j] * y[j] * alpha[j] for j in n if alpha[j]) for i in n]
    loss = sum(upper[i] * max(zero, p[i] - y[i] * (f[i] + bias)) for i in n)
    primal = norm / 2 + loss + r * bias
    dual = sum(p[i] * alpha[i] for i in n) - sum(y[i] * alpha[i] * g[i] for i in n) / 2
    size = max(abs(primal), abs(dual))
    return primal, dual, (primal - dual) / size if size else zero


def true_gaps(model, X, y=None, sample_weight=None, *, gamma=1.0, K=None):
    """Primal, dual and gap of every binary problem of a fitted SVC, SVR or OneClassSVM."""
    with localcontext() as context:
        context.prec = DIGITS
        is_given = K is not None
        K = exact(K) if is_given else kernel_values(exact(X), model.kernel, gamma, model.coef0, model.degree)
        n = len(K)
        weights = exact(np.ones(n) if sample_weight is None else sample_weight)
        stored = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
        table = np.zeros((len(stored), n))
        table[:, model.support_] = stored
        bias, one = exact(model.intercept_), Decimal(1)
        if type(model).__name__ == "OneClassSVM":
            scale = Decimal(model.nu) * sum(weights)
            upper, c = ([v / scale for v in values] for values in (weights, exact(table[0])))
            return [relative_gap(K, [one] * n, [0 * one] * n, upper, c, bias[0] / scale, one)]
        if not hasattr(model, "classes_"):
            return [_regression_gap(K, exact(y), weights, model, exact(table[0]), bias[0])]
        codes = np.searchsorted(model.classes_, y)
        of_class, C = exact(model.class_weight_), Decimal(model.C)
        C = [C * weight * of_class[code] for weight, code in zip(weights, codes, strict=True)]
        if len(model.classes_) == 2:
            signs = [one if code else -one for code in codes]
            return [relative_gap(K, signs, [one] * n, C, exact(table[0]), bias[0], 0 * one)]
        found = []
        for number, (i, j) in enumerate(combinations(range(len(model.classes_)), 2)):
            rows = [r for r in range(n) if codes[r] in (i, j)]
            c = [Decimal(float(table[j - 1 if codes[r] == i else i, r])) for r in rows]
            signs = [one if codes[r] == i else -one for r in rows]
            block, upper = [[K[r][s] for s in rows] for r in rows], [C[r] for r in rows]
            found.append(relative_gap(block, signs, [one] * len(rows), upper, c, bias[number], 0 * one))
        return found


def _regression_gap(K, t, weights, model, c, bias):
    """Twice as many variables: those of targets above the tube, then those below it."""
    n, one, epsilon = len(t), Decimal(1), Decimal(model.epsilon)
    K = [row * 2 for row in K] * 2
    p = [v - epsilon for v in t] + [-v - epsilon for v in t]
    above = [max(v, 0 * one) for v in c] + [min(v, 0 * one) for v in c]
    C = [Decimal(model.C) * weight for weight in weights]
    return relative_gap(K, [one] * n + [-one] * n, p, C * 2, above, bias, 0 * one)
