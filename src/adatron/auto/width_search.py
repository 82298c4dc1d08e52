"""The search for a kernel width and a stage: octaves around a typical distance, then next to the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from adatron.auto.stages import StageCurve

__all__ = ["FIRST_OCTAVES", "Candidate", "SearchLevels", "WidthSearch"]

FIRST_OCTAVES = (0, 2, -2, 4, -4)  # of γ
_FARTHEST = 12


@dataclass(frozen=True)
class Candidate:
    """A width, a loss and a stage, and what they are worth on held-out rows."""

    octave: int
    gamma: float
    loss: int
    stage: float
    error: float
    criterion: float


@dataclass
class WidthSearch:
    """Looks at ``γ = 2^octave / spread`` until the best octave and both its neighbours are known."""

    spread: float
    curve_of: Callable[[float, float], StageCurve]  # of γ, and of the best criterion so far
    after_width: Callable[[], None] = lambda: None
    curves: dict[int, StageCurve] = field(default_factory=dict)
    known: dict[int, StageCurve] = field(default_factory=dict)  # of a search that was interrupted

    def gamma(self, octave: int) -> float:
        return 2.0**octave / self.spread

    def run(self, octaves: Iterable[int] = FIRST_OCTAVES, *, neighbours: bool = True) -> Candidate:
        """The whole search, from some octaves on; without `neighbours` no others are looked at."""
        self._look_at(octaves)
        while neighbours:
            best = self.best_octave()
            missing = {best - 1, best + 1} - set(self.curves)
            if not missing or abs(best) == _FARTHEST:
                break
            self._look_at(sorted(missing))
        return self.candidate(self.best_octave())

    def _look_at(self, octaves: Iterable[int]) -> None:
        for octave in octaves:
            if octave not in self.curves and abs(octave) <= _FARTHEST:
                known = self.known.get(octave)
                self.curves[octave] = known or self.curve_of(self.gamma(octave), self.best)
                self.after_width()

    @property
    def best(self) -> float:
        """The least value of the criterion so far."""
        return min((curve.best for curve in self.curves.values()), default=np.inf)

    def best_octave(self) -> int:
        usable = {octave: curve.best for octave, curve in self.curves.items() if not curve.reason}
        if not usable:
            reasons = "; ".join(f"gamma={c.gamma:.3g}: {c.reason}" for c in self.curves.values())
            raise ValueError(f"no kernel width could be judged: {reasons}")
        return min(usable, key=lambda octave: (usable[octave], abs(octave)))

    def candidate(self, octave: int) -> Candidate:
        """The loss and stage of one width with the least value of the criterion; NaN if it failed."""
        curve = self.curves[octave]
        if curve.reason:
            return Candidate(octave, curve.gamma, 0, np.nan, np.nan, np.nan)
        loss = int(np.argmin([min(values) for values in curve.criterion]))
        place = int(np.argmin(curve.criterion[loss]))
        stage, error = max(1.0, 0.5 * (place + 1)), curve.errors[loss][place]
        return Candidate(octave, curve.gamma, loss, stage, error, curve.criterion[loss][place])


class SearchLevels:
    """The searches of one fit, from coarse to fine; what was judged can be saved and need not be again."""

    def __init__(self) -> None:
        self.searches: list[WidthSearch] = []
        self._known: list[dict[int, StageCurve]] = []

    def begin(
        self, spread: float, curve_of: Callable[[float, float], StageCurve], after_width: Callable[[], None]
    ) -> WidthSearch:
        """The search of the next level."""
        level = len(self.searches)
        known = self._known[level] if level < len(self._known) else {}
        self.searches.append(WidthSearch(spread, curve_of, after_width, known=known))
        return self.searches[level]

    @property
    def have_judged(self) -> bool:
        """Whether some width was judged."""
        return any(not curve.reason for search in self.searches for curve in search.curves.values())

    def saved(self) -> dict[str, Any]:
        """The curves of all widths that were judged."""
        return {
            "levels": [
                {octave: asdict(curve) for octave, curve in search.curves.items() if not curve.reason}
                for search in self.searches
            ]
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self._known = [
            {octave: StageCurve(**curve) for octave, curve in level.items()} for level in saved["levels"]
        ]
