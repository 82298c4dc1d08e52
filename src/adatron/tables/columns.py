"""A column as plain arrays, and how it is brought from one form to another.

A `Column` has one of five forms. All later code sees only these, so tables of different libraries with
equal cells are equal from here on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adatron.tables.parsing import MISSING_NUMBER, MISSING_TEXT, parse_dates, parse_durations, parse_numbers

FORMS = ("number", "boolean", "duration", "date", "label")


@dataclass(frozen=True)
class Column:
    """The cells of one column.

    `values` are float64 with NaN (form "number", "boolean", and "duration" in seconds), datetime64 with NaT
    ("date"), or indices into `levels` with −1 for missing ("label"). `levels` are sorted, and all occur.
    """

    name: str
    form: str
    values: np.ndarray
    levels: list[str] = field(default_factory=list)
    order: list[str] | None = None  # of an ordered category, also of levels that do not occur
    is_category: bool = False  # by its dtype

    @property
    def missing(self) -> np.ndarray:
        return self.values < 0 if self.form == "label" else np.isnan(self.values)


@dataclass(frozen=True)
class Reading:
    """The form in which a column is encoded, and how text is read to bring it there."""

    form: str
    decimal: str = "."
    day_first: bool = False
    is_written: bool = False  # as text, so that a typo is nothing unusual

    def __post_init__(self) -> None:
        flags = type(self.day_first) is type(self.is_written) is bool
        if self.form not in FORMS or self.decimal not in (".", ",") or not flags:
            raise ValueError(f"no column is read as {self}")


def converted(column: Column, reading: Reading) -> Column:
    """The column in the form that an encoding works on; text that cannot be read as such is missing.

    A column that was no text at the fit, and of which nothing can be read now, is an error.
    """
    form = reading.form
    if form == "label":
        return _as_labels(column)
    if column.form == form or {column.form, form} <= {"number", "boolean", "duration"}:
        return replace(column, form=form)
    if column.missing.all():  # of whatever form
        column = replace(column, form="label", values=np.full(len(column.values), -1), levels=[])
    if column.form != "label":
        raise ValueError(f"column {column.name!r} should hold {form}s, but holds {column.form}s")
    if form == "date":
        parsed = parse_dates(column.levels, reading.day_first)
    elif form == "duration":
        parsed = parse_durations(column.levels)
    else:
        parsed = parse_numbers(column.levels, reading.decimal)
    read = with_values(column, form, parsed)
    odd = [text for text in column.levels if text not in MISSING_NUMBER]
    if odd and read.missing.all() and not reading.is_written:
        raise ValueError(f"column {column.name!r} should hold {form}s, but holds {odd[0]!r}")
    return read


def with_values(column: Column, form: str, parsed: np.ndarray) -> Column:
    """A column of labels in another form, where `parsed` has the value of each level."""
    missing = np.array(["NaT" if form == "date" else np.nan], dtype=parsed.dtype)
    return replace(column, form=form, values=np.concatenate([parsed, missing])[column.values], levels=[])


def _as_labels(column: Column) -> Column:
    """The column as labels; those that stand for a missing value are missing."""
    texts, codes = column.levels, column.values
    if column.form != "label":
        values, codes = np.unique(column.values, return_inverse=True)
        texts = [str(value) if column.form == "date" else text_of(value.item()) for value in values]
        codes = np.where(column.missing, -1, codes)
    elif MISSING_TEXT.isdisjoint(texts):
        return column
    levels = sorted(set(texts) - MISSING_TEXT)
    place = {text: i for i, text in enumerate(levels)}
    places = np.array([*(place.get(text, -1) for text in texts), -1])
    return replace(column, form="label", values=places[codes], levels=levels)


def text_of(cell: Any) -> str:
    """The level that a cell belongs to."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, float) and cell.is_integer()):
        cell = int(cell)  # 1, 1.0 and True are equal, so they are one level
    return str(cell).strip()


def distinct(names: Iterable[Any]) -> list[str]:
    """Names as text, with a number at the end of those that came before: a, b, a_2."""
    seen: dict[str, None] = {}  # keeps their order
    for name in map(str, names):
        candidate, n = name, 1
        while candidate in seen:
            n += 1
            candidate = f"{name}_{n}"
        seen[candidate] = None
    return list(seen)
