"""Files that appear whole or not at all: written aside, forced to disk, then renamed."""

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_CHUNK_BYTES = 2**24
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP}  # from file systems that cannot sync a directory
_SPECIAL_FILES = {
    stat.S_IFLNK: "symbolic link", stat.S_IFDIR: "directory", stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device",
}  # fmt: skip


def atomic_write(path: str | os.PathLike[str], chunks: Iterable[Any]) -> None:
    """Write chunks of bytes, so that `path` is the old file or the whole new one, whatever happens.

    After a failure no temporary file is left; only a process that is killed may leave ``.adatron-….tmp``.
    """
    target = Path(os.fspath(path))
    old = check_target(target)
    temporary = target.parent / f".adatron-{secrets.token_hex(8)}.tmp"
    try:
        try:
            with open(temporary, "xb", 0, opener=lambda name, flags: os.open(name, flags, 0o666)) as stream:
                if old is not None and hasattr(os, "fchmod"):
                    os.fchmod(stream.fileno(), stat.S_IMODE(old.st_mode))
                for chunk in chunks:
                    view = memoryview(chunk).cast("B")
                    while len(view):
                        view = view[os.write(stream.fileno(), view[:_CHUNK_BYTES]) :]
                os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if os.name != "nt":  # where directories cannot be opened
            descriptor = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)  # makes the new name last, too
            except OSError as error:
                if error.errno not in _NO_SYNC:
                    raise
            finally:
                os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, f"cannot write the file: {error.strerror}", str(target)) from error


def check_target(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Raise an OSError if no file can be written at `path`; return the status of the file there, if any."""
    target, found = Path(os.fspath(path)), None
    if not target.parent.is_dir():
        reason = f"cannot write the file: there is no directory {str(target.parent)!r}; create it"
        raise FileNotFoundError(errno.ENOENT, reason, str(target))
    if os.path.lexists(target):
        found = os.lstat(target)
        if kind := _SPECIAL_FILES.get(stat.S_IFMT(found.st_mode)):
            code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
            raise OSError(code, f"cannot write the file: it is a {kind}; name a regular file", str(target))
    for place, what in ((target, "file"), (target.parent, "directory")):
        if (found is not None or place != target) and not os.access(place, os.W_OK):
            reason = f"cannot write the file: no permission to write its {what} {str(place)!r}"
            raise PermissionError(errno.EACCES, reason, str(target))
    return found
