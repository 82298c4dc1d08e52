"""Zip archives of arrays and JSON, sealed by a SHA-256 over every byte and bounded before anything is built.

The comment at the end of an archive says who wrote what and ends in the digest of all bytes before that::

    adatron 0.2.0 model sha256:5f2c…

Members are not compressed, so that no archive takes more memory than a small multiple of its size.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from math import prod
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from adatron import __version__
from adatron.numerics.memory import available_memory

_SEAL = re.compile(rb"adatron (\d[\w.+]{0,40}) (\w{1,20}) sha256:([0-9a-f]{64})\Z")
_NAME = re.compile(r"\w{1,80}\.(json|npy|npz)", re.ASCII)
_MOST_MEMBERS = 50_000
_MOST_JSON, _MOST_CONTAINERS, _MOST_COMMAS = 2**26, 300_000, 5_000_000  # bytes, and what takes memory in them
_DEEPEST = 200  # levels of JSON; Python's own limit depends on its version
_ALL_BUT_BRACKETS = re.compile(rb'(?:"(?:[^"\\]|\\.)*+"|[^][{}"])++')
_OPENING = np.frombuffer(b"[{", dtype=np.uint8)
_READ_FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


def sealed(kind: str, members: Iterable[tuple[str, bytes]]) -> list[Any]:
    """An archive with these members, in chunks of bytes; the same content gives the same bytes."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in members:
            archive.writestr(ZipInfo(name), content)  # without the date
        archive.comment = f"adatron {__version__} {kind} sha256:{64 * '0'}".encode()
    # not getbuffer(): collecting a cycle with an exported BytesIO crashes Python 3.12.1
    body = memoryview(buffer.getvalue())[:-64]
    return [body, hashlib.sha256(body).hexdigest().encode()]


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[bytes, str]:
    """The bytes of an archive of this kind whose checksum is right, and the version that wrote it."""
    name = os.fspath(path)
    with open(name, "rb", buffering=0, opener=lambda place, _: os.open(place, _READ_FLAGS)) as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode):  # a pipe might never end
            raise OSError(errno.EINVAL, "not a regular file", str(name))
        if stream.read(7) == b"ADATRON":
            raise ValueError(
                f"{name!r} has the format that adatron used before .skops files; load it with the version "
                "that wrote it and store the model with skops.io.dump, or train it again"
            )
        stream.seek(max(found.st_size - 200, 0))
        seal = _SEAL.search(stream.readall())  # looked for first, as the file may be anything
        if seal is None:
            raise ValueError(f"{name!r} is not an adatron {kind}, or was cut off: no checksum at its end")
        if found.st_size > available_memory():
            raise OSError(errno.ENOMEM, f"reading it takes {found.st_size:,} bytes of memory", str(name))
        stream.seek(0)
        data = stream.readall()  # not mapped: if the file shrinks, that is an error and no signal
    version, found_kind, digest = (part.decode() for part in seal.groups())
    if hashlib.sha256(memoryview(data)[:-64]).hexdigest() != digest:
        raise ValueError(f"{name!r} is damaged: its checksum does not hold; copy it again")
    if found_kind != kind:
        raise ValueError(f"{name!r} is not an adatron {kind} but a {found_kind}")
    numbers, ours = ([int(n) for n in re.findall(r"\d+", text)[:3]] for text in (version, __version__))
    if numbers > ours:
        raise ValueError(f"{name!r} was written by adatron {version}, this is {__version__}; upgrade")
    return data, version


@contextmanager
def refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn every error into a ValueError of one line: a hostile file may break any assumption."""
    try:
        yield
    except Exception as error:
        try:
            what = str(error) if isinstance(error, ValueError) else repr(error)
        except Exception:  # it may hold an object of the file that cannot be shown
            what = type(error).__name__
        line = "".join(c if c.isprintable() else " " for c in what[:500])
        raise ValueError(f"{os.fspath(path)!r} cannot be read: {line}") from error


def headers_of(data: bytes) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Types and shapes of the arrays in an archive, which may hold only arrays and JSON.

    Raises a ValueError if a member is compressed or there twice, or an array is not as long as it says.
    """
    if data.count(b"PK\1\2") > _MOST_MEMBERS:  # with which each entry of the directory begins
        raise ValueError(f"it has more than {_MOST_MEMBERS:,} members")
    found: dict[str, tuple[np.dtype, tuple[int, ...]]] = {}
    with ZipFile(BytesIO(data)) as archive:
        infos = archive.infolist()
        if len(set(archive.namelist())) < len(infos) or sum(info.file_size for info in infos) > len(data):
            raise ValueError("its members overlap, or one is there twice")
        for info in infos:
            name = info.filename
            is_stored = info.compress_type == ZIP_STORED and info.file_size == info.compress_size
            if not is_stored or info.flag_bits & 1 or not _NAME.fullmatch(name):
                raise ValueError(f"its member {name[:50]!r} is compressed, or is neither an array nor JSON")
            if name.endswith(".npz"):
                found |= {f"{name}/{part}": own for part, own in headers_of(archive.read(name)).items()}
            elif name.endswith(".npy"):
                with archive.open(name) as stream:
                    form = np.lib.format
                    is_first = form.read_magic(stream) == (1, 0)
                    read = form.read_array_header_1_0 if is_first else form.read_array_header_2_0
                    shape, _, dtype = read(stream)
                    rest = info.file_size - stream.tell()
                if dtype.kind in "mM":
                    raise ValueError(f"an array of {dtype} cannot be stored; make labels text: y.astype(str)")
                is_plain = dtype.kind in "biufUS" and dtype.itemsize and min(shape, default=0) >= 0
                if not is_plain or dtype.itemsize * prod(shape) != rest:
                    raise ValueError(f"array of {dtype}, shape {shape}, cannot be stored in {rest:,} bytes")
                found[name] = dtype, shape
    return found


def read_json(data: bytes, name: str, hook: Callable[[dict[str, Any]], Any] = lambda item: item) -> Any:
    """The value of a member of an archive; `hook` is called for every object in it."""

    def checked(pairs: list[tuple[str, Any]]) -> Any:
        item = dict(pairs)
        if len(item) < len(pairs):
            raise ValueError(f"a name is there twice in {name}")
        return hook(item)

    with ZipFile(BytesIO(data)) as archive:
        text = archive.read(name)
    parts = text.count(b"{") + text.count(b"[")  # counted before parsing, as each takes memory
    if len(text) > _MOST_JSON or parts > _MOST_CONTAINERS or text.count(b",") > _MOST_COMMAS:
        raise ValueError(f"{len(text):,} bytes of JSON with {parts:,} parts are too many for a file")
    brackets = np.frombuffer(_ALL_BUT_BRACKETS.sub(b"", text), dtype=np.uint8)
    if np.cumsum(np.where(np.isin(brackets, _OPENING), 1, -1)).max(initial=0) > _DEEPEST:
        raise ValueError(f"JSON in more than {_DEEPEST} levels")
    return json.loads(text, object_pairs_hook=checked)
