"""The search for a kernel width and a stage: octaves around a typical distance, then next to the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from adatron.auto.stages import StageCurve

__all__ = ["Choice", "SearchLevels", "WidthSearch"]

_FIRST = (0, 2, -2, 4, -4)  # octaves of γ
_FARTHEST = 12


@dataclass(frozen=True)
class Choice:
    """The chosen width and stage, and what they are expected to be worth."""

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

    def look_at(self, octaves: Any) -> None:
        """Evaluate some octaves, unless they are known."""
        for octave in octaves:
            if octave not in self.curves and abs(octave) <= _FARTHEST:
                known = self.known.get(octave)
                self.curves[octave] = known or self.curve_of(self.gamma(octave), self.best)
                self.after_width()

    @property
    def best(self) -> float:
        """The least value of the criterion so far."""
        return min((curve.best for curve in self.curves.values()), default=np.inf)

    def run(self, first: tuple[int, ...] = _FIRST) -> Choice:
        """The whole search."""
        self.look_at(first)
        while True:
            best = self.best_octave()
            missing = {best - 1, best + 1} - set(self.curves)
            if not missing or abs(best) == _FARTHEST:
                return self.choose()
            self.look_at(sorted(missing))

    def best_octave(self) -> int:
        usable = {octave: curve.best for octave, curve in self.curves.items() if not curve.reason}
        if not usable:
            reasons = "; ".join(f"gamma={c.gamma:.3g}: {c.reason}" for c in self.curves.values())
            raise ValueError(f"no kernel width could be judged: {reasons}")
        return min(usable, key=lambda octave: (usable[octave], abs(octave)))

    def choose(self) -> Choice:
        """The width, loss and stage with the least value of the criterion."""
        octave = self.best_octave()
        curve = self.curves[octave]
        loss = int(np.argmin([min(values) for values in curve.criterion]))
        place = int(np.argmin(curve.criterion[loss]))
        stage = max(1.0, 0.5 * (place + 1))
        return Choice(
            octave, curve.gamma, loss, stage, curve.errors[loss][place], curve.criterion[loss][place]
        )


class SearchLevels:
    """The searches of one fit, from coarse to fine; what was judged can be saved and need not be again."""

    def __init__(self) -> None:
        self.searches: list[WidthSearch] = []
        self._known: list[dict[int, StageCurve]] = []

    def begin(
        self, spread: float, curve_of: Callable[[float, float], StageCurve], after_width: Callable[[], None]
    ) -> WidthSearch:
        """The search of the next level."""
        known = self.known(len(self.searches))
        search = WidthSearch(spread, curve_of, after_width, known=known)
        self.searches.append(search)
        return search

    def known(self, level: int) -> dict[int, StageCurve]:
        """What an earlier search of that level has judged."""
        return self._known[level] if level < len(self._known) else {}

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
