"""One file for a header and arrays::

    8 bytes   magic, "ADATRON" and the version of this layout, 1
    8 bytes   length n of the header, little-endian
    n bytes   the header, ASCII JSON
              zeros up to a multiple of 64
              the arrays, each followed by zeros up to a multiple of 64
    32 bytes  SHA-256 of everything before it

Nothing of the header is looked at before the checksum holds, and no more memory is taken than the file
has bytes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from adatron.storage.atomic import atomic_write
from adatron.storage.blocks import block_table, blocks, padding, unpacked
from adatron.storage.bounded_json import MAX_BYTES, dump_json, parse_json

__all__ = ["read_container", "write_container"]

_MAGIC, _LAYOUT = b"ADATRON", 1
_START = 16  # bytes before the header
_DIGEST = 32
_RESERVED = ("arrays", "format", "kind")
_FORMAT = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def write_container(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    version: str = "1.0",
) -> None:
    """Write a header and arrays to one file, whole or not at all.

    Parameters
    ----------
    path : str or path
        An existing file is replaced in one step; see `adatron.storage.atomic_write`.
    kind : str
        What the file is; `read_container` asks for it.
    header : dict
        Plain values that JSON has: None, bool, int of at most 19 digits, finite float, str, list, dict. The
        names "arrays", "format" and "kind" are taken; "written_by" is told to readers that are too old.
    arrays : dict of str to array
        Of booleans, integers, float16 to float64, or text. Fortran order is kept.
    version : str, default="1.0"
        Of the contents: the number before the point changes when old readers cannot cope.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from adatron.storage import write_container
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "ones")
    ...     write_container(path, "example", {}, {"ones": np.ones(8)})
    ...     os.path.getsize(path)
    224
    """
    taken = [name for name in _RESERVED if name in header]
    if taken:
        raise ValueError(f"a header cannot use the names {', '.join(_RESERVED)}, got {taken[0]!r}")
    table, stored = block_table(arrays)
    text = dump_json({**header, "kind": kind, "format": version, "arrays": table})
    atomic_write(path, _with_digest(_pieces(text, stored)))


def _pieces(text: bytes, stored: list[np.ndarray]) -> Iterator[Any]:
    yield _MAGIC + bytes([_LAYOUT]) + len(text).to_bytes(8, "little")
    yield text + bytes(padding(_START + len(text)))
    yield from blocks(stored)


def _with_digest(pieces: Iterator[Any]) -> Iterator[Any]:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
        yield piece
    yield digest.digest()


def read_container(
    path: str | os.PathLike[str], kind: str, *, version: str = "1.0"
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a file of `write_container`, if it is whole and of this kind.

    Parameters
    ----------
    path : str or path
    kind : str
    version : str, default="1.0"
        The newest format that the caller knows. A file of the same number before the point is read even if
        its format is newer: ``header["format"]`` tells.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray
        Parts of one block of memory.

    Raises
    ------
    ValueError
        The file is not of this kind, damaged, inconsistent, or of a later format.
    OSError
        It cannot be read.

    Examples
    --------
    >>> from adatron.storage import read_container
    >>> read_container("/dev/null", "model")
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file: '/dev/null'
    """
    name = os.fspath(path)
    text, payload = _verified(name, kind)
    try:
        header = parse_json(text)
        _check_header(header, kind, version)
        arrays = unpacked(header.pop("arrays"), payload)
    except ValueError as error:
        raise ValueError(f"{name!r} cannot be read: {error}") from error
    return header, arrays


def _verified(name: Any, kind: str) -> tuple[bytes, np.ndarray]:
    """The header's bytes and those of the arrays, of a file whose checksum holds."""
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, "it is a directory, not a file", str(name))
    with open(name, "rb", buffering=0, opener=lambda path, _: os.open(path, _READ)) as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode):  # a pipe might never end
            raise OSError(errno.EINVAL, "not a regular file", str(name))
        start = _exactly(stream, min(_START, found.st_size), name).tobytes()
        _check_magic(start, name, kind)
        length = int.from_bytes(start[8:], "little")
        begin = _START + length + padding(_START + length)
        if len(start) < _START or not 2 <= length <= MAX_BYTES or found.st_size < begin + _DIGEST:
            raise _damaged(name)
        rest = _exactly(stream, found.st_size - _START, name)
        is_longer = stream.read(1) != b""
    digest = hashlib.sha256(start)
    digest.update(rest[:-_DIGEST].data)
    if is_longer or digest.digest() != rest[-_DIGEST:].tobytes():
        raise _damaged(name)
    if rest[length : begin - _START].any():
        raise ValueError(f"{name!r} cannot be read: its header is not followed by zeros")
    return rest[:length].tobytes(), rest[begin - _START : -_DIGEST]


def _exactly(stream: Any, size: int, name: Any) -> np.ndarray:
    """So many bytes, read and not mapped: a file that shrinks meanwhile is an error and no signal."""
    try:
        data = np.empty(size, dtype=np.uint8)
    except MemoryError as error:
        raise OSError(errno.ENOMEM, f"reading it needs {size:,} bytes of memory", str(name)) from error
    view, position = data.data, 0
    while position < size:
        read = stream.readinto(view[position : position + 2**30])
        if not read:
            raise ValueError(f"{name!r} cannot be read: it became shorter meanwhile")
        position += read
    return data


def _check_magic(start: bytes, name: Any, kind: str) -> None:
    if len(start) < 8 or start[:7] != _MAGIC:
        raise ValueError(f"{name!r} is not an adatron {kind}: it begins with other bytes")
    if start[7] != _LAYOUT:
        raise ValueError(f"{name!r} is not an adatron {kind} of layout {_LAYOUT} but of {start[7]}; upgrade")


def _damaged(name: Any) -> ValueError:
    return ValueError(f"{name!r} is damaged: its checksum does not hold, or it was cut off; copy it again")


def _check_header(header: Any, kind: str, version: str) -> None:
    if not isinstance(header, dict) or not all(
        isinstance(header.get(key), str) for key in ("kind", "format")
    ):
        raise ValueError("its header does not say what it is")
    if header["kind"] != kind:
        raise ValueError(f"it is not an adatron {kind} but {_shown(header['kind'])!r}")
    if "arrays" not in header:
        raise ValueError("its header has no table of arrays")
    found, known = _FORMAT.fullmatch(header["format"]), version.split(".")[0]
    if found is None:
        raise ValueError(
            f"its format is {_shown(header['format'])!r}, expected a version such as {version!r}"
        )
    if int(found[1]) > int(known):
        writer = _shown(header.get("written_by", "a later version"))
        raise ValueError(f"written by {writer} in format {found[0]}, this version reads {known}.x; upgrade")
    if int(found[1]) < int(known):
        raise ValueError(f"format {found[0]} is not read any more, this version reads {known}.x")


def _shown(text: Any) -> str:
    """Text of a stranger's file, fit for a message on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(text)[:50])
