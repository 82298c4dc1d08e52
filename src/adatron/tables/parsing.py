"""Numbers, dates and durations from cells: written as text, or objects of Python.

Every function takes the distinct cells of a column and gives one value for each: NaN or NaT for a text that
it cannot read.

>>> from adatron.tables.parsing import parse_dates, parse_numbers
>>> parse_numbers(["$1,234.50", "12 %", "n/a"])
array([1234.5,   12. ,    nan])
>>> parse_numbers(["1.234,50 €"], decimal=",")
array([1234.5])
>>> parse_dates(["2024-03-01", "1 Mar 2024 12:30", "soon"]).astype(str).tolist()
['2024-03-01T00:00:00.000000', '2024-03-01T12:30:00.000000', 'NaT']
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

# An empty cell says nothing in any column. "NA" may be a country and "-" a blood group: these are missing
# only among numbers and dates.
MISSING_TEXT = frozenset({"", "?", "n/a", "N/A", "#N/A", "nan", "NaN", "NAN", "null", "NULL", "<NA>", "NaT"})
MISSING_NUMBER = MISSING_TEXT | {"NA", "na", "-", "--", "—", ".", "None", "none", "missing", "unknown"}

_BLANK = " \t\u00a0\u202f\u2009"
_CURRENCY = r"(?:[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|kr\.?)"
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WRITTEN = re.compile(
    rf"(?P<minus>\()?(?P<sign>[+\-−])?\s*{_CURRENCY}?\s*(?P<inner>[+\-−])?"
    rf"(?P<body>[0-9.,](?:[0-9.,'’{_BLANK}]*[0-9.,])?)\s*(?:{_CURRENCY}|%|\+)?\)?"
)
_BODY = re.compile(r"[0-9]{1,3}(?:[,'’" + _BLANK + r"][0-9]{3})+(?:\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+")
_WITHOUT_SEPARATORS = str.maketrans("", "", ",'’" + _BLANK)
_POINT_AND_COMMA_SWAPPED = str.maketrans(".,", ",.")
_WORDS = {"true": 1.0, "false": 0.0}

_TIME = (
    r"(?:[T\s]+(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<F>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
_DATES = [
    re.compile(layout + _TIME)
    for layout in (
        r"(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})",
        r"(?P<y>\d{4})-(?P<m>\d{2})",
        r"(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4}|\d{2})",
        r"(?:[A-Za-z]{3,9},?\s+)?(?P<d>\d{1,2})(?:st|nd|rd|th)?[-\s.]+(?P<name>[A-Za-z]{3,9})[-.,\s]+(?P<y>\d{4})",
        r"(?:[A-Za-z]{3,9},?\s+)?(?P<name>[A-Za-z]{3,9})[.\s]+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})",
    )
]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DURATION = re.compile(
    r"(?:(?P<days>\d{1,9}) days?,? ?)?(?P<H>\d{1,9}):(?P<M>[0-5]\d)(?::(?P<S>[0-5]\d(?:\.\d+)?))?"
)


def parse_numbers(texts: Sequence[str], decimal: str = ".") -> np.ndarray:
    """Numbers with currency, percent sign or separators of thousands; `decimal` is the decimal mark."""
    numbers = np.fromiter((_number(text, decimal) for text in texts), np.float64, len(texts))
    return np.where(np.isinf(numbers), np.nan, numbers)  # beyond float64, such as 1e999


def _number(text: str, decimal: str) -> float:
    if _PLAIN.fullmatch(text) and (decimal == "." or "." not in text):
        return float(text)
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return _WORDS.get(text.lower(), np.nan)
    body = written["body"] if decimal == "." else written["body"].translate(_POINT_AND_COMMA_SWAPPED)
    if not _BODY.fullmatch(body):
        return np.nan
    number = float(body.translate(_WITHOUT_SEPARATORS))
    is_negative = written["minus"] or (written["sign"] or written["inner"] or "+") in "-−"
    return -number if is_negative else number


def parse_dates(texts: Sequence[str], day_first: bool = False) -> np.ndarray:
    """Dates with or without a time; `day_first` reads 03/04/2024 as the third of April.

    A time zone is ignored: the hour on the clock is what people's habits follow.
    """
    return np.array([_date(text, day_first) for text in texts], dtype="datetime64[us]")


def _date(text: str, day_first: bool) -> datetime | None:
    if len(text) >= 10 and text[4] == "-":
        try:
            return datetime.fromisoformat(text).replace(tzinfo=None)
        except ValueError:
            pass  # not quite ISO, such as a month of one digit
    match = next((m for m in (layout.fullmatch(text) for layout in _DATES) if m), None)
    if match is None:
        return None
    found = match.groupdict()
    year, hour = int(found["y"]), int(found["H"] or 0)
    if len(found["y"]) == 2:
        year += 1900 if year >= 69 else 2000  # as POSIX does
    if "a" in found:
        month, day = int(found["a"]), int(found["b"])
        if day_first or found["sep"] == ".":  # with points the day comes first wherever it is written so
            month, day = day, month
    elif "name" in found:
        if found["name"][:3].lower() not in _MONTHS:
            return None
        month, day = _MONTHS.index(found["name"][:3].lower()) + 1, int(found["d"])
    else:
        month, day = int(found["m"]), int(found.get("d", 1))
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"].lower() == "pm")
    microsecond = int((found["F"] or "0").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, int(found["M"] or 0), int(found["S"] or 0), microsecond)
    except ValueError:  # the 31st of February
        return None


def parse_durations(texts: Sequence[str]) -> np.ndarray:
    """Seconds of times of the day and of durations: 12:30, 1:02:03, 2 days 03:00:00."""
    seconds = np.full(len(texts), np.nan)
    for i, match in enumerate(map(_DURATION.fullmatch, texts)):
        if match:
            hours = 24 * int(match["days"] or 0) + int(match["H"])
            seconds[i] = 3600.0 * hours + 60.0 * int(match["M"]) + float(match["S"] or 0.0)
    return seconds


def _number_array(cells: list[Any]) -> np.ndarray:
    values = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if cell is not None:
            try:
                values[i] = float(cell)
            except OverflowError:  # a whole number of hundreds of digits
                values[i] = np.inf
    return values


def _dates_array(cells: list[Any]) -> np.ndarray:
    plain = [cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell for cell in cells]
    return np.array(plain, dtype="datetime64[us]")


def seconds_of(durations: Any) -> np.ndarray:
    durations = np.asarray(durations, dtype="timedelta64[us]")
    return np.where(np.isnat(durations), np.nan, durations.astype(np.float64) / 1e6)


def _time_array(cells: list[Any]) -> np.ndarray:
    return parse_durations(["" if cell is None else cell.isoformat() for cell in cells])


PLAIN_TYPES: list[tuple[Any, str, Any]] = [
    (bool | np.bool_, "boolean", _number_array),
    (timedelta | np.timedelta64, "duration", seconds_of),  # before numbers: NumPy takes it for one
    (time, "duration", _time_array),
    (date | np.datetime64, "date", _dates_array),
    (Real | Decimal, "number", _number_array),
]
