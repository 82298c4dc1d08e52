"""Writing whole or not at all: full disks, kills, symbolic links, several writers."""

import errno
import os
import random
import signal
import stat
import time
from itertools import count

import numpy as np
import pytest

from adatron.files.atomic import atomic_write, check_target
from adatron.files.values import dumped, read_value

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def forked(function, *arguments):
    """The number of a process in which the function runs; it ends with 0, or 1 after an exception."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function(*arguments)
            code = 0
        finally:
            os._exit(code)
    return child


def contents(value):
    return {"value": value, "x": np.full(200_000, value), "y": np.full(1_000, 2 * value)}


def write_for_ever(path, values, ready):
    for value in values:
        atomic_write(path, [ready[value % 7]])


def killed_while_saving(path, wanted):
    """Kill writers until so many have left a temporary file, that is, have been in mid-save."""
    chance = random.Random(0)
    ready = [b"".join(dumped(contents(value), "test")) for value in range(7)]
    atomic_write(path, [ready[0]])
    value = unfinished = 0
    while unfinished < wanted:
        child = forked(write_for_ever, path, count(value + 1), ready)
        time.sleep(chance.uniform(0.002, 0.04))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = read_value(path, "test")
        value = found["value"]
        assert all(np.all(found[name] == array) for name, array in contents(value).items()), value
        unfinished = sum(name.endswith(".tmp") for name in os.listdir(path.parent))


def test_new_file_and_replaced_file(tmp_path):
    path = tmp_path / "file"
    atomic_write(path, [b"old"])
    os.chmod(path, 0o640)
    atomic_write(str(path), [b"ne", b"", memoryview(np.array([119], dtype=np.uint8))])
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix_only
def test_new_file_has_the_usual_permissions(tmp_path):
    old = os.umask(0o027)
    try:
        atomic_write(tmp_path / "file", [b""])
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def failing(name, after, error):
    """The function of `os` that fails when it is called once more than `after` times."""
    real, calls = getattr(os, name), []

    def function(*arguments):
        calls.append(1)
        if len(calls) > after:
            raise error
        return real(*arguments)

    return function


@pytest.mark.fault("R4")
@pytest.mark.parametrize(
    ("name", "after"), [("write", 0), ("write", 1), ("fsync", 0), ("replace", 0), ("open", 0)]
)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_disk_full(tmp_path, monkeypatch, name, after, code):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, name, failing(name, after, OSError(code, os.strerror(code))))
    with pytest.raises(OSError, match="cannot write") as caught:
        atomic_write(path, [b"new", b"er"])
    monkeypatch.undo()
    assert caught.value.errno == code
    assert str(path) in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.fault("R4")
@posix_only
def test_file_that_may_not_grow(tmp_path):
    """The kernel refuses the write, as it does on a full disk."""
    import resource

    def write():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        with pytest.raises(OSError, match=r"\[Errno 27\] cannot write the file"):
            atomic_write(path, dumped(np.ones(100_000), "test"))

    path = tmp_path / "file"
    atomic_write(path, dumped([np.zeros(3)], "test"))
    assert os.waitpid(forked(write), 0)[1] == 0
    assert read_value(path, "test")[0].tolist() == [0.0, 0.0, 0.0]
    assert os.listdir(tmp_path) == ["file"]


def test_interrupt_leaves_nothing(tmp_path):
    def chunks():
        yield b"new"
        raise KeyboardInterrupt

    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "file", chunks())
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.fault("R8")
@posix_only
def test_killed_while_saving(tmp_path):
    """The file is an old or a new one, never a mix."""
    killed_while_saving(tmp_path / "file", 10)


@pytest.mark.fault("F11")
@posix_only
def test_two_processes_write_the_same_path(tmp_path):
    path = tmp_path / "file"

    def write(who):
        for _ in range(40):
            atomic_write(path, dumped([who, np.full(50_000, who)], "test"))

    writers, ends = [forked(write, who) for who in (1, 2)], []
    while len(ends) < 2:
        ended, status = os.waitpid(writers[len(ends)], os.WNOHANG)
        ends += [status] if ended else []
        if path.exists():
            who, values = read_value(path, "test")
            assert who in (1, 2)
            assert (values == who).all()
    assert ends == [0, 0]
    assert read_value(path, "test")[0] in (1, 2)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.fault("F8")
@posix_only
def test_targets_that_are_no_files(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    os.symlink(tmp_path / "real", tmp_path / "link")
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    targets = {
        "link": "symbolic link",
        "dangling": "symbolic link",
        "pipe": "named pipe",
        "folder": "directory",
    }
    for name, words in targets.items():
        with pytest.raises(OSError, match=words) as caught:
            atomic_write(tmp_path / name, [b"new"])
        assert name in str(caught.value)
    with pytest.raises(OSError, match="device"):
        check_target("/dev/null")
    assert (tmp_path / "real").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["dangling", "folder", "link", "pipe", "real"]


@pytest.mark.fault("R6")
def test_missing_directory(tmp_path):
    for path in (tmp_path / "missing" / "file", tmp_path / "file" / "below"):
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(FileNotFoundError, match="there is no directory"):
            check_target(path)


@pytest.mark.fault("R6")
@posix_only
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() == 0, reason="root may write everywhere")
def test_a_directory_without_permission(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    os.chmod(tmp_path / "file", 0o444)
    with pytest.raises(PermissionError, match="permission"):
        atomic_write(tmp_path / "file", [b"new"])
    os.chmod(tmp_path, 0o555)
    try:
        with pytest.raises(PermissionError, match="permission"):
            atomic_write(tmp_path / "other", [b"new"])
    finally:
        os.chmod(tmp_path, 0o755)


@pytest.mark.fault("R6")
@posix_only
def test_no_permission_is_seen_before_anything_is_written(tmp_path, monkeypatch):
    """As any user: what the operating system says about access is believed."""
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(PermissionError, match="no permission to write its directory"):
        check_target(tmp_path / "file")


def test_directory_that_cannot_be_synced(tmp_path, monkeypatch):
    """Some file systems refuse it; the file is there all the same. Other errors are told."""
    real = os.fsync

    def refuse(descriptor, code):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        return real(descriptor)

    monkeypatch.setattr(os, "fsync", lambda descriptor: refuse(descriptor, errno.EINVAL))
    atomic_write(tmp_path / "file", [b"new"])
    assert (tmp_path / "file").read_bytes() == b"new"
    if os.name == "posix":
        monkeypatch.setattr(os, "fsync", lambda descriptor: refuse(descriptor, errno.EIO))
        with pytest.raises(OSError, match="cannot write"):
            atomic_write(tmp_path / "file", [b"newer"])


@pytest.mark.fault("R8")
@pytest.mark.slow
@posix_only
def test_killed_while_saving_many_times(tmp_path):
    killed_while_saving(tmp_path / "file", 100)


def test_random_names_do_not_follow_the_seed(tmp_path, monkeypatch):
    """Two processes with the same seed must not use the same temporary file."""
    names = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda place, *rest: names.append(str(place)) or real(place, *rest))
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        atomic_write(tmp_path / "file", [b""])
    temporary = [name for name in names if name.endswith(".tmp")]
    assert len(set(temporary)) == 2
