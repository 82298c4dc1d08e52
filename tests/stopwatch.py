"""Seconds that a piece of code took, less what other processes took from it."""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stopwatch:
    """Started when made; the lesser of wall clock (longer on a busy machine) and processor time counts."""

    wall: float = field(default_factory=time.monotonic)
    processor: float = field(default_factory=time.process_time)

    def seconds(self) -> float:
        return min(time.monotonic() - self.wall, time.process_time() - self.processor)
