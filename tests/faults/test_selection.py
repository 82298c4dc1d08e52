"""Bad data and parameters for the estimators that choose their own kernel."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit

from adatron import AutoSVC, AutoSVR
from adatron.exceptions import AdatronWarning
from tests.stopwatch import Stopwatch


def overlapping(m=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=m) > 0).astype(int)


@pytest.fixture(scope="module", autouse=True)
def _search_is_compiled():
    X, y = overlapping(40)
    AutoSVC().fit(X, y).predict(X)


@pytest.mark.fault("D7")
def test_one_class_left_after_zero_weights():
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"every row of the classes \[1\] has zero weight"):
        AutoSVC().fit(X, y, sample_weight=(y == 0).astype(float))


@pytest.mark.fault("D7")
def test_one_class_left_after_a_fold():
    X, y = overlapping()
    first = PredefinedSplit(np.where(y == 1, 0, -1))  # holds out all of class 1
    with pytest.raises(ValueError, match=r"fold 0 of cv leaves no row of the classes \[1\] to train on"):
        AutoSVC(cv=first).fit(X, y)


@pytest.mark.fault("D39")
def test_a_class_with_one_member():
    X, y = overlapping()
    y[:] = 0
    y[3] = 1
    with pytest.raises(ValueError, match=r"leaves no row of the classes \[1\].*needs >= 2 rows per class"):
        AutoSVC().fit(X, y)


@pytest.mark.fault("D39")
def test_a_class_with_one_member_among_three():
    X, y = overlapping()
    y[0] = 2
    model = AutoSVC().fit(X, y)
    assert set(model.classes_) == {0, 1, 2}
    assert model.score(X, y) > 0.7


@pytest.mark.fault("D39")
def test_as_many_classes_as_rows():
    X, _ = overlapping(1_200)
    with pytest.raises(ValueError, match=r"y has 1200 classes for 1200 rows"):
        AutoSVC().fit(X, np.arange(1_200))


@pytest.mark.fault("D40")
def test_extreme_imbalance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    y = np.zeros(800, dtype=int)
    y[:4] = 1
    X[:4] += 8.0
    model = AutoSVC().fit(X, y)
    assert model.score(X, y) > 0.998
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.fault("P16")
@pytest.mark.parametrize("m", [9_000, 20_000])
def test_time_limit(m):
    X, y = overlapping(m)
    model = AutoSVC(time_limit=0.3)
    for _ in range(2):  # the first time compiles
        watch = Stopwatch()
        with pytest.warns(ConvergenceWarning, match=r"within time_limit=0.3 s: .*Raise time_limit"):
            model.fit(X, y)
    assert watch.seconds() < 5.0  # without a limit it takes much longer
    assert model.status_ == "time_limit"
    assert model.score(X, y) > 0.7


@pytest.mark.fault("P16")
def test_time_limit_shorter_than_anything():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match=r"within time_limit"):
        model = AutoSVC(time_limit=1e-9).fit(X, y)
    assert model.score(X, y) > 0.6


@pytest.mark.fault("P18")
@pytest.mark.parametrize(
    "make",
    [lambda: None, lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)],
    ids=["None", "int", "RandomState", "Generator"],
)
def test_random_state_of_any_kind(make):
    X, y = overlapping()
    first = AutoSVC(random_state=make()).fit(X, y)
    second = AutoSVC(random_state=make(), n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.mark.fault("P18")
def test_random_state_out_of_range():
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"random_state must be None, an integer or a generator"):
        AutoSVC(random_state="seven").fit(X, y)


@pytest.mark.fault("P25")
def test_every_score_is_nan():
    X, y = overlapping()
    with pytest.raises(
        ValueError,
        match=r"no machine could be judged: the score is not a finite number$",  # said once for all machines
    ):
        AutoSVC(scoring=lambda model, X, y: np.nan).fit(X, y)


@pytest.mark.fault("P25")
def test_every_candidate_fails():
    X, y = overlapping()

    def broken(model, X, y):
        raise ValueError("the score is out of order")

    with pytest.raises(ValueError, match=r"no machine could be judged: the score is out of order$"):
        AutoSVC(scoring=broken).fit(X, y)


@pytest.mark.fault("P25")
def test_one_failing_candidate_is_reported_and_the_others_kept():
    X, y = overlapping()
    calls = []

    def sometimes_nan(model, X, y):
        calls.append(1)
        return np.nan if len(calls) < 4 else float((model.predict(X) == y).mean())

    with pytest.warns(AdatronWarning, match=r"some machines could not be judged: .*gamma=.*not a finite"):
        model = AutoSVC(scoring=sometimes_nan).fit(X, y)
    assert model.score(X, y) > 0.7
    assert sum(bool(record["reason"]) for record in model.path_.records) == 1


@pytest.mark.fault("P25")
@pytest.mark.parametrize("cv", [1, 0, -3, True, 2.5], ids=repr)
def test_number_of_folds_out_of_range(cv):
    X, y = overlapping()
    with pytest.raises((ValueError, TypeError), match=r"cv"):
        AutoSVC(cv=cv).fit(X, y)


@pytest.mark.fault("P25")
def test_an_empty_list_of_folds():
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"cv=\[\] gives no folds"):
        AutoSVC(cv=[]).fit(X, y)


@pytest.mark.fault("P25")
@pytest.mark.parametrize("bad", [np.arange(100, 130), np.arange(-130, -100), np.zeros(100, bool)])
def test_folds_of_rows_that_are_not_there(bad):
    X, y = overlapping()
    with pytest.raises(ValueError, match="fold 1 of cv has rows that X has not"):
        AutoSVC(cv=[(np.arange(60), np.arange(60, 120)), (np.arange(60), bad)]).fit(X, y)


@pytest.mark.fault("P25")
def test_a_score_that_is_no_number():
    X, y = overlapping()
    with pytest.raises(ValueError, match="no machine could be judged: could not convert string to float"):
        AutoSVC(scoring=lambda model, X, y: "good").fit(X, y)


@pytest.mark.fault("D24")
@pytest.mark.parametrize("estimator", [AutoSVC(), AutoSVR()], ids=repr)
@pytest.mark.parametrize("n_groups", [1, 60, 240])
@pytest.mark.parametrize("weighs", [False, True])
def test_groups_of_another_length(estimator, n_groups, weighs):
    X, y = overlapping()
    table = pd.DataFrame(X).assign(word=np.where(y, "yes", "no"))
    weights = np.arange(120) % 2 if weighs else None
    with pytest.raises(
        ValueError, match=f"groups must have a value for each row, 120 in all; got {n_groups}"
    ):
        estimator.fit(table, y, sample_weight=weights, groups=np.arange(n_groups))


@pytest.mark.fault("R10")
def test_an_interrupt_keeps_the_best_so_far():
    X, y = overlapping()
    calls, pressed = [], []

    def interrupted(model, X, y):
        calls.append(1)
        if len(calls) > 150 and not pressed:
            pressed.append(1)
            raise KeyboardInterrupt
        return float((model.predict(X) == y).mean())

    model = AutoSVC(scoring=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "stopped"
    assert model.score(X, y) > 0.7


def test_constant_and_huge_features():
    X, y = overlapping()
    wide = np.column_stack([X, np.ones(len(X)), 1e300 * X[:, 0], 1e-300 * X[:, 1]])
    model = AutoSVC().fit(wide, y)
    assert model.score(wide, y) > 0.7
    assert np.isfinite(model.decision_function(wide)).all()


def test_nothing_varies():
    model = AutoSVC().fit(np.ones((20, 2)), np.arange(20) % 2)
    assert np.isfinite(model.decision_function(np.ones((3, 2)))).all()
