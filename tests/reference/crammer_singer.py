"""Crammer & Singer as literal loops, each row by trying every set of classes: slow, and nothing else."""

from itertools import combinations

import numpy as np


def best_row(v, own, upper):
    """The feasible row nearest to v: classes outside some set are at their bound, the others at v − θ."""
    k = len(v)
    bound = [upper if c == own else 0.0 for c in range(k)]
    best, smallest = None, np.inf
    for size in range(1, k + 1):
        for below in combinations(range(k), size):
            if np.isinf(upper) and own not in below:
                continue
            met = sum(bound[c] for c in range(k) if c not in below)
            theta = (sum(v[c] for c in below) + met) / size
            row = [v[c] - theta if c in below else bound[c] for c in range(k)]
            if any(row[c] > bound[c] + 1e-12 for c in range(k)):
                continue
            distance = sum((row[c] - v[c]) ** 2 for c in range(k))
            if distance < smallest:
                best, smallest = row, distance
    return best


def sweeps(K, codes, n_classes, upper, n_epochs):
    """A after each epoch; every row sees the latest A."""
    m = len(codes)
    A = np.zeros((m, n_classes))
    for _ in range(n_epochs):
        for i in range(m):
            v = []
            for c in range(n_classes):
                output = sum(K[i, j] * A[j, c] for j in range(m))
                v.append(A[i, c] + ((1.0 if c == codes[i] else 0.0) - output) / K[i, i])
            A[i] = best_row(v, codes[i], upper[i])
        yield A.copy()
