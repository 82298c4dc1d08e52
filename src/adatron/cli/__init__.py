"""The command line ``adatron``.

``adatron fit sonar`` trains on a bundled data set, prints how the fit went and draws its
convergence. Nothing heavy is imported before a command runs, so ``adatron --help`` is quick.

Exit codes: 0; 1 for errors, told in one line (``--debug`` shows the traceback); 2 for wrong usage;
3 with ``--strict`` when the fit did not converge; 130 after Ctrl-C.

>>> from adatron.cli import main
>>> main(["--version"])  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
SystemExit: 0
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

__all__ = ["main"]

_NEEDED = ("click", "rich")


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on `args` (default: those of the process) and exit."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"adatron: error: the command line needs {' and '.join(missing)}: pip install adatron[cli]",
            file=sys.stderr,
        )
        sys.exit(1)
    from adatron.cli.app import app

    app.main(args=None if args is None else list(args), prog_name="adatron")
    raise AssertionError("click ends the process")
