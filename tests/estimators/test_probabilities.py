"""Probabilities from held-out decision values of the fit's own kernel matrix."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine, make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.estimators.folds import stratified_folds
from adatron.estimators.probabilities import ClassProbabilities, held_out_decisions


def expected_calibration_error(p, hit, bins=8):
    """Mean distance between confidence and frequency over bins of equal size."""
    order = np.argsort(p)
    parts = np.array_split(order, bins)
    return sum(len(part) * abs(p[part].mean() - hit[part].mean()) for part in parts) / len(p)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(3_000, noise=0.35, random_state=1)
    return train_test_split(X, y, train_size=500, random_state=0)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_calibrated_with_two_classes(moons, C):
    X, X_test, y, y_test = moons
    model = SVC(C=C, probability=True).fit(X, y)
    p = model.predict_proba(X_test)[:, 1]
    assert expected_calibration_error(p, y_test) < 0.06


@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "crammer_singer"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_calibrated_with_several_classes(multi_class, kernel):
    X, y = make_classification(
        2_500, 10, n_informative=6, n_classes=4, n_clusters_per_class=1, class_sep=0.8, random_state=0
    )
    X, X_test, y, y_test = train_test_split(X, y, train_size=600, random_state=0)
    model = SVC(probability=True, multi_class=multi_class, kernel=kernel).fit(X, y)
    p = model.predict_proba(X_test)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_test))
    assert expected_calibration_error(p.max(axis=1), p.argmax(axis=1) == y_test) < 0.08


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_no_worse_than_a_second_training_with_folds(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.6, stratify=y, random_state=0)
    ours = SVC(probability=True).fit(X, y).predict_proba(X_test)
    other = CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y).predict_proba(X_test)
    assert log_loss(y_test, ours) < log_loss(y_test, other) + 0.05


@pytest.mark.parametrize("options", [{}, {"multi_class": "crammer_singer"}], ids=str)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", ["moons", "iris"])
def test_held_out_decisions_are_those_of_separate_fits(moons, name, bias, options):
    X, y = load_iris(return_X_y=True) if name == "iris" else (moons[0][:150], moons[2][:150])
    shape = "ovr" if options else "ovo"  # as the problems are
    model = SVC(C=2.0, gamma=0.5, tol=1e-6, fit_intercept=bias, decision_function_shape=shape, **options)
    plan = model._plan(X, y, None)
    for _ in plan.rounds():
        pass
    found = held_out_decisions(plan, plan.solutions(), 3, np.random.RandomState(0))
    folds = stratified_folds(y, 3, np.random.RandomState(0))
    for fold in range(3):
        out = folds == fold
        own = clone(model).fit(X[~out], y[~out]).decision_function(X[out]).reshape(out.sum(), -1)
        np.testing.assert_allclose(found[out], own, atol=0.02 * np.abs(own).max())


KINDS = [
    ("rbf", {}),
    ("rbf", {"rank": 40}),
    ("rbf", {"solver": "multiplicative"}),
    ("rbf", {"C": np.inf, "gamma": 20.0}),
    ("precomputed", {}),
    ("precomputed", {"solver": "multiplicative"}),
    ("rbf", {"multi_class": "crammer_singer"}),
    ("rbf", {"multi_class": "crammer_singer", "C": np.inf, "gamma": 20.0}),
    ("precomputed", {"multi_class": "crammer_singer"}),
    ("precomputed", {"multi_class": "crammer_singer", "fit_intercept": False}),
]


@pytest.mark.parametrize(("kernel", "options"), KINDS, ids=str)
def test_every_kind_of_fit_has_probabilities(kernel, options):
    X, y = make_moons(90, noise=0.1, random_state=0)
    rows = np.exp(-20.0 * ((X[:, None] - X) ** 2).sum(axis=2)) if kernel == "precomputed" else X
    model = SVC(kernel=kernel, probability=True, **options).fit(rows, y)
    p = model.predict_proba(rows)
    assert ((p[:, 1] > 0.5) == (model.predict(rows) == 1)).all()
    assert log_loss(y, p) < 0.5


def test_tied_votes_agree_with_the_prediction():
    p = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    model = SimpleNamespace(_probabilities=lambda decisions: p, _winners=lambda decisions: np.array([2, 0]))
    np.testing.assert_array_equal(SVC._calibrated(model, None), [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])


def test_separable_held_out_rows_do_not_run_away():
    decisions, codes = np.array([[-1.0], [-2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    calibrated = ClassProbabilities.from_held_out(decisions, codes, np.ones(4))
    assert np.isfinite(calibrated.slopes).all()
    assert (calibrated(decisions)[:, 1] > 0.5).tolist() == [False, False, True, True]
