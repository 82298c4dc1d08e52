"""Rosenblatt's perceptron as literal loops from CISC 889: primal for vectors, dual for kernels."""

import numpy as np


def primal(X, y, n_epochs, rate=1.0, bias=True):
    """w, b and the number of mistakes after each epoch."""
    w, b, mistakes = np.zeros(X.shape[1]), 0.0, 0
    radius = max(np.linalg.norm(x) for x in X)
    for _ in range(n_epochs):
        for x, label in zip(X, y, strict=True):
            if label * (w @ x + b) <= 0:
                w = w + rate * label * x
                b += rate * label * radius**2 if bias else 0.0
                mistakes += 1
        yield w.copy(), b, mistakes


def dual(K, y, n_epochs, bias=True):
    """α, b, the number of mistakes, and the averages of α and b over all visits, after each epoch."""
    m = len(y)
    alpha, b, mistakes = np.zeros(m), 0.0, 0
    alphas, biases = [], []
    radius2 = max(K[i, i] for i in range(m))
    for _ in range(n_epochs):
        for i in range(m):
            if y[i] * (sum(alpha[j] * y[j] * K[i, j] for j in range(m)) + b) <= 0:
                alpha[i] += 1.0
                b += y[i] * radius2 if bias else 0.0
                mistakes += 1
            alphas.append(alpha.copy())
            biases.append(b)
        yield alpha.copy(), b, mistakes, np.mean(alphas, axis=0), np.mean(biases)
