"""Parquet files through pyarrow, and without it."""

import datetime
import io
import sys

import numpy as np
import pytest

from adatron.io import Limits
from tests.io.reading import fault, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def parquet(columns, **options):
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, **options)
    return stream.getvalue()


TABLE = parquet({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": ["x", "y", "x"]})


@pytest.mark.parametrize("name", ["t.parquet", "t", "-"])
def test_kinds_of_columns(name):
    table = read(TABLE, name)
    assert table.columns == ["a", "b", "c"]
    np.testing.assert_array_equal(table.select(["a", "b"]).to_matrix(), [[1, 0.5], [2, 1.5], [3, 2.5]])
    assert table.column("c").tolist() == ["x", "y", "x"]


def test_further_types():
    import decimal

    table = read(
        parquet(
            {
                "flag": [True, False],
                "half": pa.array([1.5, 2.5], pa.float32()),
                "big": pa.array([2**40, 1], pa.uint64()),
                "money": pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")]),
                "kind": pa.array(["p", "q"]).dictionary_encode(),
                "long": pa.array(["p", "q"], pa.large_string()),
            }
        ),
        "t.parquet",
    )
    assert table.kinds == ["number"] * 4 + ["text"] * 2
    np.testing.assert_array_equal(table.values[0], [1.0, 0.0])
    np.testing.assert_array_equal(table.values[2], [2.0**40, 1.0])
    np.testing.assert_array_equal(table.values[3], [1.25, 2.5])
    assert table.values[4].tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1, None]}, ["t.parquet: row 2: missing value in column 'a' (1 of 2)", "--impute"]),
        ({"a": [1.0, float("nan")]}, ["row 2: missing value"]),
        ({"a": ["x", None]}, ["row 2: missing value"]),
        ({"a": [1.0, float("inf")]}, ["row 2: infinite value", "found inf", "a finite number"]),
        ({"a": [datetime.date(2020, 1, 1)]}, ["column 'a' cannot be read, found date32", "--ignore"]),
        ({"a": [[1, 2]]}, ["column 'a' cannot be read, found list"]),
        ({"a": [None, None]}, ["column 'a' has no values"]),
        ({"a": pa.array([], pa.float64())}, ["no data, found 0 rows"]),
    ],
)
def test_columns_that_cannot_be_read(columns, words):
    message = fault(parquet(columns), "t.parquet")
    assert all(word in message for word in words), message


def test_missing_values_with_impute():
    table = read(parquet({"a": [1, None, 3], "b": ["x", None, "y"]}), "t.parquet", impute=True)
    np.testing.assert_array_equal(table.column("a"), [1.0, np.nan, 3.0])
    assert table.column("b").tolist() == ["x", None, "y"]
    assert table.missing == {"a": "t.parquet: row 2", "b": "t.parquet: row 2"}
    one_row = parquet({"a": [None], "b": [1]})
    assert np.isnan(read(one_row, "t.parquet", impute=True, numeric=["a"]).column("a"))[0]
    assert read(one_row, "t.parquet", impute=True, categorical=["a"]).column("a").tolist() == [None]


def test_options():
    assert read(TABLE, "t.parquet", ignore=["a"]).columns == ["b", "c"]
    assert "column 'c' cannot be read, found" in fault(TABLE, "t.parquet", numeric=["c"])
    assert "expected text" in fault(TABLE, "t.parquet", categorical=["a"])
    assert "did you mean 'c'?" in fault(TABLE, "t.parquet", target="cc")
    assert "header does not apply" in fault(TABLE, "t.parquet", header=True)


@pytest.mark.fault("F1")
def test_truncated_at_every_byte_and_F3_other_files():
    for end in range(4, len(TABLE)):
        assert "damaged Parquet file" in fault(TABLE[:end], "t.parquet")
    assert "not a Parquet file" in fault(b"a,b\n1,2\n", "t.parquet")
    assert "not a Parquet file" in fault(b"", "t.parquet")
    assert "a Parquet file by its first bytes" in fault(TABLE, "t.csv", format="csv")


@pytest.mark.fault("F13")
def test_duplicate_names():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    stream = io.BytesIO()
    pq.write_table(table, stream)
    assert "duplicate column names, found 'a'" in fault(stream.getvalue(), "t.parquet")


@pytest.mark.fault("F14")
def test_limits():
    many = parquet({"a": np.zeros(10**6)})
    assert len(many) < 10**5
    assert "too large" in fault(many, "t.parquet", limits=Limits(max_bytes=10**6))
    assert "too large" in fault(TABLE, "t.parquet", limits=Limits(max_bytes=100))
    assert "too many columns, found 3" in fault(TABLE, "t.parquet", limits=Limits(max_columns=2))


@pytest.mark.fault("F14")
def test_a_long_string_that_is_repeated():
    long = "x" * 10**6
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**5, dtype=np.int32)), pa.array([long]))
    table = read(parquet({"a": column, "b": np.zeros(10**5)}), "t.parquet")
    assert table.column("a")[0] is table.column("a")[-1]


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"t\.parquet: Parquet files need pyarrow: .*adatron\[parquet\]"):
        read(TABLE, "t.parquet")
