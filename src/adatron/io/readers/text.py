"""From a source to checked text: decompressed within limits, UTF-8 throughout, no overlong lines."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable
from typing import Any

from adatron.io.readers.limits import HARMLESS_BYTES, Limits, check_size
from adatron.io.readers.source import Source

__all__ = ["read_text"]

_CHUNK = 2**20
_COMPRESSIONS: dict[bytes, tuple[str, Callable[..., Any]]] = {
    b"\x1f\x8b": ("gzip", lambda source: gzip.GzipFile(fileobj=source, mode="rb")),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMAFile),
}
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, OSError)
_NOT_TEXT = {
    codecs.BOM_UTF32_LE: "UTF-32 text",
    codecs.BOM_UTF16_LE: "UTF-16 text",
    codecs.BOM_UTF16_BE: "UTF-16 text",
    codecs.BOM_UTF32_BE: "UTF-32 text",
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"PAR1": "a Parquet file",
}


def read_text(source: Source, limits: Limits | None = None) -> bytes:
    """All of `source`, decompressed, as checked UTF-8 without byte order mark, with lines that end in LF.

    Examples
    --------
    >>> import io
    >>> from adatron.io.readers.source import open_source
    >>> from adatron.io.readers.text import read_text
    >>> with open_source(io.BytesIO(b"\\xef\\xbb\\xbfa,b\\n")) as source:
    ...     read_text(source)
    b'a,b\\n'
    """
    check = _Check(source, limits or Limits())
    kind, stream = _decompressed(source)
    chunks, chunk_size = [], min(_CHUNK, check.limits.max_line_bytes)
    while chunk := _read_chunk(source.name, kind, stream, chunk_size):
        check.take(chunk)
        chunks.append(chunk)
    check.finish()
    source.check_unchanged()
    text = b"".join(chunks).removeprefix(codecs.BOM_UTF8)
    if not text.strip():
        raise ValueError(f"{source.name}:1:1: no data, found an empty file, expected rows")
    has_only_cr = b"\r" in text and b"\n" not in text
    return text.replace(b"\r", b"\n") if has_only_cr else text


def _decompressed(source: Source) -> tuple[str, Any]:
    for magic, (kind, opener) in _COMPRESSIONS.items():
        if source.head.startswith(magic):
            return kind, opener(source)
    return "", source


def _read_chunk(name: str, kind: str, stream: Any, size: int) -> bytes:
    if not kind:
        return stream.read(size)
    try:
        return stream.read(size)
    except _DAMAGE as error:
        if getattr(error, "errno", None):  # the disk's fault, not the data's
            raise
        raise ValueError(f"{name}: the {kind} data are damaged or incomplete: {error}") from error


class _Check:
    """Looks at the text as it comes in, so that nothing hostile is ever held."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source, self.limits, self.name = source, limits, source.name
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._size, self._line, self._line_bytes = 0, 1, 0
        check_size(self.name, source.size or 0, limits)

    def take(self, chunk: bytes) -> None:
        if self._size == 0:
            self._check_kind(chunk)
        self._check_characters(chunk)
        self._check_line(chunk)
        self._size += len(chunk)
        self._line += chunk.count(b"\n")
        self._check_size()

    def finish(self) -> None:
        """Nothing may be left of a character that takes several bytes."""
        self._check_characters(b"", final=True)

    def _check_kind(self, chunk: bytes) -> None:
        for magic, kind in _NOT_TEXT.items():
            if chunk.startswith(magic):
                raise ValueError(
                    f"{self.name}: not UTF-8 text: found {kind} by its first bytes (byte offset 0), "
                    "expected CSV or svmlight; save the table so"
                )

    def _check_characters(self, chunk: bytes, final: bool = False) -> None:
        position = chunk.find(0)
        if position >= 0:
            self._refuse_byte("not a text file", "NUL byte", chunk, position)
        pending = self._decoder.getstate()[0]
        if chunk.isascii() and not pending:
            return
        try:
            self._decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            start = error.start - len(pending)
            byte = error.object[error.start]
            self._refuse_byte("not UTF-8 text", f"byte 0x{byte:02x}", chunk, start)

    def _refuse_byte(self, what: str, found: str, chunk: bytes, position: int) -> None:
        line = self._line + chunk.count(b"\n", 0, max(position, 0))
        offset = self._size + position
        raise ValueError(
            f"{self.name}: {what}: found {found} at byte offset {offset} (line {line}), expected UTF-8; "
            "save the file as UTF-8 text"
        )

    def _check_line(self, chunk: bytes) -> None:
        """Chunks are no longer than a line may be, so only lines across their borders can be too long."""
        end = chunk.find(b"\n")
        length = self._line_bytes + (len(chunk) if end < 0 else end)
        if length > self.limits.max_line_bytes:
            raise ValueError(
                f"{self.name}:{self._line}:1: line too long, found more than "
                f"{self.limits.max_line_bytes} bytes, expected fewer; Limits(max_line_bytes=…) allows more"
            )
        self._line_bytes = length if end < 0 else len(chunk) - chunk.rfind(b"\n") - 1

    def _check_size(self) -> None:
        check_size(self.name, self._size, self.limits)
        allowed = max(HARMLESS_BYTES, self.limits.max_expansion * self.source.n_read)
        if self._size > allowed:
            raise ValueError(
                f"{self.name}: expands to more than {self.limits.max_expansion:g} times its compressed size "
                f"({self._size} bytes so far); Limits(max_expansion=…) allows more"
            )
