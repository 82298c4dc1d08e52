"""CSV, TSV and their relatives through pyarrow.

pyarrow reads every cell as text, and columns whose cells are all numbers are converted afterwards. That costs
little and keeps what a typed reader loses: spelling of labels, leading zeros, the cell to show in an error.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import zip_longest
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from adatron.io.printing import quoted

_MISSING = ["", "?", "-", "--", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NULL", "Null", "null"]
_MOST_LABELS = 20  # distinct decimal numbers whose spelling matters, as they may be labels
_MOSTLY = 0.9  # from this share of numbers on, the other cells are slips
_PLAIN = {".": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$", ",": r"^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$"}
_GROUPED = {".": r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$", ",": r"^[+-]?\d{1,3}(\.\d{3})+(,\d*)?$"}
_NUMBER = "|".join([*_PLAIN.values(), *_GROUPED.values()])
_DECIMAL = {mark: rf"^[+-]?[\d.,]*[{mark}](\d{{1,2}}|\d{{4,}})$" for mark in ".,"}  # three may be thousands
_HINT = "--categorical reads the column as text, --missing the cell as missing, --decimal sets the mark"
_CODE = r"^[+-]?0[\dxX]"  # leading zeros make a name of a number


class Delimited:
    """A delimited text with its delimiter, header and decimal mark.

    >>> Delimited(b"age;height\\n31;1,75\\n45;1,80\\n", "people.csv").read().to_pydict()
    {'age': [31, 45], 'height': [1.75, 1.8]}
    """

    def __init__(
        self, content: bytes, name: str, *, delimiter: str | None = None, header: bool | None = None,
        decimal: str | None = None, missing: Any = (), kinds: Any = None,
    ) -> None:  # fmt: skip
        self.name, self.kinds, self.missing = name, kinds or {}, [*_MISSING, *missing]
        is_tidy = content[:1] not in (b"\r", b"\n") and content.endswith(b"\n") and content[-2:].strip()
        self.content = content if is_tidy else content.strip(b"\r\n").rstrip(b" \r\n") + b"\n"
        self.lines_above = content.count(b"\n", 0, len(content) - len(content.lstrip(b"\r\n")))
        lines = self.content[: 2**17].decode(errors="ignore").splitlines()[:100]
        self.delimiter, rows = _sniff("\n".join(lines), delimiter)
        if self.delimiter == " ":  # any run of blanks and tabs
            self.content = b"\n".join(b"\t".join(line.split()) for line in self.content.split(b"\n"))
            self.delimiter = "\t"
        self.width = len(rows[0])
        self.has_header = _has_header(rows) if header is None else header
        self.names = [f"column_{i + 1}" for i in range(self.width)]
        if self.has_header:
            # as pandas names them, so that a TableEncoder takes the row numbers below for what they are
            self.names = [cell.strip() or f"unnamed: {i}" for i, cell in enumerate(rows[0])]
        cells = [[cell.strip() for cell in column] for column in zip_longest(*rows, fillvalue="")]
        marks = {mark for mark in ".," for own in cells for cell in own if re.match(_DECIMAL[mark], cell)}
        self.decimal = decimal or ("," if marks == {","} else ".")
        self.is_sure_of_decimal = bool(decimal or marks) or self.delimiter == ","
        self.types = {}  # of columns that are read as text first; pyarrow reads the others as numbers at once
        for i, name in enumerate(self.names):
            below = cells[i][1:]
            is_number = all(cell in _MISSING or re.match(_PLAIN["."], cell) for cell in below)
            # decimals for sure, and too many different ones for labels
            is_amount = any("." in cell for cell in below) and len(set(below)) > _MOST_LABELS
            if self.decimal == "," or name in self.kinds or not (is_number and is_amount):
                self.types[f"f{i}"] = pa.string()
        self.text: dict[str, pa.ChunkedArray] = {}  # the cells as they are written, by column

    def read(self) -> pa.Table:
        """int64, double or string columns, null where a value is missing."""
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            self._refuse(1, f"column name {quoted(twice[0])} twice; --no-header if these are not names")
        columns = self._parse()
        pairs = zip(self.names, columns, strict=True)
        self.text = {name: own for name, own in pairs if own.type == pa.string()}
        with ThreadPoolExecutor() as pool:  # pyarrow computes without the interpreter's lock
            return pa.table(list(pool.map(self._typed, self.names, columns)), self.names)

    def _parse(self) -> list[pa.ChunkedArray]:
        """The cells as text; columns that begin with many decimal numbers as numbers, if all cells are."""
        skip, has_quotes = self.has_header + "".join(self.names).count("\n"), b'"' in self.content
        missing: Any = {"null_values": self.missing, "strings_can_be_null": True}
        how = (
            pa_csv.ReadOptions(autogenerate_column_names=True, skip_rows=skip),
            pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=has_quotes),
            pa_csv.ConvertOptions(column_types=self.types, **missing),
        )
        try:
            columns = pa_csv.read_csv(pa.BufferReader(self.content), *how).columns
        except pa.ArrowInvalid as error:
            has_names_only = len(list(self._records())) == 1
            why = "no rows below the names; --no-header if these are not names"
            self._refuse(1, why if has_names_only else str(error))
        texts = [column for column in columns if column.type == pa.string()]
        # An unclosed quotation mark makes one long cell of everything after it.
        is_odd = has_quotes and (self.content.count(b'"') % 2 or any(_any(column, "\n") for column in texts))
        if is_odd or len(columns) != self.width:
            list(self._records())
        return columns

    def _records(self) -> Iterator[int]:
        """The line in which each record begins, by the slow standard reader; refuses malformed records."""
        csv.field_size_limit(2**31 - 1)
        stream = io.StringIO(self.content.decode(), newline="")
        reader, line = csv.reader(stream, delimiter=self.delimiter, strict=True), 1
        try:
            for record in reader:
                if record and len(record) != self.width:
                    words = f"too {'few' if len(record) < self.width else 'many'} cells, found {len(record)}"
                    self._refuse(line, f"row with {words}, expected {self.width} as in the first row")
                if record:
                    yield line
                line = reader.line_num + 1
        except csv.Error:
            self._refuse(line, "an unclosed quotation mark, or one in the wrong place")

    def _typed(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Numbers if all cells are, text if many are not; if nearly all are, the first other is an error."""
        if column.type != pa.string():
            self._refuse_slips(name, column, pc.invert(pc.fill_null(pc.is_finite(column), True)))
            return column
        kind = self.kinds.get(name)
        is_text = kind == "text" or column.null_count == len(column)
        numbers = None if is_text else self._cast(column)
        if numbers is not None:
            is_code = numbers.type == pa.int64() and _any(column, _CODE)
            if not is_code and pc.all(pc.is_finite(numbers)).as_py():
                return numbers
            is_text = is_code and kind != "number"
        text = pc.utf8_trim_whitespace(column)
        text = pc.if_else(pc.is_in(text, pa.array(self.missing)), None, text)
        share = pc.mean(pc.cast(pc.match_substring_regex(text, _NUMBER), pa.float64())).as_py()
        if is_text or share is None or (share < _MOSTLY and kind != "number"):
            return text
        return self._parsed(name, column, text)

    def _cast(self, column: pa.ChunkedArray) -> pa.ChunkedArray | None:
        for dtype in (pa.int64(), pa.float64()) if self.decimal == "." else (pa.int64(),):
            with suppress(pa.ArrowInvalid):
                return pc.cast(column, dtype)
        return None

    def _parsed(self, name: str, column: pa.ChunkedArray, text: pa.ChunkedArray) -> pa.ChunkedArray:
        """Numbers with the decimal mark, some of which may have separators of thousands."""
        is_grouped = pc.match_substring_regex(text, _GROUPED[self.decimal])
        is_number = pc.match_substring_regex(text, _PLAIN[self.decimal])
        # one separator alone, as in 1,234, may be anything
        if self.is_sure_of_decimal or _any(text, r"^[+-]?\d{1,3}([.,]\d{3}){2,}"):
            is_number = pc.or_(is_number, is_grouped)
        separator = "," if self.decimal == "." else "."
        digits = pc.if_else(is_grouped, pc.replace_substring(text, separator, ""), text)
        digits = pc.if_else(is_number, pc.replace_substring(digits, ",", "."), None)
        numbers = pc.cast(digits, pa.float64())
        is_finite = pc.fill_null(pc.is_finite(numbers), False)
        self._refuse_slips(name, column, pc.and_(pc.is_valid(text), pc.invert(is_finite)))
        return numbers if _any(digits, r"[.eE]|\d{19}") else pc.cast(digits, pa.int64())

    def _refuse_slips(self, name: str, column: pa.ChunkedArray, is_slip: pa.ChunkedArray) -> None:
        place = pc.index(is_slip, True).as_py()
        if place < 0:
            return
        line = next(line for i, line in enumerate(self._records()) if i == place + self.has_header)
        what = f"column {quoted(name)}: {quoted(str(column[place].as_py()))} is not a number"
        self._refuse(line, f"{what}; {_HINT}")

    def _refuse(self, line: int, what: str) -> NoReturn:
        raise ValueError(f"{self.name}:{line + self.lines_above}: {what}")


def _any(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())


def _sniff(sample: str, delimiter: str | None) -> tuple[str, list[list[str]]]:
    """The delimiter that gives most rows the same number of cells, many of them numbers; and the rows."""
    best: tuple[Any, ...] = ((), "", [])
    for candidate in [delimiter] if delimiter else ["\t", ";", "|", ",", " "]:
        stream, is_blank = io.StringIO(sample, newline=""), candidate == " "
        rows = [line.split() for line in stream] if is_blank else csv.reader(stream, delimiter=candidate)
        rows = [row for row in rows if row]
        width, count = Counter(map(len, rows)).most_common(1)[0]
        cells = [cell.strip() for row in rows[1:] or rows for cell in row]
        share = sum(cell in _MISSING or re.match(_NUMBER, cell) is not None for cell in cells) / len(cells)
        is_regular = width > 1 and 2 * count >= len(rows)
        has_names = is_regular and len(rows[0]) == width  # not so for decimal commas below names
        merit = (is_regular, has_names, round(share * count / len(rows), 3), not is_blank)
        best = max(best, (merit, candidate, rows), key=lambda tried: tried[0])
    return best[1], best[2]


def _has_header(rows: list[list[str]]) -> bool:
    """Whether no cell of the first row is a number, and those below it are numbers or other texts."""
    first, *below = [[cell.strip() for cell in row] for row in rows]
    if any(re.match(_NUMBER, cell) or (cell and cell in _MISSING) for cell in first):
        return False
    recurs = any(name == cell for row in below for name, cell in zip(first, row, strict=False))
    is_new = all(first) and len(set(first)) == len(first) and not recurs
    return is_new or not below or any(re.match(_NUMBER, cell) for row in below for cell in row)
