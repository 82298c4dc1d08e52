"""`read_table`: a DataFrame from a file, whatever its format.

pyarrow does the reading. Of the libraries tried on messy files, only pyarrow refuses rows with too few or too
many cells: polars fills short rows with nulls, and duckdb takes such a file for one column of text. It also
reads Parquet, Arrow, JSON lines and Zstandard.
"""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import PurePath
from typing import IO, Any

from adatron.io.printing import listed, quoted
from adatron.io.source import BINARY, read_bytes, to_utf8
from adatron.io.svmlight import looks_like_svmlight, read_svmlight

FORMATS = ("csv", "tsv", "svmlight", "jsonl", "parquet", "arrow")
_ENDINGS = {f".{name}": name for name in FORMATS} | {
    ".svm": "svmlight", ".libsvm": "svmlight", ".ndjson": "jsonl", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
_MOST_LABELS = 1000  # distinct numbers of a target whose spelling is kept


def read_table(
    source: str | bytes | os.PathLike[Any] | IO[Any], *, target: str | None = None, format: str | None = None,
    encoding: str | None = None, delimiter: str | None = None, decimal: str | None = None,
    header: bool | None = None, missing: Collection[str] = (), kinds: Mapping[str, str] | None = None,
    ignore: Collection[str] = (), zero_based: bool = False, max_bytes: float | None = None,
    max_line_bytes: float = 64 * 2**20, max_columns: float = 100_000,
) -> Any:  # fmt: skip
    """Read a table from a CSV, TSV, JSON lines, Parquet, Arrow or svmlight file, compressed or not.

    Columns come as they are: numbers, text, missing values. A file that cannot be read is an error that names
    the file, the line and the column.

    Parameters
    ----------
    source : path, "-" or open file
        ``"-"`` is standard input. gzip, bzip2, xz and Zstandard are decompressed.
    target : str or None, default=None
        Column to predict, which must be there.
    format : {None, "csv", "tsv", "svmlight", "jsonl", "parquet", "arrow"}, default=None
        None looks at the first bytes, the ending of the name and the text.
    encoding : str or None, default=None
        None looks for a byte order mark, and assumes UTF-8 without one.
    delimiter, decimal : str or None, default=None
        Of a CSV file; None: detected.
    header : bool or None, default=None
        Whether the first row of a CSV file holds the names; None: detected.
    missing : collection of str, default=()
        Missing values besides the empty cell, ``?``, ``-``, ``NA``, ``n/a``, ``NaN`` and ``null``.
    kinds : dict or None, default=None
        ``"text"`` or ``"number"``, by column of a CSV file. Other columns are numbers if all cells are, and
        text if fewer than nine tenths are; in between, the first cell that is not a number is an error.
    ignore : collection of str, default=()
        Columns to leave out, if they are there.
    zero_based : bool, default=False
        Whether the indices of an svmlight file begin with 0.
    max_bytes : float or None, default=None
        Of the decompressed data; None: a quarter of the free memory. ``inf`` is no limit, here and below.
    max_line_bytes : float, default=67_108_864
    max_columns : float, default=100_000

    Returns
    -------
    pandas.DataFrame, or (csr_array, ndarray of str) for svmlight
        ``frame.attrs["spelling"]`` says how numbers of the target are written: ``{1: "+1"}``.

    See Also
    --------
    load_model : reads a model, which predicts from such a table.

    Examples
    --------
    >>> import io
    >>> from adatron.io import read_table
    >>> read_table(io.StringIO("age;height;sex\\n31;1,75;f\\n45;n/a;m\\n"))
       age  height sex
    0   31    1.75   f
    1   45     NaN   m
    >>> read_table(io.StringIO("size,class\\n1,yes\\n3\\n"))
    Traceback (most recent call last):
    ValueError: <stream>:3: row with too few cells, found 1, expected 2 as in the first row
    """
    if format not in (None, *FORMATS):
        raise ValueError(f"format={format!r} must be one of {', '.join(FORMATS)}")
    name, content = read_bytes(source, max_bytes, max_line_bytes)
    kind, spelled = format or _format_of(name, content), {}
    text = b"" if kind in BINARY.values() else to_utf8(name, content, encoding)
    if kind == "svmlight" or (not kind and looks_like_svmlight(text)):
        return read_svmlight(text, name, zero_based)
    if kind == "jsonl" or kind in BINARY.values() or (not kind and text.lstrip().startswith(b"{")):
        table = _read_arrow(name, text or content, kind or "jsonl", max_bytes or 2**26 + 100 * len(content))
    else:
        from adatron.io.delimited import Delimited

        first = text[: text.find(b"\n")]
        _check_width(name, 1 + max(map(first.count, (b",", b";", b"\t", b"|", b" "))), max_columns)
        read = Delimited(text, name, delimiter=delimiter or ("\t" if kind == "tsv" else None), header=header,
                         decimal=decimal, missing=missing, kinds=kinds)  # fmt: skip
        table, spelled = read.read(), read.text
    return _frame(name, table, target, ignore, max_columns, spelled)


def find_target(columns: Collection[str], target: str | None = None, source: str = "the table") -> str:
    """The column to predict: `target`, else the only one called target, class, label or y, else the last."""
    names = list(columns)
    if target is None:
        usual = [name for name in names if name.casefold() in ("target", "class", "label", "y")]
        return usual[0] if len(usual) == 1 else names[-1]
    if target not in names:
        from adatron.estimators.parameters import closest_name

        known = f"{listed(names, 20)}{closest_name(target, names)}"
        raise ValueError(f"{source}: target={quoted(target)} is not one of the columns {known}")
    return target


def _format_of(name: str, content: bytes) -> str:
    """By the first bytes, else by the ending of the name; "" for text of some kind."""
    known = [kind for magic, kind in BINARY.items() if content.startswith(magic)]
    endings = [e for e in PurePath(name.lower()).suffixes if e not in (".gz", ".xz", ".bz2", ".zst")]
    return known[0] if known else _ENDINGS.get(endings[-1], "") if endings else ""


def _read_arrow(name: str, content: bytes, kind: str, max_bytes: float) -> Any:
    """Parquet, Arrow or JSON lines as an Arrow table."""
    import pyarrow as pa
    import pyarrow.json as pa_json
    from pyarrow.parquet import ParquetFile

    try:
        if kind == "jsonl":
            return pa_json.read_json(io.BytesIO(content))
        if kind == "arrow":
            return pa.ipc.open_file(pa.BufferReader(content)).read_all()
        file = ParquetFile(pa.BufferReader(content))
        if 8 * file.metadata.num_rows * file.metadata.num_columns > max_bytes:  # by a few run lengths
            raise ValueError(f"{name}: has more than {max_bytes} bytes; max_bytes (--no-limits) allows more")
        return file.read()
    except (pa.ArrowException, OSError) as error:
        if kind == "jsonl" and content.lstrip().startswith(b"["):
            raise ValueError(f"{name}: a JSON array; expected JSON lines, one object a line") from error
        row = re.search(r" in row (\d+)", str(error))
        line = f":{int(row[1]) + 1}" if row else ""
        raise ValueError(
            f"{name}{line}: no {kind} file, or damaged: {' '.join(str(error).split())}"
        ) from error


def _check_width(name: str, n_columns: int, max_columns: float) -> None:
    if n_columns > max_columns:
        raise ValueError(f"{name}: has {n_columns} columns; max_columns (--no-limits) allows more")


def _frame(
    name: str, table: Any, target: str | None, ignore: Collection[str], max_columns: float, spelled: Any
) -> Any:
    """The table as a DataFrame, if its columns are of kinds that can be used."""
    import pyarrow as pa

    _check_width(name, table.num_columns, max_columns)
    twice = [own for own, count in Counter(table.column_names).items() if count > 1]
    kept = [own for own in table.column_names if own not in ignore]
    if twice or not kept or table.num_rows == 0:
        rows = f"{table.num_rows} rows of {len(kept)} columns"
        what = f"column {quoted(twice[0])} twice" if twice else rows
        raise ValueError(f"{name}: found {what}, expected a table")
    table, chosen = table.select(kept), find_target(kept, target, name)
    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64()))
        elif pa.types.is_nested(field.type):
            raise ValueError(
                f"{name}: column {quoted(field.name)} holds {field.type}; --ignore leaves it out"
            )
    frame = table.to_pandas(date_as_object=False)
    frame.attrs["source"] = name
    if chosen in spelled and frame[chosen].dtype.kind in "if" and frame[chosen].nunique() <= _MOST_LABELS:
        pairs = [*zip(frame[chosen].tolist(), spelled[chosen].to_pylist(), strict=True)]
        frame.attrs["spelling"] = {value: cell.strip() for value, cell in pairs[::-1] if cell is not None}
    return frame
