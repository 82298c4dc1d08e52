"""Machines on landmarks, for more rows than a kernel matrix can have.

``f(x) = Σ_l a_l k(x, l)`` over r landmarks, rows drawn at random, minimises ``Σ u (f − y)² + λ aᵀK a`` over
all rows. Rows are read block by block; all that stays of a block is its part of the r × r matrix of second
moments, one sum for each fold, so that held-out decisions cost no second pass. Rows are whitened by the
landmarks' own kernel matrix first: moments of float32 kernel values themselves would lose the small
directions. One eigendecomposition then serves every λ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from adatron.auto.exact import Model, best_mean, expansion, seconds_per_flop, shares_of_mean
from adatron.auto.least_squares import CONSTANT, distances, kernel_values
from adatron.auto.rows import Fold, SearchRows
from adatron.auto.search import PENALTIES, Candidate, Search
from adatron.gram.tiles import tile_evaluator
from adatron.kernels import Linear
from adatron.numerics.threads import one_blas_thread, usable_threads

_BLOCK = 8_192  # rows at a time
_WORK = 5e11  # multiply-adds for the moments of one machine
_RANKS = 256, 1_500  # least and most landmarks
_ROUNDING = 1e-7  # of float32 kernel values
_FOLDS = 3  # that are held out in turn; the others are always trained on
_JUDGES = 6_000  # held-out rows that judge
_FEW = 200_000  # rows up to which a second machine is worth its time
_CLEARLY = 0.02  # part by which weights of features must be better to be the only machine


@dataclass(frozen=True)
class ManyRows:
    """Rows that are scaled block by block when they are read, here or on a cluster."""

    X: Any  # as given
    scale: Any  # a `Scaler`
    rows: SearchRows  # with no X: targets, codes, weights
    fold_of: np.ndarray  # (n,): the number of the fold of each row

    @property
    def n(self) -> int:
        return len(self.fold_of)

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        for start in range(0, self.n, _BLOCK):
            part = slice(start, min(start + _BLOCK, self.n))
            yield part, self.scale(self.X[part])


def rank_for(n: int) -> int:
    """How many landmarks n rows get: at most a quarter of them."""
    least, most = _RANKS
    return int(np.clip(np.sqrt(_WORK / n), least, max(least, min(most, n // 4))))


def seconds_on_landmarks(n: int) -> float:
    """Roughly, for one machine: products of rows with the whitening and themselves, eigendecompositions."""
    r = rank_for(n)
    return seconds_per_flop() * (4.0 * n * r**2 + 10.0 * (_FOLDS + 1) * r**3)


def trained_on_landmarks(search: Search, many: ManyRows, criterion_for: Any, random_state: Any) -> Model:
    """Train the best machines of the search on all rows."""
    rank = rank_for(many.n)
    drawn = random_state.permutation(many.n)
    landmarks = many.scale(many.X[np.sort(drawn[:rank])])
    judges = _judges(many, drawn[rank:] if many.n > 2 * rank else drawn)
    finalists = [search.best] if search.is_late or search.is_over() else search.finalists(1)
    if many.n > _FEW and len(finalists) > 1:
        plain, weighted = finalists
        finalists = [weighted if weighted.criterion < (1.0 - _CLEARLY) * plain.criterion else plain]
    criterion = criterion_for(judges)
    trained = [_trained(search, one, many, landmarks, judges, criterion) for one in finalists]
    decisions = [own[2] for own in trained]
    chosen = best_mean(decisions, criterion)
    machines, members = [trained[k][0] for k in chosen], [trained[k][1] for k in chosen]
    mean = np.mean([decisions[k] for k in chosen], axis=0)
    gap = max(trained[k][3] for k in chosen)
    return Model(shares_of_mean(machines), members, judges, mean, gap)


def _judges(many: ManyRows, drawn: np.ndarray) -> SearchRows:
    """Some rows of every fold that is held out."""
    parts = [drawn[many.fold_of[drawn] == fold][: _JUDGES // _FOLDS] for fold in range(_FOLDS)]
    places = np.concatenate([np.sort(part) for part in parts])
    starts = np.cumsum([0, *map(len, parts)])
    own, weights = many.rows, many.rows.weights[places]
    folds = [Fold(np.empty(0, dtype=int), np.arange(a, b), weights[a:b]) for a, b in pairwise(starts)]
    codes = own.codes[places] if len(own.codes) else own.codes
    X = many.scale(many.X[places])
    return SearchRows(X, own.Y[places], own.mean, codes, weights, own.blocks, folds)


def _trained(
    search: Search, one: Candidate, many: ManyRows, landmarks: Any, judges: SearchRows, criterion: Any
) -> tuple[Any, Candidate, np.ndarray, float]:
    """The machine of all rows with the penalty that judges prefer, its decisions for these, and its gap."""
    weights = search.weights_of(one)
    kernel = Linear() if one.family is Linear else one.family(one.gamma, weights)
    factor = np.float32(one.gamma if one.family is Linear else 1.0)
    tiles = tile_evaluator(kernel, landmarks, np.float32)
    weighted = landmarks if weights is None else landmarks * weights
    K = kernel_values(one.family, one.gamma, distances(one.family, weighted, weighted))
    K.flat[:: len(K) + 1] += _ROUNDING * len(K)
    R = cholesky(K, lower=False)
    whitening = solve_triangular(R, np.eye(len(K))).astype(np.float32)

    def features(X: Any) -> np.ndarray:
        """Rows whose inner products are the approximate kernel values."""
        Z = np.empty((X.shape[0], landmarks.shape[0]), dtype=np.float32)
        with one_blas_thread():
            tiles.fill(None, None, Z, usable_threads(), X)
        Z *= factor
        Z += np.float32(CONSTANT)
        return Z @ whitening

    sums = _moments(many, features)
    total = np.sum([A for A, _ in sums], axis=0), np.sum([B for _, B in sums], axis=0)
    of_folds = [_Spectrum(total[0] - A, total[1] - B) for A, B in sums[:_FOLDS]]
    Z = features(judges.X).astype(np.float64)

    def decided(penalty: float) -> np.ndarray:
        parts = zip(judges.folds, of_folds, strict=True)
        return np.vstack([Z[fold.held] @ own.solution(penalty) for fold, own in parts]) + judges.mean

    places = range(max(0, one.place - 2), min(len(PENALTIES), one.place + 3))
    place = min(places, key=lambda k: criterion(decided(float(PENALTIES[k]))))
    penalty = float(PENALTIES[place])
    b = _Spectrum(*total).solution(penalty)
    a = solve_triangular(R, b)
    machine = expansion(one, landmarks, a, judges.mean, weights, np.float32)
    gap = _relative_gap(*total, b, penalty, np.sum(many.rows.weights[:, None] * many.rows.Y**2, axis=0))
    return machine, replace(one, place=place, n_rows=many.n), decided(penalty), gap


def _moments(many: ManyRows, features: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """``(ZᵀUZ, ZᵀUY)`` of each fold that is held out, and of all other rows."""
    sums: list[Any] = [None] * (_FOLDS + 1)
    group_of = np.minimum(many.fold_of, _FOLDS)
    for part, X in many.blocks():
        roots = np.sqrt(many.rows.weights[part])[:, None]
        Z, Y = features(X) * roots.astype(np.float32), (roots * many.rows.Y[part]).astype(np.float32)
        for group in range(_FOLDS + 1):
            own = np.flatnonzero(group_of[part] == group)
            if len(own):
                new = [(Z[own].T @ values[own]).astype(np.float64) for values in (Z, Y)]
                sums[group] = new if sums[group] is None else list(map(np.add, sums[group], new))
    shapes = next(found for found in sums if found is not None)
    return [tuple(map(np.zeros_like, shapes)) if found is None else tuple(found) for found in sums]


def _relative_gap(A: np.ndarray, B: np.ndarray, b: np.ndarray, penalty: float, squares: np.ndarray) -> float:
    """How far ``½λ|b|² + ½Σ u (y − f)²`` can be above its minimum, relative to itself; the largest column.

    The objective is strongly convex with modulus λ, so that a gradient g leaves at most ``|g|²/2λ``.
    """
    products = A @ b
    objective = 0.5 * (penalty * np.sum(b**2, axis=0) + squares - 2.0 * np.sum(b * B, axis=0))
    objective += 0.5 * np.sum(b * products, axis=0)
    gradient = products + penalty * b - B
    excess = np.sum(gradient**2, axis=0) / (2.0 * penalty)
    return float(np.max(excess / np.maximum(objective, np.finfo(float).tiny)))


class _Spectrum:
    """``(A + λ) b = B`` for every λ."""

    def __init__(self, A: np.ndarray, B: np.ndarray) -> None:
        self.values, self.vectors = eigh(0.5 * (A + A.T), driver="evd", check_finite=False)
        self.targets = self.vectors.T @ B

    def solution(self, penalty: float) -> np.ndarray:
        return self.vectors @ (self.targets / (np.maximum(self.values, 0.0) + penalty)[:, None])
