"""The search: kernels × widths × penalties × weights of features, by held-out rows.

1. On some hundred rows, each kernel's width and penalty are looked for from the mean distance outwards; a
   width that is worse than its neighbour ends that direction.
2. The best city-block machine tells how much each feature matters (`geometry`), and each kernel is tried
   again with weights that follow from it.
3. The best of each kind, with weights and without, are trained on all rows (`exact`, `low_rank`), fold by
   fold. Weights are learned anew in every fold there, so no row judges weights that its own target has
   shaped. What held-out rows prefer, one machine or the mean of a few, is the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from adatron.auto.geometry import POWERS, feature_weights, marginal_relevances, relevances, shared
from adatron.auto.least_squares import (
    SINGLE_FROM,
    FoldKernels,
    coefficients,
    distances,
    fold_distances,
    kernel_values,
    weighted,
)
from adatron.auto.rows import Fold, SearchRows
from adatron.auto.scoring import Criterion
from adatron.kernels import KERNELS, Kernel, Laplacian
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

OUT_OF_TIME = "the search had ended"
_STEP, _FARTHEST = 3.0, 4  # factor between two widths, and steps from the mean distance at most
PENALTIES = 0.3 * 4.0 ** np.arange(-6, 5)  # λ
_FIRST_PENALTY = 6  # its place for the first width: 0.3
_ROUNDS = 3  # in which weights of features are learned, at most
_CLEARLY = 0.03  # part by which a round must have helped for another one to follow
_MANY_FEATURES = 100  # from which on each feature alone gives the first weights
_NEGLIGIBLE = 1e-3  # weight below which a feature is left out when the next weights are learned
_NAMES = {kind: name for name, kind in KERNELS.items()}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A machine, and what it is worth on held-out rows."""

    kernel: str
    octave: int  # of the width, from the mean distance
    power: float = 0.0  # of the weights of features; 0: all are 1
    rounds: int = 0  # in which they were learned
    gamma: float = np.nan
    place: int = _FIRST_PENALTY  # of the penalty
    limit: float = np.inf  # of Huber's loss, in deviations of the residuals; ∞: squared loss
    criterion: float = np.inf
    seconds: float = 0.0
    n_rows: int = 0
    reason: str = ""  # why it could not be judged, if so

    @property
    def family(self) -> Any:
        return KERNELS[self.kernel]

    @property
    def penalty(self) -> float:
        return float(PENALTIES[self.place])

    @property
    def key(self) -> tuple[str, int, float, int]:
        return self.kernel, self.octave, self.power, self.rounds

    def __str__(self) -> str:
        weights = f", learned weights of features to the power {self.power:g}" if self.rounds else ""
        found = self.reason or f"held-out criterion {self.criterion:.4g}"
        return f"{self.kernel} kernel, gamma={self.gamma:.3g}, C={1.0 / self.penalty:.3g}{weights}: {found}"

    def record(self) -> dict[str, Any]:
        """A step of a `KernelPath`."""
        values = {"sigma": (2.0 * self.gamma) ** -0.5 if self.kernel == "rbf" else 1.0 / self.gamma}
        values |= {
            name: getattr(self, name)
            for name in ("kernel", "gamma", "power", "rounds", "criterion", "n_rows")
        }
        return values | {"C": 1.0 / self.penalty, "seconds": self.seconds, "reason": self.reason}


class Search:
    """Judges candidates in rounds; what was judged can be saved and need not be judged again."""

    def __init__(
        self, rows: SearchRows, criterion: Criterion, families: tuple[type[Kernel], ...], *,
        began: float, time_limit: float | None,
    ) -> None:  # fmt: skip
        self.rows, self.criterion, self.families = rows, criterion, families
        self.began, self.time_limit = began, time_limit
        self.tried: dict[tuple[str, int, float, int], Candidate] = {}
        self.teachers: list[Candidate] = []  # machines that weights of features were learned from
        self.relevances: list[np.ndarray] = []  # of the features, round by round
        self.is_stopped = False  # by a callback or Ctrl-C
        self.is_late = False  # whether the time limit has cut something short
        self.after_round: Callable[[Candidate], bool] = lambda best: False  # whether to stop
        self._distances: dict[tuple[str, float, int], tuple[Any, float]] = {}
        self._known: dict[tuple[str, int, float, int], Candidate] = {}  # of a search that was interrupted

    def run(self) -> None:
        """Widths and penalties, then weights of features."""
        fronts = [Candidate(_NAMES[family], 0) for family in self.families]
        while fronts:
            self._judge(fronts)
            fronts = [new for family in self.families for new in self._neighbours(_NAMES[family])]
        if Laplacian in self.families and self.rows.X.shape[1] > 1:
            for rounds in range(1, _ROUNDS + 1):
                teacher = self.best_of("laplacian", rounds - 1)
                if self.is_over() or teacher.reason or not self._is_worth_another(rounds):
                    break
                self._learn(teacher, rounds)
        self._distances = {}

    def _is_worth_another(self, rounds: int) -> bool:
        """Whether the last round of learning has helped clearly."""
        if rounds == 1:
            return True
        before, after = (self.best_of("laplacian", r).criterion for r in (rounds - 2, rounds - 1))
        return after < (1.0 - _CLEARLY) * before

    def _learn(self, teacher: Candidate, rounds: int) -> None:
        """Learn weights of features, and try every kernel with them."""
        self.teachers.append(teacher)
        with one_blas_thread():  # bits must not depend on how many there are
            self.relevances = learned_relevances(self.rows, self.teachers)
        best = [self.best_of(_NAMES[family]) for family in self.families]
        powers = POWERS if rounds == 1 else POWERS[-1:]
        new = [replace(own, power=p, rounds=rounds) for own in best for p in powers if not own.reason]
        self._judge(new)

    def _judge(self, fronts: list[Candidate]) -> None:
        """Judge candidates side by side; the first round is judged whatever the time."""
        new = [one for one in fronts if one.key not in self._known]
        if self.tried and self.is_over():
            results = [replace(one, reason=OUT_OF_TIME) for one in new]
        else:
            in_threads(self._distances_of, {(c.kernel, c.power, c.rounds): c for c in new}.values())
            results = in_threads(self._judged, new)
        found = {one.key: one for one in results}
        for one in fronts:
            self.tried[one.key] = self._known.get(one.key) or found[one.key]
        judged = [c for c in self.tried.values() if not c.reason]
        if not judged:
            reasons = "; ".join(sorted({own.reason for own in self.tried.values()}))
            raise ValueError(f"no machine could be judged: {reasons}")
        self.is_stopped = self.is_stopped or self.after_round(min(judged, key=lambda c: c.criterion))

    def _neighbours(self, kernel: str) -> list[Candidate]:
        """Widths beside the best one that were not tried yet."""
        own = {c.octave: c for c in self.tried.values() if c.kernel == kernel}
        best = self.best_of(kernel)
        octaves = [] if best.reason or self.is_over() else [best.octave - 1, best.octave + 1]
        beside = [octave for octave in octaves if octave not in own and abs(octave) <= _FARTHEST]
        # a wider kernel is flatter, so that the same penalty weighs more
        return [Candidate(kernel, octave, place=best.place - (octave - best.octave)) for octave in beside]

    def best_of(self, kernel: str, rounds: int = 0) -> Candidate:
        """The best candidate with a kernel, by rounds in which weights of features were learned."""
        own = [c for c in self.tried.values() if c.kernel == kernel and c.rounds == rounds]
        return min(own, key=lambda c: (bool(c.reason), c.criterion, abs(c.octave)))

    @property
    def best(self) -> Candidate:
        """The best candidate without weights of features."""
        judged = [c for c in self.tried.values() if not c.reason and not c.rounds]
        return min(judged, key=lambda c: (c.criterion, abs(c.octave)))

    def finalists(self, n_each: int) -> list[Candidate]:
        """The best candidates of different kernels: some without weights of features, one more with."""
        chosen: list[Candidate] = []
        for has_weights in (False, True):
            of_kernels: dict[str, Candidate] = {}
            own = [c for c in self.tried.values() if bool(c.rounds) == has_weights and not c.reason]
            for one in sorted(own, key=lambda c: c.criterion):
                of_kernels.setdefault(one.kernel, one)
            chosen += list(of_kernels.values())[: n_each + (has_weights and n_each > 1)]
        return chosen

    def weights_of(self, one: Candidate, relevances: list[np.ndarray] | None = None) -> np.ndarray | None:
        """The weights of features of a candidate, None for all 1; perhaps learned from other rows."""
        if not one.rounds:
            return None
        relevance = (relevances or self.relevances)[one.rounds - 1]
        return feature_weights(shared(relevance, self.rows.blocks), one.power)

    def _distances_of(self, one: Candidate) -> tuple[Any, float]:
        """Distances of all rows, or fold by fold, and their mean; for the linear kernel of its diagonal."""
        key, rows = (one.kernel, one.power, one.rounds), self.rows
        if key not in self._distances:
            share, weights = rows.weights / rows.weights.sum(), self.weights_of(one)
            dtype = np.float32 if rows.n > SINGLE_FROM else np.float64
            X = weighted(rows.X, weights).astype(dtype, copy=False)
            D: Any = distances(one.family, X, X)
            mean = float(share @ (D @ share)) if one.kernel != "linear" else -float(share @ D.diagonal())
            if rows.mean_places is not None:
                D = fold_distances(rows, one.family, len(rows.folds) * [weights], dtype)
            self._distances[key] = D, mean if mean > 0.0 else 1.0
        return self._distances[key]

    def _judged(self, new: Candidate) -> Candidate:
        """The candidate with the best penalty for its width, looked for from its own on."""
        began = perf_counter()
        D, mean = self._distances_of(new)
        gamma = _STEP**-new.octave / mean
        kernels, found = FoldKernels(self.rows, new.family, gamma, D), {}

        def criterion_at(place: int) -> float:
            if place not in found:
                try:
                    decisions = kernels.solved(float(PENALTIES[place]))[0] + self.rows.mean
                    # rounding errors must not decide: weights and repeated rows choose alike
                    found[place] = float(f"{self.criterion(decisions):.8g}")
                except np.linalg.LinAlgError:
                    found[place] = np.inf
            return found[place]

        try:
            place = _nearest_minimum(criterion_at, new.place, len(PENALTIES))
        except (ValueError, ArithmeticError) as error:  # a scorer may not like what is predicted
            return replace(new, gamma=gamma, reason=str(error))
        seconds, n = perf_counter() - began, self.rows.n
        return replace(new, gamma=gamma, place=place, criterion=found[place], seconds=seconds, n_rows=n)

    def seconds_left(self) -> float:
        return np.inf if self.time_limit is None else self.time_limit - (monotonic() - self.began)

    def is_over(self, part: float = 0.5) -> bool:
        """Whether the search was stopped, or a part of the time limit has passed."""
        if self.time_limit is not None and self.seconds_left() <= (1.0 - part) * self.time_limit:
            self.is_late = True
        return self.is_stopped or self.is_late

    def saved(self) -> dict[str, Any]:
        """The candidates that were judged, for a checkpoint."""
        return {"tried": [asdict(c) for c in self.tried.values() if not c.reason]}

    def restore(self, saved: dict[str, Any]) -> None:
        known = [Candidate(**values) for values in saved["tried"]]
        self._known = {c.key: c for c in known}


def _nearest_minimum(value: Callable[[int], float], start: int, n: int) -> int:
    """From a start downhill over the numbers 0 … n − 1."""
    best = min(max(start, 0), n - 1)
    value(best)
    for step in (1, -1):
        while 0 <= best + step < n and value(best + step) < value(best):
            best += step
    return best


def in_threads(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """``work(item)`` of every item, on all threads."""
    todo = list(items)
    results: list[Any] = [None] * len(todo)

    def call(k: int) -> None:
        results[k] = work(todo[k])

    with one_blas_thread():
        in_parallel(call, range(len(todo)), usable_threads())
    return results


def learned_relevances(
    rows: SearchRows, teachers: list[Candidate], fold: Fold | None = None
) -> list[np.ndarray]:
    """How much each feature matters, by all rows or those of a fold: one array for each round of learning.

    The first teacher is a city-block machine without weights of features, or with those of the features that
    matter by themselves where features are many; the second one has those that follow from the first.
    """
    places = slice(None) if fold is None else fold.train
    features = rows.X if fold is None else rows.features(fold)
    X, Y, u = features[places], rows.Y[places], rows.weights[places]
    found: list[np.ndarray] = []
    for teacher in teachers:
        weights, gamma = np.ones(X.shape[1]), teacher.gamma
        if found:
            weights = feature_weights(shared(found[-1], rows.blocks), teacher.power)
        elif X.shape[1] >= _MANY_FEATURES:
            weights = feature_weights(shared(marginal_relevances(X, Y, u), rows.blocks), POWERS[-1])
            sizes = np.sqrt(np.average((X - np.average(X, 0, u)) ** 2, 0, u))
            gamma *= sizes.sum() / (weights @ sizes)  # as wide as before, for rows that are nearer now
        kept = np.flatnonzero(weights > _NEGLIGIBLE)
        own = np.ascontiguousarray((X * weights)[:, kept])
        judging = own if len(own) <= SINGLE_FROM else own.astype(np.float32)
        K = kernel_values(Laplacian, gamma, distances(Laplacian, judging, judging))
        a = coefficients(K, Y, teacher.penalty / u, refined=False)
        relevance = np.zeros(X.shape[1])
        relevance[kept] = weights[kept] ** 2 * relevances(own, u, gamma, a)
        found.append(relevance)
    return found
