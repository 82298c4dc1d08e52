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
    assert 0.0 < calibrated.slope < np.inf
    assert (calibrated(decisions)[:, 1] > 0.5).tolist() == [False, False, True, True]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_slope_and_intercepts_are_the_most_likely_ones(n_classes):
    rng = np.random.default_rng(0)
    codes = rng.choice(n_classes, size=60, p=[0.7, 0.3] if n_classes == 2 else [0.4, 0.3, 0.2, 0.1])
    weights = rng.integers(1, 3, size=60).astype(float)
    decisions = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0) + rng.normal(size=(60, n_classes))
    decisions = decisions[:, 1:] if n_classes == 2 else decisions
    found = ClassProbabilities.from_held_out(decisions, codes, weights)
    twice = np.repeat(np.arange(60), weights.astype(int))
    again = ClassProbabilities.from_held_out(decisions[twice], codes[twice], np.ones(len(twice)))
    assert found.slope == pytest.approx(again.slope, rel=1e-9)

    def loss(theta):  # by plain loops
        total = 0.5 * sum(value**2 for value in theta[1:])
        counts = [weights[codes == c].sum() for c in range(n_classes)]
        for f, code, weight in zip(decisions, codes, weights, strict=True):
            scores = theta[0] * f + theta[1:]
            scores = np.array([0.0, scores[0]]) if n_classes == 2 else scores
            logs = scores - np.log(np.exp(scores).sum())
            other = 1.0 / (counts[code] + 2.0) if n_classes == 2 else 1.0 / (4.0 * (weights.sum() + 4.0))
            target = np.full(n_classes, other)
            target[code] = 1.0 - other * (n_classes - 1)
            total -= weight * float(target @ logs)
        return total

    best = np.concatenate([[found.slope], found.intercepts])
    for step in 1e-3 * np.vstack([np.eye(len(best)), -np.eye(len(best))]):
        assert loss(best) < loss(best + step)
    assert abs(loss(best + 1e-6) - loss(best - 1e-6)) < 1e-9


def test_intercepts_do_not_contradict_the_prediction():
    decisions = np.linspace(-1.0, 1.0, 41)[:, None]
    for intercept in (-1.0, 1.0):
        p = ClassProbabilities(2.0, np.array([intercept]))(decisions)[:, 1]
        np.testing.assert_array_equal(p > 0.5, decisions[:, 0] > 0.0)
        assert np.all(np.diff(p) > 0.0)


def test_probabilities_of_a_rare_class_are_its_share():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 3))
    y = (rng.random(1_000) < 0.05 + 0.1 * (X[:, 0] > 1.0)).astype(int)
    p = SVC(probability=True, C=0.1).fit(X, y).predict_proba(X)[:, 1]
    assert p.mean() == pytest.approx(y.mean(), abs=0.02)
