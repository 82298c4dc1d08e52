"""Messy tables are read as a person expects, or refused by one line that names the place."""

import gzip
import io
import os
import sys
import time
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.io import read_table, table
from adatron.io.table import find_target
from tests.data_dir import data_dir, needs_data
from tests.io import messy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return messy.write_all(tmp_path_factory.mktemp("messy"))


def read(content, name="t.csv", **options):
    stream = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    stream.name = name
    return read_table(stream, **options)


def fault(content, name="t.csv", **options):
    with pytest.raises(ValueError) as caught:
        read(content, name, **options)
    return str(caught.value)


@pytest.mark.fault("F13", "F15")
@pytest.mark.parametrize("name", messy.TABLES)
def test_messy_table(folder, name):
    file, _, expected = messy.TABLES[name]
    frame = read_table(folder / name.replace("/", "-") / file)
    assert list(frame.columns) == list(expected)
    for column, cells in expected.items():
        found = [None if pd.isna(cell) else cell for cell in frame[column].tolist()]
        assert found == cells, column
        assert {type(cell) for cell in found if cell is not None} <= {
            pd.Timestamp, *(type(cell) for cell in cells)
        }, column  # fmt: skip


@pytest.mark.fault("F13", "F14", "F15")
@pytest.mark.parametrize("name", messy.REFUSED)
def test_refused_by_one_line_that_names_the_place(folder, name):
    file, _, options, words = messy.REFUSED[name]
    path = folder / name.replace("/", "-") / file
    with pytest.raises(ValueError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 600


def test_there_are_enough_of_them(folder):
    assert len(list(folder.iterdir())) == len(messy.TABLES) + len(messy.REFUSED) >= 80


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"encoding": "latin-1"}, {"a": [1], "b": ["caf\xe9"]}),
        ({"encoding": "latin-1", "header": False}, {"column_1": ["a", "1"], "column_2": ["b", "caf\xe9"]}),
        ({"encoding": "cp1252", "kinds": {"a": "text"}}, {"a": ["1"], "b": ["caf\xe9"]}),
        ({"encoding": "cp1252", "ignore": ["b", "elsewhere"]}, {"a": [1]}),
        ({"encoding": "cp1252", "missing": ["caf\xe9"], "target": "a"}, {"a": [1], "b": [None]}),
    ],
)
def test_options(options, expected):
    frame = read(b"a,b\n1,caf\xe9\n", **options).astype(object)
    assert frame.where(frame.notna(), None).to_dict("list") == expected


def test_names_of_columns_of_text_may_be_cells_of_other_columns():
    assert read("c,y\nx,u\ny,v\nz,u\n").to_dict("list") == {"c": ["x", "y", "z"], "y": ["u", "v", "u"]}
    assert read("x,u\ny,v\nx,v\n").columns.tolist() == ["column_1", "column_2"]


def test_options_for_delimiters_and_decimals():
    assert read("a,b;c\n1,2;3\n", delimiter=",").columns.tolist() == ["a", "b;c"]
    assert read("a;b\n1,234;x\n2,345;y\n", decimal=",")["a"].tolist() == [1.234, 2.345]
    assert read("a;b\n1,234;x\n2,345;y\n", decimal=".")["a"].tolist() == [1234, 2345]
    assert read("1,2\n3,4\n", header=True).columns.tolist() == ["1", "2"]
    assert read("a\tb,c\n1\t2\n3\t4\n", "t", format="tsv").columns.tolist() == ["a", "b,c"]
    assert read("zip,y\n01,1\n02,2\n", kinds={"zip": "number"})["zip"].tolist() == [1, 2]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas_are_no_delimiters_where_the_names_have_none(delimiter):
    rows = [["a", "b", "y"], ["0,5", "u", "yes"], ["2,25", "v", "no"]]
    frame = read("\n".join(map(delimiter.join, rows)))
    assert frame.columns.tolist() == ["a", "b", "y"]
    assert frame["a"].tolist() == [0.5, 2.25]


@pytest.mark.parametrize(
    ("names", "target"),
    [("abc", "c"), (["a", "class", "c"], "class"), (["Y", "b"], "Y"), (["label", "y", "c"], "c")],
)
def test_target_by_default(names, target):
    assert find_target(names) == target


def test_target_among_many_columns():
    with pytest.raises(ValueError, match=r"'x0', 'x1', .* and 980 more"):
        find_target([f"x{i}" for i in range(1000)], "nope")


def test_labels_keep_their_spelling():
    frame = read("a,class\n1,+1\n2,-1\n3,1\n")
    assert frame["class"].tolist() == [1, -1, 1]
    assert frame.attrs["spelling"] == {1: "+1", -1: "-1"}
    assert "spelling" not in read("a,b\n" + "".join(f"1,{i}\n" for i in range(1001))).attrs


@pytest.mark.fault("F1")
@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_compressed_files_cut_anywhere(kind):
    name, content, _ = messy.TABLES[{"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "Zstandard"}[kind]]
    for end in range(8, len(content)):
        assert "damaged or incomplete" in fault(content[:end], name)


@pytest.mark.fault("F1")
def test_parquet_and_arrow_cut_anywhere():
    for name in ("Parquet", "Arrow"):
        file, content, _ = messy.TABLES[name]
        for end in range(8, len(content), 7):
            assert "or damaged" in fault(content[:end], file)


@pytest.mark.fault("F14")
def test_a_bomb_of_one_line_takes_little_memory():
    bomb = gzip.compress(b"1" * 2**24) * 64  # a line of 1 GiB
    tracemalloc.start()
    try:
        assert "has a line of more than 67108864 bytes" in fault(bomb, "t.csv.gz")
        assert tracemalloc.get_traced_memory()[1] < 150 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.fault("F14")
def test_more_than_the_memory(monkeypatch):
    monkeypatch.setattr("adatron.numerics.memory.available_memory", lambda: 2**10)
    monkeypatch.setattr("adatron.io.table._HARMLESS", 2**10)
    assert "has more than 1024 bytes" in fault(b"1,2\n" * 1000)


@pytest.mark.fault("F16")
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    path, read_whole = tmp_path / "t.csv", table._read

    def cut_then_read(*args):
        os.truncate(path, 2**20)
        return read_whole(*args)

    path.write_bytes((b"1" * 63 + b"\n") * 2**15)
    monkeypatch.setattr(table, "_read", cut_then_read)
    with pytest.raises(OSError, match=r"t\.csv: the file changed while it was read"):
        read_table(path)
    monkeypatch.undo()
    assert len(read_table(path)) == 2**14


def stdin(monkeypatch, data, is_terminal=False):
    stream = io.TextIOWrapper(io.BytesIO(data))
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.fault("L7")
def test_standard_input(monkeypatch):
    stdin(monkeypatch, messy.PLAIN)
    assert read_table("-").columns.tolist() == ["a", "b", "c"]
    stdin(monkeypatch, b"")
    with pytest.raises(ValueError, match="<stdin>: is empty"):
        read_table("-")
    stdin(monkeypatch, messy.PLAIN, is_terminal=True)
    with pytest.raises(OSError, match="<stdin>: is a terminal or closed; pipe"):
        read_table("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="<stdin>"):
        read_table("-")


@pytest.mark.fault("L2")
def test_missing_file_directory_and_nonsense(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="null byte"):
        read_table("a\0b.csv")


def test_streams(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(messy.PLAIN)
    with open(path, "rb") as binary, open(path, "rb", buffering=0) as raw:
        assert len(read_table(binary)) == len(read_table(raw)) == 2
    assert read_table(os.fsencode(path)).attrs["source"] == str(path)


@pytest.mark.fault("L10")
@pytest.mark.skipif(os.name != "posix", reason="names that other systems refuse")
@pytest.mark.parametrize(
    "name", ["two\nlines.csv", "\x1b[31mred.csv", "-rf.csv", "\udcff.csv", "a\u202eb.csv"]
)
def test_hostile_names_are_escaped(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"a,b\n1\n")
    with pytest.raises(ValueError, match=":2: row with too few cells") as caught:
        read_table(name)
    assert str(caught.value).isprintable()
    assert not str(caught.value).startswith("-")


@pytest.mark.fault("L10")
def test_hostile_cells_are_escaped_and_cut():
    assert "'\\x1b[31m' is not a number" in fault(messy.SLIP.replace(b"3O.5", b"\x1b[31m"))
    assert len(fault(messy.SLIP.replace(b"3O.5", b"x" * 200_000))) < 400


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(
    st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(finite, min_size=n, max_size=n), min_size=1)),
    st.sampled_from([",", ";", "\t", "|", " "]),
)
def test_numbers_survive(rows, delimiter):
    names = [f"x{i}" for i in range(len(rows[0]))]
    frame = read("\n".join(delimiter.join(map(str, row)) for row in [names, *rows]))
    assert frame.columns.tolist() == names
    np.testing.assert_array_equal(frame.to_numpy(), np.array(rows))


@pytest.mark.fault("F13")
@settings(max_examples=300)
@given(st.text(alphabet='01.,;|"\n\r\t -eax?#', max_size=60))
def test_whatever_comes_is_a_table_or_one_line(text):
    try:
        frame = read(text)
    except ValueError as error:
        frame, message = None, str(error)
    assert (len(frame) >= 1) if frame is not None else message.startswith("t.csv:") and message.isprintable()


SETS = {
    "regression/cal_housing.csv.xz": (20640, 9, "longitude", []),
    "regression/abalone.data.gz": (4177, 9, "column_1", [0]),
    "regression/housing.data.gz": (506, 14, "column_1", []),
    "uci/satimage.csv.xz": (6435, 37, "x.1", [36]),
    "uci/letter.csv.xz": (20000, 17, "lettr", [0]),
    "uci/pima_ripley.tr.csv.gz": (200, 8, "npreg", [7]),
    "uci/Skin_NonSkin.txt.xz": (245057, 4, "column_1", []),
}


@needs_data
@pytest.mark.parametrize("name", SETS)
def test_public_sets_have_their_published_shape(name):
    n_rows, n_columns, first, text_columns = SETS[name]
    frame = read_table(data_dir() / name)
    assert (*frame.shape, frame.columns[0]) == (n_rows, n_columns, first)
    assert [i for i, dtype in enumerate(frame.dtypes) if dtype.kind == "O"] == text_columns
    assert not frame.isna().any(axis=None)


def made(n_rows=200_000):
    """14 columns of decimals, 3 of whole numbers, 3 of words."""
    draw = np.random.default_rng(0)
    columns = {f"x{i}": draw.normal(size=n_rows).round(6) for i in range(14)}
    columns |= {f"i{i}": draw.integers(0, 1000, n_rows) for i in range(3)}
    columns |= {f"t{i}": draw.choice(["red", "green", "blue"], n_rows) for i in range(3)}
    return pd.DataFrame(columns)


@pytest.mark.slow
def test_reading_takes_at_most_twice_the_time_of_the_library(tmp_path):
    path = tmp_path / "t.csv"
    made().to_csv(path, index=False)

    def seconds(read_once):
        began = time.perf_counter()
        read_once()
        return time.perf_counter() - began

    rounds = [
        (seconds(lambda: pa_csv.read_csv(path).to_pandas()), seconds(lambda: read_table(path)))
        for _ in range(7)
    ]
    theirs, ours = (min(times) for times in zip(*rounds, strict=True))
    assert ours <= 2.0 * theirs
