"""A column in the making: numbers as long as it can be, text where it must.

A column is text when it has text in it, unless nine tenths of it are numbers: then the text is a slip of the
pen, and an error, since as categories it would turn every number into one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adatron.io.printing import quoted
from adatron.io.readers.cells import DECIMAL_COMMA, CellRules, explain_non_number
from adatron.io.readers.messages import Place, parse_error

__all__ = ["Column"]

_MOSTLY_NUMBERS = 0.9
_MOST_LABELS = 1000  # distinct numbers whose spelling is kept


@dataclass
class _Part:
    """The cells of one batch: numbers, and the text unless all are numbers."""

    numbers: NDArray[np.float64]
    text: list[str | None] | None


class Column:
    """Cells of one column: added batch by batch, checked when all are there, then an array.

    Parameters
    ----------
    name : str
    position : int
        Which field of a record it is.
    rules : CellRules
    kind : {None, "number", "text"}, default=None
        What it must be; None finds out.
    keeps_spelling : bool, default=False
        Remember how numbers are written, as labels want it.

    Examples
    --------
    >>> from adatron.io.readers.cells import CellRules
    >>> from adatron.io.readers.columns import Column
    >>> column = Column("size", 0, CellRules())
    >>> column.add(["1", "?", "2.5"], first_record=1)
    >>> column.n_missing, column.n_text
    (1, 0)
    """

    def __init__(
        self,
        name: str,
        position: int,
        rules: CellRules,
        *,
        kind: str | None = None,
        keeps_spelling: bool = False,
    ) -> None:
        self.name, self.position, self.rules, self.kind = name, position, rules, kind
        self.spelling: dict[float, str] = {}
        self.n_numbers = self.n_missing = self.n_text = self.n_decimal_commas = 0
        self.first_missing: tuple[int, str] | None = None
        self.first_text: tuple[int, str] | None = None
        self._keeps_spelling = keeps_spelling
        self._parts: dict[int, _Part] = {}  # by their first record
        self._pool: dict[str, str] = {}  # equal cells share one string

    def add(self, cells: Sequence[str], first_record: int) -> None:
        """Take in the cells of one batch."""
        numbers = None if self.kind == "text" else self.rules.numbers(cells)
        if numbers is None:
            self._add_mixed([cell.strip() for cell in cells], first_record)
            return
        self.n_numbers += len(cells)
        self._parts[first_record] = _Part(numbers, None)
        self._remember_spelling(numbers, cells)

    def check(self, place: Callable[[int, int], Place], *, impute: bool) -> None:
        """Raise unless the column is numbers or text; `place` tells where a field of a record is."""
        self._check_missing(place, impute)
        if self.n_text:
            self._check_text(place)

    @property
    def is_text(self) -> bool:
        return self.kind == "text" or self.n_text > 0

    @property
    def lacks_text(self) -> bool:
        """Whether it turned out as text after cells were taken in as numbers."""
        return self.is_text and any(part.text is None for part in self._parts.values())

    def add_text(self, cells: Sequence[str], first_record: int) -> None:
        """The cells of a batch once more, for a column that `lacks_text`."""
        part = self._parts[first_record]
        part.text = part.text or [self._pooled(cell.strip()) for cell in cells]

    def values(self) -> NDArray[Any]:
        """The whole column: float64 with NaN, or object with strings and None."""
        if not self.is_text:
            return np.concatenate([part.numbers for part in self._parts.values()])
        cells = [cell for part in self._parts.values() for cell in part.text or ()]
        column = np.empty(len(cells), dtype=object)
        column[:] = cells
        return column

    def _add_mixed(self, cells: list[str], first_record: int) -> None:
        """Cells that are not all numbers: one by one."""
        numbers = np.full(len(cells), np.nan)
        text: list[str | None] = [
            None if cell in self.rules.missing else self._pooled(cell) for cell in cells
        ]
        for i, cell in enumerate(text):
            if cell is None:
                self.n_missing += 1
                self.first_missing = self.first_missing or (first_record + i, cells[i])
            elif self.kind != "text":
                self._add_cell(cell, first_record, i, numbers)
        self._parts[first_record] = _Part(numbers, text)
        self._remember_spelling(numbers, cells)

    def _add_cell(self, cell: str, first_record: int, i: int, numbers: NDArray[np.float64]) -> None:
        value = self.rules.number(cell)
        if value is not None:
            numbers[i] = value
            self.n_numbers += 1
            return
        self.n_text += 1
        self.n_decimal_commas += DECIMAL_COMMA.fullmatch(cell) is not None
        self.first_text = self.first_text or (first_record + i, cell)

    def _remember_spelling(self, numbers: NDArray[np.float64], cells: Sequence[str]) -> None:
        if not self._keeps_spelling:
            return
        for value, cell in zip(numbers.tolist(), cells, strict=True):
            if value == value:
                self.spelling.setdefault(value, cell.strip())
        if len(self.spelling) > _MOST_LABELS:  # a regression's target
            self._keeps_spelling, self.spelling = False, {}

    def _pooled(self, cell: str) -> str:
        return self._pool.setdefault(cell, cell)

    def _check_missing(self, place: Callable[[int, int], Place], impute: bool) -> None:
        if self.first_missing is None:
            return
        record, cell = self.first_missing
        n_rows = sum(len(part.numbers) for part in self._parts.values())
        if self.n_missing == n_rows and not (impute and self.kind):
            raise parse_error(
                place(record, self.position),
                f"no value at all in column {quoted(self.name)}",
                found=f"{n_rows} missing ones",
                expected="values (ignore= / --ignore leaves the column out)",
            )
        if not impute:
            raise parse_error(
                place(record, self.position),
                f"missing value in column {quoted(self.name)} ({self.n_missing} of {n_rows})",
                found=quoted(cell),
                expected="a value; impute=True (--impute) fills in missing values",
            )

    def _check_text(self, place: Callable[[int, int], Place]) -> None:
        """Raise when the text in the column should have been numbers."""
        assert self.first_text is not None
        record, cell = self.first_text
        share = self.n_numbers / (self.n_numbers + self.n_text)
        is_decimal_comma = self.n_text == self.n_decimal_commas
        if self.kind != "number" and share < _MOSTLY_NUMBERS and not is_decimal_comma:
            return
        expected = explain_non_number(cell)
        if self.kind != "number":
            expected += " (categorical= / --categorical reads the column as text"
            expected += ", header=True if these are the names)" if record == 0 else ")"
        n = self.n_numbers + self.n_text
        raise parse_error(
            place(record, self.position),
            f"not a number in column {quoted(self.name)}, where {self.n_numbers} of {n} cells are numbers",
            found=quoted(cell),
            expected=expected,
        )
