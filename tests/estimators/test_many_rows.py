"""Estimators on many rows, whose number is made small here."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons

from adatron import SVC, AutoSVC, AutoSVR, EnsembleSVC
from adatron.auto.scaling import scaler_for
from adatron.estimators.base import KernelMachine
from adatron.estimators.training_set import classification_set
from adatron.gram import REGIME, row_source
from adatron.io import load_model, save_model

SMALL = replace(
    REGIME, many_rows=1_000, search_rows=300, many_search_rows=300, exact_rows=1_000, iterative_rows=0
)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(KernelMachine, "_regime", SMALL)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(3_000, noise=0.25, random_state=0)
    return X[:2_000], y[:2_000], X[2_000:], y[2_000:]


@pytest.fixture
def mapped(moons, tmp_path):
    """The rows as a float32 file."""
    np.save(tmp_path / "X.npy", moons[0].astype(np.float32))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


MODELS = [EnsembleSVC(rank=60, random_state=0), SVC(rank=60, random_state=0), AutoSVC()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_mapped_float32_rows_are_not_copied(model, mapped, moons):
    data = classification_set(model, mapped, moons[1], None)
    assert np.shares_memory(data.X, mapped)
    _, y, X_test, y_test = moons
    fitted = model.fit(mapped, y)
    assert fitted.score(X_test, y_test) > 0.92
    same = model.fit(np.array(mapped), y)
    np.testing.assert_array_equal(same.decision_function(X_test), fitted.decision_function(X_test))
    double = model.fit(moons[0], y)
    assert np.mean(double.predict(X_test) == fitted.predict(X_test)) > 0.99


def test_an_ensemble_of_many_rows_has_few_stages_and_few_vectors(monkeypatch):
    X, y = make_classification(3_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    X, y, X_test, y_test = X[:2_000], y[:2_000], X[2_000:], y[2_000:]
    white = EnsembleSVC(rank=60, random_state=0).fit(X, y)
    assert len(white.support_) == len(white.final_svm_.support_) == 60
    np.testing.assert_array_equal(white.support_vectors_, X[white.support_])
    last = list(white.staged_decision_function(X_test))[-1]
    np.testing.assert_allclose(last, white.decision_function(X_test), atol=1e-4)
    monkeypatch.setattr(KernelMachine, "_regime", replace(SMALL, many_rows=10_000))
    plain = EnsembleSVC(rank=60, random_state=0).fit(X, y)
    assert len(plain.support_) == 2_000
    assert white.n_iter_[0] < 0.5 * plain.n_iter_[0]
    assert white.score(X_test, y_test) > plain.score(X_test, y_test) - 0.005


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_of_many_rows_are_saved_and_loaded(model, mapped, moons, tmp_path):
    save_model(model.fit(mapped, moons[1]), tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.decision_function(moons[2]), model.decision_function(moons[2]))


def test_three_classes(moons):
    X, y, X_test, y_test = moons
    third, third_test = (np.where(rows[:, 0] > 1.2, 2, labels) for rows, labels in ((X, y), (X_test, y_test)))
    for model in MODELS:
        assert model.fit(X, third).score(X_test, third_test) > 0.9


def test_a_fit_and_a_constant_in_the_kernel(moons):
    X, y, X_test, _y_test = moons
    model = EnsembleSVC(rank=60, fit_intercept=True, random_state=0).fit(X, y)
    values = np.exp(-model._kernel.gamma * ((X_test[:, None] - model.support_vectors_) ** 2).sum(axis=2))
    expected = values @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X_test), expected, atol=1e-3)
    assert model.intercept_[0] != 0.0


def test_auto_svc_trains_all_rows(moons):
    X, y, X_test, y_test = moons
    model = AutoSVC().fit(X, y)
    assert model.converged_
    assert {record["n_rows"] for record in model.path_.records if not record["reason"]} == {300}
    assert all(machine.vectors.shape[0] < len(X) for machine in model._machines)  # landmarks
    assert model.score(X_test, y_test) > 0.93
    p = model.predict_proba(X_test)
    assert np.mean(p.argmax(axis=1) == y_test) > 0.93
    assert model.best_score_ == pytest.approx(model.score(X_test, y_test), abs=0.03)


def test_auto_svc_agrees_with_the_machines_of_the_whole_matrix(moons, monkeypatch):
    X, y, X_test = moons[0][:1_200], moons[1][:1_200], moons[2]
    few = AutoSVC().fit(X, y)
    monkeypatch.setattr(KernelMachine, "_regime", replace(SMALL, exact_rows=5_000))
    whole = AutoSVC().fit(X, y)
    assert whole._machines[0].vectors.shape[0] == len(X)
    assert np.mean(few.predict(X_test) == whole.predict(X_test)) > 0.97


def test_auto_svr_of_many_rows(moons):
    X, _, X_test, _ = moons
    target = np.sin(3.0 * X[:, 0]) + X[:, 1]
    model = AutoSVR().fit(X, target)
    assert all(machine.vectors.shape[0] < len(X) for machine in model._machines)
    assert model.score(X_test, np.sin(3.0 * X_test[:, 0]) + X_test[:, 1]) > 0.98


def test_merged_and_weighted_rows(moons):
    X, y, X_test, y_test = moons
    X, y = X[:1_200], y[:1_200]
    twice = AutoSVC().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.score(X_test, y_test) > 0.93
    weighted = AutoSVC().fit(X, y, sample_weight=np.where(y == 1, 20.0, 1.0))
    assert weighted.predict(X_test).mean() > twice.predict(X_test).mean()


def test_time_limit_and_progress(moons, capsys):
    X, y, X_test, y_test = moons
    with pytest.warns(UserWarning, match="time_limit"):
        model = AutoSVC(time_limit=1e-3).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.score(X_test, y_test) > 0.6
    AutoSVC(verbose=1).fit(X, y)
    assert capsys.readouterr().out.count("held-out criterion") >= 3


def test_scales_do_not_depend_on_the_blocks():
    X = np.random.default_rng(0).normal(size=(70_000, 3)) * [1.0, 1e3, 0.0] + [0.0, 5.0, 2.0]
    found = scaler_for(X, np.ones(len(X)))
    np.testing.assert_array_equal(found.kept, [0, 1])
    np.testing.assert_allclose((found.unit * found.scale)[:2], X[:, :2].std(axis=0), rtol=1e-12)
    rare = X[:, 2:] + (np.arange(70_000) == 69_999)[:, None]  # its second value is in the second block
    found = scaler_for(rare, np.ones(len(X)))
    np.testing.assert_allclose(found.unit * found.scale, [0.5])
    np.testing.assert_allclose(found.unit * found.centre, [2.5])


@pytest.mark.parametrize("gamma", ["mean", "scale"])
def test_gamma_does_not_depend_on_the_blocks(moons, monkeypatch, gamma):
    X, y = moons[:2]
    at_once = EnsembleSVC(rank=20, gamma=gamma).fit(X, y)._kernel.gamma
    monkeypatch.setattr(row_source, "BLOCK", 256)
    assert EnsembleSVC(rank=20, gamma=gamma).fit(X, y)._kernel.gamma == at_once
