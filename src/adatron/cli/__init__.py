"""The command line ``adatron``.

``adatron fit table.csv`` trains on a table, prints how good the model is, and writes it with a report;
``adatron predict`` applies the model, ``adatron compare`` measures it against other kinds of models. Nothing
heavy is imported before a command runs, so ``adatron --help`` is quick.

Exit codes: 0; 1 for errors, reported in one line (``--debug`` shows the traceback); 2 for wrong usage; 3 with
``--strict`` when the fit did not converge; 130 after Ctrl-C and 143 after SIGTERM, with the model so far;
141 when the reader of the output has gone.

>>> from adatron.cli import main
>>> main(["--version"])  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
SystemExit: 0
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

__all__ = ["main"]

_NEEDED = ("click", "rich")
_INTERRUPTED = 130


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on `args` (default: those of the process) and exit."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        needed = f"{' and '.join(missing)}: pip install {' '.join(missing)}"
        print(f"adatron: error: the command line needs {needed}", file=sys.stderr)
        sys.exit(1)
    try:
        from adatron.cli.app import app

        app.main(args=None if args is None else list(args), prog_name="adatron")
    except KeyboardInterrupt:  # while it was imported
        print("adatron: interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    raise AssertionError("app.main exits")
