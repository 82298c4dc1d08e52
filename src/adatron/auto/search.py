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

from adatron.auto.geometry import POWERS, feature_weights, relevances
from adatron.auto.least_squares import FoldKernels, coefficients, distances, kernel_values
from adatron.auto.rows import SearchRows
from adatron.auto.scoring import Criterion
from adatron.kernels import KERNELS, Kernel, Laplacian
from adatron.numerics.threads import in_parallel, one_blas_thread, usable_threads

OUT_OF_TIME = "the search had ended"
_STEP, _FARTHEST = 3.0, 4  # factor between two widths, and steps from the mean distance at most
PENALTIES = 0.3 * 4.0 ** np.arange(-6, 5)  # λ
_FIRST_PENALTY = 6  # its place for the first width: 0.3
_NAMES = {kind: name for name, kind in KERNELS.items()}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A machine, and what it is worth on held-out rows."""

    kernel: str
    octave: int  # of the width, from the mean distance
    power: float = 0.0  # of the weights of features; 0: all are 1
    gamma: float = np.nan
    place: int = _FIRST_PENALTY  # of the penalty
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
    def key(self) -> tuple[str, int, float]:
        return self.kernel, self.octave, self.power

    def __str__(self) -> str:
        weights = f", weights of features to the power {self.power:g}" if self.power else ""
        found = self.reason or f"held-out criterion {self.criterion:.4g}"
        return f"{self.kernel} kernel, gamma={self.gamma:.3g}, C={1.0 / self.penalty:.3g}{weights}: {found}"

    def record(self) -> dict[str, Any]:
        """A step of a `KernelPath`."""
        values = {"sigma": (2.0 * self.gamma) ** -0.5 if self.kernel == "rbf" else 1.0 / self.gamma}
        values |= {name: getattr(self, name) for name in ("kernel", "gamma", "power", "criterion", "n_rows")}
        return values | {"C": 1.0 / self.penalty, "seconds": self.seconds, "reason": self.reason}


class Search:
    """Judges candidates in rounds; what was judged can be saved and need not be judged again."""

    def __init__(
        self, rows: SearchRows, criterion: Criterion, families: tuple[type[Kernel], ...], *,
        began: float, time_limit: float | None,
    ) -> None:  # fmt: skip
        self.rows, self.criterion, self.families = rows, criterion, families
        self.began, self.time_limit = began, time_limit
        self.tried: dict[tuple[str, int, float], Candidate] = {}
        self.relevance: np.ndarray | None = None
        self.is_stopped = False  # by a callback or Ctrl-C
        self.after_round: Callable[[Candidate], bool] = lambda best: False  # whether to stop
        self._distances: dict[tuple[Any, float], tuple[np.ndarray, float]] = {}
        self._known: dict[tuple[str, int, float], Candidate] = {}  # of a search that was interrupted

    def run(self) -> None:
        """Widths and penalties, then weights of features."""
        fronts = [Candidate(_NAMES[family], 0) for family in self.families]
        while fronts:
            self._judge(fronts)
            fronts = [new for family in self.families for new in self._neighbours(_NAMES[family])]
        if Laplacian in self.families and not self.is_over():
            teacher = self.best_of("laplacian")
            if not teacher.reason and self.rows.X.shape[1] > 1:
                self.relevance = learned_relevances(self.rows, teacher)[0]
                best = [self.best_of(_NAMES[family]) for family in self.families]
                self._judge([replace(own, power=power) for own in best for power in POWERS if not own.reason])
        self._distances = {}

    def _judge(self, fronts: list[Candidate]) -> None:
        """Judge candidates side by side; the first round is judged whatever the time."""
        new = [one for one in fronts if one.key not in self._known]
        if self.tried and self.is_over():
            results = [replace(one, reason=OUT_OF_TIME) for one in new]
        else:
            for one in new:
                self._distances_of(one.family, one.power)
            results = in_threads(self._judged, new)
        found = {one.key: one for one in results}
        for one in fronts:
            self.tried[one.key] = self._known.get(one.key) or found[one.key]
        judged = [c for c in self.tried.values() if not c.reason]
        if not judged:
            reasons = "; ".join(map(str, self.tried.values()))
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

    def best_of(self, kernel: str, *, weighted: bool = False) -> Candidate:
        """The best candidate with a kernel, with weights of features or without."""
        own = [c for c in self.tried.values() if c.kernel == kernel and (c.power > 0.0) == weighted]
        return min(own, key=lambda c: (bool(c.reason), c.criterion, abs(c.octave)))

    @property
    def best(self) -> Candidate:
        """The best candidate without weights of features."""
        judged = [c for c in self.tried.values() if not c.reason and not c.power]
        return min(judged, key=lambda c: (c.criterion, abs(c.octave)))

    def finalists(self, n_each: int) -> list[Candidate]:
        """The best candidates of different kernels: some without weights of features, as many with."""
        chosen: list[Candidate] = []
        for weighted in (False, True):
            kernels = {c.kernel: None for c in self.tried.values() if (c.power > 0.0) == weighted}
            best = sorted((self.best_of(k, weighted=weighted) for k in kernels), key=lambda c: c.criterion)
            chosen += [c for c in best if not c.reason][:n_each]
        return chosen

    def _distances_of(self, family: Any, power: float) -> tuple[np.ndarray, float]:
        """Distances of all rows, and their mean; for the linear kernel the mean of its diagonal."""
        if (family, power) not in self._distances:
            X, share = self.rows.X, self.rows.weights / self.rows.weights.sum()
            if power:
                assert self.relevance is not None
                X = X * feature_weights(self.relevance, power)
            D = distances(family, X, X)
            mean = float(share @ (D @ share)) if _NAMES[family] != "linear" else -float(share @ D.diagonal())
            self._distances[family, power] = D, mean if mean > 0.0 else 1.0
        return self._distances[family, power]

    def _judged(self, new: Candidate) -> Candidate:
        """The candidate with the best penalty for its width, looked for from its own on."""
        began = perf_counter()
        D, mean = self._distances_of(new.family, new.power)
        gamma = _STEP**-new.octave / mean
        kernels, found = FoldKernels(self.rows, new.family, gamma, D), {}

        def criterion_at(place: int) -> float:
            if place not in found:
                try:
                    found[place] = self.criterion(kernels.solved(float(PENALTIES[place]))[0] + self.rows.mean)
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
        left = self.seconds_left()
        return self.is_stopped or (self.time_limit is not None and left <= (1.0 - part) * self.time_limit)

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


def learned_relevances(rows: SearchRows, teacher: Candidate, *, of_folds: bool = False) -> np.ndarray:
    """How much each feature matters to a city-block machine: (1, d) or, fold by fold, (n_folds, d)."""
    D = distances(Laplacian, rows.X, rows.X)
    if of_folds:
        solutions = FoldKernels(rows, Laplacian, teacher.gamma, D).solved(teacher.penalty)[1]
        machines = [np.zeros_like(rows.Y) for _ in rows.folds]
        for fold, a, solution in zip(rows.folds, machines, solutions, strict=True):
            a[fold.train] = solution
    else:
        K = kernel_values(Laplacian, teacher.gamma, D)
        machines = [coefficients(K, rows.Y, teacher.penalty / rows.weights)]
    return relevances(rows.X, rows.weights, teacher.gamma, machines, rows.blocks)
