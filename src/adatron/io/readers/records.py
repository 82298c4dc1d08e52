"""Records of delimited text, read in batches, and where each of their fields stands in the file.

Reading is Python's :mod:`csv`; it does not tell where a field stands, so when a place is asked for, that one
record is read again and its fields are counted.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import NamedTuple

from adatron.io.printing import printable, quoted
from adatron.io.readers.messages import Place, parse_error

__all__ = ["WHITESPACE", "Records"]

WHITESPACE = " "  # as a delimiter: any run of blanks and tabs
_MOST_RECORDS, _MOST_CELLS = 4096, 2**21  # of a batch
_QUOTED_FIELD = re.compile(r'"(?:[^"]|"")*+"')
_LONE_CR = re.compile(r"\r(?!\n|\Z)")
_TOKEN = re.compile(r'"(?:[^"]|"")*+"|\S+')


class _Start(NamedTuple):
    """Where a batch begins."""

    record: int
    offset: int
    line: int


class _Lines:
    """Lines of a text, decoded one by one, which know how far they were read."""

    def __init__(self, text: bytes, start: _Start) -> None:
        self.offset, self.line = start.offset, start.line
        self._stream = BytesIO(text)
        self._stream.seek(start.offset)

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.offset += len(line)
            self.line += 1
            yield line.decode("utf-8")


class Records:
    """The records of `text`, each a list of cells; blank lines are none.

    Parameters
    ----------
    text : bytes
        UTF-8 that was checked.
    delimiter : str
        One character, or `WHITESPACE`.
    source : str
        Name of the file in messages.
    n_columns : int, default=1
        How many cells a record has, so that batches of wide records are short.

    Examples
    --------
    >>> from adatron.io.readers.records import Records
    >>> records = Records(b'a,b\\n\\n"x, y",2\\n', ",", "f.csv")
    >>> list(records.batches())
    [[['a', 'b'], ['x, y', '2']]]
    >>> str(records.place(1, 1))
    'f.csv:3:8'
    """

    def __init__(self, text: bytes, delimiter: str, source: str, n_columns: int = 1) -> None:
        self.delimiter, self.source = delimiter, source
        self._batch_size = max(1, min(_MOST_RECORDS, _MOST_CELLS // n_columns))
        self._text = text
        self._starts = [_Start(0, 0, 0)]
        self._raw_batch: tuple[_Start | None, list[tuple[int, str]]] = (None, [])

    def batches(self) -> Iterator[list[list[str]]]:
        """Records in lists of a few thousand."""
        self._starts = [_Start(0, 0, 0)]
        while rows := self._batch(self._starts[-1]):
            yield rows

    @property
    def n_lines(self) -> int:
        """Lines read so far."""
        return self._starts[-1].line

    def place(self, record: int, field: int) -> Place:
        """Where a field of a record begins; behind its last field, where the record ends."""
        line, raw = self._raw_record(record)
        positions = [*_field_positions(raw, self.delimiter), len(raw.rstrip("\r\n"))]
        return self._place_in(line, raw, positions[min(field, len(positions) - 1)])

    def _batch(self, start: _Start) -> list[list[str]]:
        lines = _Lines(self._text, start)
        reader = _csv_reader(lines, self.delimiter)
        try:
            while batch := list(islice(reader, self._batch_size)):
                if rows := [row for row in batch if not _is_blank(row)]:
                    break
            else:
                return []
        except csv.Error as error:
            raise self._explained(start, error) from error
        if start is self._starts[-1]:
            self._starts.append(_Start(start.record + len(rows), lines.offset, lines.line))
        return rows

    def _raw_record(self, record: int) -> tuple[int, str]:
        """Line on which a record begins, from zero, and its text; those of the last batch are kept."""
        start = self._starts[bisect_right(self._starts, record, key=lambda start: start.record) - 1]
        if self._raw_batch[0] is not start:
            self._raw_batch = start, list(islice(self._raw_records(start), self._batch_size))
        return self._raw_batch[1][record - start.record]

    def _raw_records(self, start: _Start) -> Iterator[tuple[int, str]]:
        lines = _Lines(self._text, start)
        reader = _csv_reader(lines, self.delimiter)
        line, offset = start.line, start.offset
        try:
            for row in reader:
                if not _is_blank(row):
                    yield line, self._text[offset : lines.offset].decode("utf-8")
                line, offset = lines.line, lines.offset
        except csv.Error:
            yield line, self._text[offset : lines.offset].decode("utf-8")

    def _place_in(self, line: int, raw: str, position: int) -> Place:
        lines_before = raw.count("\n", 0, position)
        line_start = raw.rfind("\n", 0, position) + 1
        return Place(self.source, line + lines_before + 1, position - line_start + 1)

    def _explained(self, start: _Start, error: csv.Error) -> ValueError:
        """The csv module's complaint, which is always about the last record it saw, with its place."""
        *_, (line, raw) = self._raw_records(start)
        carriage_return = _LONE_CR.search(raw)
        position = _field_positions(raw, self.delimiter)[-1]
        if carriage_return:
            what, expected, position = "carriage return inside a line", "LF or CRLF", carriage_return.start()
        elif raw.startswith('"', position) and not _QUOTED_FIELD.match(raw, position):
            what, expected = "quotation mark without its partner", "a closing quotation mark"
        else:
            what, expected = (
                f"field that cannot be read ({printable(str(error))})",
                "a field, quoted as CSV is",
            )
        return parse_error(
            self._place_in(line, raw, position), what, found=quoted(raw[position:]), expected=expected
        )


def _csv_reader(lines: _Lines, delimiter: str) -> Iterator[list[str]]:
    if delimiter == WHITESPACE:
        collapsed = (" ".join(line.split()) for line in lines)
        return csv.reader(collapsed, delimiter=" ", strict=True)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _field_positions(raw: str, delimiter: str) -> list[int]:
    """Where the fields of a record begin, up to the first that is quoted wrongly."""
    if delimiter == WHITESPACE:
        return [token.start() for token in _TOKEN.finditer(raw)] or [0]
    positions, position = [], 0
    while position >= 0:
        while raw.startswith(" ", position):
            position += 1
        positions.append(position)
        end = _end_of_field(raw, position, delimiter)
        position = end + 1 if end is not None and raw.startswith(delimiter, end) else -1
    return positions


def _end_of_field(raw: str, position: int, delimiter: str) -> int | None:
    """Where a field ends, or None where its quotation marks are wrong."""
    if raw.startswith('"', position):
        field = _QUOTED_FIELD.match(raw, position)
        return field.end() if field else None
    end = raw.find(delimiter, position)
    return end if end >= 0 else len(raw)
