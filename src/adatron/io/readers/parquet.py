"""Parquet files, when pyarrow is installed (``pip install adatron[parquet]``)."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adatron.io.printing import quoted
from adatron.io.readers.csv_table import ColumnOptions
from adatron.io.readers.limits import Limits, check_size
from adatron.io.readers.matching import resolve_target
from adatron.io.readers.messages import listed, parse_error
from adatron.io.readers.source import Source
from adatron.io.readers.table import DenseTable

__all__ = ["PARQUET_MAGIC", "read_parquet"]

PARQUET_MAGIC = b"PAR1"
_BYTES_PER_VALUE = 8
_CHUNK = 2**22
_STRINGS = ("string", "large_string", "string_view")


def read_parquet(
    source: Source, options: ColumnOptions | None = None, limits: Limits | None = None
) -> DenseTable:
    """Read numbers, booleans (as 0 and 1), strings and dictionaries of strings; other types are refused.

    Examples
    --------
    >>> import io
    >>> import pyarrow as pa, pyarrow.parquet
    >>> from adatron.io import read_table
    >>> file = io.BytesIO()
    >>> pa.parquet.write_table(pa.table({"size": [1, 2], "class": ["a", "b"]}), file)
    >>> _ = file.seek(0)
    >>> read_table(file).kinds
    ['number', 'text']
    """
    options, limits = options or ColumnOptions(), limits or Limits()
    arrow = _read_arrow(source, limits)
    names = [name for name in arrow.column_names if options.keeps(name)]
    if not names or arrow.num_rows == 0:
        raise ValueError(f"{source.name}: no data, found {arrow.num_rows} rows of {len(names)} columns")
    options.check(arrow.column_names, source.name)
    resolve_target(names, options.target, source.name)
    columns = [_Column(source.name, name, options, arrow.column(name)) for name in names]
    values = [column.read() for column in columns]
    missing = {column.name: column.first_missing for column in columns if column.first_missing}
    return DenseTable(names, values, source.name, options.target, missing)


def _read_arrow(source: Source, limits: Limits) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            f"{source.name}: Parquet files need pyarrow: pip install 'adatron[parquet]', or save it as CSV"
        ) from error
    if not source.head.startswith(PARQUET_MAGIC):
        raise ValueError(f"{source.name}: not a Parquet file: it does not begin with {PARQUET_MAGIC!r}")
    content = BytesIO(_read_bytes(source, limits))
    try:
        schema = ParquetFile(content)
        _check_size(source.name, schema.metadata, schema.schema_arrow.names, limits)
        # Strings stay indices into their distinct values: a long one that is repeated takes no room.
        strings = [field.name for field in schema.schema_arrow if str(field.type) in _STRINGS]
        return ParquetFile(content, read_dictionary=strings).read()
    except (ArrowException, OSError) as error:
        message = " ".join(str(error).split())
        raise ValueError(f"{source.name}: damaged Parquet file: {message}") from error


def _read_bytes(source: Source, limits: Limits) -> bytes:
    """The whole file: pyarrow jumps about in it, and it must not change meanwhile."""
    chunks, size = [], 0
    while chunk := source.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        check_size(source.name, size, limits)
    source.check_unchanged()
    return b"".join(chunks)


def _check_size(name: str, metadata: Any, columns: list[str], limits: Limits) -> None:
    """Refuse before reading: a few bytes of run lengths can stand for billions of values."""
    if len(columns) > limits.max_columns:
        raise ValueError(
            f"{name}: too many columns, found {len(columns)}, expected at most {limits.max_columns}; "
            "Limits(max_columns=…) allows more"
        )
    groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    check_size(name, max(metadata.num_rows * len(columns) * _BYTES_PER_VALUE, sum(groups)), limits)
    duplicates = [column for column, count in Counter(columns).items() if count > 1]
    if duplicates:
        raise ValueError(
            f"{name}: duplicate column names, found {listed(duplicates)}, expected names that differ"
        )


class _Column:
    """Turns an Arrow column into an array, or says why it cannot."""

    def __init__(self, source: str, name: str, options: ColumnOptions, arrow: Any) -> None:
        self.source, self.name, self.options, self.arrow = source, name, options, arrow
        self.first_missing = ""

    def read(self) -> NDArray[Any]:
        from pyarrow import types

        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        is_numeric = any(test(self.arrow.type) for test in tests)
        wanted = self.options.kind_of(self.name)
        if types.is_null(self.arrow.type):
            is_numeric = wanted != "text"
            self.arrow = self.arrow.cast("float64" if is_numeric else "string")
        if wanted is not None and (wanted == "number") != is_numeric:
            raise self._refused(expected=f"{wanted}s" if wanted == "number" else wanted)
        values: NDArray[Any] = self._numbers() if is_numeric else self._text()
        self._check_missing(np.isnan(values) if is_numeric else np.array([v is None for v in values]))
        return values

    def _check_missing(self, is_missing: NDArray[np.bool_]) -> None:
        if is_missing.all() and not (self.options.impute and self.options.kind_of(self.name)):
            raise ValueError(
                f"{self.source}: column {quoted(self.name)} has no values; ignore= leaves it out"
            )
        if not is_missing.any():
            return
        self.first_missing = self._row(is_missing)
        if not self.options.impute:
            raise parse_error(
                self.first_missing,
                f"missing value in column {quoted(self.name)} ({is_missing.sum()} of {len(is_missing)})",
                found="null or NaN",
                expected="a value; impute=True (--impute) fills in missing values",
            )

    def _numbers(self) -> NDArray[np.float64]:
        import pyarrow as pa

        is_boolean = pa.types.is_boolean(self.arrow.type)
        column = self.arrow.cast(pa.uint8()) if is_boolean else self.arrow
        values = np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        is_infinite = np.isinf(values)
        if is_infinite.any():
            what = f"infinite value in column {quoted(self.name)}"
            found = str(values[is_infinite][0])
            raise parse_error(self._row(is_infinite), what, found=found, expected="a finite number")
        return values

    def _text(self) -> NDArray[Any]:
        import pyarrow as pa

        column = self.arrow
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode() if str(column.type) in _STRINGS else None
        if column is None or str(column.type.value_type) not in _STRINGS:
            raise self._refused(expected="numbers or text")
        parts = [_decoded(chunk) for chunk in column.chunks]
        return np.concatenate([*parts, np.empty(0, dtype=object)])

    def _refused(self, expected: str) -> ValueError:
        return ValueError(
            f"{self.source}: column {quoted(self.name)} cannot be read, found {self.arrow.type}, expected "
            f"{expected}; convert it, or leave it out (ignore= / --ignore)"
        )

    def _row(self, mask: NDArray[np.bool_]) -> str:
        return f"{self.source}: row {int(np.argmax(mask)) + 1}"


def _decoded(chunk: Any) -> NDArray[Any]:
    """Strings that share their objects, and None."""
    distinct = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
    return distinct[chunk.indices.fill_null(len(distinct) - 1).to_numpy()]
