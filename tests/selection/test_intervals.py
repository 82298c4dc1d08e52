"""Intervals and prediction sets hold what they say on rows that were never seen."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from adatron import AutoSVC, AutoSVR
from adatron.auto.intervals import Residuals, conformal_quantile, likelier
from adatron.estimators.base import KernelMachine
from adatron.gram import REGIME


def uneven(n, seed=0):
    """Noise that grows with the first feature, and is skewed."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, size=(n, 3))
    noise = rng.exponential(1.0, size=n) - 1.0
    return X, np.sin(6.0 * X[:, 1]) + (0.1 + 1.5 * X[:, 0] ** 2) * noise


@pytest.fixture(scope="module")
def models():
    """Of several samples: the coverage that one of 600 rows has is off by 0.03 in a third of all cases."""
    return [AutoSVR().fit(*uneven(600, seed)) for seed in range(2, 8)]


@pytest.fixture(scope="module")
def model(models):
    return models[0]


def test_quantile_is_that_of_split_conformal_prediction():
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 20.0))
    ones = np.ones(19)
    assert conformal_quantile(scores, ones, 0.9) == 18.0  # ⌈0.9 · 20⌉
    assert conformal_quantile(scores, ones, 0.05) == 1.0
    assert conformal_quantile(scores, ones, 0.96) == np.inf
    twice = conformal_quantile(np.arange(1.0, 4.0), np.array([2.0, 1.0, 1.0]), 0.5)
    assert twice == 2.0  # half of 1, 1, 2, 3 and a fifth row


def test_likelier_classes():
    found = likelier(np.array([[0.2, 0.5, 0.3], [0.25, 0.25, 0.5]]))
    np.testing.assert_allclose(found, [[0.8, 0.0, 0.5], [0.5, 0.75, 0.0]])


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_intervals_hold_as_many_targets_as_they_say(models, coverage):
    X, y = uneven(4_000, seed=1)
    inside = []
    for model in models:
        low, high = model.predict_interval(X, coverage).T
        inside.append(np.mean((low <= y) & (y <= high)))
    assert np.mean(inside) == pytest.approx(coverage, abs=0.025)
    np.testing.assert_allclose(0.5 * (low + high), model.predict(X))
    calm, noisy = X[:, 0] < 0.3, X[:, 0] > 0.7
    assert (high - low)[noisy].mean() > 2.0 * (high - low)[calm].mean()


def test_quantiles(models):
    X, y = uneven(4_000, seed=1)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    all_found = [model.predict_quantiles(X, levels) for model in models]
    assert all(np.all(np.diff(found, axis=1) >= 0.0) for found in all_found)
    below_it = [(y[:, None] <= found).mean(axis=0) for found in all_found]
    np.testing.assert_allclose(np.mean(below_it, axis=0), levels, atol=0.03)
    model, found = models[0], all_found[0]
    below, above = (np.abs(found[:, k] - model.predict(X)).mean() for k in (0, -1))
    assert above > 1.3 * below  # the noise is skewed
    np.testing.assert_allclose(model.predict_quantiles(X[:3], 0.25), found[:3, 1:2], rtol=1e-8)


def test_one_size_where_noise_is_even():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=500)
    targets = outputs + rng.choice([-1.0, 1.0], size=500)
    even = Residuals.from_held_out(rng.normal(size=(500, 2)), outputs, targets, np.ones(500), None)
    np.testing.assert_allclose(even.sizes(np.zeros((4, 2)), np.zeros(4)), 1.0)
    assert np.ptp(even.interval(np.zeros((1, 2)), np.zeros(1), 0.9)) == pytest.approx(2.0, rel=1e-6)


def test_units_of_the_targets_do_not_matter(model):
    X, y = uneven(600, seed=2)
    other = AutoSVR().fit(X, 1e3 * y + 1e4)
    np.testing.assert_allclose(
        other.predict_interval(X[:50]), 1e3 * model.predict_interval(X[:50]) + 1e4, rtol=1e-6
    )


def test_too_few_rows_to_tell():
    X, y = uneven(8)
    model = AutoSVR(cv=2).fit(X, y)
    assert np.isinf(model.predict_interval(X, 0.9)).all()
    assert np.isfinite(model.predict_interval(X, 0.8)).all()
    quantiles = model.predict_quantiles(X, [0.05, 0.5, 0.95])
    np.testing.assert_array_equal(quantiles[:, 0], -np.inf)
    assert np.isfinite(quantiles[:, 1]).all()


def test_constant_targets_and_text():
    X, _ = uneven(60)
    np.testing.assert_allclose(AutoSVR().fit(X, np.full(60, 7.0)).predict_interval(X), 7.0)
    text = sparse.random_array((200, 1_200), density=0.05, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(text[:, :50].sum(axis=1)).ravel()
    ends = AutoSVR(cv=3).fit(text[:150], y[:150]).predict_interval(text[150:])
    assert ((ends[:, 0] <= y[150:]) & (y[150:] <= ends[:, 1])).mean() > 0.75


def test_intervals_above_the_rows_of_a_kernel_matrix(monkeypatch):
    monkeypatch.setattr(KernelMachine, "_regime", replace(REGIME, exact_rows=1_000, few_rows=1_000))
    X, y = uneven(4_000)
    model = AutoSVR().fit(X[:2_000], y[:2_000])
    low, high = model.predict_interval(X[2_000:]).T
    assert ((low <= y[2_000:]) & (y[2_000:] <= high)).mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_sets_hold_as_many_classes_as_they_say(n_classes):
    X, y = make_classification(
        4_000, 8, n_informative=5, n_classes=n_classes, flip_y=0.25, class_sep=0.8, random_state=0
    )
    model = AutoSVC().fit(X[:800], y[:800])
    for coverage in (0.8, 0.9, 0.95):
        sets = model.predict_set(X[800:], coverage)
        assert sets.shape == (3_200, n_classes)
        assert sets.dtype == bool
        assert sets[np.arange(3_200), y[800:]].mean() == pytest.approx(coverage, abs=0.035)
        assert sets[np.arange(3_200), model.predict_proba(X[800:]).argmax(axis=1)].all()
    unsure = model.predict_proba(X[800:]).max(axis=1) < 0.6
    assert sets[unsure].sum(axis=1).mean() > sets[~unsure].sum(axis=1).mean()


def test_sure_models_name_one_class():
    X, y = make_classification(300, 4, class_sep=4.0, flip_y=0.0, random_state=0)
    assert (AutoSVC().fit(X, y).predict_set(X, 0.9).sum(axis=1) == 1).all()


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5, -0.1, "0.9", np.nan, True])
def test_levels_that_are_none(model, level):
    X, _ = uneven(3)
    with pytest.raises(ValueError, match="coverage must be a number > 0 and < 1, got"):
        model.predict_interval(X, level)
    if not isinstance(level, str | bool):
        with pytest.raises(ValueError, match="quantiles must be a number > 0 and < 1, got"):
            model.predict_quantiles(X, [0.5, level])
    with pytest.raises(ValueError, match="coverage must be"):
        AutoSVC(cv=2).fit(np.arange(8.0)[:, None], np.arange(8) % 2).predict_set(X[:, :1], level)


def test_pickles_carry_what_intervals_need(model):
    X, _ = uneven(20, seed=2)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
