"""What options accept, and what all commands have in common."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from adatron import __version__

__all__ = [
    "DEBUG",
    "GammaType",
    "PlotPath",
    "PositiveFloat",
    "SolverType",
    "common_options",
    "printable",
    "width_to_gamma",
]

DEBUG = "adatron.debug"  # key of click's shared dictionary
_PLOT_FORMATS = (".png", ".pdf", ".svg")
_Command = TypeVar("_Command", bound=Callable[..., Any])


class PositiveFloat(click.ParamType):
    """A number above zero."""

    name = "float"

    def __init__(self, *, allow_inf: bool = False) -> None:
        self.allow_inf = allow_inf

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not number > 0.0 or (math.isinf(number) and not self.allow_inf):
            allowed = "a number > 0, or inf" if self.allow_inf else "a finite number > 0"
            self.fail(f"{value!r} is not {allowed}.", param, ctx)
        return number


class GammaType(PositiveFloat):
    """A number above zero, "scale" or "auto"."""

    name = "float|scale|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value in ("scale", "auto") else super().convert(value, param, ctx)


class SolverType(click.ParamType):
    """A name of `adatron.solvers.SOLVERS`, which is imported only when a name is there to check."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from adatron.solvers import SOLVERS

        return click.Choice(list(SOLVERS)).convert(value, param, ctx)


class PlotPath(click.ParamType):
    """A file name whose ending is a format of pictures."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.suffix.lower() not in _PLOT_FORMATS:
            self.fail(f"{printable(str(path))!r} must end in {', '.join(_PLOT_FORMATS)}.", param, ctx)
        return path


def common_options(command: _Command) -> _Command:
    """Add ``--version`` and ``--debug``."""
    version = click.version_option(__version__, prog_name="adatron", message="%(prog)s %(version)s")
    debug = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_remember_debug,
        help="Show tracebacks of errors.",
    )
    return version(debug(command))


def _remember_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value or ctx.meta.get(DEBUG, False)


def width_to_gamma(sigma: float) -> float:
    """``1/(2σ²)``, 0 or infinite where that is out of range.

    Examples
    --------
    >>> from adatron.cli.options import width_to_gamma
    >>> width_to_gamma(1.0), width_to_gamma(1e-200)
    (0.5, inf)
    """
    return 0.5 / sigma / sigma


def printable(text: str, encoding: str | None = None) -> str:
    """`text` with everything escaped that is no visible character, or that `encoding` lacks.

    Examples
    --------
    >>> from adatron.cli.options import printable
    >>> print(printable("a\\x1b[31mσ\\n", "ascii"))
    a\\x1b[31m\\u03c3\\n
    """
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    encoding = encoding or "utf-8"
    return visible.encode(encoding, "backslashreplace").decode(encoding)
