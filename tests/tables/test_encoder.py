"""What `TableEncoder` makes of tables, odd ones among them."""

import datetime as dt
import pickle
import re

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from adatron.exceptions import AdatronWarning
from adatron.tables import TableEncoder, needs_encoding

N = 120
ROWS = np.arange(N)


def mixed(n=N, seed=0):
    """A table with a column of every kind, as a dict of lists of Python's objects."""
    rng = np.random.default_rng(seed)
    start = dt.datetime(2020, 5, 17, 8)
    holes = rng.random(n) < 0.1
    return {
        "size": [None if hole else float(v) for v, hole in zip(rng.normal(size=n), holes, strict=True)],
        "count": [int(v) for v in rng.integers(0, 50, n)],
        "colour": [None if v == 4 else f"colour {v}" for v in rng.integers(0, 5, n)],
        "answer": [("no", "yes")[v] for v in rng.integers(0, 2, n)],
        "flag": [bool(v) for v in rng.integers(0, 2, n)],
        "price": [f"${v:,.2f}" for v in rng.lognormal(8, 2, n)],
        "when": [start + dt.timedelta(hours=int(v)) for v in rng.integers(0, 10_000, n)],
        "lasted": [dt.timedelta(seconds=int(v)) for v in rng.integers(0, 10_000, n)],
        "note": [
            f"it was {('good', 'bad', 'so so')[v]} at visit {v}{i}"
            for i, v in enumerate(rng.integers(0, 3, n))
        ],
        "city": [f"city{v}" for v in rng.integers(0, 60, n)],
    }


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_tables_of_all_libraries_are_encoded_to_the_same_bits():
    cells, y = mixed(), ROWS % 3
    frame = pd.DataFrame(cells)
    arrow = pa.table(cells)
    tables = [
        frame, frame.convert_dtypes(), frame.astype(object), frame.to_numpy(dtype=object),
        frame.astype({"colour": "category", "city": "category"}), arrow, pl.DataFrame(cells),
        pl.DataFrame(cells).cast({"colour": pl.Categorical}), arrow.to_pandas(types_mapper=pd.ArrowDtype),
        [list(row) for row in zip(*cells.values(), strict=True)],
    ]  # fmt: skip
    encoded = [TableEncoder().fit_transform(table, y) for table in tables]
    assert encoded[0].shape[1] > 40
    for other in encoded[1:]:
        np.testing.assert_array_equal(other, encoded[0])
    encoder = TableEncoder().fit(frame, y)
    for other in (frame.convert_dtypes(), arrow, pl.DataFrame(cells)):
        np.testing.assert_array_equal(encoder.transform(other), encoder.transform(frame))


def test_the_scales():
    table = pd.DataFrame(
        {"n": np.linspace(5, 9, N), "two": ROWS % 2 * 7 + 3, "three": ["abc"[i % 3] for i in ROWS]}
    )
    Z = TableEncoder().fit_transform(table)
    z = (table["n"] - 7) / table["n"].std(ddof=0)
    np.testing.assert_allclose(Z[:, 0], z / np.sqrt(1 + (z / 5) ** 2), atol=1e-12)
    assert set(Z[:, 1]) == {-1.0, 1.0}
    two_values, two_levels = np.abs(Z[0, 1] - Z[1, 1]), np.abs(Z[0, 2:] - Z[1, 2:]).sum()
    assert two_levels == two_values
    assert set(Z[:, 2:].ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("factor", [1e-300, 1e-20, 1.0, 1e20, 1e300])
def test_heavy_tails_and_magnitudes(factor):
    values = np.random.default_rng(0).normal(size=300)
    values[7] = 1e6
    Z = TableEncoder().fit_transform(pd.DataFrame({"a": values * factor}))[:, 0]
    assert np.isfinite(Z).all()
    assert 4.9 < Z[7] <= 5.0
    assert 0.8 < np.delete(Z, 7).std() < 1.2


def test_missing_numbers_are_medians_with_an_indicator():
    values = np.where(ROWS % 6 == 0, np.nan, ROWS.astype(float))
    encoder = TableEncoder()
    Z = encoder.fit_transform(pd.DataFrame({"a": values}))
    assert encoder.get_feature_names_out().tolist() == ["a", "a_missing"]
    assert np.array_equal(Z[:, 1], np.where(np.isnan(values), 1.0, -1.0))
    median = encoder.transform(pd.DataFrame({"a": [np.nanmedian(values)]}))[0, 0]
    np.testing.assert_allclose(Z[::6, 0], median, rtol=1e-12)


def test_a_hole_that_only_prediction_has_is_imputed():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ROWS * 1.0, "b": ["xy"[i % 2] for i in ROWS]}))
    Z = encoder.transform(pd.DataFrame({"a": [None, np.median(ROWS)], "b": [None, "x"]}))
    assert Z.shape == (2, 2)
    np.testing.assert_allclose(Z[0], [Z[1, 0], 0.0])


def test_rare_and_unseen_levels_share_a_column():
    levels = ["often"] * 60 + ["also"] * 50 + ["rare1", "rare2"] * 4 + [None] * 2
    encoder = TableEncoder()
    Z = encoder.fit_transform(pd.DataFrame({"a": levels}))
    assert encoder.get_feature_names_out().tolist() == ["a_also", "a_often", "a_other"]
    unseen = encoder.transform(pd.DataFrame({"a": ["new", "rare1", None]}))
    assert (unseen == Z[-3]).all()


def test_an_unseen_level_without_rare_ones_is_all_zero():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ["abc"[i % 3] for i in ROWS]}))
    assert not encoder.transform(pd.DataFrame({"a": ["d"]})).any()


@pytest.mark.parametrize(
    ("cells", "later"),
    [
        (["2.0", "1.5", "none yet"], [2.0, 1.5]),  # one file has words among its numbers, the next has none
        (["2.50", "1.5", "none yet"], [2.5, 1.5]),
        (["true", "false", "maybe"], [True, False]),
        (["01", "75", "2A"], [1, 75]),
    ],
)
def test_a_level_that_is_a_number_is_known_again_among_numbers(cells, later):
    encoder = TableEncoder().fit(pd.DataFrame({"a": [cells[i % 3] for i in ROWS]}))
    encoded = encoder.transform(pd.DataFrame({"a": later}))
    np.testing.assert_array_equal(encoded, encoder.transform(pd.DataFrame({"a": cells[:2]})))
    assert encoded.any(axis=1).all()


def test_missing_is_a_level_of_a_category():
    encoder = TableEncoder()
    Z = encoder.fit_transform(pd.DataFrame({"a": [("a", "b", "c", None)[i % 4] for i in ROWS]}))
    assert encoder.get_feature_names_out()[-1] == "a_missing"
    assert np.array_equal(Z[:, 3] > 0, ROWS % 4 == 3)


def test_ordered_categories_are_ranks():
    sizes = pd.Categorical(
        [("S", "M", "L")[i % 3] for i in ROWS], categories=["S", "M", "L", "XL"], ordered=True
    )
    encoder = TableEncoder()
    Z = encoder.fit_transform(pd.DataFrame({"size": sizes}))
    assert Z.shape == (N, 1)
    assert Z[0, 0] < Z[1, 0] < Z[2, 0]
    extra = encoder.transform(pd.DataFrame({"size": ["XL"]}))  # never seen, but its rank is known
    assert extra[0, 0] > Z[2, 0]


def test_parts_of_dates():
    start = np.datetime64("2020-01-01T00:00")
    encoder = TableEncoder().fit(pd.DataFrame({"t": start + ROWS * np.timedelta64(5, "D")}))
    names = [name.removeprefix("t_") for name in encoder.get_feature_names_out()]
    expected = ["elapsed", "year", "month_sin", "month_cos", "weekday_sin", "weekday_cos", "weekend"]
    assert names == expected
    saturday, monday = encoder.transform(pd.DataFrame({"t": ["2020-02-01", "2020-02-03 12:30"]}))
    assert (saturday[6], monday[6]) == (1.0, -1.0)
    np.testing.assert_allclose(monday[4:6], [0.0, 1.0])
    hours = TableEncoder().fit(pd.DataFrame({"t": start + ROWS * np.timedelta64(1, "m")}))
    assert [name.removeprefix("t_") for name in hours.get_feature_names_out()] == [
        "elapsed",
        "hour_sin",
        "hour_cos",
    ]


def test_texts_have_length_one():
    table = pd.DataFrame({"a": mixed()["note"]})
    dense = TableEncoder().fit_transform(table)
    np.testing.assert_allclose(np.linalg.norm(dense, axis=1), 1.0)
    lean = TableEncoder(sparse_output=True).fit_transform(table)
    assert sparse.issparse(lean)
    assert np.array_equal(lean.toarray(), dense)
    unknown = TableEncoder().fit(table).transform(pd.DataFrame({"a": ["entirely different words", None]}))
    assert not unknown.any()


def test_columns_are_matched_by_name():
    table = pd.DataFrame(mixed())
    encoder = TableEncoder().fit(table, ROWS)
    expected = encoder.transform(table)
    np.testing.assert_array_equal(encoder.transform(table[table.columns[::-1]]), expected)
    with pytest.raises(ValueError, match="X lacks columns that were there at fit: 'count', 'city'"):
        encoder.transform(table.drop(columns=["city", "count"]))
    with pytest.warns(AdatronWarning, match="not there at fit are ignored: 'more'"):
        more = encoder.transform(table.assign(more=1))
    np.testing.assert_array_equal(more, expected)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        by_position = encoder.transform(table.to_numpy(dtype=object))
    np.testing.assert_array_equal(by_position, expected)
    with pytest.raises(ValueError, match="X has 3 features, but TableEncoder is expecting 10"):
        encoder.transform(table.iloc[:, :3].to_numpy(dtype=object))


@pytest.mark.parametrize("kind", [pd.DataFrame, lambda table: pa.Table.from_pandas(pd.DataFrame(table))])
def test_columns_of_equal_names_are_matched_in_their_order(kind):
    cells = np.column_stack([ROWS % 7, ROWS % 2, ROWS % 3])
    frame = pd.DataFrame(cells, columns=["a", "b", "a"])
    table = frame if kind is pd.DataFrame else pa.table([*map(pa.array, cells.T)], names=["a", "b", "a"])
    encoder = TableEncoder().fit(table)
    assert [column.name for column in encoder.columns_] == ["a", "b", "a_2"]
    np.testing.assert_array_equal(encoder.transform(table), TableEncoder().fit(cells).transform(cells))


def test_a_table_of_odd_columns():
    """Every oddity that a table may have, in one: it fits, and one row can be predicted."""
    table = pd.DataFrame(
        {
            "nothing": [None] * N,
            "as text": [str(i % 2) for i in ROWS],
            "several types": [(1, "one", 2.5, True)[i % 4] for i in ROWS],
            "typo": [*(f"2021-03-{i % 28 + 1:02}" for i in ROWS[1:]), "2021-o3-01"],
            "unused": pd.Categorical(["abc"[i % 3] for i in ROWS], categories=list("abcdefgh")),
            "arrow": pd.array(["abc"[i % 3] for i in ROWS], dtype=pd.ArrowDtype(pa.string())),
        },
        index=pd.MultiIndex.from_arrays([ROWS % 5 + 100, ROWS[::-1]]),
    )
    encoder = TableEncoder().set_output(transform="pandas")
    Z = encoder.fit_transform(table, ROWS % 2)
    kinds = [column.kind for column in encoder.columns_]
    assert kinds == ["empty", "binary", "category", "date", "category", "category"]
    assert encoder.columns_["typo"].n_missing == 1
    assert encoder.columns_["unused"].n_outputs == 3
    assert Z.index.equals(table.index)
    assert np.isfinite(Z.to_numpy()).all()
    for i in (0, N - 1):
        pd.testing.assert_frame_equal(encoder.transform(table.iloc[[i]]), Z.iloc[[i]])


def test_an_enum_of_polars_is_a_category():
    table = pl.DataFrame({"a": pl.Series(["abc"[i % 3] for i in ROWS], dtype=pl.Enum(list("cabz")))})
    encoder = TableEncoder().fit(table)
    assert (encoder.columns_[0].kind, encoder.columns_[0].n_outputs) == ("category", 3)


def test_fifty_thousand_levels():
    n = 100_000
    table = pd.DataFrame({"a": [f"level {i % 50_000}" for i in range(n)]})
    encoder = TableEncoder()
    Z = encoder.fit_transform(table, np.arange(n) % 50_000 < 25_000)
    assert encoder.columns_[0].n_levels == 50_000
    assert Z.shape[1] <= 42


@pytest.mark.parametrize(
    ("cell", "what"), [([1, 2], "list"), ({"a": 1}, "dict"), ((1, 2), "tuple"), (np.ones(2), "ndarray")]
)
def test_a_column_of_lists_is_an_error(cell, what):
    cells = pd.Series([1, 2, cell, 4], dtype=object)
    with pytest.raises(ValueError, match=f"column 'b' holds a {what} in row 2"):
        TableEncoder().fit(pd.DataFrame({"a": [1, 2, 3, 4], "b": cells}))


def test_objects_that_are_no_text_are_an_error():
    with pytest.raises(ValueError, match="column 'b' holds a object in row 1"):
        TableEncoder().fit(pd.DataFrame({"a": [1, 2], "b": ["text", object()]}))


@pytest.mark.parametrize("frequency", ["Y", "Q", "M", "W", "h"])
def test_periods_are_dates(frequency):
    table = pd.DataFrame({"a": pd.period_range("2000", periods=30, freq=frequency)})
    table.loc[3, "a"] = None
    encoder = TableEncoder().fit(table)
    assert (encoder.columns_[0].kind, encoder.columns_[0].n_missing) == ("date", 1)
    as_dates = table.assign(a=table["a"].dt.to_timestamp())
    np.testing.assert_array_equal(encoder.transform(table), encoder.transform(as_dates))


@pytest.mark.parametrize(
    "values",
    [np.array(["300000-01-01", "2000-01-01"], dtype="M8[s]"), np.array([10**14, 1], dtype="m8[s]")],
)
def test_dates_and_durations_that_are_too_far_away_name_the_column(values):
    table = pd.DataFrame({"a": [1, 2], "b": values})
    with pytest.raises(ValueError, match="column 'b' has dates or times that are too far away"):
        TableEncoder().fit(table)


@pytest.mark.parametrize("text", ["1e999", "9" * 400, "-1e999"])
def test_written_numbers_beyond_float64_are_missing(text):
    cells = [text, *(f"{i}.5" for i in ROWS)]
    encoder = TableEncoder().fit(pd.DataFrame({"a": cells}))
    assert (encoder.columns_[0].kind, encoder.columns_[0].n_missing) == ("number", 1)
    assert np.isfinite(encoder.transform(pd.DataFrame({"a": [text]}))).all()


def test_durations_of_many_digits_are_no_durations():
    cells = ["9" * 400 + ":00:00", *(f"{i}:30:00" for i in ROWS)]
    assert TableEncoder().fit(pd.DataFrame({"a": cells})).columns_[0].n_missing == 1


def test_masked_cells_are_missing():
    mask = np.zeros((len(ROWS), 2), dtype=bool)
    mask[5] = True
    table = np.ma.array(np.column_stack([ROWS * 1.0, ROWS % 2]), mask=mask)
    assert [column.n_missing for column in TableEncoder().fit(table).columns_] == [1, 1]


@pytest.mark.parametrize("library", [pl.DataFrame, pa.table])
def test_a_column_of_lists_is_an_error_by_its_dtype(library):
    with pytest.raises(ValueError, match="column 'b' holds a list"):
        TableEncoder().fit(library({"a": [1, 2], "b": [[1], [2, 3]]}))


def test_infinite_values_are_an_error_that_names_row_and_column():
    table = pd.DataFrame({"a": ROWS * 1.0, "b": ROWS % 2})
    broken = table.copy()
    broken.loc[17, "a"] = -np.inf
    with pytest.raises(ValueError, match="infinity: row 17, column 'a'"):
        TableEncoder().fit(broken)
    with pytest.raises(ValueError, match="infinity: row 17, column 'a'"):
        TableEncoder().fit(table).transform(broken)


def test_a_column_that_holds_something_else_at_prediction_is_an_error():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ROWS}))
    with pytest.raises(ValueError, match="column 'a' should hold numbers, but holds 'red'"):
        encoder.transform(pd.DataFrame({"a": ["red"]}))
    with pytest.raises(ValueError, match="column 'a' should hold numbers, but holds dates"):
        encoder.transform(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}))


@pytest.mark.parametrize("cells", [["1,5", "2,5", "3,5"], ["03.01.2024", "04.01.2024", "25.02.2024"]])
def test_text_that_cannot_be_read_at_prediction_counts_as_missing_with_a_warning(cells):
    encoder = TableEncoder().fit(pd.DataFrame({"a": cells * 20}))
    expected = encoder.transform(pd.DataFrame({"a": [cells[0], None, "n/a"]}))
    with pytest.warns(AdatronWarning, match=r"'a' should hold .*s; taken as missing: '2.x', 'oops'"):
        found = encoder.transform(pd.DataFrame({"a": [cells[0], "2.x", "oops"]}))
    np.testing.assert_array_equal(found, expected)
    encoder.transform(pd.DataFrame({"a": [*cells * 20, "2.x", "oops"]}))  # a fit would accept this


def test_nothing_of_use_is_an_error():
    with pytest.raises(
        ValueError, match=r"no column of X \(120 samples\) is of use: 'a' dropped: one value in all rows"
    ):
        TableEncoder().fit(pd.DataFrame({"a": ["x"] * N}))


@pytest.mark.parametrize("parameters", [{"target_type": "numbers"}, {"sparse_output": "yes"}])
def test_wrong_parameters_are_errors(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        TableEncoder(**parameters).fit(pd.DataFrame({"a": ROWS}))


def test_names_are_not_listed_for_every_column(monkeypatch):
    names, listed = nw.DataFrame.columns, []
    monkeypatch.setattr(nw.DataFrame, "columns", property(lambda self: listed.append(1) or names.fget(self)))
    n_listed = []
    for n_columns in (10, 100):
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, n_columns))).add_prefix("c")
        listed.clear()
        assert not needs_encoding(frame)
        TableEncoder().fit(frame).transform(frame)
        n_listed.append(len(listed))
    assert n_listed[0] == n_listed[1] > 0


def test_outputs_know_their_columns():
    encoder = TableEncoder().fit(pd.DataFrame(mixed()), ROWS)
    names = encoder.get_feature_names_out()
    assert len(set(names)) == len(names) == len(encoder.output_columns_) == len(encoder.output_kinds_)
    for name, j, kind in zip(names, encoder.output_columns_, encoder.output_kinds_, strict=True):
        assert name.startswith(encoder.columns_[int(j)].name)
        assert encoder.columns_[int(j)].kind == kind
    counts = np.bincount(encoder.output_columns_, minlength=10)
    assert counts.tolist() == [column.n_outputs for column in encoder.columns_]


def test_columns_print_as_a_table():
    lines = repr(TableEncoder().fit(pd.DataFrame(mixed()), ROWS).columns_).splitlines()
    assert lines[0].split() == ["column", "kind", "missing", "levels", "outputs", "what", "was", "done"]
    assert lines[1].endswith("standardised, missing indicated")
    assert lines[10].endswith("target means")


def test_names_that_would_be_equal_are_numbered():
    table = pd.DataFrame({"a": ["bcd"[i % 3] for i in ROWS], "a_b": ROWS})
    assert TableEncoder().fit(table).get_feature_names_out().tolist() == ["a_b", "a_c", "a_d", "a_b_2"]


def test_fitted_state_does_not_depend_on_the_order_of_rows():
    table = pd.DataFrame(mixed()).drop(columns="city")
    order = np.random.default_rng(1).permutation(N)
    one, other = TableEncoder().fit(table), TableEncoder().fit(table.iloc[order])
    np.testing.assert_array_equal(one.transform(table), other.transform(table))


def test_clone_pickle_and_pipeline():
    table, y = pd.DataFrame(mixed()), ROWS % 3
    encoder = clone(TableEncoder(kinds={"count": "category"}, random_state=3))
    Z = encoder.fit_transform(table, y)
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))
    np.testing.assert_array_equal(clone(encoder).fit_transform(table, y), Z)
    from sklearn.neighbors import KNeighborsClassifier

    assert make_pipeline(TableEncoder(), KNeighborsClassifier(1)).fit(table, y).predict(table).shape == (N,)
    assert "TableEncoder" in encoder._repr_html_()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.period_range("2020-01", periods=N, freq="M"), "date"),
        (pd.cut(ROWS, 4), "ordinal"),
        (pd.arrays.SparseArray(ROWS % 5), "number"),
        (pd.Series([np.timedelta64(int(i), "m") for i in ROWS], dtype=object), "duration"),
        (pd.date_range("2020-01-01", periods=N, tz="Europe/Berlin"), "date"),
        (pd.Series([*pd.date_range("2020-01-01", periods=N - 1, tz="UTC"), pd.NaT], dtype=object), "date"),
        (pd.array([*ROWS[:-1], None], dtype="UInt8"), "number"),
    ],
)
def test_dtypes_of_pandas(values, kind):
    table = pd.DataFrame({"a": values})
    encoder = TableEncoder()
    assert np.isfinite(encoder.fit_transform(table)).all()
    assert encoder.columns_[0].kind == kind


def test_dtypes_of_arrow():
    words = pa.array(["a", "b", "c"] * (N // 3))
    columns = [words.dictionary_encode(), words.cast(pa.large_string()), words.cast(pa.binary()), pa.nulls(N)]
    columns += [pa.array(ROWS).cast(pa.decimal128(25, 2)), pa.array(ROWS.astype(np.float16))]
    encoder = TableEncoder().fit(pa.table(columns, names=list("abcdef")))
    assert [column.kind for column in encoder.columns_] == [*["category"] * 3, "empty", "number", "number"]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (pl.LazyFrame({"a": [1, 2]}), TypeError, "pass X.collect()"),
        (pd.DataFrame({"a": [1j, 2j]}), ValueError, "column 'a' holds a complex"),
        (
            pd.DataFrame({"a": pd.Series([1, 10**400], dtype=object)}),
            ValueError,
            "infinity: row 1, column 'a'",
        ),
        (pd.DataFrame({"a": [1.0]}).iloc[:0], ValueError, "0 sample"),
        (pd.DataFrame(index=range(3)), ValueError, "0 feature"),
        ([[1, "a"], [2]], ValueError, "inhomogeneous"),
        (sparse.eye_array(3), TypeError, "dense data is required"),
    ],
)
def test_what_is_no_table_is_an_error(X, error, message):
    with pytest.raises(error, match=re.escape(message)):
        TableEncoder().fit(X)


def test_no_rows_and_rows_without_any_value_can_be_encoded():
    table = pd.DataFrame(mixed())
    encoder = TableEncoder().fit(table, ROWS)
    n_outputs = len(encoder.get_feature_names_out())
    for empty in (table.iloc[:0], pl.DataFrame(mixed()).clear()):
        assert encoder.transform(empty).shape == (0, n_outputs)
    nothing = [pd.DataFrame({name: [cell] for name in table}) for cell in (None, np.nan)]
    rows = [encoder.transform(row) for row in nothing]
    assert np.isfinite(rows[0]).all()
    np.testing.assert_array_equal(rows[0], rows[1])


@pytest.mark.parametrize("names", [[0, 1], [("a", 1), ("b", 2)], [1, "b"]])
def test_names_that_are_no_strings_are_matched_by_position(names):
    table = pd.DataFrame(np.column_stack([ROWS, ROWS % 3]), columns=names)
    encoder = TableEncoder().fit(table)
    assert "feature_names_in_" not in vars(encoder)
    np.testing.assert_array_equal(encoder.transform(table.to_numpy()), encoder.transform(table))


def test_names_that_look_like_numbered_ones_are_kept_apart():
    table = pd.DataFrame(np.column_stack([ROWS, ROWS % 7, ROWS % 5]), columns=["a", "a", "a_2"])
    encoder = TableEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == ["a", "a_2", "a_2_2"]
    np.testing.assert_array_equal(encoder.transform(table), TableEncoder().fit_transform(table.to_numpy()))


def test_words_for_missing_values_mean_the_same_at_prediction():
    encoder = TableEncoder().fit(pd.DataFrame({"a": [("a", "b", "c", "?")[i % 4] for i in ROWS]}))
    assert encoder.columns_["a"].n_missing == N // 4
    rows = encoder.transform(pd.DataFrame({"a": ["?", None, "n/a", "d"]}))
    assert (rows[:3] == rows[0]).all()
    assert not (rows[3] == rows[0]).all()


def test_equal_objects_of_several_types_are_one_level():
    cells = [(1, "one", 2.5)[i % 3] for i in ROWS]
    encoder = TableEncoder().fit(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    rows = encoder.transform(pd.DataFrame({"a": pd.Series([True, 1, 1.0, "1", "one"], dtype=object)}))
    assert (rows[:4] == rows[0]).all()
    assert not (rows[4] == rows[0]).all()
