"""The finalists trained on all rows, and the mean of them that held-out rows prefer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from adatron.auto.least_squares import (
    CONSTANT,
    SINGLE_FROM,
    FoldKernels,
    coefficients,
    distances,
    fold_distances,
    huber_coefficients,
    kernel_values,
    product,
    relative_gap,
    weighted,
)
from adatron.auto.rows import SearchRows
from adatron.auto.scoring import Criterion
from adatron.auto.search import PENALTIES, Candidate, Search, in_threads, learned_relevances
from adatron.estimators.expansion import Expansion
from adatron.kernels import Kernel, Linear
from adatron.numerics.lapack import cholesky_in_place

_TIE = 1e-7  # relative difference that may be rounding: weights and repeated rows must choose alike
_TRIAL = 400  # rows of a matrix whose factor tells how fast the machine is
_MEMBERS = 2  # machines of a mean at most: four were not more accurate on tables, and take longer to predict
# rows up to which so many finalists of each kind are judged, by so many folds
_EFFORT = ((700, 3, 10), (1_500, 2, 10), (3_000, 2, 3), (20_000, 1, 1))
_LEAST_PENALTY = 3e-7  # times the rows, with float32 kernel values
_SINGLE_FROM = 1_500  # rows above which kernel values are float32
_HUBER_UP_TO = 3_000  # rows: each loss takes some three factors of every fold
_LEARN_IN_FOLDS = 3_000  # rows up to which weights of features are learned in every fold anew


@dataclass(frozen=True)
class Model:
    """What a search ends with."""

    machines: list[Expansion]
    members: list[Candidate]
    judged: SearchRows  # whose held-out rows have judged it
    decisions: np.ndarray  # for these, by machines that never saw them
    duality_gap: float  # the largest of the machines
    gap_is_exact: bool = False  # computed with float64 values of the kernel itself


def trained_exactly(
    search: Search, rows: SearchRows, criterion_for: Any, n_each: int | None = None, *,
    limits: tuple[float, ...] = (),
) -> Model:  # fmt: skip
    """Train on all rows; a time limit, or ``n_each=0``, leaves only the best machine.

    With `limits`, the best finalist is tried with Huber's loss, too.
    """
    usual, n_folds = next(effort for most, *effort in _EFFORT if rows.n <= most)
    n_each = usual if n_each is None else n_each
    judged = rows.with_folds(n_folds)
    dtype, judging = (np.float32 if rows.n > most else np.float64 for most in (_SINGLE_FROM, SINGLE_FROM))
    chosen = [search.best] if search.is_over() or not n_each else search.finalists(n_each)
    least = _LEAST_PENALTY * rows.n if judging == np.float32 else 0.0  # below, rounding decides
    enough = int(np.searchsorted(PENALTIES, least))
    finalists = [replace(one, place=max(one.place, enough)) for one in chosen]
    relevances, of_folds = search.relevances, []
    if any(one.rounds for one in finalists):
        if rows.n <= _LEARN_IN_FOLDS:
            learn = lambda fold: learned_relevances(rows, search.teachers, fold)  # noqa: E731
            relevances, *of_folds = in_threads(learn, [None, *judged.folds])
        else:  # rows of the search that a fold holds out have taught its weights, but they are few
            of_folds = [relevances] * len(judged.folds)
    criterion = criterion_for(judged)
    judge = lambda one: _held_out_decisions(search, judged, one, of_folds, judging)  # noqa: E731
    decisions = in_threads(judge, finalists)
    if rows.n <= _HUBER_UP_TO and not search.is_over():
        first = finalists[best_mean(decisions, criterion)[0]]
        robust = [replace(first, limit=limit) for limit in limits]
        finalists, decisions = finalists + robust, decisions + in_threads(judge, robust)
    best = best_mean(decisions, criterion)
    members = [finalists[k] for k in best]
    trained = in_threads(lambda one: _trained(rows, one, search.weights_of(one, relevances), dtype), members)
    mean = np.mean([decisions[k] for k in best], axis=0)
    machines, gaps = zip(*trained, strict=True)
    return Model(shares_of_mean(machines), members, judged, mean, max(gaps), dtype == np.float64)


def seconds_to_train(n: int) -> float:
    """Roughly, for one machine of n rows with its first fold; distances and kernel values included."""
    return seconds_per_flop() * n**3


def seconds_per_flop() -> float:
    """Measured on a small Cholesky factor and one thread."""
    seconds = []
    for _ in range(3):  # the fastest counts: on a busy machine, one may wait for its turn
        A = np.eye(_TRIAL, dtype=np.float32)
        began = perf_counter()
        cholesky_in_place(A)
        seconds.append(perf_counter() - began)
    return 3.0 * min(seconds) / _TRIAL**3


def _held_out_decisions(
    search: Search, rows: SearchRows, one: Candidate, of_folds: Any, dtype: Any
) -> np.ndarray:
    """Decisions for held-out rows by machines that never saw them, weights of features included."""
    D: Any
    if one.rounds or rows.mean_places is not None:
        n_folds = len(rows.folds)
        weights = [search.weights_of(one, own) for own in of_folds or n_folds * [None]]
        D = fold_distances(rows, one.family, weights, dtype)
    else:
        X = rows.X.astype(dtype, copy=False)
        D = distances(one.family, X, X)
    return FoldKernels(rows, one.family, one.gamma, D).solved(one.penalty, one.limit)[0] + rows.mean


def best_mean(decisions: list[np.ndarray], criterion: Criterion) -> list[int]:
    """Places of the machines whose mean held-out rows prefer: the best, then each that still helps."""
    values = [criterion(own) for own in decisions]
    best = min(values)
    chosen = [next(k for k, value in enumerate(values) if value <= best + _TIE * abs(best))]
    while len(chosen) < min(_MEMBERS, len(decisions)):
        rest = [k for k in range(len(decisions)) if k not in chosen]
        tried = {k: criterion(np.mean([decisions[j] for j in [*chosen, k]], axis=0)) for k in rest}
        k = min(tried, key=lambda k: tried[k])
        if tried[k] >= best - _TIE * abs(best):
            break
        best = tried[k]
        chosen.append(k)
    return chosen


def _trained(rows: SearchRows, one: Candidate, weights: Any, dtype: Any) -> tuple[Expansion, float]:
    """The machine of all rows, and its relative duality gap."""
    X = weighted(rows.X.astype(dtype, copy=False), weights)
    K, ridge = kernel_values(one.family, one.gamma, distances(one.family, X, X)), one.penalty / rows.weights
    a = coefficients(K, rows.Y, ridge)
    deltas: Any = np.inf
    if one.limit < np.inf:
        a, deltas = huber_coefficients(K, rows.Y, ridge, a, one.limit)
    gap = relative_gap(product(K, a), rows.Y, a, ridge, deltas)
    return expansion(one, rows.X, a, rows.mean, weights, dtype), gap


def expansion(
    one: Candidate, vectors: Any, a: np.ndarray, mean: np.ndarray, weights: Any, dtype: Any
) -> Expansion:
    """Coefficients with the kernel they belong to."""
    bias = mean + CONSTANT * a.sum(axis=0)
    if one.family is Linear:
        return Expansion(vectors, one.gamma * a, bias, Linear())
    kernel: Kernel = one.family(one.gamma, weights)
    return Expansion(vectors, a, bias, kernel, dtype)


def shares_of_mean(machines: Any) -> list[Expansion]:
    """Each machine's part of the mean, so that the model is their sum."""
    n = len(machines)
    return [Expansion(m.vectors, m.coefficients / n, m.bias / n, m.kernel, m.precision) for m in machines]
