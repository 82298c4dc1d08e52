"""AutoSVR: a tuned regression from the training data alone."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR as ReferenceSVR
from tests.files.models import MIXED, NEW_MIXED
from tests.reference import least_squares as naive

from adatron import AutoSVR
from adatron.auto import base, exact
from adatron.auto.scoring import HeldOutRegressor
from adatron.kernels import KERNELS


def waves(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    "load", [lambda: load_diabetes(return_X_y=True), lambda: make_friedman1(400, random_state=0)]
)
def test_no_worse_than_the_default_svr(load):
    X, y = load()
    scale = StandardScaler().fit(X[:200])
    centre, unit = y[:200].mean(), y[:200].std()
    reference = ReferenceSVR().fit(scale.transform(X[:200]), (y[:200] - centre) / unit)
    expected = reference.score(scale.transform(X[200:]), (y[200:] - centre) / unit)
    assert AutoSVR().fit(X[:200], y[:200]).score(X[200:], y[200:]) > expected - 0.01


def test_fitted_attributes():
    X, y = waves()
    model = AutoSVR().fit(X, 1e3 * y + 1e4)
    assert model.converged_
    assert 0.0 <= model.duality_gap_ < 1e-6
    assert model.path_.best["gamma"] == model.gamma_
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    new, targets = waves(400, seed=1)
    assert model.best_score_ == pytest.approx(model.score(new, 1e3 * targets + 1e4), abs=0.06)
    plain = AutoSVR().fit(X, y)  # units of the targets do not matter
    np.testing.assert_allclose(model.predict(new), 1e3 * plain.predict(new) + 1e4, rtol=1e-6)


def test_order_of_rows_and_n_jobs_do_not_matter():
    X, y = waves()
    order = np.random.default_rng(0).permutation(len(y))
    new = waves(50, seed=1)[0]
    first, second = AutoSVR().fit(X, y), AutoSVR(n_jobs=2).fit(X[order], y[order])
    np.testing.assert_array_equal(first.predict(new), second.predict(new))


def test_outliers_among_the_targets_are_met_by_hubers_loss(monkeypatch):
    X, y = waves(300)
    rng = np.random.default_rng(1)
    model = AutoSVR().fit(X, y + 10.0 * rng.normal(size=300) * (rng.random(300) < 0.1))
    assert "huber" in model.losses_
    assert len(model.losses_) == len(model.kernels_)
    assert model.duality_gap_ < 1e-9
    new, targets = waves(400, seed=1)
    monkeypatch.setattr(AutoSVR, "_huber_limits", ())
    rng = np.random.default_rng(1)
    squared = AutoSVR().fit(X, y + 10.0 * rng.normal(size=300) * (rng.random(300) < 0.1))
    assert squared.losses_ == ["squared"] * len(squared.kernels_)
    assert 1.0 - model.score(new, targets) < 0.7 * (1.0 - squared.score(new, targets))


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error", "neg_max_error", None])
def test_scoring_as_in_grid_search(scoring, monkeypatch):
    """`best_score_` is the mean over the folds of scikit-learn's score of the chosen machine."""
    monkeypatch.setattr(exact, "_MEMBERS", 1)
    X, y = waves()
    X = X[:, :1]  # one feature has no weights to learn
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = AutoSVR(cv=folds, scoring=scoring).fit(X, y)
    (kernel,) = [name for name, kind in KERNELS.items() if type(model.kernels_[0]) is kind]
    rows, mean, penalty = model._scale(X), y.mean(), 1.0 / model.C_
    scores, residuals = [], np.empty(len(y))
    for train, test in folds:
        weights = np.ones(len(train))
        a = naive.coefficients(kernel, model.gamma_, rows[train], y[train] - mean, penalty, weights)
        predicted = naive.outputs(kernel, model.gamma_, rows[train], a, rows[test]) + mean
        residuals[test] = y[test] - predicted
        if scoring:
            places = np.arange(len(test))[:, None]
            scores.append(get_scorer(scoring)(HeldOutRegressor(predicted), places, y[test]))
    expected = np.mean(scores) if scoring else 1.0 - np.sum(residuals**2) / np.sum((y - mean) ** 2)
    assert model.best_score_ == pytest.approx(expected, rel=1e-6)


def test_weights_count_as_repetition():
    """The machine of a given kernel and penalty is the same; folds and samples may differ."""
    X, y = waves(60)
    counts = 1.0 + (np.arange(60) % 4 == 0)
    folds = [(np.arange(40), np.arange(40, 60))]
    where = np.repeat(np.arange(60), counts.astype(int))
    repeated = [(np.flatnonzero(where < 40), np.flatnonzero(where >= 40))]
    weighted = AutoSVR(cv=folds).fit(X, y, counts)
    twice = AutoSVR(cv=repeated).fit(X[where], y[where])
    new = waves(50, seed=1)[0]
    assert weighted.gamma_ == pytest.approx(twice.gamma_)
    np.testing.assert_allclose(weighted.predict(new), twice.predict(new), rtol=1e-6, atol=1e-7)


def test_permuted_targets_are_told_to_be_chance():
    X, y = waves(200)
    shuffled = np.random.default_rng(0).permutation(y)
    assert AutoSVR().fit(X, shuffled).best_score_ < 0.1


def test_tables():
    target = np.where(MIXED.new, 5.0, 1.0) + 0.1 * np.arange(60) % 1.0
    model = AutoSVR(cv=3).fit(MIXED, target)
    assert MIXED.columns[model.feature_importances_.argmax()] == "new"
    assert model.score(NEW_MIXED, np.where(NEW_MIXED.new, 5.0, 1.0)) > 0.7
    assert model.predict(NEW_MIXED.iloc[[0]]).shape == (1,)


def test_constant_targets():
    X, _ = waves(30)
    model = AutoSVR().fit(X, np.full(30, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)


def test_a_scorer_that_some_machines_cannot_be_judged_by():
    X, y = waves()
    model = AutoSVR(cv=KFold(3), scoring="neg_median_absolute_error")
    assert np.isfinite(model.fit(X, y, np.arange(len(y)) >= 30).best_score_)  # some of a fold has no weight
    with pytest.raises(
        ValueError, match=r"no machine could be judged: .*the score of some fold is not a finite"
    ):
        AutoSVR(scoring=lambda model, X, y: np.nan).fit(X, y)


def test_ctrl_c_before_any_machine_leaves_nothing(monkeypatch):
    X, y = waves()
    model = AutoSVR().fit(X, y)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(base, "scaler_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_ctrl_c_keeps_the_best_so_far():
    X, y = waves()
    calls = []

    def pressed_once(model, X, y):
        calls.append(1)
        if len(calls) == 150:
            raise KeyboardInterrupt
        return -float(np.mean((model.predict(X) - y) ** 2))

    model = AutoSVR(scoring=pressed_once)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "stopped"
    assert model.score(X, y) > 0.9
    low, high = model.predict_interval(X, 0.9).T
    assert np.mean((low <= y) & (y <= high)) > 0.85


@pytest.mark.parametrize(("module", "work"), [(exact, "_held_out_decisions"), (base, "importances")])
def test_ctrl_c_after_the_search_keeps_a_model(module, work, monkeypatch):
    X, y = waves()
    model, own, pressed = AutoSVR(), getattr(module, work), []

    def once(*args):
        if not pressed:
            pressed.append(1)
            raise KeyboardInterrupt
        return own(*args)

    monkeypatch.setattr(module, work, once)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert pressed
    assert model.status_ == "stopped"
    assert model.score(X, y) > 0.9
