"""How a text is delimited: what stands between cells, whether names come first, which decimal mark.

Counting decides: the right delimiter gives most rows the same number of cells, and many of these are numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice, zip_longest

import numpy as np

from adatron.io.readers.cells import DECIMAL_COMMA, CellRules
from adatron.io.readers.messages import Place, parse_error
from adatron.io.readers.records import WHITESPACE, Records

__all__ = ["Dialect", "check_widths", "detect_dialect"]

_DELIMITERS = ("\t", ";", "|", ",", WHITESPACE)  # the first of equally good ones is taken
_SAMPLE_LINES, _FEWEST_LINES, _SAMPLE_BYTES = 100, 3, 2**18
_ANY_NUMBER = (CellRules(), CellRules(decimal=","))


@dataclass(frozen=True)
class Dialect:
    """What `detect_dialect` found, or was told."""

    delimiter: str
    decimal: str
    has_header: bool
    n_columns: int


def detect_dialect(
    text: bytes,
    source: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    rules: CellRules | None = None,
) -> Dialect:
    """The dialect of `text`; what is given is taken, and the rest found from the first rows.

    Examples
    --------
    >>> from adatron.io.readers.dialect import detect_dialect
    >>> detect_dialect(b"age;height\\n31;1,75\\n45;1,80\\n", "f.csv")
    Dialect(delimiter=';', decimal=',', has_header=True, n_columns=2)
    """
    sample = _first_lines(text)
    best = max((_try(sample, candidate) for candidate in _DELIMITERS), key=_Trial.merit)
    trial = best if delimiter is None else _try(sample, delimiter)
    if trial.width == 1 and best.width > 1:
        raise parse_error(
            Place(source, 1, 1),
            f"one column only with delimiter={delimiter!r}",
            found=f"{best.width} columns with {best.delimiter!r}",
            expected="the right delimiter, or none to have it found",
        )
    decimal = decimal or _decimal_mark(trial)
    rules = replace(rules or CellRules(), decimal=decimal)
    has_header = _looks_like_header(trial.rows, rules) if header is None else header
    return Dialect(trial.delimiter, decimal, has_header, trial.width)


def _first_lines(text: bytes) -> bytes:
    """A hundred lines, fewer if they are long, but not so few that nothing can be counted.

    The last one does not end within quotes: a cell that is cut there would spoil the count of all others.
    """
    lines: list[bytes] = []
    size, is_quoted, n_whole = 0, False, 0
    for line in islice(BytesIO(text), _SAMPLE_LINES):
        lines.append(line)
        size += len(line)
        is_quoted ^= line.count(b'"') % 2 == 1
        n_whole = n_whole if is_quoted else len(lines)
        if size > _SAMPLE_BYTES and len(lines) >= _FEWEST_LINES:
            break
    return b"".join(lines[: n_whole or len(lines)])


@dataclass(frozen=True)
class _Trial:
    """What a delimiter makes of the first rows."""

    delimiter: str
    rows: list[list[str]]
    width: int
    agreement: float  # share of rows with that width
    numbers: float  # share of cells of the rows below the first that are numbers or missing

    def merit(self) -> tuple[float, ...]:
        """Larger is better; blanks are what text is full of, so they come after all others."""
        if self.width < 2 or self.agreement < 0.5:
            return (0.0,)
        is_character = self.delimiter != WHITESPACE
        return (1.0, round(self.numbers * self.agreement, 3), is_character, self.agreement, self.width)


def _try(sample: bytes, delimiter: str) -> _Trial:
    rows = _rows_of(sample, delimiter)
    width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
    cells = [cell for row in rows[1:] or rows if len(row) == width for cell in row]
    n_numbers = sum(_is_number_or_missing(cell) for cell in cells)
    return _Trial(delimiter, rows, width, count / max(len(rows), 1), n_numbers / max(len(cells), 1))


def _rows_of(sample: bytes, delimiter: str) -> list[list[str]]:
    """Records of the sample, as many as can be read."""
    try:
        return [row for batch in Records(sample, delimiter, "").batches() for row in batch]
    except ValueError:  # wrongly quoted, or a field is cut by the end of the sample: lines are good enough
        separator = None if delimiter == WHITESPACE else delimiter
        return [line.split(separator) for line in sample.decode("utf-8").split("\n") if line.strip()]


def _is_number_or_missing(cell: str) -> bool:
    rules = _ANY_NUMBER[0]
    return rules.is_missing(cell) or any(rules.number(cell) is not None for rules in _ANY_NUMBER)


def _decimal_mark(trial: _Trial) -> str:
    """A comma where ``;`` leaves it free and cells have commas and no points."""
    cells = [cell.strip() for row in trial.rows for cell in row]
    has_comma = any(DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    has_point = any("." in cell and CellRules().number(cell) is not None for cell in cells)
    return "," if trial.delimiter == ";" and has_comma and not has_point else "."


def _looks_like_header(rows: list[list[str]], rules: CellRules) -> bool:
    """No cell of the first row is a number, and it differs in kind from what stands below it.

    Where there are numbers below, that is enough. Where all is text, the cells of the first row must also
    differ from each other and from all below them, as names do and categories do not.
    """
    first, below = rows[0] if rows else [], rows[1:]
    if any(rules.number(cell) is not None or (cell and rules.is_missing(cell)) for cell in first):
        return False
    if not below or any(rules.number(cell) is not None for row in below for cell in row):
        return True
    columns = zip_longest(*below, fillvalue="")
    is_new = all(name not in column for name, column in zip(first, columns, strict=False))
    return is_new and len(set(first)) == len(first) and all(name.strip() for name in first)


def check_widths(text: bytes, source: str, max_columns: int) -> None:
    """Refuse lines of very many cells before they are taken apart.

    Examples
    --------
    >>> from adatron.io.readers.dialect import check_widths
    >>> check_widths(b"1,2,3\\n", "f.csv", max_columns=2)
    Traceback (most recent call last):
    ValueError: f.csv:1:1: too many columns, found 3, expected at most 2; Limits(max_columns=…) allows more
    """
    for number, line in enumerate(BytesIO(text), start=1):
        if len(line) > max_columns and (width := _most_cells(line)) > max_columns:
            raise parse_error(
                Place(source, number, 1),
                "too many columns",
                found=str(width),
                expected=f"at most {max_columns}; Limits(max_columns=…) allows more",
            )


def _most_cells(line: bytes) -> int:
    """Cells a line has with the most frequent delimiter; blanks count where there is no other."""
    n_delimiters = max(line.count(mark) for mark in (b"\t", b";", b"|", b","))
    is_blank = np.frombuffer(line.strip(), dtype=np.uint8) == ord(" ")
    return 1 + (n_delimiters or int(np.count_nonzero(is_blank[1:] & ~is_blank[:-1])))
