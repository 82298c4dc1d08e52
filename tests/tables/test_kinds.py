"""Which kind each column is taken for."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adatron.tables import TableEncoder, is_table, needs_encoding
from adatron.tables.parsing import parse_dates, parse_durations, parse_numbers

N = 60
ROWS = np.arange(N)


def kinds_of(table, **parameters):
    return {column.name: column.kind for column in TableEncoder(**parameters).fit(table).columns_}


def kind_of(values, **parameters):
    return kinds_of(pd.DataFrame({"a": values, "b": ROWS % 7}), **parameters)["a"]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", ROWS * 1.5),
        ("number", [f"{i}.5" for i in ROWS]),
        ("number", [f"${i},234.50" for i in ROWS + 1]),
        ("number", [f"{i}.234,50 €" for i in ROWS + 1]),
        ("number", [f"{i} %" for i in ROWS]),
        ("number", [f"1 {i:03} 000" for i in ROWS]),
        ("number", [*(str(i) for i in ROWS[:-2]), "n/a", "-"]),
        ("number", [*(str(i) for i in ROWS[:-1]), "oops"]),
        ("number", [decimal.Decimal(int(i)) for i in ROWS]),
        ("number", [*map(int, ROWS[:-1]), None]),
        ("binary", ROWS % 2),
        ("binary", ROWS % 2 + 5.0),
        ("binary", [str(i % 2) for i in ROWS]),
        ("binary", ["yes" if i % 2 else "no" for i in ROWS]),
        ("boolean", ROWS % 2 == 0),
        ("boolean", pd.array([True, False, None] * (N // 3), dtype="boolean")),
        ("category", ["abc"[i % 3] for i in ROWS]),
        ("category", [("a", 1, 2.5)[i % 3] for i in ROWS]),
        ("category", [f"{i % 3:03}" for i in ROWS]),  # codes with leading zeros
        ("category", [("1", "2", "3 or more")[i % 3] for i in ROWS]),
        ("category", pd.Categorical(ROWS % 3, categories=range(9))),
        ("ordinal", pd.Categorical(["abc"[i % 3] for i in ROWS], categories=list("xcba"), ordered=True)),
        ("text", [f"the order number{i} came {'late' if i % 2 else 'early'} today" for i in ROWS]),
        ("date", pd.date_range("2020-01-01", periods=N)),
        ("date", [f"2020-01-{i % 28 + 1:02}" for i in ROWS]),
        ("date", [f"{i % 28 + 1}.3.2021 {i % 24}:30" for i in ROWS]),
        ("date", [*(f"{i % 28 + 1} March 2021" for i in ROWS[:-1]), "soon"]),
        ("date", [dt.date(2020, 1, 1) + dt.timedelta(int(i)) for i in ROWS]),
        ("duration", [f"{i % 24}:30" for i in ROWS]),
        ("duration", [dt.timedelta(minutes=int(i)) for i in ROWS]),
        ("duration", [dt.time(int(i) % 24) for i in ROWS]),
        ("constant", ["same"] * N),
        ("constant", np.ones(N)),
        ("empty", [None] * N),
        ("empty", np.full(N, np.nan)),
        ("empty", ["", "?", "n/a"] * (N // 3)),
        ("identifier", [f"user{i}" for i in ROWS]),
        ("number", ROWS),  # nothing says that this is an identifier
    ],
)
def test_kind(kind, values):
    assert kind_of(values) == kind


@pytest.mark.parametrize("name", ["id", "ID", "customerID", "customer_id", "Unnamed: 0", "rownames", "Index"])
def test_whole_numbers_that_all_differ_are_identifiers_by_name(name):
    assert kinds_of(pd.DataFrame({name: ROWS[::-1] + 1000, "b": ROWS % 7}))[name] == "identifier"


@pytest.mark.parametrize("name", ["width", "said", "humid", "area", "paid", "grid"])
def test_other_names_are_not(name):
    assert kinds_of(pd.DataFrame({name: ROWS, "b": ROWS % 7}))[name] == "number"


def test_an_identifier_by_name_must_have_different_whole_numbers():
    table = pd.DataFrame({"id": ROWS // 2, "visit_id": ROWS + 0.5})
    assert kinds_of(table) == {"id": "number", "visit_id": "number"}


@pytest.mark.parametrize(
    ("kind", "n_outputs"), [("category", 6), ("ordinal", 1), ("number", 1), ("identifier", 0), ("text", 6)]
)
def test_kinds_are_overridden(kind, n_outputs):
    table = pd.DataFrame({"zip": ROWS % 6 + 10_000, "b": ROWS % 7})
    column = TableEncoder(kinds={"zip": kind}).fit(table).columns_["zip"]
    assert (column.kind, column.n_outputs) == (kind, n_outputs)


def test_an_array_has_kinds_by_position():
    X = np.column_stack([ROWS % 5, ROWS % 7])
    assert kinds_of(X, kinds={1: "category"}) == {"x0": "number", "x1": "category"}
    assert kinds_of(X, kinds={np.int64(1): "category"}) == {"x0": "number", "x1": "category"}
    assert kinds_of(X, kinds={"x1": "category"}) == {"x0": "number", "x1": "category"}


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"zipp": "category"}, "kinds names the column 'zipp', which X does not have"),
        (["zip"], "kinds must be None or a dict of kinds by column"),
        ({"zip": "categorical"}, "kinds.'zip'. must be one of number, binary"),
        ({"zip": "binary"}, "column 'zip' is binary, but it has not two values"),
        ({"word": "number"}, "column 'word' should hold numbers, but holds 'a'"),
        ({"word": "date"}, "column 'word' should hold dates, but holds 'a'"),
    ],
)
def test_wrong_kinds_are_errors(kinds, message):
    table = pd.DataFrame({"zip": ROWS, "word": ["abc"[i % 3] for i in ROWS]})
    with pytest.raises(ValueError, match=message):
        TableEncoder(kinds=kinds).fit(table)


def test_numbers_as_people_write_them():
    texts = [
        "1",
        "-2.5",
        "1e3",
        "$5",
        "-$5",
        "$-5",
        "(7)",
        "1,234",
        "1'234'567",
        "5 €",
        "12%",
        "5+",
        "true",
        "−3",
    ]
    expected = [1, -2.5, 1000, 5, -5, -5, -7, 1234, 1234567, 5, 12, 5, 1, -3]
    assert parse_numbers(texts).tolist() == expected
    assert parse_numbers(["1,5", "1.234,5", "1.234.567", "12"], decimal=",").tolist() == [
        1.5,
        1234.5,
        1234567,
        12,
    ]
    wrong = ["", "a", "1,23", "1_000", "1.2.3", "12 apples", "inf", "nan", "0x10", "1-2", "$", "."]
    assert np.isnan(parse_numbers(wrong)).all()


def test_dates_as_people_write_them():
    texts = [
        "2024-02-29",
        "2024/2/9",
        "29.2.2024",
        "2/29/2024",
        "Feb 29, 2024",
        "Thu, 29 Feb 2024",
        "29-Feb-2024",
    ]
    expected = ["2024-02-29", "2024-02-09", *["2024-02-29"] * 5]
    assert parse_dates(texts).astype("datetime64[D]").astype(str).tolist() == expected
    assert str(parse_dates(["03/04/2024"], day_first=True)[0])[:10] == "2024-04-03"
    times = ["2024-02-29T13:45:10Z", "29.2.2024 13:45:10", "2/29/24 1:45:10 PM", "2024-02-29 13:45:10+02:00"]
    assert set(parse_dates(times).astype(str)) == {"2024-02-29T13:45:10.000000"}
    assert np.isnat(parse_dates(["2023-02-29", "29.13.2024", "soon", "2024", "12 apples 2024", ""])).all()


def test_durations_as_people_write_them():
    assert parse_durations(["1:30", "0:00:01.5", "2 days 03:00:00"]).tolist() == [5400.0, 1.5, 183600.0]
    assert np.isnan(parse_durations(["1:75", "a:b", ""])).all()


def test_day_first_is_found_out():
    table = pd.DataFrame({"when": [f"{i % 28 + 1:02}/03/2020" for i in ROWS]})
    names = TableEncoder().fit(table).get_feature_names_out()
    assert "when_month_sin" not in names  # always March
    assert TableEncoder().fit(table).transform(table)[0, 0] < 0  # the first is the earliest


def test_what_is_a_table():
    frame = pd.DataFrame({"a": [1, 2]})
    tables = [
        frame, pl.DataFrame({"a": [1]}), pa.table({"a": [1]}), np.array([["a"]]), np.array([[None, 1]]),
        np.array([["2020-01-01"]], dtype="datetime64[D]"), [[1, "a"]], [[None, 1.0]],
    ]  # fmt: skip
    assert all(map(is_table, tables))
    from scipy import sparse

    others = [
        np.ones((2, 2)),
        np.array([[True]]),
        sparse.eye_array(3),
        [[1, 2], [3.0, 4]],
        frame["a"],
        None,
        "a",
    ]
    others += [[[1], [2, 3]], pl.LazyFrame({"a": [1]}), np.array(["a"])]
    assert not any(map(is_table, others))


def test_dask_collections_are_no_tables():
    dd = pytest.importorskip("dask.dataframe")
    assert not is_table(dd.from_pandas(pd.DataFrame({"a": ["x", "y"]}), npartitions=1))


def test_what_needs_encoding():
    complete = {"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]}
    frames = [pd.DataFrame(complete), pd.DataFrame(complete).convert_dtypes(), pl.DataFrame(complete)]
    assert not any(map(needs_encoding, [*frames, pa.table(complete), np.array([[np.nan]])]))
    for extra in (["x", "y"], [1, None], [dt.date(2020, 1, 1)] * 2):
        table = {**complete, "d": extra}
        assert all(map(needs_encoding, [pd.DataFrame(table), pl.DataFrame(table), pa.table(table)]))
