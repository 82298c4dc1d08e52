"""Machines of more rows than a Cholesky factor can have, by preconditioned conjugate gradients.

The system ``(K + λ/u) a = Y`` is that of all rows, as in `exact`: landmarks would lose the detail that many
rows know. K is evaluated once and kept as float32 in half the memory. Its largest eigenvalues, found from
rows drawn at random, make the preconditioner (Z. Frangella, J. A. Tropp, M. Udell, *Randomized Nyström
Preconditioning*, SIAM J. Matrix Anal. Appl. 44, 2023), so that some dozens of products are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from adatron.auto.exact import Model, best_mean, expansion, seconds_per_flop, shares_of_mean
from adatron.auto.least_squares import distances, kernel_values, relative_gap
from adatron.auto.rows import SearchRows
from adatron.auto.search import PENALTIES, Candidate, Search, in_threads
from adatron.estimators.expansion import Expansion
from adatron.kernels import Kernel
from adatron.numerics.compiled import compiled

_BLOCK = 1_024  # rows of the matrix that are stored and multiplied at a time
_AT_ONCE = 128  # rows that are evaluated at a time, in float64
_CACHED = 2_048  # values of a row that stay in cache for both products
_LANDMARKS = 1_500  # rows that the preconditioner is made of, at most
_ROUNDING = 1e-7  # of float32 kernel values
_SMALL = 1e-5  # part of the largest eigenvalue below which rounding decides
_STEPS = 80  # at most
_SOLVED = 0.05  # share of the targets that may be left after so many
_LEAST_PENALTY = 1e-7  # times the rows: below, errors of float32 values weigh as much
_TOLERANCES = 5e-3, 1e-3  # of the residual without held-out rows and of all, relative to the targets


class HalfMatrix:
    """The kernel matrix of rows, its lower half in blocks."""

    def __init__(self, family: type[Kernel], gamma: float, X: np.ndarray) -> None:
        def block(part: slice) -> np.ndarray:
            values = np.empty((part.stop - part.start, part.stop), dtype=np.float32)
            for start in range(part.start, part.stop, _AT_ONCE):
                rows = slice(start, min(start + _AT_ONCE, part.stop))
                # rounded when they are stored: errors of float32 distances would be larger than a small λ
                of_rows = kernel_values(family, gamma, distances(family, X[rows], X[: part.stop]))
                values[rows.start - part.start : rows.stop - part.start] = of_rows
            return values

        self.parts = _parts(len(X))
        self.blocks = in_threads(block, self.parts)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        columns = np.ascontiguousarray(V.T)

        def products(k: int) -> np.ndarray:
            found = np.zeros((len(columns), self.parts[k].stop))
            _multiply(self.blocks[k], columns, self.parts[k].start, found)
            return found

        result = np.zeros(V.shape)
        for part, found in zip(self.parts, in_threads(products, range(len(self.parts))), strict=True):
            result[: part.stop] += found.T
        return result


@compiled
def _multiply(block, columns, start, out):
    """Add to `out` what rows of a symmetric matrix, from number `start` on, and their mirror image give.

    The matrix is read once: while a few of its values are in cache, both products take them. Sums are
    float64, whose rounding conjugate gradients need where λ is small.
    """
    n, stop = block.shape
    for first in range(0, stop, _CACHED):
        last = min(first + _CACHED, stop)
        mirrored = min(last, start)  # what is right of it stands in the block twice
        for i in range(n):
            values = block[i, first:last]
            for c in range(len(columns)):
                own, total = columns[c, first:last], 0.0
                for j in range(len(values)):
                    total += values[j] * own[j]
                out[c, start + i] += total
                if first < mirrored:
                    above, factor = out[c, first:mirrored], columns[c, start + i]
                    for j in range(len(above)):
                        above[j] += factor * values[j]


def nystrom_features(
    family: type[Kernel], gamma: float, X: np.ndarray, places: np.ndarray, roots: np.ndarray
) -> np.ndarray:
    """Rows whose inner products are near ``k(x, z)/√(r s)`` with the ridges r and s of x and z."""
    landmarks = X[places]
    K = kernel_values(family, gamma, distances(family, landmarks, landmarks))
    K.flat[:: len(K) + 1] += _ROUNDING * len(K)
    whitening = solve_triangular(cholesky(K), np.eye(len(K))).astype(np.float32)

    def features(part: slice) -> np.ndarray:
        values = kernel_values(family, gamma, distances(family, X[part], landmarks)).astype(np.float32)
        return values @ whitening / roots[part].astype(np.float32)

    return np.vstack(in_threads(features, _parts(len(X))))


class Preconditioner:
    """Near the inverse of ``1 + ZZᵀ``, up to a factor: exact along its large eigenvectors."""

    def __init__(self, Z: np.ndarray) -> None:
        moments = np.sum([(Z[p].T @ Z[p]).astype(np.float64) for p in _parts(len(Z))], axis=0)
        values, vectors = eigh(moments, driver="evd")
        kept = values > _SMALL * values[-1]
        values, vectors = values[kept], vectors[:, kept]
        self.basis = Z @ (vectors / np.sqrt(values)).astype(np.float32)
        self.factors = ((1.0 + values[0]) / (1.0 + values) - 1.0)[:, None]

    def __call__(self, V: np.ndarray) -> np.ndarray:
        inner = self.factors * (self.basis.T @ V.astype(np.float32))
        return V + self.basis @ inner.astype(np.float32)


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    precondition: Callable[[np.ndarray], np.ndarray],
    residual: np.ndarray,
    enough: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve for the columns of a right side until the norms of what is left are small enough.

    Returns the solutions and what is left.
    """
    b, direction = np.zeros_like(residual), precondition(residual)
    z = direction
    size = np.sum(residual * z, axis=0)
    for _ in range(_STEPS):
        if np.all(np.linalg.norm(residual, axis=0) <= enough):
            break
        product = multiply(direction)
        curvature = np.sum(direction * product, axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0.0)
        b, residual = b + step * direction, residual - step * product
        z = precondition(residual)
        before, size = size, np.sum(residual * z, axis=0)
        direction = z + direction * np.divide(size, before, out=np.zeros_like(size), where=before > 0.0)
    return b, residual


def seconds_to_iterate(n: int) -> float:
    """Roughly: kernel values, products with them, and the preconditioner."""
    return seconds_per_flop() * (4.0 * _STEPS * n**2 + 3.0 * n * _LANDMARKS**2)


def more_rows_help(search: Search, model: Model, criterion_for: Any, part: float) -> bool:
    """Whether a model of a few thousand rows has less than a part of the criterion of the search's best."""
    return bool(criterion_for(model.judged)(model.decisions) < part * search.best.criterion)


def trained_iteratively(
    few: Model, rows: SearchRows, criterion_for: Any, random_state: Any, n_machines: int
) -> Model:
    """The machines that are best on a few rows, trained on all, or the mean of them if that is better."""
    judged = rows.with_folds(1)
    least = int(np.searchsorted(PENALTIES, _LEAST_PENALTY * rows.n))
    members = [replace(one, place=max(one.place, least), n_rows=rows.n) for one in few.members]
    chosen = list(zip(members, few.machines, strict=True))[:n_machines]
    places = np.sort(random_state.permutation(rows.n)[: min(_LANDMARKS, rows.n // 8)])
    trained = [_trained(one, vars(machine.kernel)["weights"], judged, places) for one, machine in chosen]
    members, machines, decisions, gaps = map(list, zip(*trained, strict=True))
    best = best_mean(decisions, criterion_for(judged))
    mean = np.mean([decisions[k] for k in best], axis=0)
    members, machines = [members[k] for k in best], shares_of_mean([machines[k] for k in best])
    return Model(machines, members, judged, mean, max(gaps[k] for k in best))


def _trained(
    one: Candidate, weights: Any, rows: SearchRows, places: np.ndarray
) -> tuple[Candidate, Expansion, np.ndarray, float]:
    """Train on all rows: the candidate with the penalty it took, and its machine.

    Also decisions for held-out rows by a machine that never saw them, and the duality gap.
    """
    X = rows.X if weights is None else rows.X * np.asarray(weights)
    K, k, fold = HalfMatrix(one.family, one.gamma, X), rows.Y.shape[1], rows.folds[0]
    while True:
        ridge = (one.penalty / rows.weights)[:, None]
        a, left = _solved(one, K, X, rows.Y, ridge, fold.held, places)
        if left <= _SOLVED or one.place == len(PENALTIES) - 1:
            break
        one = replace(one, place=one.place + 1)  # rounding or too few steps: a larger λ is easier
    outputs, a = K @ a, a[:, k:]
    machine = expansion(one, rows.X, a, rows.mean, weights, np.float32)
    decisions = outputs[fold.held, :k] + rows.mean
    return one, machine, decisions, relative_gap(outputs[:, k:], rows.Y, a, ridge[:, 0])


def _solved(
    one: Candidate, K: HalfMatrix, X: np.ndarray, Y: np.ndarray, ridge: np.ndarray, held: np.ndarray,
    places: np.ndarray,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Coefficients without the held-out rows, then those of all rows; and the share of the targets left."""
    roots, k = np.sqrt(ridge), Y.shape[1]
    Z = nystrom_features(one.family, one.gamma, X, places, roots)
    # both systems at once: reading K takes most of the time
    mask = np.ones((len(Y), 2 * k))
    mask[held, :k] = 0.0
    inverses = [Preconditioner(Z * mask[:, [column]].astype(np.float32)) for column in (0, k)]
    targets = mask * np.tile(Y / roots, 2)
    sizes = np.linalg.norm(targets, axis=0)
    b, residual = conjugate_gradients(
        lambda V: mask * (K @ (V / roots)) / roots + V,
        lambda V: np.hstack([inverses[0](V[:, :k]), inverses[1](V[:, k:])]),
        targets,
        np.repeat(_TOLERANCES, k) * sizes,
    )
    left = np.linalg.norm(residual, axis=0) / np.maximum(sizes, np.finfo(float).tiny)
    return b / roots, float(left.max())
