"""Archives of checkpoints and models: what goes in comes out, and nothing else is read."""

import hashlib
import io
import json
import os
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from adatron import __version__
from adatron.files import archive
from adatron.files.values import dumped, read_value
from tests.files.mutations import npy, sealed, sequence

ARRAYS = {
    "float64": np.linspace(0.0, 1.0, 7),
    "float32": np.arange(6, dtype=np.float32).reshape(2, 3),
    "float16": np.arange(3, dtype=np.float16),
    "int8": np.array([-1, 2], dtype=np.int8),
    "uint64": np.array([2**64 - 1], dtype=np.uint64),
    "bool": np.array([[True, False]]),
    "text": np.array(["", "ä", "𝄞 clef"]),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": np.arange(20.0)[::3],
    "number": np.array(3.5),
    "empty": np.empty((0, 4)),
    "special": np.array([np.nan, np.inf, -np.inf, -0.0]),
}
PLAIN = {
    "text": "ä\n\0\ud800", "numbers": [1, -(2**70), 0.1, 5e-324, -0.0, float("inf")], "none": None,
    "deep": {"a": [True, (1, ("x", []))]}, 3: {-1: "three"}, "floats": [i / 7 for i in range(40)],
}  # fmt: skip
EMPTY = json.dumps(sequence("list") | {"protocol": 2}).encode()
ONE_ARRAY = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy"}
ONE_ARRAY = json.dumps(ONE_ARRAY | {"file": "a0.npy", "protocol": 2}).encode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


def written(path, tree=ARRAYS):
    path.write_bytes(b"".join(dumped(tree, "test")))
    return path.read_bytes()


def rejected(path, data, message):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        read_value(path, "test")
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()


def forged(members, kind="test", version=__version__, **options):
    """An archive with these members and a valid checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as made:
        for name, content in members if isinstance(members, list) else members.items():
            made.writestr(name, content)
        made.comment = f"adatron {version} {kind} sha256:{64 * '0'}".encode()
    return sealed(buffer.getvalue()[:-64])


def test_values_and_arrays_come_back(path):
    written(path, {**ARRAYS, "plain": PLAIN})
    found = read_value(path, "test")
    assert list(found) == [*ARRAYS, "plain"]
    assert repr(found["plain"]) == repr(PLAIN)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.writeable
    assert found["fortran"].flags.f_contiguous
    assert not found["fortran"].flags.c_contiguous


def test_same_content_gives_the_same_bytes(path, monkeypatch):
    first = written(path)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(10**9))
    assert written(path) == first


def test_layout_is_the_documented_one(path):
    """Read by nothing but the description in docs/model_files.md."""
    data = written(path, [1.5, np.array([7], dtype=np.int16)])
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        digest = hashlib.sha256(data[:-64]).hexdigest()
        assert found.comment == f"adatron {__version__} test sha256:{digest}".encode()
        assert {info.compress_type for info in found.infolist()} == {zipfile.ZIP_STORED}
        number, array = json.loads(found.read("schema.json"))["content"]
        assert json.loads(number["content"]) == 1.5
        assert np.load(io.BytesIO(found.read(array["file"]))).tolist() == [7]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j, np.array([object()]), lambda: 0])
def test_values_that_cannot_be_stored_leave_no_file(path, value):
    with pytest.raises(ValueError, match=r"cannot be (stored|part)"):
        written(path, [value])
    assert os.listdir(path.parent) == []


@pytest.mark.fault("F1")
def test_truncated_at_every_byte(path):
    data = written(path, [np.arange(3.0)])
    for size in range(len(data)):
        rejected(path, data[:size], "damaged|not an adatron test")


@pytest.mark.fault("F2")
def test_one_bit_flipped_anywhere(path):
    data = written(path, [np.arange(3.0)])
    for place in range(0, 8 * len(data), 3):  # two or three of each byte
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        rejected(path, bytes(changed), "damaged|not an adatron test")


@pytest.mark.fault("F3")
def test_other_files(path):
    for data in (
        b"",
        b"\x7fELF" + bytes(100),
        b"PK\x03\x04" + bytes(100),
        b"adatron",
        forged({})[:-1] + b"g",
    ):
        rejected(path, data, "not an adatron test")
    rejected(path, b"ADATRON\x01" + bytes(99), r"before \.skops.*load it with the version that wrote it")


def test_another_kind_of_file(path):
    written(path)
    with pytest.raises(ValueError, match="not an adatron model but a test"):
        archive.read_archive(path, "model")


@pytest.mark.fault("F9")
@pytest.mark.parametrize("version", ["9.0", "9.0.1.dev2", "0.2.1", "0.3", "99999999999999999999.0"])
def test_files_of_a_later_version(path, version):
    data = forged({"schema.json": EMPTY}, version=version)
    rejected(path, data, rf"written by adatron {version}, this is .*; upgrade")
    path.write_bytes(forged({"schema.json": EMPTY}, version="0.0.9"))
    assert read_value(path, "test") == []


HOSTILE = {
    "deep": b"[" * 40_000,
    "deep objects": b'{"a":' * 40_000,
    "lists": b"[" + b"[]," * 300_000 + b"[]]",
    "quotes": b'"' * 1_000_000,
    "digits": b"[" + b"9" * 1_000_000 + b"]",
    "duplicate keys": EMPTY[:-1] + b',"__class__":"list"}',
    "many keys, one twice": b"{" + b",".join(b'"%d":1' % i for i in range(49_000)) + b',"7":1}',
    "UTF-16, cut": EMPTY.decode().encode("utf-16")[:-1],
    "NUL": EMPTY.replace(b"list", b"li\0st"),
    "nothing": b"  ",
    "number": b"3",
    "list": b"[]",
    "no node": b'{"content":[]}',
    "unknown loader": EMPTY.replace(b"ListNode", b"PickleNode"),
    "no such array": ONE_ARRAY,
    "array is no name": ONE_ARRAY.replace(b'"a0.npy"', b"[1]"),
    "content is no list": EMPTY.replace(b"[]", b"3"),
    "content is missing": EMPTY.replace(b'"content"', b'"contents"'),
    "later protocol": EMPTY.replace(b'"protocol": 2', b'"protocol": 99'),
}


def seconds(path):
    began = time.thread_time()
    with pytest.raises(ValueError, match="cannot be read"):
        read_value(path, "test")
    return time.thread_time() - began


@pytest.mark.fault("F4")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json(path, name):
    """In a fraction of a second, and 50 MB."""
    path.write_bytes(forged({"schema.json": HOSTILE[name]}))
    assert seconds(path) < 1.0  # processor time: a tenth of it on any machine of today
    tracemalloc.start()  # makes it several times slower
    seconds(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


@pytest.mark.fault("F4")
@pytest.mark.parametrize("text", [b'"' + b"a" * 2**26 + b'"', b"[" + b"1," * 5_000_001 + b"1]"], ids=len)
def test_json_that_is_too_long_is_not_parsed(path, text, monkeypatch):
    path.write_bytes(forged({"schema.json": text}))
    parsed = []
    monkeypatch.setattr("json.loads", lambda text, **options: parsed.append(len(text)))
    before = tracemalloc.start() or tracemalloc.get_traced_memory()[0]
    seconds(path)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert peak < 4 * len(text)
    assert parsed == []


def header(descr, shape, order=False):
    text = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode()


PAYLOAD = np.array([1.5, -2.0]).tobytes()
BAD_ARRAYS = {
    "huge": header("<f8", (2**40,)) + PAYLOAD,
    "product overflows 64 bits": header("<f8", (2**32, 2**32, 2**32)) + PAYLOAD,
    "negative": header("<f8", (-2,)) + PAYLOAD,
    "negative twice": header("<f8", (-1, -2)) + PAYLOAD,
    "fraction": header("<f8", (2.0,)) + PAYLOAD,
    "text": header("<f8", ("2",)) + PAYLOAD,
    "too short": header("<f8", (1,)) + PAYLOAD,
    "too long": header("<f8", (3,)) + PAYLOAD,
    "cut off": header("<f8", (2,)) + PAYLOAD[:-1],
    "trailing bytes": header("<f8", (2,)) + PAYLOAD + b"\0",
    "complex": header("<c16", (1,)) + PAYLOAD,
    "object": header("|O", (2,)) + PAYLOAD,
    "nothing, very often": header("<U0", (2**60,)),
    "fields": header([("a", "<f8")], (2,)) + PAYLOAD,
    "no header": b"\x93NUMPY\1\0",
    "code": b"\x93NUMPY\1\0\x20\0" + b"__import__('os').mkdir('x')    \n",
    "later version": b"\x93NUMPY\x09\0" + header("<f8", (2,))[8:] + PAYLOAD,
    "pickle": b"\x80\4N.",
    "an archive": forged({"a.npy": npy(1)}),
}


@pytest.mark.fault("F6")
@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_arrays_that_are_not_what_they_say(path, name):
    good = header("<f8", (2,)) + PAYLOAD
    members = {"schema.json": ONE_ARRAY, "a0.npy": good}
    path.write_bytes(forged(members))
    assert read_value(path, "test").tolist() == [1.5, -2.0]
    tracemalloc.start()
    rejected(path, forged(members | {"a0.npy": BAD_ARRAYS[name]}), "cannot be read")
    rejected(path, forged(members | {"more.npy": BAD_ARRAYS[name]}), "cannot be read")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


@pytest.mark.fault("F8")
@pytest.mark.parametrize(
    "name",
    ["../x.npy", "/etc/passwd", "a/b.npy", "a.py", "a.npy/", "é.npy", "a\n.npy", "x" * 200 + ".npy", ".npy"],
)
def test_names_of_members_are_no_paths(path, name):
    rejected(path, forged({"schema.json": EMPTY, name: npy(1)}), "neither an array nor JSON|cannot be read")
    assert os.listdir(path.parent) == ["file"]


@pytest.mark.fault("F6")
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_are_there_twice(path):
    members = [("schema.json", ONE_ARRAY), ("a0.npy", npy(1.0)), ("a0.npy", npy(2.0))]
    rejected(path, forged(members), "there twice")


@pytest.mark.fault("F6")
def test_members_that_overlap(path):
    """Two entries of the directory for the same bytes."""
    members = {"schema.json": EMPTY, "a0.npy": npy(np.zeros(10**4)), "a1.npy": npy(np.zeros(1))}
    data = forged(members)
    begin = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    entry = data[begin : data.index(b"PK\1\2", begin + 1)]
    last = data.rindex(b"PK\1\2")
    double = entry.replace(b"a0.npy", b"a1.npy")
    rejected(path, sealed(data[:last] + double + data[last + len(double) : -64]), "overlap|cannot be read")


@pytest.mark.fault("F5")
@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_members_are_not_unpacked(path, compression):
    members = {"schema.json": ONE_ARRAY, "a0.npy": npy(np.zeros(10**6))}
    data, inner = forged(members, compression=compression), io.BytesIO()
    np.savez_compressed(inner, data=np.zeros(10**6))
    within = forged({"schema.json": EMPTY, "a0.npz": inner.getvalue()})
    assert max(len(data), len(within)) < 50_000
    tracemalloc.start()
    rejected(path, data, "compressed")
    rejected(path, within, "compressed")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6  # of 8


@pytest.mark.fault("F4")
def test_many_members_are_not_listed(path, monkeypatch):
    entry = b"PK\1\2" + bytes(42)
    data = sealed(b"PK\3\4" + 60_000 * entry + b"adatron 0.1.0 test sha256:")
    monkeypatch.setattr("zipfile.ZipFile", None)
    rejected(path, data, "more than 50,000 members")


@pytest.mark.fault("F6")
def test_bytes_before_and_behind(path):
    data = forged({"schema.json": EMPTY})
    rejected(path, data + b"\0", "not an adatron test")
    rejected(path, sealed(data[:-64] + b"\0"), "not an adatron test|damaged")
    rejected(path, sealed(b"adatron 0.1.0 test sha256:"), "cannot be read")


@pytest.mark.fault("F16")
def test_file_that_shrinks_or_grows_while_it_is_read(path, monkeypatch):
    data = written(path)
    real = os.fstat

    class Size:
        def __init__(self, found, change):
            self.st_mode, self.st_size = found.st_mode, found.st_size + change

    for change in (64, -64):
        monkeypatch.setattr(os, "fstat", lambda descriptor, change=change: Size(real(descriptor), change))
        path.write_bytes(data)
        try:
            found = read_value(path, "test")
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:  # the size is only a hint: every byte was checked
            assert list(found) == list(ARRAYS)


def test_a_file_larger_than_the_memory_is_not_read(path, monkeypatch):
    written(path)
    monkeypatch.setattr(archive, "available_memory", lambda: 100)
    with pytest.raises(OSError, match="bytes of memory"):
        read_value(path, "test")


@pytest.mark.fault("F8")
def test_directories_and_pipes_are_not_read(tmp_path):
    with pytest.raises(OSError, match="directory"):
        read_value(tmp_path, "test")
    with pytest.raises(FileNotFoundError):
        read_value(tmp_path / "missing", "test")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="not a regular file"):
            read_value(tmp_path / "pipe", "test")


@pytest.mark.fault("F10")
def test_arrays_of_machines_with_the_other_byte_order(path):
    values = header(">f8", (2,)) + np.array([1.5, -2.0], dtype=">f8").tobytes()
    path.write_bytes(forged({"schema.json": ONE_ARRAY, "a0.npy": values}))
    assert read_value(path, "test").tolist() == [1.5, -2.0]
