"""One function for all formats."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import IO, Any

from adatron.io.readers.csv_table import ColumnOptions, CsvOptions, read_csv
from adatron.io.readers.detect import FORMATS, detect_format, format_by_name
from adatron.io.readers.limits import Limits
from adatron.io.readers.messages import closest_name, listed
from adatron.io.readers.parquet import PARQUET_MAGIC, read_parquet
from adatron.io.readers.source import Source, open_source
from adatron.io.readers.svmlight import read_svmlight
from adatron.io.readers.table import Table
from adatron.io.readers.text import read_text

__all__ = ["read_table"]


def read_table(
    source: str | bytes | os.PathLike[Any] | IO[Any],
    *,
    format: str | None = None,
    target: str | None = None,
    impute: bool = False,
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    missing: Collection[str] = (),
    n_features: int | None = None,
    zero_based: bool = False,
    limits: Limits | None = None,
) -> Table:
    """Read a table from a CSV, TSV, svmlight or Parquet file.

    Text may be compressed by gzip, bzip2 or xz, and must be UTF-8. Whatever cannot be understood is an error
    that reads ``file:line:column: what, found …, expected …``.

    Parameters
    ----------
    source : path, "-" or open file
        ``"-"`` is standard input.
    format : {None, "csv", "tsv", "svmlight", "parquet"}, default=None
        None goes by the ending of the name, else by the content.
    target : str or None, default=None
        Name of the column to predict; `split_target` says which it is otherwise. Not for svmlight.
    impute : bool, default=False
        Whether values may be missing: an empty cell, ``?``, ``NA``, ``N/A``, ``NaN``, ``null``. They become
        NaN or None, for `encoder_for` to fill in. Otherwise the first one is an error.
    categorical, numeric : collections of str, default=()
        Columns that must be read as text, or as numbers. The others are numbers if all their cells are, and
        text if fewer than nine tenths are; in between, the first cell that is no number is an error.
    ignore : collection of str, default=()
        Columns that are left out, if they are there.
    kinds : dict or None, default=None
        ``"text"``, ``"number"`` or ``"ignored"`` by name, as in an earlier table; what is not there does not
        matter.
    header : bool or None, default=None
        Whether the first row of a CSV file has the names of the columns; None finds out.
    delimiter : str or None, default=None
        What stands between the cells of a CSV file: one character, a blank for any run of blanks and tabs;
        None finds out.
    decimal : {None, ".", ","}, default=None
        Decimal mark of a CSV file; None takes a comma only where the delimiter is ``;``.
    missing : collection of str, default=()
        Further spellings of missing values in a CSV file.
    n_features : int or None, default=None
        Columns of an svmlight file; None is the largest index.
    zero_based : bool, default=False
        Whether the indices of an svmlight file begin with 0.
    limits : Limits or None, default=None
        What is too long, too wide or too large.

    Returns
    -------
    DenseTable, or SparseTable for svmlight

    See Also
    --------
    split_target : takes the column to predict out of the table.
    encoder_for : turns numbers and text into numbers.
    Limits : says what is too large.

    Examples
    --------
    >>> import io
    >>> from adatron.io import read_table
    >>> table = read_table(io.StringIO("age,sex,class\\n31,f,1\\n45,m,0\\n"))
    >>> dict(zip(table.columns, table.kinds))
    {'age': 'number', 'sex': 'text', 'class': 'number'}
    >>> read_table(io.StringIO("age,class\\n31,1\\n,0\\n"))
    Traceback (most recent call last):
    ValueError: <stream>:3:1: missing value in column 'age' (1 of 2), found '', expected a value; impute=True
    (--impute) fills in missing values
    """
    if format is not None and format not in FORMATS:
        raise ValueError(
            f"format={format!r} must be one of {listed(FORMATS)}{closest_name(str(format), FORMATS)}"
        )
    for argument, names in (("categorical", categorical), ("numeric", numeric), ("ignore", ignore)):
        if isinstance(names, str):
            raise ValueError(f"{argument} must be a list of column names, got the string {names!r}")
    columns = ColumnOptions(target, impute, categorical, numeric, ignore, kinds or {})
    csv_options = CsvOptions(
        header, "\t" if format == "tsv" and delimiter is None else delimiter, decimal, missing
    )
    svmlight_options = {"n_features": n_features, "zero_based": zero_based}
    with open_source(source) as opened:
        kind, text = _read(opened, format, limits)
        if kind == "parquet":
            _refuse(opened.name, kind, _given(csv_options) | _given(svmlight_options))
            return read_parquet(opened, columns, limits)
    if kind == "svmlight":
        _refuse(opened.name, kind, _given(csv_options) | _given(columns) - {"impute", "kinds"})
        return read_svmlight(text, opened.name, n_features=n_features, zero_based=zero_based)
    _refuse(opened.name, kind, _given(svmlight_options))
    return read_csv(text, opened.name, columns, csv_options, limits)


def _read(source: Source, format: str | None, limits: Limits | None) -> tuple[str, bytes]:
    """The format, and the text unless it is Parquet, which is none."""
    named = "csv" if format == "tsv" else format
    is_parquet = source.head.startswith(PARQUET_MAGIC) and named is None
    if is_parquet or (named or format_by_name(source.name)) == "parquet":
        return "parquet", b""
    text = read_text(source, limits)
    return named or detect_format(source.name, text), text


def _given(options: Any) -> set[str]:
    """Names of options that were given."""
    values = options if isinstance(options, dict) else vars(options)
    return {name for name, value in values.items() if value not in (None, False, (), {})}


def _refuse(source: str, kind: str, options: set[str]) -> None:
    """Options that would have no effect are mistakes."""
    if options:
        raise ValueError(
            f"{source}: is read as {kind}, to which {', '.join(sorted(options))} does not apply: leave it "
            "out, or name another format"
        )
