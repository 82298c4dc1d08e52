"""Ctrl-C and SIGTERM: the first ends the work and keeps what there is, a second ends the process at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Ended", "Signals", "ending_signals"]

_ENDING = (signal.SIGINT, signal.SIGTERM)


class Ended(KeyboardInterrupt):
    """A signal has asked the process to end."""


class Signals:
    """Which signal has come, if any."""

    received: int | None = None

    @property
    def exit_code(self) -> int:
        """130 after Ctrl-C, 143 after SIGTERM, as shells count."""
        return 128 + (self.received or signal.SIGINT)

    def check(self) -> None:
        """Raise again: what is raised inside a destructor is lost."""
        if self.received is not None:
            raise Ended

    def handle(self, number: int, frame: Any) -> None:
        self.received = number
        for ending in _ENDING:  # no Python code stands in the way of the next one
            signal.signal(ending, signal.SIG_DFL)
        raise Ended


@contextmanager
def ending_signals() -> Iterator[Signals]:
    """Turn the signals into `Ended`; those that the parent ignores (as ``nohup`` does) stay ignored."""
    signals, before = Signals(), {}
    try:
        for number in _ENDING:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, signals.handle)
    except ValueError:  # not the main thread, which alone may do so
        before = {}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
