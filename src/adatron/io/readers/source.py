"""Where bytes come from: a file, standard input or an open stream, read once and never mapped.

A mapped file that another process cuts short kills the reader by a signal; a read one does not.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from adatron.io.printing import printable_path

__all__ = ["Source", "open_source"]

_HEAD = 16  # bytes, enough for every magic number


class Source:
    """A stream of bytes with a printable name, whose first bytes can be looked at."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.name = name
        self.n_read = 0  # bytes handed out
        self._stream = stream
        self._state = _file_state(stream)
        self.head = self._ahead = _first_bytes(stream, name)

    def read(self, size: int = -1) -> bytes:
        """At most `size` further bytes, all the rest if negative, none at the end."""
        if size < 0:
            chunk, self._ahead = self._ahead + _read(self._stream, size, self.name), b""
        elif self._ahead:
            chunk, self._ahead = self._ahead[:size], self._ahead[size:]
        else:
            chunk = _read(self._stream, size, self.name)
        self.n_read += len(chunk)
        return chunk

    @property
    def size(self) -> int | None:
        """Bytes of a regular file, None of anything else."""
        return self._state[0] if self._state else None

    def check_unchanged(self) -> None:
        """Raise when the file was written to, or cut, while it was read."""
        if self._state != _file_state(self._stream):
            raise OSError(
                f"{self.name}: the file changed while it was read; read it again when it is complete"
            )


def _first_bytes(stream: IO[bytes], name: str) -> bytes:
    head = b""
    while len(head) < _HEAD:
        more = _read(stream, _HEAD - len(head), name)  # a pipe may give less than it is asked for
        if not more:
            break
        head += more
    return head


def _read(stream: IO[bytes], size: int, name: str) -> bytes:
    try:
        chunk = stream.read(size) or b""
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), name) from error
    if isinstance(chunk, str):
        raise ValueError(f"{name}: source must be open for reading bytes, not text (mode 'rb')")
    return chunk


def _file_state(stream: IO[bytes]) -> tuple[int, int] | None:
    """Size and time of change of a regular file."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, AttributeError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def open_source(source: Any) -> Iterator[Source]:
    """A path, ``"-"`` for standard input, or an open file, as a `Source`.

    Examples
    --------
    >>> import io
    >>> from adatron.io.readers.source import open_source
    >>> with open_source(io.BytesIO(b"1,2")) as source:
    ...     source.name, source.head, source.read()
    ('<stream>', b'1,2', b'1,2')
    """
    if isinstance(source, str) and source == "-":
        yield Source(_standard_input(), "<stdin>")
    elif isinstance(source, str | bytes | os.PathLike):
        with _open_file(source) as stream:
            yield Source(stream, printable_path(source))
    elif hasattr(source, "read"):
        yield Source(_binary(source), _name_of(source))
    else:
        raise ValueError(f"source must be a path, '-' or an open file, got {type(source).__name__}")


def _open_file(path: str | bytes | os.PathLike[Any]) -> IO[bytes]:
    name = printable_path(path)
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(f"{name}: is a directory; name a file in it")
        return open(path, "rb")
    except ValueError as error:  # a NUL byte in the name
        raise ValueError(f"{name}: {error}") from error
    except OSError as error:
        if error.strerror is None:
            raise
        raise type(error)(f"{name}: cannot be read: {error.strerror}") from error


def _standard_input() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise OSError("<stdin>: there is no standard input; name a file instead of '-'")
    if sys.stdin.isatty():
        raise OSError("<stdin>: is a terminal; pipe data into it, or name a file instead of '-'")
    return _binary(sys.stdin)


def _binary(stream: Any) -> IO[bytes]:
    if hasattr(stream, "buffer"):
        return stream.buffer
    if isinstance(stream, io.TextIOBase):
        return io.BytesIO(stream.read().encode("utf-8", "surrogatepass"))
    return stream


def _name_of(stream: Any) -> str:
    name = getattr(stream, "name", None)
    return printable_path(name) if isinstance(name, str) else "<stream>"
