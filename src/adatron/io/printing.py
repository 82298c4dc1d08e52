"""Text of unknown origin — file names, cells, tokens — made fit to stand in a message."""

import os
from collections.abc import Sequence
from typing import Any

_LONGEST_QUOTE = 40


def printable(text: str, encoding: str | None = None) -> str:
    """`text` with everything escaped that is no visible character, or that `encoding` lacks.

    >>> print(printable("a\\x1b[31mσ\\n", "ascii"))
    a\\x1b[31m\\u03c3\\n
    """
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    encoding = encoding or "utf-8"
    return visible.encode(encoding, "backslashreplace").decode(encoding)


def printable_path(path: str | bytes | os.PathLike[Any]) -> str:
    """The name of a file, escaped; one that looks like an option is written as ``./-name``.

    >>> print(printable_path("two\\nlines.csv"), printable_path("-rf"))
    two\\nlines.csv ./-rf
    """
    name = printable(os.fsdecode(path))
    return f"./{name}" if name.startswith("-") else name


def printable_source(name: str) -> str:
    """The name of a file, or what ``-`` stands for."""
    return "<stdin>" if name == "-" else printable_path(name)


def counted(n: int, noun: str) -> str:
    """A number with its noun: 1 row, 2 rows."""
    return f"{n:,} {noun}{'s' if n != 1 else ''}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first names, quoted, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def quoted(text: str) -> str:
    """`text` escaped, in quotation marks, and cut when it is long.

    >>> print(quoted("3O.5"), quoted("x" * 1000))
    '3O.5' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    end = "…" if len(text) > _LONGEST_QUOTE else ""
    return f"'{printable(text[:_LONGEST_QUOTE])}{end}'"
