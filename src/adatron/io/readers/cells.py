"""What the text of a cell is: a number, a missing value, or text.

Python's ``float`` is too kind for data files: it takes ``1_000``, ``nan``, ``infinity`` and the digits of
every script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import NDArray

__all__ = ["DECIMAL_COMMA", "MISSING_MARKERS", "NUMBER", "CellRules", "explain_non_number"]

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
MISSING_MARKERS = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL"})
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")

_NUMBER = re.compile(NUMBER)
_HINTS = (
    (DECIMAL_COMMA, "a number with a decimal point (decimal=',' reads decimal commas)"),
    (
        re.compile(r"[+-]?[0-9]{1,3}(?:[_ ',][0-9]{3})+(?:\.[0-9]*)?"),
        "a number without separators of thousands",
    ),
    (re.compile(r"[+-]?0[xX][0-9a-fA-F]+"), "a decimal number, not a hexadecimal one"),
    (re.compile(r"[+-]?(?:inf|infinity)", re.IGNORECASE), "a finite number"),
    (_NUMBER, "a number that a float64 can hold"),
)


@dataclass(frozen=True)
class CellRules:
    """How cells are read.

    Examples
    --------
    >>> from adatron.io.readers.cells import CellRules
    >>> rules = CellRules(decimal=",")
    >>> rules.number(" 1,5 "), rules.number("1_000"), rules.is_missing("NA")
    (1.5, None, True)
    >>> rules.numbers(["1", "2,5"])
    array([1. , 2.5])
    """

    decimal: str = "."
    missing: frozenset[str] = MISSING_MARKERS

    @cached_property
    def _has_numeric_marker(self) -> bool:
        """Whether some number, as -999, stands for a missing value."""
        return any(self.number(marker) is not None for marker in self.missing)

    def is_missing(self, cell: str) -> bool:
        return cell.strip() in self.missing

    def number(self, cell: str) -> float | None:
        """The number that a cell is, or None."""
        text = self._with_point(cell.strip())
        if not _NUMBER.fullmatch(text):
            return None
        value = float(text)
        return value if isfinite(value) else None

    def numbers(self, cells: Sequence[str]) -> NDArray[np.float64] | None:
        """All cells at once, or None if one of them is no number."""
        if self._has_numeric_marker and any(map(self.is_missing, cells)):
            return None
        joined = "".join(cells)
        if "_" in joined or not joined.isascii():
            return self._one_by_one(cells)
        if self.decimal == ",":
            if "." in joined:
                return None
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            values = np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            return None
        return values if np.isfinite(values).all() else None

    def _one_by_one(self, cells: Iterable[str]) -> NDArray[np.float64] | None:
        """For cells with characters that ``float`` is too kind to, such as a no-break space."""
        values = [self.number(cell) for cell in cells]
        return None if None in values else np.array(values, dtype=np.float64)

    def _with_point(self, text: str) -> str:
        """`text` with a decimal point; a point in a file of decimal commas makes it no number."""
        if self.decimal == ".":
            return text
        return "" if "." in text else text.replace(",", ".")


def explain_non_number(cell: str) -> str:
    """What was expected in the place of `cell`.

    Examples
    --------
    >>> from adatron.io.readers.cells import explain_non_number
    >>> explain_non_number("1_000"), explain_non_number("3O")
    ('a number without separators of thousands', 'a number')
    """
    return next((hint for pattern, hint in _HINTS if pattern.fullmatch(cell.strip())), "a number")
