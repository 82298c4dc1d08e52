"""Progress of a command: a bar on a terminal, otherwise a line every few seconds."""

from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn

from adatron.callbacks import BaseCallback
from adatron.cli.terminal import Signals, say
from adatron.io.printing import counted

_BAR, _LINES = 0.1, 5.0  # seconds between two texts


class _Console(Console):
    """Never hides the cursor: a process that is killed could not bring it back."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


class _Bar(Progress):
    def stop(self) -> None:
        if not self.disable:  # rich < 14.3 would print an empty line
            super().stop()


def progress_bar(*, percentage: bool = False) -> Progress:
    """A bar on standard error; without a terminal that can draw it, it shows nothing."""
    console = _Console(stderr=True, highlight=False, markup=False)
    columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False), BarColumn()]
    if percentage:
        columns.append(TextColumn("{task.percentage:>3.0f} %", markup=False))
    cannot = not console.is_terminal or console.is_dumb_terminal
    return _Bar(*columns, TimeElapsedColumn(), console=console, disable=cannot, transient=True)


class FitProgress(BaseCallback):
    """Callback that counts and shows the rounds of a fit, and lets a signal end it."""

    def __init__(self, bar: Progress, name: str, time_limit: float | None, signals: Signals) -> None:
        self.bar, self.name, self.signals = bar, name, signals
        self.rounds, self.began = 0, perf_counter()
        self.every = _LINES if bar.disable else _BAR
        self.due = self.began + self.every
        self.task = bar.add_task(f"{name}: preparing", total=time_limit)

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.signals.check()
        self.rounds += context.task_name == "epoch"
        now = perf_counter()
        if now < self.due:  # a small epoch takes less time than a line of text
            return False
        self.due = now + self.every
        is_search = self.name.startswith("Auto")
        rounds = f"{counted(self.rounds, 'width')} tried" if is_search else counted(self.rounds, "epoch")
        if self.bar.disable:
            say(f"{self.name}: {rounds}, {now - self.began:.0f} s")
        else:
            self.bar.update(self.task, description=f"{self.name}: {rounds}", completed=now - self.began)
        return False
