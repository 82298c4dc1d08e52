"""Read bytes from a path, a stream or standard input, and turn them into UTF-8 text.

Files are read into memory up to a limit, not mapped: truncating a mapped file kills the process.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from contextlib import nullcontext
from typing import Any

from adatron.io.printing import printable_path

BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow"}  # by their first bytes
_CHUNK, _HARMLESS = 2**23, 256 * 2**20  # any machine can take the latter
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",  # before UTF-16, which begins alike
         codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


def read_bytes(source: Any, max_bytes: float | None, max_line_bytes: float) -> tuple[str, bytes]:
    """The printable name of `source`, and its content, decompressed."""
    name, opened = _open(source)
    with opened as stream:
        state = _state(stream)
        content = _read(stream, name, max_bytes, max_line_bytes)
        if state != _state(stream):
            raise OSError(f"{name}: the file changed while it was read; read it again when it is complete")
    kind = next((kind for magic, kind in _COMPRESSIONS.items() if content.startswith(magic)), None)
    if kind is None:
        return name, content
    try:
        return name, _read(_decompressed(kind, io.BytesIO(content)), name, max_bytes, max_line_bytes)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name}: the {kind} data are damaged or incomplete: {error}") from error


def _open(source: Any) -> tuple[str, Any]:
    """A printable name, and a context manager with a binary stream."""
    if isinstance(source, str) and source == "-":
        if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
            raise OSError(
                "<stdin>: is a terminal or closed; pipe data into it, or name a file instead of '-'"
            )
        return "<stdin>", nullcontext(sys.stdin.buffer)
    if isinstance(source, str | bytes | os.PathLike):
        return printable_path(source), open(source, "rb")
    if isinstance(source, io.StringIO):
        return "<stream>", io.BytesIO(source.read().encode("utf-8", "surrogatepass"))
    name = getattr(source, "name", None)
    return printable_path(name) if isinstance(name, str) else "<stream>", nullcontext(source)


def _state(stream: Any) -> Any:
    """Size and time of change of a file."""
    status = os.fstat(stream.fileno()) if isinstance(stream, io.BufferedReader | io.FileIO) else None
    return status and (status.st_size, status.st_mtime_ns)


def _decompressed(kind: str, stream: io.BytesIO) -> Any:
    if kind == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(stream, "zstd")
    opener: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[kind]
    return opener(stream)


def _read(stream: Any, name: str, max_bytes: float | None, max_line_bytes: float) -> bytes:
    chunks: list[bytes] = []
    size, line, allowed = 0, 0, _HARMLESS if max_bytes is None else max_bytes
    while chunk := stream.read(int(min(_CHUNK, max_line_bytes))):
        chunks.append(chunk)
        size += len(chunk)
        if size > allowed and max_bytes is None:
            from adatron.numerics.memory import available_memory  # late: its package is slow to import

            allowed = max_bytes = max(_HARMLESS, available_memory() // 4)
        end = chunk.find(b"\n")
        line += len(chunk) if end < 0 else end
        is_long = line > max_line_bytes and not chunks[0].startswith((*_COMPRESSIONS, *BINARY))
        if size > allowed or is_long:
            what = f"a line of more than {max_line_bytes}" if is_long else f"more than {allowed}"
            raise ValueError(f"{name}: has {what} bytes; max_bytes, max_line_bytes (--no-limits) allow more")
        line = line if end < 0 else len(chunk) - chunk.rfind(b"\n") - 1
    return b"".join(chunks)


def to_utf8(name: str, content: bytes, encoding: str | None) -> bytes:
    """The text as UTF-8 without byte order mark; without `encoding` the mark says what it is, else UTF-8."""
    codec = encoding or next((codec for bom, codec in _BOMS.items() if content.startswith(bom)), "utf-8")
    offset, text = -1, content
    try:
        if codecs.lookup(codec).name != "utf-8" or not content.isascii():
            text = content.decode(codec).encode().removeprefix(codecs.BOM_UTF8)
    except LookupError:
        raise ValueError(f"encoding={codec!r} is not known; utf-8, utf-16 and latin-1 are common") from None
    except UnicodeDecodeError as error:
        offset = error.start
    offset = content.find(0) if offset < 0 and b"\0" in text else offset
    if offset >= 0:
        place = f"{name}:{1 + content.count(10, 0, offset)}"  # 10: a line feed
        found = f"found byte 0x{content[offset]:02x} at byte offset {offset}"
        raise ValueError(f"{place}: not {codec} text: {found}; --encoding says what it is, if it is text")
    if not text or text.isspace():
        raise ValueError(f"{name}: is empty, expected a table")
    return text
