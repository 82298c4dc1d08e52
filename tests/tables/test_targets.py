"""Target means of categories with many levels: they help, and leak nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from adatron.tables import TableEncoder
from adatron.tables.columns import Table
from adatron.tables.targets import Dealt, LevelMeans, Target


def many_levels(n, n_levels, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, n)
    return pd.DataFrame({"city": [f"city{c}" for c in codes], "x": rng.normal(size=n)}), codes, rng


def held_out_accuracy(model, table, y):
    half = len(y) // 2
    encoder = TableEncoder()
    model.fit(encoder.fit_transform(table[:half], y[:half]), y[:half])
    return float((model.predict(encoder.transform(table[half:])) == y[half:]).mean())


@pytest.mark.parametrize("n_levels", [60, 300, 1500])
def test_no_leak_from_permuted_targets(n_levels):
    """On the training rows, too: a model that saw its own targets would look good there."""
    accuracies, training = [], []
    for seed in range(4):
        table, _, rng = many_levels(4000, n_levels, seed)
        y = rng.integers(0, 2, len(table))
        for model in (RidgeClassifier(), KNeighborsClassifier(15)):
            accuracies.append(held_out_accuracy(model, table, y))
        Z = TableEncoder().fit_transform(table, y)
        training.append(np.corrcoef(Z[:, -2], y)[0, 1])
    assert abs(np.mean(accuracies) - 0.5) < 0.02
    assert np.mean(training) < 0.05


def test_levels_that_tell_nothing_do_not_hide_what_does():
    """A leak would make the levels look like the answer, and the number would be ignored."""
    table, _, rng = many_levels(4000, 1500, 0)
    y = table["x"].to_numpy() + 0.5 * rng.normal(size=4000) > 0
    alone = held_out_accuracy(RidgeClassifier(), table[["x"]], y)
    assert alone > 0.8
    assert held_out_accuracy(RidgeClassifier(), table, y) > alone - 0.03


def test_levels_that_tell_the_class_are_used():
    table, codes, rng = many_levels(4000, 200, 0)
    y = (rng.random(200) < 0.5)[codes] ^ (rng.random(4000) < 0.1)
    assert held_out_accuracy(RidgeClassifier(), table, y) > 0.85


def test_training_rows_do_not_see_their_own_target():
    table, _, rng = many_levels(400, 80, 0)
    column, y = Table(table).column(0), rng.normal(size=400)
    target = Target.of(y, 400, "auto")
    dealt, known = Dealt.of(target, [column], [], 0, None), np.zeros(400, dtype=bool)
    before = LevelMeans(column, target, dealt).means(known)[1]
    for i in range(10):
        other = y.copy()
        other[i] += 100.0
        after = LevelMeans(column, Target.of(other, 400, "auto"), dealt).means(known)[1]
        assert after[i] == before[i]
        assert (after != before).sum() > 100


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (np.arange(400) % 2, ["city_target_1"]),
        (np.array(["no", "yes"])[np.arange(400) % 2], ["city_target_yes"]),
        (np.arange(400) % 3, ["city_target_0", "city_target_1", "city_target_2"]),
        (np.arange(400) * 1.5, ["city_target"]),
        (np.arange(400), ["city_target"]),
        (None, ["city_frequency"]),
    ],
)
def test_columns_for_each_kind_of_target(y, names):
    table, _, _ = many_levels(400, 80, 0)
    found = TableEncoder().fit(table, y).get_feature_names_out()
    assert [name for name in found if "target" in name or "frequency" in name] == names


def test_the_type_of_target_can_be_said():
    table, _, _ = many_levels(400, 80, 0)
    names = TableEncoder(target_type="classes").fit(table, np.arange(400) // 10).get_feature_names_out()
    assert sum("target" in name for name in names) == 10  # of 40 classes the most frequent
    names = TableEncoder(target_type="continuous").fit(table, np.arange(400) % 2).get_feature_names_out()
    assert "city_target" in names


def test_a_seed_gives_the_same_bits():
    table, _, rng = many_levels(400, 80, 0)
    y = rng.normal(size=400)
    first, again, other = (TableEncoder(random_state=s).fit_transform(table, y) for s in (None, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_wrong_targets_are_errors():
    table, _, _ = many_levels(400, 80, 0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: 400 rows, 3 targets"):
        TableEncoder().fit(table, [1, 2, 3])
    with pytest.raises(ValueError, match="NaN"):
        TableEncoder().fit(table, np.full(400, np.nan))
    with pytest.raises(ValueError, match="y contains missing values"):
        TableEncoder().fit(table, ["yes", "no", None, "no"] * 100)


def test_held_out_rows_do_not_shape_the_target_means_of_a_fold():
    table, _, rng = many_levels(400, 80, 0)
    column, y, held = Table(table).column(0), rng.normal(size=400), np.arange(400) < 80
    target = Target.of(y, 400, "auto")
    dealt = Dealt.of(target, [column], [], 0, None)
    other = Target.of(np.where(held, 100.0 * y, y), 400, "auto")
    for known, found in zip(
        *(LevelMeans(column, t, dealt).means(held) for t in (target, other)), strict=True
    ):
        np.testing.assert_array_equal(known, found)
    assert not np.array_equal(*(LevelMeans(column, t, dealt).means(~held)[0] for t in (target, other)))


def test_target_means_of_a_fold_are_columns_of_the_encoded_rows():
    table, _, rng = many_levels(400, 80, 0)
    encoder = TableEncoder()
    encoded, means = encoder.fit_with_means(table, rng.normal(size=400))
    assert encoder.get_feature_names_out()[means.places].tolist() == ["city_target"]
    np.testing.assert_array_equal(means.without(np.zeros(400, dtype=bool)), encoded[:, means.places])


def test_tables_without_target_means_have_none():
    table, _, rng = many_levels(400, 10, 0)
    assert TableEncoder().fit_with_means(table, rng.normal(size=400))[1] is None
