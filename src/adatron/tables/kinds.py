"""Which kind of column it is: decided once, when an encoder is fitted, from the distinct values.

>>> import numpy as np
>>> from adatron.tables.columns import Table
>>> from adatron.tables.kinds import decide
>>> table = Table(np.array([["$1,200", "yes"], ["$950", "no"], ["$2,000", "yes"]], dtype=object))
>>> [decide(table.column(j)).kind for j in range(2)]
['number', 'binary']
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from adatron.tables.columns import NEARLY_ALL, Column, Reading, converted, floats_of, is_table, with_values
from adatron.tables.parsing import MISSING_NUMBER, parse_dates, parse_durations, parse_numbers

KINDS = ("number", "binary", "boolean", "category", "ordinal", "text", "date", "duration", "identifier")
DROPPED = ("constant", "empty", "identifier")

FEW_NUMBERS = 20  # distinct ones, up to which a column that also has words is a category
MANY_LEVELS = 40  # beyond which a category gets target means, and text of many words is text
FEW_ROWS = 20  # below which values that all differ are no sign of an identifier
_SAMPLE = 200  # distinct texts that are tried before all are read
_CODE = re.compile(r"0[0-9]+")  # a number does not begin so; the code of a place does
_ID_NAME = re.compile(
    r"(?:.*[_\-. ])?(?:id|ids|uuid|guid|idx|index|rownames?|row_?(?:nr|no|num|number)|unnamed: ?\d+)"
    r"|.*[a-z0-9]I[dD]|ID|.*_ID"
)


@dataclass(frozen=True)
class Decision:
    """The kind of a column, the column in the form for it, and how it was brought there."""

    kind: str
    column: Column
    reading: Reading
    reason: str = ""


def decide(column: Column, kind: str | None = None) -> Decision:
    """Find out the kind of a column, or read it as the `kind` that was asked for."""
    reading = Reading(column.form)
    if kind in DROPPED:
        return Decision("identifier", column, reading, "dropped by kinds")
    if column.missing.all():
        return Decision("empty", column, reading, "no value at all")
    if kind is not None:
        return _as_asked(column, kind)
    if column.form == "label":
        return _decide_labels(column)
    if column.form == "date":
        return _unless_constant(Decision("date", column, reading))
    return _decide_numbers(column, reading)


def _as_asked(column: Column, kind: str) -> Decision:
    if kind in ("binary", "boolean"):
        found = decide(column)
        if found.kind not in ("binary", "boolean"):
            raise ValueError(f"kinds says that column {column.name!r} is {kind}, but it has not two values")
        return found
    if kind in ("number", "duration", "date"):
        decimal, _ = _best_numbers(column.levels)
        day_first, _ = _best_dates(column.levels)
        reading = Reading(kind, decimal, day_first)
        found = Decision(kind, converted(column, reading), reading)
        return replace(found, reading=replace(reading, is_written=column.form == "label"))
    labels = converted(column, Reading("label"))
    if kind == "ordinal" and labels.order is None:
        order = np.argsort(parse_numbers(labels.levels), kind="stable")  # else as text sorts
        labels = replace(labels, order=[labels.levels[i] for i in order])
    return Decision(kind, labels, Reading("label"))


def _unless_constant(found: Decision) -> Decision:
    present = found.column.values[~found.column.missing]
    if len(present) == len(found.column.values) and (present == present[0]).all():
        return replace(found, kind="constant", reason="one value in all rows")
    return found


def _decide_numbers(column: Column, reading: Reading) -> Decision:
    values = column.values[~column.missing]
    found = _unless_constant(Decision(column.form, column, reading))
    if found.kind == "constant" or column.form in ("boolean", "duration"):
        return found
    low, high = values.min(), values.max()
    if low < high and ((values == low) | (values == high)).all():
        return replace(found, kind="binary")
    if is_identifier(column.name, column.values):
        return replace(found, kind="identifier", reason="a different whole number in each row")
    return found


def is_identifier(name: str, values: np.ndarray) -> bool:
    """Whether numbers only count or name the rows: by the name of the column, and as all of them differ."""
    if len(values) < FEW_ROWS or not _is_id_name(name) or np.isnan(values).any():
        return False
    return bool((values % 1 == 0).all()) and len(np.unique(values)) == len(values)


def _is_id_name(name: str) -> bool:
    return bool(_ID_NAME.fullmatch(name) or _ID_NAME.fullmatch(name.lower()))


def needs_encoding(X: Any) -> bool:
    """Tell whether a table needs a `TableEncoder`: text, dates, gaps or identifiers among its columns.

    Parameters
    ----------
    X : object
        Anything given to ``fit``.

    Returns
    -------
    bool
        False for anything that is not a table.

    See Also
    --------
    is_table : does not look at the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.tables import needs_encoding
    >>> needs_encoding([["red"], ["blue"]]), needs_encoding(np.ones((2, 3)))
    (True, False)
    """
    if nw.dependencies.is_polars_lazyframe(X) or nw.dependencies.is_into_series(X):
        return True  # the encoder says what to do
    if not is_table(X):
        return False
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        return True  # columns of equal names, which only the encoder tells apart
    if not isinstance(frame, nw.DataFrame) or not frame.columns:
        return True
    if len({isinstance(name, str) for name in frame.columns}) > 1:
        return True  # text and numbers as names, which scikit-learn refuses
    return not all(_is_ready(str(name), frame.get_column(name)) for name in frame.columns)


def _is_ready(name: str, series: Any) -> bool:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        return False
    values = floats_of(series)
    return not (np.isnan(values).any() or is_identifier(name, values))


def _decide_labels(column: Column) -> Decision:
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    if not column.is_category:
        found = _decide_written(column, counts)
        if found is not None:
            return found
    reading = Reading("label")
    column = converted(column, reading)
    n, n_levels = int((~column.missing).sum()), len(column.levels)
    if n_levels == 0:
        return Decision("empty", column, reading, "no value at all")
    if n_levels == 1:
        return _unless_constant(Decision("category", column, reading))
    if n_levels == 2:
        return Decision("binary", column, reading)
    if column.order is not None:
        return Decision("ordinal", column, reading)
    if column.is_category:
        return Decision("category", column, reading)
    words = float(np.mean([len(text.split()) for text in column.levels]))
    all_differ = n_levels > 0.95 * n and n >= FEW_ROWS
    if (words >= 2 and all_differ) or (words >= 3 and n_levels > MANY_LEVELS and n_levels > 0.3 * n):
        return Decision("text", column, reading)
    if all_differ:
        return Decision("identifier", column, reading, "a different word in nearly each row")
    return Decision("category", column, reading)


def _decide_written(column: Column, counts: np.ndarray) -> Decision | None:
    """Numbers, durations and dates that are written as text; None if it is just text."""
    # tokens for missing values count for nothing, and cannot be read by any parser
    counts = np.where([text in MISSING_NUMBER for text in column.levels], 0, counts)
    texts, enough = column.levels, NEARLY_ALL * counts.sum()
    if not enough or any(map(_CODE.fullmatch, texts)):
        return None
    decimal, numbers = _best_numbers(texts)
    read = ~np.isnan(numbers)
    has_words = counts[~read].any() and len(np.unique(numbers[read])) <= FEW_NUMBERS
    if counts[read].sum() >= enough and not has_words:
        reading = Reading("number", decimal, is_written=True)
        return _decide_numbers(with_values(column, "number", numbers), reading)
    seconds = _if_sample(parse_durations, texts)
    if counts[~np.isnan(seconds)].sum() >= enough:
        found = with_values(column, "duration", seconds)
        return _unless_constant(Decision("duration", found, Reading("duration", is_written=True)))
    day_first, dates = _best_dates(texts)
    if counts[~np.isnat(dates)].sum() >= enough:
        reading = Reading("date", day_first=day_first, is_written=True)
        return _unless_constant(Decision("date", with_values(column, "date", dates), reading))
    return None


def _best_numbers(texts: list[str]) -> tuple[str, np.ndarray]:
    """The decimal mark with which most texts are numbers, and these numbers."""
    point, comma = (_if_sample(parse_numbers, texts, mark) for mark in ".,")
    return (",", comma) if np.isnan(comma).sum() < np.isnan(point).sum() else (".", point)


def _best_dates(texts: list[str]) -> tuple[bool, np.ndarray]:
    month, day = (_if_sample(parse_dates, texts, is_day_first) for is_day_first in (False, True))
    return (True, day) if np.isnat(day).sum() < np.isnat(month).sum() else (False, month)


def _if_sample(parse: Callable[..., np.ndarray], texts: list[str], *options: Any) -> np.ndarray:
    """``parse(texts, *options)``; nothing at all if it can read less than half of a sample."""
    sample = parse(texts[:: len(texts) // _SAMPLE + 1], *options)
    if not len(sample) or np.isnan(sample).mean() > 0.5:
        return np.full(len(texts), np.array("NaT" if sample.dtype.kind == "M" else np.nan, sample.dtype))
    return parse(texts, *options)
