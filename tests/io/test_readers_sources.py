"""Files, streams and standard input: compression, encodings, limits, names, and files that change."""

import bz2
import gzip
import io
import lzma
import os
import sys
import tracemalloc

import numpy as np
import pytest

from adatron.io import DenseTable, Limits, SparseTable, read_table
from adatron.io.readers import text as text_module
from adatron.io.readers.source import Source
from tests.io.reading import fault, read

TABLE = b"a,b\n1,2\n3,4\n"
COMPRESSIONS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_under_any_name(ending, tmp_path):
    for name in (f"t.csv.{ending}", "t.csv", "t"):
        path = tmp_path / name
        path.write_bytes(COMPRESSIONS[ending](TABLE))
        np.testing.assert_array_equal(read_table(path).to_matrix(), [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.fault("F1")
@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_compressed_files_cut_anywhere(compress):
    data = compress(TABLE * 100)
    for end in range(8, len(data)):
        message = fault(data[:end], "t.csv.z")
        assert "damaged or incomplete" in message


@pytest.mark.fault("F14")
@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_bombs_of_one_line_are_bounded(compress):
    bomb = compress(b"1" * 2**24) * 64  # a line of 1 GiB
    read(TABLE)
    tracemalloc.start()
    try:
        message = fault(bomb, "t.csv.z")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "t.csv.z:1:1: line too long, found more than 67108864 bytes" in message
    assert peak < 150 * 2**20


@pytest.mark.fault("F14")
@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_bombs_of_many_lines(compress, monkeypatch):
    monkeypatch.setattr(text_module, "HARMLESS_BYTES", 2**16)
    bomb = compress(b"1,2\n" * 2**16)
    assert "expands to more than 3 times" in fault(bomb, "t.csv.z", limits=Limits(max_expansion=3))
    assert read(bomb, "t.csv.z", limits=Limits(max_expansion=10**6)).n_rows == 2**16


@pytest.mark.fault("F14")
def test_size_and_line_limits(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE)
    with pytest.raises(ValueError, match="too large, found 12 bytes or more, expected at most 11"):
        read_table(path, limits=Limits(max_bytes=11))
    assert "too large" in fault(gzip.compress(TABLE), limits=Limits(max_bytes=11))
    assert read_table(path, limits=Limits(max_bytes=12)).n_rows == 2
    for cut in (3, 4, 50):
        text = b"1\n" * 5 + b"1" * cut + b"\n2\n"
        assert "t.csv:6:1: line too long" in fault(text, limits=Limits(max_line_bytes=cut - 1))
        assert read(text, limits=Limits(max_line_bytes=cut)).n_rows == 7
    with pytest.raises(ValueError, match="max_columns must be a number >= 1, got 0"):
        Limits(max_columns=0)


@pytest.mark.fault("F14")
def test_more_than_the_memory(monkeypatch):
    monkeypatch.setattr("adatron.numerics.memory.available_memory", lambda: 2**31)
    monkeypatch.setattr(Source, "size", 2**40)
    assert "too large, found 1099511627776 bytes or more, expected at most 536870912" in fault(TABLE)


@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,\xe9\n", ["not UTF-8 text", "byte 0xe9", "byte offset 6 (line 2)"]),
        (b"a,b\n1,2\n\xc3", ["not UTF-8 text", "byte 0xc3", "byte offset 8 (line 3)"]),
        (b"a,b\n1,\x002\n", ["NUL byte", "byte offset 6 (line 2)"]),
        ("a,b\n1,2\n".encode("utf-16"), ["UTF-16", "byte offset 0"]),
        ("a,b\n1,2\n".encode("utf-32"), ["UTF-32", "byte offset 0"]),
        ("a,b\n1,2\n".encode("utf-16-be"), ["NUL byte", "byte offset 0"]),
        (b"PK\x03\x04" + bytes(100), ["zip archive or an Excel workbook"]),
        (b"\x93NUMPY\x01\x00", ["NumPy"]),
        (b"\x7fELF\x02\x01\x01\x00", ["NUL byte", "byte offset 7"]),
        (b"\x80\x04\x95\x10", ["byte 0x80", "byte offset 0"]),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.svm", "t"])
def test_what_is_no_utf8_text(data, words, name):
    message = fault(data, name)
    assert message.startswith(f"{name}: ")
    assert all(word in message for word in words), message


@pytest.mark.fault("F15")
def test_characters_across_the_borders_of_chunks(monkeypatch):
    monkeypatch.setattr(text_module, "_CHUNK", 1)
    assert read("ä,€\n1,😀\n2,x\n").columns == ["ä", "€"]
    assert "byte 0xe2 at byte offset 4 (line 2)" in fault(b"a,b\n\xe2\x82")
    assert "byte offset 4 (line 2)" in fault(b"a,b\n\xe2\x82,1\n")


@pytest.mark.fault("F16")
def test_file_cut_or_written_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    take = text_module._Check.take

    def cut_then_take(self, chunk):
        os.truncate(path, 2**20)
        take(self, chunk)

    path.write_bytes((b"1" * 63 + b"\n") * 2**15)
    monkeypatch.setattr(text_module._Check, "take", cut_then_take)
    with pytest.raises(OSError, match=r"t\.csv: the file changed while it was read"):
        read_table(path)
    monkeypatch.undo()
    assert read_table(path).n_rows == 2**14


def stdin(monkeypatch, data, is_terminal=False):
    stream = io.TextIOWrapper(io.BytesIO(data))
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.fault("L7")
def test_standard_input(monkeypatch):
    stdin(monkeypatch, TABLE)
    assert read_table("-").columns == ["a", "b"]
    stdin(monkeypatch, lzma.compress(b"1 1:2\n"))
    assert read_table("-").X.shape == (1, 1)


@pytest.mark.fault("L7")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "<stdin>:1:1: no data, found an empty file"),
        (b"\n\n", "<stdin>:1:1: no data"),
        (b"\x00\x01\x02", "<stdin>: not a text file: found NUL byte"),
        (b"\xff\xd8\xff", "<stdin>: not UTF-8 text: found byte 0xff"),
    ],
)
def test_standard_input_without_a_table(monkeypatch, data, message):
    stdin(monkeypatch, data)
    with pytest.raises(ValueError, match=message):
        read_table("-")


@pytest.mark.fault("L7")
def test_terminal_or_nothing(monkeypatch):
    stdin(monkeypatch, TABLE, is_terminal=True)
    with pytest.raises(OSError, match="<stdin>: is a terminal; pipe"):
        read_table("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="no standard input"):
        read_table("-")


@pytest.mark.fault("L2")
def test_missing_unreadable_and_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv: cannot be read: No such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a directory; name a file"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="null byte"):
        read_table("a\0b.csv")
    with pytest.raises(ValueError, match="source must be a path"):
        read_table(3)


@pytest.mark.fault("L2")
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE)
    path.chmod(0)
    with pytest.raises(PermissionError, match=r"t\.csv: cannot be read: Permission denied"):
        read_table(path)


@pytest.mark.fault("L10")
@pytest.mark.skipif(os.name != "posix", reason="names that other systems refuse")
@pytest.mark.parametrize(
    "name", ["two\nlines.csv", "\x1b[31mred.csv", "-rf.csv", "\udcff.csv", "a\u202eb.csv"]
)
def test_names_are_escaped(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for write in (True, False):
        with pytest.raises((ValueError, OSError)) as caught:
            read_table(name)
        message = str(caught.value)
        assert message.isprintable()
        assert not message.startswith("-")
        if write:
            (tmp_path / name).write_bytes(b"a,b\n1\n")
    assert ":2:2: row with too few cells" in message


@pytest.mark.fault("L10")
def test_cells_are_escaped():
    rows = "".join(f"{i},1\n" for i in range(50))
    message = fault(f"a,b\n{rows}\x1b[31m,1\n")
    assert "found '\\x1b[31m'" in message
    message = fault(b"a,b\n1,2\n\n3," + b"x" * 100_000 + b",4\n5,6\n")
    assert len(message) < 300


def test_streams_of_all_kinds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE)
    with open(path, encoding="latin-1") as text, open(path, "rb") as binary:
        assert read_table(text).source == str(path)
        assert read_table(binary).n_rows == 2
    with open(path, "rb", buffering=0) as raw:
        assert read_table(raw).n_rows == 2
    assert read_table(io.StringIO("ä,b\n1,2\n")).columns == ["ä", "b"]
    assert read_table(os.fsencode(path)).n_rows == 2
    with pytest.raises(ValueError, match="bytes, not text"):
        read_table(type("Text", (), {"read": lambda self, size: "a"})())


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("x", b"1 1:2\n", SparseTable),
        ("x.t", b"# c\n-1\n+1 3:1\n", SparseTable),
        ("x.txt", b"1 2 3\n", DenseTable),
        ("x.data", b"a,b\n1,12:30\n", DenseTable),
        ("x.csv", b"1 1:2\n", DenseTable),
        ("x.svm", b"1\n2\n", SparseTable),
        ("x.libsvm.gz", gzip.compress(b"1\n2\n", mtime=0), SparseTable),
    ],
)
def test_format_by_name_then_content(name, data, kind):
    assert isinstance(read(data, name), kind)


def test_format_can_be_given():
    assert isinstance(read(b"1 1:2\n", "t.csv", format="svmlight"), SparseTable)
    assert read(b"a\tb,c\n1\t2\n3\t4\n", "t", format="tsv").columns == ["a", "b,c"]
    message = fault(b"1\n", format="svmlite")
    assert "format='svmlite' must be one of 'csv', 'tsv', 'svmlight', 'parquet'" in message
    assert "did you mean 'svmlight'?" in message
