"""`read_table`: a DataFrame from a file, whatever its format.

pyarrow does the reading. Of the libraries tried on messy files, only pyarrow refuses rows with too few or too
many cells: polars fills short rows with nulls, and duckdb takes such a file for one column of text. It also
reads Parquet, Arrow, JSON lines and Zstandard.

Files are read into memory up to a limit, not mapped: truncating a mapped file kills the process.
"""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from pathlib import PurePath
from typing import IO, Any

from adatron.io.printing import listed, printable_path, quoted
from adatron.io.svmlight import looks_like_svmlight, read_svmlight

FORMATS = ("csv", "tsv", "svmlight", "jsonl", "parquet", "arrow")
_ENDINGS = {f".{name}": name for name in FORMATS} | {
    ".svm": "svmlight", ".libsvm": "svmlight", ".ndjson": "jsonl", ".json": "jsonl", ".feather": "arrow",
    ".ipc": "arrow",
}  # fmt: skip
_MOST_LABELS = 1000  # distinct numbers of a target whose spelling is kept
_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow"}  # by their first bytes
_CHUNK = 2**23
_BYTES_A_COLUMN = 256  # of svmlight: four times what scales, weights and their like take
_HARMLESS = 256 * 2**20  # bytes that any machine can take
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",  # before UTF-16, which begins alike
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


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
    name, content = _read_bytes(source, max_bytes, max_line_bytes)
    suffixes = [end for end in PurePath(name.lower()).suffixes if end not in (".gz", ".xz", ".bz2", ".zst")]
    by_content = next((kind for magic, kind in _BINARY.items() if content.startswith(magic)), "")
    kind = format or by_content or _ENDINGS.get(suffixes[-1] if suffixes else "", "")
    text = b"" if kind in _BINARY.values() else _to_utf8(name, content, encoding)
    if not kind:
        is_json = text.lstrip().startswith(b"{")
        kind = "svmlight" if looks_like_svmlight(text) else "jsonl" if is_json else "csv"
    spelled: dict[str, Any] = {}
    if kind == "svmlight":
        X, labels = read_svmlight(text, name, zero_based)
        if X.shape[1] > max_columns:  # no trouble in sparse rows, unless a number for each takes all memory
            from adatron.numerics.memory import available_memory

            _check_width(name, X.shape[1], max(max_columns, available_memory() // _BYTES_A_COLUMN))
        return X, labels
    if kind in (*_BINARY.values(), "jsonl"):
        table = _read_arrow(name, text or content, kind, max_bytes or 2**26 + 100 * len(content))
    else:
        from adatron.io.delimited import Delimited

        first_line = text[: text.find(b"\n")]
        n_delimiters = max(map(first_line.count, (b",", b";", b"\t", b"|", b" ")))
        _check_width(name, 1 + n_delimiters, max_columns)
        delimited = Delimited(
            text, name, delimiter=delimiter or ("\t" if kind == "tsv" else None), header=header,
            decimal=decimal, missing=missing, kinds=kinds,
        )  # fmt: skip
        table, spelled = delimited.read(), delimited.text
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
        if 8 * file.metadata.num_rows * file.metadata.num_columns > max_bytes:  # a few bytes may be many rows
            raise ValueError(f"{name}: has more than {max_bytes} bytes; max_bytes (--no-limits) allows more")
        return file.read()
    except (pa.ArrowException, OSError) as error:
        if kind == "jsonl" and content.lstrip().startswith(b"["):
            raise ValueError(f"{name}: a JSON array; expected JSON lines, one object a line") from error
        row = re.search(r" in row (\d+)", str(error))
        place = f"{name}:{int(row[1]) + 1}" if row else name
        message = " ".join(str(error).split())
        raise ValueError(f"{place}: not a {kind} file, or damaged: {message}") from error


def _check_width(name: str, n_columns: int, max_columns: float) -> None:
    if n_columns > max_columns:
        raise ValueError(f"{name}: has {n_columns} columns; max_columns (--no-limits) allows more")


def _frame(
    name: str, table: Any, target: str | None, ignore: Collection[str], max_columns: float, spelled: Any
) -> Any:
    """The table as a DataFrame, if its columns are of kinds that can be used."""
    import pyarrow as pa

    _check_width(name, table.num_columns, max_columns)
    for column, count in Counter(table.column_names).items():
        if count > 1:
            raise ValueError(f"{name}: found column {quoted(column)} twice, expected a table")
    kept = [column for column in table.column_names if column not in ignore]
    not_there = [own for own in ignore if own not in table.column_names]
    if not kept or table.num_rows == 0:
        raise ValueError(f"{name}: found {table.num_rows} rows of {len(kept)} columns, expected a table")
    chosen = find_target(kept, target, name)
    table = table.select(kept)
    for i, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float64()))
        elif pa.types.is_nested(field.type):
            raise ValueError(f"{name}: column {quoted(field.name)} holds {field.type}; --ignore skips it")
    frame = table.to_pandas(date_as_object=False)
    frame.attrs |= {"source": name, "not_there": not_there}
    if chosen in spelled and frame[chosen].dtype.kind in "if" and frame[chosen].nunique() <= _MOST_LABELS:
        pairs = zip(frame[chosen].tolist()[::-1], spelled[chosen].to_pylist()[::-1], strict=True)
        frame.attrs["spelling"] = {value: cell.strip() for value, cell in pairs if cell is not None}
    return frame


def _read_bytes(source: Any, max_bytes: float | None, max_line_bytes: float) -> tuple[str, bytes]:
    """The printable name of `source`, and its content, decompressed."""
    name, opened = _open(source)
    with opened as stream:
        is_file = isinstance(stream, io.BufferedReader | io.FileIO)
        before = os.fstat(stream.fileno()) if is_file else None
        content = _read(stream, name, max_bytes, max_line_bytes)
        after = os.fstat(stream.fileno()) if is_file else None
        if before and after and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise OSError(f"{name}: the file changed while it was read; read it again when it is complete")
    kind = next((kind for magic, kind in _COMPRESSIONS.items() if content.startswith(magic)), None)
    if kind is None:
        return name, content
    try:
        if kind == "zstd":
            import pyarrow as pa

            unpacked = pa.CompressedInputStream(io.BytesIO(content), "zstd")
        else:
            opener: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[kind]
            unpacked = opener(io.BytesIO(content))
        return name, _read(unpacked, name, max_bytes, max_line_bytes)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name}: the {kind} data are damaged or incomplete: {error}") from error


def _open(source: Any) -> tuple[str, Any]:
    """A printable name, and a context manager with a binary stream."""
    if isinstance(source, str) and source == "-":
        if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
            raise OSError("<stdin>: is a terminal or closed; pipe data into it, or name a file")
        return "<stdin>", nullcontext(sys.stdin.buffer)
    if isinstance(source, str | bytes | os.PathLike):
        return printable_path(source), open(source, "rb")
    if isinstance(source, io.StringIO):
        return "<stream>", io.BytesIO(source.read().encode("utf-8", "surrogatepass"))
    name = getattr(source, "name", None)
    return printable_path(name) if isinstance(name, str) else "<stream>", nullcontext(source)


def _read(stream: Any, name: str, max_bytes: float | None, max_line_bytes: float) -> bytes:
    """All bytes of a stream; an error as soon as they, or one line of text, are more than allowed."""
    chunks: list[bytes] = []
    size = line_size = 0
    allowed = _HARMLESS if max_bytes is None else max_bytes
    while chunk := stream.read(int(min(_CHUNK, max_line_bytes))):
        chunks.append(chunk)
        size += len(chunk)
        if size > allowed and max_bytes is None:
            from adatron.numerics.memory import available_memory  # late: its package is slow to import

            allowed = max_bytes = max(_HARMLESS, available_memory() // 4)
        end = chunk.find(b"\n")  # of the line; chunks are no longer than a line may be
        line_size += len(chunk) if end < 0 else end
        is_text = not chunks[0].startswith((*_COMPRESSIONS, *_BINARY))
        if size > allowed or (is_text and line_size > max_line_bytes):
            what = f"more than {allowed}" if size > allowed else f"a line of more than {max_line_bytes}"
            raise ValueError(f"{name}: has {what} bytes; max_bytes, max_line_bytes (--no-limits) allow more")
        if end >= 0:
            line_size = len(chunk) - chunk.rfind(b"\n") - 1
    return b"".join(chunks)


def _to_utf8(name: str, content: bytes, encoding: str | None) -> bytes:
    """The text as UTF-8 without byte order mark; without `encoding` the mark says what it is, else UTF-8."""
    codec = encoding or next((codec for bom, codec in _BOMS.items() if content.startswith(bom)), "utf-8")
    text = content
    try:
        if codecs.lookup(codec).name != "utf-8" or not content.isascii():
            text = content.decode(codec).encode().removeprefix(codecs.BOM_UTF8)
        offset = content.find(0) if b"\0" in text else None
    except LookupError:
        raise ValueError(f"encoding={codec!r} is not known; utf-8, utf-16 and latin-1 are common") from None
    except UnicodeDecodeError as error:
        offset = error.start
    if offset is not None:
        line = 1 + content.count(b"\n", 0, offset)
        found = f"found byte 0x{content[offset]:02x} at byte offset {offset}"
        raise ValueError(
            f"{name}:{line}: not {codec} text: {found}; if it is text, name its encoding with --encoding"
        )
    if not text or text.isspace():
        raise ValueError(f"{name}: is empty, expected a table")
    return text
