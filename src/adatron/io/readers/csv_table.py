"""Delimited text: CSV, TSV and their relatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from adatron.io.printing import quoted
from adatron.io.readers.cells import MISSING_MARKERS, CellRules
from adatron.io.readers.columns import Column
from adatron.io.readers.dialect import Dialect, check_widths, detect_dialect
from adatron.io.readers.limits import Limits
from adatron.io.readers.matching import resolve_target
from adatron.io.readers.messages import check_names, parse_error
from adatron.io.readers.records import Records
from adatron.io.readers.table import DenseTable, generated_names

__all__ = ["ColumnOptions", "CsvOptions", "read_csv"]


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a table are, as `adatron.io.read_table` explains it."""

    target: str | None = None
    impute: bool = False
    categorical: Collection[str] = ()
    numeric: Collection[str] = ()
    ignore: Collection[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)

    def kind_of(self, name: str) -> str | None:
        given = "text" if name in self.categorical else "number" if name in self.numeric else None
        return given or self.kinds.get(name)

    def keeps(self, name: str) -> bool:
        return name not in self.ignore and self.kinds.get(name) != "ignored"

    def check(self, columns: list[str], source: str) -> None:
        """Raise for names that are no columns."""
        for argument in ("categorical", "numeric"):
            check_names(argument, list(getattr(self, argument)), columns, source)
        both = set(self.categorical) & set(self.numeric)
        if both:
            raise ValueError(
                f"column {quoted(min(both))} is in both categorical and numeric: leave it in one"
            )


@dataclass(frozen=True)
class CsvOptions:
    """How delimited text is written; None is to be found out."""

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    missing: Collection[str] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n.'):
            raise ValueError(f"delimiter must be one character, as , ; | or a tab, got {self.delimiter!r}")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if isinstance(self.missing, str):
            raise ValueError(f"missing must be a list of strings, got {self.missing!r}")


def read_csv(
    text: bytes,
    source: str,
    columns: ColumnOptions | None = None,
    options: CsvOptions | None = None,
    limits: Limits | None = None,
) -> DenseTable:
    """Read the table in `text`.

    Examples
    --------
    >>> from adatron.io.readers.csv_table import read_csv
    >>> read_csv(b"a b\\n1 x\\n2 y\\n", "f.txt").columns
    ['a', 'b']
    """
    columns, options, limits = columns or ColumnOptions(), options or CsvOptions(), limits or Limits()
    check_widths(text, source, limits.max_columns)
    missing = MISSING_MARKERS | set(options.missing)
    dialect = detect_dialect(
        text,
        source,
        delimiter=options.delimiter,
        decimal=options.decimal,
        header=options.header,
        rules=CellRules(missing=missing),
    )
    return _TableReader(text, source, dialect, columns, missing).read()


class _TableReader:
    """One pass over the records; columns are decided when all their cells were seen."""

    def __init__(
        self, text: bytes, source: str, dialect: Dialect, options: ColumnOptions, missing: frozenset[str]
    ) -> None:
        self.records = Records(text, dialect.delimiter, source, dialect.n_columns)
        self.source, self.dialect, self.options = source, dialect, options
        self.rules = CellRules(dialect.decimal, missing)

    def read(self) -> DenseTable:
        columns: list[Column] = []
        for first_record, names, cells in self._batches():
            columns = columns or self._columns(names)
            for column in columns:
                column.add(cells[column.position], first_record)
        if not columns:
            raise parse_error(
                f"{self.source}:{self.records.n_lines + 1}:1",
                "no rows below the names of the columns",
                found="the end of the file",
                expected="rows (header=False if the first line is a row)",
            )
        for column in columns:
            column.check(self.records.place, impute=self.options.impute)
        self._read_text(columns)
        return self._table(columns)

    def _batches(self) -> Iterator[tuple[int, list[str], list[tuple[str, ...]]]]:
        """First record, the first row of the file, and the cells of each column, batch by batch."""
        names: list[str] = []
        n_records = 0
        for rows in self.records.batches():
            self._check_widths(rows, n_records)
            names = names or rows[0]
            n_header = int(self.dialect.has_header and n_records == 0)
            if len(rows) > n_header:
                yield n_records + n_header, names, list(zip(*rows[n_header:], strict=True))
            n_records += len(rows)

    def _read_text(self, columns: list[Column]) -> None:
        """A second pass, for columns that turned from numbers into text on the way."""
        late = [column for column in columns if column.lacks_text]
        for first_record, _, cells in self._batches() if late else ():
            for column in late:
                column.add_text(cells[column.position], first_record)

    def _table(self, columns: list[Column]) -> DenseTable:
        missing = {
            column.name: str(self.records.place(column.first_missing[0], column.position))
            for column in sorted(columns, key=lambda column: column.first_missing or (0, ""))
            if column.first_missing is not None
        }
        spelling = {column.name: column.spelling for column in columns if column.spelling}
        names, values = [column.name for column in columns], [column.values() for column in columns]
        return DenseTable(names, values, self.source, self.options.target, missing, spelling)

    def _columns(self, first_row: list[str]) -> list[Column]:
        names = self._names(first_row)
        self.options.check(names, self.source)
        kept = [name for name in names if self.options.keeps(name)]
        if not kept:
            raise ValueError(f"{self.source}: all columns are ignored; keep at least one")
        target = resolve_target(kept, self.options.target, self.source)
        return [
            Column(name, i, self.rules, kind=self.options.kind_of(name), keeps_spelling=name == target)
            for i, name in enumerate(names)
            if self.options.keeps(name)
        ]

    def _names(self, first_row: list[str]) -> list[str]:
        generated = generated_names(len(first_row))
        if not self.dialect.has_header:
            return generated
        names = [cell.strip() or name for cell, name in zip(first_row, generated, strict=True)]
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            second = [i for i, other in enumerate(names) if other == name][1]
            raise parse_error(
                self.records.place(0, second),
                "duplicate column name",
                found=f"{quoted(name)} {count} times",
                expected="names that differ (header=False if the first line is a row)",
            )
        return names

    def _check_widths(self, rows: list[list[str]], n_before: int) -> None:
        expected = self.dialect.n_columns
        if set(map(len, rows)) == {expected}:
            return
        i = next(i for i, row in enumerate(rows) if len(row) != expected)
        width = len(rows[i])
        hint = (
            "; is the comma a decimal mark?"
            if width == 2 * expected and self.dialect.delimiter == ","
            else ""
        )
        raise parse_error(
            self.records.place(n_before + i, min(width, expected)),
            f"row with too {'many' if width > expected else 'few'} cells",
            found=str(width),
            expected=f"{expected} as in the other rows{hint}",
        )
