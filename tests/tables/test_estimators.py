"""Estimators that take data frames as they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from adatron import SVC, SVR, AutoSVC, AutoSVR, EnsembleSVC, OneClassSVM, SupportVectorClustering
from adatron.exceptions import AdatronWarning
from adatron.io import load_model, save_model
from adatron.tables import TableEncoder


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    age = random.normal(40.0, 10.0, 120)
    plan = random.choice(["basic", "plus", "pro"], 120)
    frame = pd.DataFrame({"age": age, "plan": plan, "joined": pd.date_range("2024-01-01", periods=120)})
    frame.loc[::9, "age"] = np.nan
    return frame, np.where((frame["plan"] == "pro") | (frame["age"] > 50.0), "stays", "leaves")


@pytest.mark.parametrize("estimator", [EnsembleSVC(), OneClassSVM(nu=0.2), SupportVectorClustering()])
def test_tables_are_encoded_at_fit_and_at_predict(estimator, table):
    frame, y = table
    model = estimator.fit(frame, y)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["age", "plan", "joined"]
    assert [column.kind for column in model.encoder_.columns_] == ["number", "category", "date"]
    encoded = TableEncoder().fit_transform(frame)
    plain = type(estimator)(**estimator.get_params()).fit(encoded, y)
    if hasattr(model, "labels_"):
        np.testing.assert_array_equal(model.labels_, plain.labels_)
    else:
        np.testing.assert_array_equal(model.predict(frame), plain.predict(encoded))
        np.testing.assert_array_equal(model.predict(frame[["joined", "age", "plan"]]), model.predict(frame))
        np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), model.predict(frame))
        with pytest.warns(AdatronWarning, match="'other'"):
            model.predict(frame.assign(other=1))
        with pytest.raises(ValueError, match="lacks columns that were there at fit: 'age'"):
            model.predict(frame[["plan", "joined"]])


def test_a_fit_of_numbers_forgets_the_encoder_of_a_table(table):
    frame, y = table
    model = EnsembleSVC().fit(frame, y)
    model.fit(np.arange(240.0).reshape(120, 2), y)
    assert not hasattr(model, "encoder_")
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("estimator", [SVC(), SVR()])
def test_drop_ins_for_scikit_learn_name_the_encoder(estimator, table):
    frame = table[0]
    with pytest.raises((ValueError, TypeError), match=r"make_pipeline\(TableEncoder\(\), SV[CR]\(\)\)"):
        estimator.fit(frame[["age", "plan"]].fillna(0.0), np.arange(120))


@pytest.mark.parametrize("estimator", [EnsembleSVC(), OneClassSVM(nu=0.2), SupportVectorClustering()])
def test_model_files_hold_the_encoder(estimator, table, tmp_path):
    frame, y = table
    model = estimator.fit(frame, y)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    else:
        np.testing.assert_array_equal(again.labels_, model.labels_)


def numbers_with_an_id(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"customer_id": np.arange(n), "a": rng.normal(size=n), "b": rng.normal(size=n)})
    return frame, np.where(frame["a"] + 0.3 * rng.normal(size=n) > 0.0, "yes", "no")


def test_row_numbers_among_numbers_are_dropped():
    X, y = numbers_with_an_id()
    model = AutoSVC().fit(X.sort_values("a"), y[X["a"].argsort()])
    assert model.encoder_.columns_[0].kind == "identifier"
    assert model.feature_importances_[0] == 0.0
    np.testing.assert_array_equal(model.predict(X[["b", "a"]]), model.predict(X))  # it need not be there


def test_numbers_that_are_missing_at_predict_only_count_as_the_centre():
    X, y = numbers_with_an_id()
    X = X[["a", "b"]]
    model = AutoSVC().fit(X, y)
    holes, filled = X[:3].copy(), X[:3].copy()
    holes.loc[:1, "b"], filled.loc[:1, "b"] = np.nan, X["b"].mean()
    np.testing.assert_allclose(model.decision_function(holes), model.decision_function(filled), rtol=1e-9)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X[:3] * np.inf)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("estimator", [AutoSVC(), AutoSVR(), EnsembleSVC(), OneClassSVM(nu=0.2)])
def test_columns_of_complete_numbers_are_matched_by_name(estimator, kind):
    X, y = numbers_with_an_id()
    X = X[["a", "b"]]
    model = estimator.fit(kind(X), X["a"] if isinstance(estimator, AutoSVR) else y)
    expected = model.predict(kind(X))
    np.testing.assert_array_equal(model.predict(kind(X[["b", "a"]])), expected)
    with pytest.warns(AdatronWarning, match="columns that were not there at fit are ignored: 'c'"):
        np.testing.assert_array_equal(model.predict(kind(X[["b", "a"]].assign(c="x"))), expected)
    with pytest.raises(ValueError, match="X lacks columns that were there at fit: 'b'"):
        model.predict(kind(X[["a"]]))


@pytest.mark.parametrize("estimator", [AutoSVC(), EnsembleSVC()])
def test_lazy_frames_are_to_be_collected(estimator):
    X, y = numbers_with_an_id()
    frame = pl.from_pandas(X[["a", "b"]])
    with pytest.raises(TypeError, match=r"pass X\.collect"):
        estimator.fit(frame.lazy(), y)
    with pytest.raises(TypeError, match=r"pass X\.collect"):
        estimator.fit(frame, y).predict(frame.lazy())


def test_a_single_column_is_to_be_a_frame():
    words = pd.Series(["a", "b"] * 10)
    with pytest.raises(ValueError, match="Expected a 2-dimensional container"):
        AutoSVC().fit(words, words)


@pytest.mark.parametrize("model", [AutoSVC(), SVC()])
def test_words_where_the_training_table_had_numbers(model):
    X, y = numbers_with_an_id()
    model.fit(X[["a", "b"]], y)
    with pytest.raises(ValueError, match=r"row 0, column 'b': 'oops'\); at fit it held numbers only"):
        model.predict(X[["a"]].assign(b="oops"))


def test_names_of_columns_may_be_text_and_numbers():
    X, y = numbers_with_an_id()
    X = X[["a", "b"]].set_axis(["a", 0], axis=1)
    assert AutoSVC().fit(X, y).score(X, y) > 0.8


def test_a_frame_without_columns_is_an_error():
    X, y = numbers_with_an_id()
    with pytest.raises(ValueError, match="0 feature"):
        AutoSVC().fit(X[[]], y)


def test_target_means_do_not_leak_between_groups():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 80, 600)
    effect = rng.random(80) < 0.5
    X = pd.DataFrame({"customer": [f"c{i}" for i in group], "x": rng.normal(size=600)})
    y = np.where(rng.random(600) < 0.9, effect[group], ~effect[group])
    assert AutoSVC().fit(X, y).best_score_ > 0.8  # known customers
    assert AutoSVC().fit(X, y, groups=group).best_score_ < 0.65  # new ones


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_of_a_table_are_named(missing):
    X = pd.DataFrame({"a": ["u", "v"] * 10})
    with pytest.raises(ValueError, match="the first in row 19"):
        AutoSVC().fit(X, pd.Series(["yes", "no"] * 9 + ["yes", missing], dtype=object))


def test_labels_that_are_neither_text_nor_numbers_are_named():
    X, _ = numbers_with_an_id()
    with pytest.raises(ValueError, match=r"Unknown label type: Interval; use .* y\.astype\(str\)"):
        AutoSVC().fit(X, pd.cut(X["a"], 3))
    assert len(AutoSVC().fit(X, pd.cut(X["a"], 3).astype(str)).classes_) == 3


def test_columns_of_equal_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "a", "b"])
    assert AutoSVR().fit(X, X.to_numpy()[:, 1]).score(X, X.to_numpy()[:, 1]) > 0.9


@pytest.fixture
def many_levels():
    random = np.random.default_rng(0)
    levels = random.integers(0, 150, 500)
    frame = pd.DataFrame({"shop": [f"shop {code}" for code in levels], "price": random.normal(size=500)})
    return frame, random.normal(size=150)[levels] + frame["price"].to_numpy()


@pytest.mark.parametrize("kind", [AutoSVC, AutoSVR])
def test_the_order_of_rows_does_not_matter_to_target_means(kind, many_levels):
    frame, y = many_levels
    y = y > 0.0 if kind is AutoSVC else y
    shuffled = np.random.default_rng(1).permutation(500)
    model, other = kind().fit(frame, y), kind().fit(frame.iloc[shuffled], y[shuffled])
    np.testing.assert_array_equal(model.predict(frame), other.predict(frame))
    assert model.best_score_ == other.best_score_


@pytest.mark.parametrize("has_groups", [False, True])
@pytest.mark.parametrize("kind", [AutoSVC, AutoSVR])
def test_the_order_of_rows_does_not_matter_where_many_are_equal(kind, has_groups):
    for seed in range(3):
        random = np.random.default_rng(seed)
        levels, groups = random.integers(0, 60, 300), random.integers(0, 40, 300)
        frame = pd.DataFrame({"shop": [f"shop {level}" for level in levels]})
        y = (levels % 3 == 0) ^ (random.random(300) < 0.2)
        shuffled = random.permutation(300)
        model, other = (
            kind().fit(frame.iloc[rows], y[rows], groups=groups[rows] if has_groups else None)
            for rows in (np.arange(300), shuffled)
        )
        assert model.best_score_ == other.best_score_
        np.testing.assert_array_equal(model.predict(frame), other.predict(frame))


def test_rows_of_no_weight_teach_the_encoder_nothing(many_levels):
    frame, y = many_levels
    weights = np.where(np.arange(500) < 60, 0.0, 1.0)
    weighted = AutoSVR().fit(frame, np.where(weights > 0.0, y, 1e6), sample_weight=weights)
    np.testing.assert_array_equal(weighted.predict(frame), AutoSVR().fit(frame[60:], y[60:]).predict(frame))


def test_several_targets_each_have_their_target_means(many_levels):
    frame, y = many_levels
    model = AutoSVR().fit(frame, np.column_stack([y, frame["price"] ** 2]))
    names = model.encoder_.get_feature_names_out().tolist()
    assert {"shop_target_0", "shop_target_1"} <= set(names)
    assert model.score(frame, np.column_stack([y, frame["price"] ** 2])) > 0.8


def test_importances_of_a_category_are_those_of_all_its_levels(table):
    frame, y = table
    model = AutoSVC().fit(frame, y)
    shares = dict(zip(frame.columns, model.feature_importances_, strict=True))
    assert max(shares, key=shares.get) == "plan"
    assert shares["joined"] < 0.1
