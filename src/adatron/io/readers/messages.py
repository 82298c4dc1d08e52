"""How a reader says what is wrong, and where: ``file:line:column: what, found …, expected …``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from adatron.io.printing import quoted

__all__ = ["Place", "check_names", "closest_name", "listed", "parse_error"]

_MOST_LISTED = 20


class Place(NamedTuple):
    """Where in a file: line and column count from one, columns in characters."""

    source: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


def parse_error(place: Place | str, what: str, *, found: str, expected: str) -> ValueError:
    """The error of a file that cannot be understood.

    Examples
    --------
    >>> from adatron.io.readers.messages import Place, parse_error
    >>> print(parse_error(Place("a.csv", 3, 7), "not a number", found="'3O'", expected="a number"))
    a.csv:3:7: not a number, found '3O', expected a number
    """
    return ValueError(f"{place}: {what}, found {found}, expected {expected}")


def listed(names: Iterable[str]) -> str:
    """Names in quotation marks; of very many only the first.

    Examples
    --------
    >>> from adatron.io.readers.messages import listed
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    names = list(names)
    more = len(names) - _MOST_LISTED
    shown = ", ".join(quoted(name) for name in names[:_MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown


def closest_name(name: str, names: Iterable[str]) -> str:
    """``"; did you mean …?"`` when a name comes close.

    Examples
    --------
    >>> from adatron.io.readers.messages import closest_name
    >>> closest_name("clas", ["age", "class"])
    "; did you mean 'class'?"
    """
    found = get_close_matches(name, list(names), n=1)
    return f"; did you mean {quoted(found[0])}?" if found else ""


def check_names(argument: str, names: Sequence[str], columns: Sequence[str], source: str) -> None:
    """Raise unless all `names` are columns."""
    for name in names:
        if name not in columns:
            raise ValueError(
                f"{source}: {argument}={quoted(name)} is not one of the columns {listed(columns)}"
                f"{closest_name(name, columns)}"
            )
