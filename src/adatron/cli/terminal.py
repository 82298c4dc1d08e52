"""The command line's terminal: tables and JSON on standard output, notes on standard error, signals."""

import json
import math
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from adatron.io.printing import printable

_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
_PIPED = 160  # characters of a line outside a terminal
_ENDING = (signal.SIGINT, signal.SIGTERM)  # the first keeps the model so far, a second kills the process
_STAND_INS = str.maketrans({"±": "+-", "█": "#", "²": "^2", "−": "-", "…": "...", "σ": "sigma", "×": "x"})


def say(text: str) -> None:
    """Print a line to standard error."""
    if sys.stderr is not None:
        # not click.echo, which cannot write to the stream of a progress bar
        print(shown(text, getattr(sys.stderr, "encoding", None)), file=sys.stderr, flush=True)


def shown(text: str, encoding: str | None) -> str:
    """`text` in this encoding: characters that it lacks become stand-ins or escapes.

    >>> print(shown("R² 0.9 ± 0.1", "ascii"), shown("7 ± 2", "utf-8"))
    R^2 0.9 +- 0.1 7 ± 2
    """
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_STAND_INS)
    return printable(text, encoding)


def print_json(value: Any) -> None:
    """Print JSON; what it does not know, such as infinity, becomes text, and lone surrogates escapes."""
    click.echo(json.dumps(_plain(value), indent=2, allow_nan=False, default=str))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a number or an array of NumPy
        value = value.tolist()
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def print_table(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> None:
    """Print a table; columns in `right` are flush right. Without a header, the first column is bold."""
    from rich.box import ROUNDED
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False, emoji=False)
    is_terminal = console.is_terminal
    console.width = console.width if is_terminal else _PIPED
    table = Table(show_header=header is not None, box=ROUNDED if is_terminal else None, pad_edge=is_terminal)
    for i in range(len(header or rows[0])):
        title = shown(header[i], console.encoding) if header else ""
        style = "bold" if header is None and i == 0 else None
        table.add_column(title, style=style, overflow="fold", justify="right" if i in right else "left")
    for row in rows:
        table.add_row(*(shown(cell, console.encoding) for cell in row))
    with console.capture() as printed:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Print each warning once, and collect them in a list."""
    texts: list[str] = []

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in texts:
            texts.append(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in _FOR_DEVELOPERS:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = tell  # restored by catch_warnings
        yield texts


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
