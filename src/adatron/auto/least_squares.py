"""Least-squares machines: ``f = K a`` with ``(K + λ/u) a = Y``, and what they predict for held-out rows.

This is the support vector machine with squared loss (J. A. K. Suykens, J. Vandewalle, *Least Squares Support
Vector Machine Classifiers*, Neural Processing Letters 9, 1999): one linear system for all classes instead of
a quadratic program, as accurate on tables, and each fold of a cross-validation is one Cholesky factor. A
constant in the kernel takes the place of the bias. λ is 1/C; a row of weight u has the penalty λ/u, so that
a row of weight 2 counts as the row twice.

With bounds on the coefficients the same dual has Huber's loss, for which a residual beyond δ costs no longer
its square but δ times itself (P. J. Huber, *Robust Estimation of a Location Parameter*, Annals of
Mathematical Statistics 35, 1964): rows that are far off pull less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from adatron.auto.rows import SearchRows
from adatron.kernels import (
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    city_block_distances,
    squared_distances,
)
from adatron.numerics.exponential import exponentials
from adatron.numerics.lapack import cholesky_in_place, cholesky_solved

_ROUNDING = 64.0  # units in the last place that equal rows may be apart
CONSTANT = 1.0  # added to the kernel, in place of a bias
_SQUARE = 128  # rows of a tile below the diagonal
_ATTEMPTS = 8  # with a growing ridge
_REFINEMENTS = 3  # solutions with a float32 factor, each for what the ones before have left
_BLOCK = 512  # rows of a product
_NEWTON_STEPS = 30  # for Huber's loss; a handful is usual
_SOLVED = 1e-12  # slope of a step, relative to the objective, below which rounding is all that is left
_FLAT = 1e-3  # part of the slope of a step that its end may have
_NORMAL = 1.4826  # standard deviation of a normal distribution whose median size is 1
SINGLE_FROM = 300  # rows above which machines are judged with float32 kernel values
FAMILIES: tuple[type[Kernel], ...] = (Laplacian, Exponential, Gaussian)
TEXT_FAMILIES: tuple[type[Kernel], ...] = (Linear, Gaussian)


def distances(family: type[Kernel], X: Any, Z: Any) -> np.ndarray:
    """D with ``k(x, z) = exp(−γ D)``; for the linear kernel ``−⟨x, z⟩``."""
    if family is Linear:
        products = X @ Z.T
        return -np.asarray(products.toarray() if hasattr(products, "toarray") else products)
    found = squared_or_city_block(family, X, Z)
    if family is Exponential:
        largest = float(found.max(initial=0.0))
        found[found <= _ROUNDING * np.finfo(found.dtype).eps * largest] = 0.0  # a root would magnify it
        np.sqrt(found, out=found)
    return found


def squared_or_city_block(family: type[Kernel], X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """What features add up to: ``|x − z|₁`` for the Laplacian, ``|x − z|²`` for the others."""
    if family is not Laplacian:
        return squared_distances(X, Z)
    found, columns = np.empty((len(X), len(Z)), dtype=X.dtype), np.ascontiguousarray(Z.T)
    rows = np.ascontiguousarray(X)  # other layouts would be compiled apart
    if X is not Z:
        city_block_distances(rows, columns, 0, len(Z), found)
        return found
    for start in range(0, len(X), _SQUARE):  # half of the values are the others
        part = slice(start, min(start + _SQUARE, len(X)))
        city_block_distances(rows[part], columns, 0, part.stop, found[part])
        found[:start, part] = found[part, :start].T
    return found


def kernel_values(family: type[Kernel], gamma: float, D: np.ndarray) -> np.ndarray:
    """``exp(−γ D)``, or ``−γ D`` for the linear kernel, plus the constant."""
    values = D * D.dtype.type(-gamma)
    if family is not Linear:
        exponentials(values)
    values += D.dtype.type(CONSTANT)
    return values


def coefficients(K: np.ndarray, Y: np.ndarray, ridge: np.ndarray, *, refined: bool = True) -> np.ndarray:
    """The solution of ``(K + diag(ridge)) a = Y``; `K` has the constant in it.

    If `refined`, the solution with a float32 matrix is corrected until it has the digits of float64. Where λ
    is below the rounding error and the matrix numerically indefinite, the ridge grows.
    """
    least = float(np.finfo(K.dtype).eps) * float(np.abs(K.diagonal()).sum())
    for _ in range(_ATTEMPTS):
        L = K.copy()
        L.flat[:: len(K) + 1] += ridge.astype(K.dtype)
        try:
            cholesky_in_place(L)
            break
        except np.linalg.LinAlgError:
            ridge, least = np.maximum(ridge, least), 10.0 * least
    else:
        raise np.linalg.LinAlgError("the kernel matrix is not positive definite")
    a = np.zeros(Y.shape)
    for step in range(_REFINEMENTS if refined and K.dtype == np.float32 else 1):
        left = Y - product(K, a) - ridge[:, None] * a if step else Y
        a += cholesky_solved(L, left)
    return a


def product(K: np.ndarray, a: np.ndarray) -> np.ndarray:
    """``K a`` in float64, whatever the precision of K."""
    found = np.empty((len(K), *a.shape[1:]))
    for start in range(0, len(K), _BLOCK):
        found[start : start + _BLOCK] = K[start : start + _BLOCK].astype(np.float64) @ a
    return found


def huber_coefficients(
    K: np.ndarray, Y: np.ndarray, ridge: np.ndarray, a: np.ndarray, limit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients for Huber's loss, from the least-squares ones `a`; and δ for each column of Y.

    δ is `limit` times the deviation that the median residual of `a` stands for in normally distributed ones.
    Newton's method with an exact line search: the objective is quadratic in pieces, so that it ends with the
    optimum once it has found the rows whose residuals are beyond δ.
    """
    pairs = [_huber_column(K, y, ridge, own, limit) for y, own in zip(Y.T, a.T, strict=True)]
    columns, deltas = zip(*pairs, strict=True)
    return np.column_stack(columns), np.array(deltas)


def _huber_column(
    K: np.ndarray, y: np.ndarray, ridge: np.ndarray, a: np.ndarray, limit: float
) -> tuple[np.ndarray, float]:
    delta = limit * _NORMAL * _weighted_median(np.abs(ridge * a), 1.0 / ridge)
    if not delta > 0.0:  # half of the residuals vanish
        return a, np.inf
    outputs, size = product(K, a), float(np.abs(a) @ np.abs(y))
    for _ in range(_NEWTON_STEPS):
        residuals = y - outputs
        free = np.abs(residuals) <= delta
        new = delta * np.sign(residuals) / ridge
        if free.any():
            rest = y[free] - product(K[np.ix_(free, ~free)], new[~free])
            new[free] = coefficients(K[np.ix_(free, free)], rest[:, None], ridge[free])[:, 0]
        step = new - a
        change = product(K, step)

        def slope(length: float, step: Any = step, change: Any = change, outputs: Any = outputs) -> float:
            moved = outputs + length * change
            return float(step @ moved - (np.clip(y - moved, -delta, delta) / ridge) @ change)

        if slope(0.0) >= -_SOLVED * size:
            break
        length = 1.0 if slope(1.0) <= _FLAT * abs(slope(0.0)) else float(brentq(slope, 0.0, 1.0))
        a, outputs = a + length * step, outputs + length * change
    return a, delta


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, (1.0 - 1e-9) * 0.5 * reached[-1])])


def relative_gap(
    outputs: np.ndarray, Y: np.ndarray, a: np.ndarray, ridge: np.ndarray, deltas: Any = np.inf
) -> float:
    """Relative duality gap of coefficients whose outputs are ``K a``; the largest of all columns.

    The primal is ``½aᵀKa + Σ loss(y − f)/r``, the dual ``aᵀy − ½aᵀKa − ½Σ r a²`` with the ridge r = λ/u. The
    loss is half the square, or Huber's with a δ for each column.
    """
    size, residuals = 0.5 * np.sum(a * outputs, axis=0), np.abs(Y - outputs)
    within = np.minimum(residuals, deltas)
    primal = size + np.sum(within * (residuals - 0.5 * within) / ridge[:, None], axis=0)
    dual = np.sum(a * Y, axis=0) - size - 0.5 * np.sum(ridge[:, None] * a**2, axis=0)
    largest = np.maximum(np.maximum(np.abs(primal), np.abs(dual)), np.finfo(float).tiny)
    return max(0.0, float(np.max((primal - dual) / largest)))


def fold_distances(
    rows: SearchRows, family: type[Kernel], weights: list[np.ndarray | None], dtype: Any
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For every fold, with its weights of features, distances within it and from its held-out rows."""
    found = []
    for fold, own in zip(rows.folds, weights, strict=True):
        X = rows.features(fold).astype(dtype, copy=False)
        train, held = (weighted(X[part], own) for part in (fold.train, fold.held))
        found.append((distances(family, train, train), distances(family, held, train)))
    return found


def weighted(X: Any, weights: np.ndarray | None) -> Any:
    return X if weights is None else np.ascontiguousarray(X * weights.astype(X.dtype))


class FoldKernels:
    """Kernel matrices of all folds, with which several penalties are tried."""

    def __init__(self, rows: SearchRows, family: type[Kernel], gamma: float, D: Any) -> None:
        """`D` has the distances of all rows, or for every fold those within it and from its held-out rows."""
        self.rows = rows
        self.blocks: list[Any]  # kernel values within each fold, and from its held-out rows
        if isinstance(D, np.ndarray):
            K = kernel_values(family, gamma, D)
            self.blocks = [_parts(K, fold.train, fold.held) for fold in rows.folds]
        else:
            self.blocks = [tuple(kernel_values(family, gamma, part) for part in parts) for parts in D]

    def solved(self, penalty: float, limit: float = np.inf) -> tuple[np.ndarray, list[np.ndarray]]:
        """Decisions for all held-out rows, fold by fold, and the coefficients of every fold.

        A finite `limit` is that of Huber's loss.
        """
        rows, decisions, solutions = self.rows, [], []
        for fold, (within, out) in zip(rows.folds, self.blocks, strict=True):
            ridge = penalty / rows.weights[fold.train]
            a = coefficients(within, rows.Y[fold.train], ridge, refined=False)
            if limit < np.inf:
                a, _ = huber_coefficients(within, rows.Y[fold.train], ridge, a, limit)
            decisions.append(product(out, a))
            solutions.append(a)
        return np.vstack(decisions), solutions


def _parts(K: np.ndarray, train: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``K[train, train]`` and ``K[held, train]``; rows that follow one another are copied at once."""
    start, stop = held[0], held[-1] + 1
    if stop - start == len(held) == len(K) - len(train) and not np.any((train >= start) & (train < stop)):
        without = np.delete(K, slice(start, stop), axis=1)
        return np.delete(without, slice(start, stop), axis=0), without[start:stop]
    return K[np.ix_(train, train)], K[np.ix_(held, train)]
