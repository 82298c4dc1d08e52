"""Ctrl-C and SIGTERM: the first ends the work and keeps the model so far, a second kills the process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ENDING = (signal.SIGINT, signal.SIGTERM)


class Ended(KeyboardInterrupt):
    """A signal has asked the process to end."""


class Signals:
    """Which signal has arrived, if any."""

    received: int | None = None

    @property
    def exit_code(self) -> int:
        """130 after Ctrl-C, 143 after SIGTERM, as shells count."""
        return 128 + (self.received or signal.SIGINT)

    def check(self) -> None:
        """Raise again, as an exception inside a destructor is lost."""
        if self.received is not None:
            raise Ended

    def handle(self, number: int, frame: Any) -> None:
        self.received = number
        for ending in _ENDING:  # the next one ends the process at once
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
    except ValueError:  # only the main thread may do so
        before = {}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
