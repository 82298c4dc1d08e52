"""Fits on Dask collections are the fits in memory: same landmarks, same steps, same decisions."""

from dataclasses import replace
from functools import partial

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVR, EnsembleSVC, OneClassSVM
from adatron.datasets import make_waveform
from adatron.gram import REGIME

ROWS, NEW = 200, 60
X, y = make_waveform(ROWS, random_state=0)
X_new, _ = make_waveform(NEW, random_state=1)
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 6], [1.0, 3.0])]
TARGETS = 0.3 * X[:, 7] + np.sin(X[:, 10])
LOW = {"rank": 40, "random_state": 0}
HARD = {"C": np.inf, "fit_intercept": False, "gamma": 1.0}

MODELS = {
    "multiplicative": (SVC(solver="multiplicative", class_weight="balanced", max_iter=3, **LOW), y),
    "adatron": (SVC(solver="adatron", max_iter=3, **LOW), y),
    "auto": (SVC(tol=0.05, **LOW), y),
    "rho": (SVC(solver="rho", max_iter=3, rank=150, random_state=0, **HARD), y),
    "rho, whole matrix": (SVC(solver="rho", max_iter=3, **HARD), y),
    "linear": (SVC(kernel="linear", solver="adatron", max_iter=3), y),
    "trace error": (SVC(rank=0.7, solver="multiplicative", max_iter=3), y),
    "one-vs-one": (SVC(solver="multiplicative", max_iter=2, **LOW), THREE),
    "one-vs-rest": (SVC(solver="multiplicative", multi_class="ovr", max_iter=3, **LOW), THREE),
    "m3": (SVC(solver="m3", fit_intercept=False, max_iter=3), y),
    "svr": (SVR(solver="multiplicative", max_iter=3, **LOW), TARGETS),
    "svr, sweeps": (SVR(solver="adatron", max_iter=3, **LOW), TARGETS),
    "svr, m3": (SVR(solver="m3", fit_intercept=False, max_iter=3), TARGETS),
    "one-class": (OneClassSVM(solver="multiplicative", max_iter=3, **LOW), y),
    "ensemble": (EnsembleSVC(max_iter=4, **LOW), y),
    "ensemble, bias": (EnsembleSVC(max_iter=4, fit_intercept=True, **LOW), THREE),
}


def outputs(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", list(MODELS))
def test_decisions_agree_with_the_fit_in_memory(client, name):
    model, t = MODELS[name]
    local = clone(model).fit(X, t)
    remote = clone(model).fit(da.from_array(X, chunks=(90, 9)), da.from_array(t, chunks=80))
    np.testing.assert_array_equal(remote.n_iter_, local.n_iter_)
    expected = outputs(local, X_new)
    np.testing.assert_allclose(outputs(remote, X_new), expected, atol=1e-5 * np.abs(expected).max(), rtol=0)
    assert remote.duality_gap_ == pytest.approx(local.duality_gap_, rel=1e-5)
    np.testing.assert_array_equal(remote.support_, local.support_)


def test_a_long_fit_ends_exactly_where_the_fit_in_memory_does(client):
    model = SVC(tol=1e-6, **LOW)
    local, remote = clone(model).fit(X, y), clone(model).fit(da.from_array(X, chunks=(100, -1)), y)
    assert remote.converged_
    assert remote.finished_exactly_ == local.finished_exactly_
    expected = local.decision_function(X_new)
    assert np.abs(remote.decision_function(X_new) - expected).max() <= 1e-5 * np.abs(expected).max()


WEIGHTS = np.where(np.arange(ROWS) % 7 == 0, 0.0, 1.0 + np.arange(ROWS) % 3)
TWICE = np.concatenate([X[:150], X[:50]]), np.concatenate([y[:150], y[:50]])


@pytest.mark.parametrize(
    ("rows", "labels", "weights", "options"),
    [
        (X, y, WEIGHTS, {"rank": 0.5}),
        (*TWICE, None, {}),
        (X, THREE, None, {"fit_intercept": True}),
    ],
    ids=["trace error, rows without weight", "equal rows", "three classes and a bias"],
)
def test_an_ensemble_of_many_stages_is_the_same_bit_for_bit(client, rows, labels, weights, options):
    """Stages amplify rounding, a hundred of them to per cents: only equal bits agree."""
    model = EnsembleSVC(**{"max_iter": 20, "rank": 60, "random_state": 0} | options)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        local = clone(model).fit(rows, labels, weights)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        remote = clone(model).fit(da.from_array(rows, chunks=(70, -1)), labels, weights)
    np.testing.assert_array_equal(remote.stage_weights_, local.stage_weights_)
    expected = local.decision_function(X_new)
    assert np.abs(remote.decision_function(X_new) - expected).max() <= 1e-12 * np.abs(expected).max()


def test_an_ensemble_of_few_rows_is_fetched_and_the_one_in_memory(client):
    local, remote = EnsembleSVC().fit(X, y), EnsembleSVC().fit(da.from_array(X, chunks=(70, -1)), y)
    assert local.converged_
    np.testing.assert_array_equal(remote.decision_function(X_new), local.decision_function(X_new))


def test_an_ensemble_of_more_rows_leaves_the_matrix_on_the_workers(client, monkeypatch):
    monkeypatch.setattr(EnsembleSVC, "_regime", replace(REGIME, whole_up_to=ROWS - 1))
    model = EnsembleSVC(max_iter=6)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        local = clone(model).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        remote = clone(model).fit(da.from_array(X, chunks=(70, -1)), y)
    expected = local.decision_function(X_new)
    assert np.abs(remote.decision_function(X_new) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("bias", [False, True])
def test_the_factor_of_many_rows_is_the_same(client, monkeypatch, bias):
    """It is whitened float32, here as there."""
    monkeypatch.setattr(EnsembleSVC, "_regime", replace(REGIME, many_rows=1_000))
    many, labels = make_waveform(1_500, random_state=2)
    model = EnsembleSVC(fit_intercept=bias, max_iter=15, **LOW)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        local = clone(model).fit(many, labels)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        remote = clone(model).fit(da.from_array(many, chunks=(600, -1)), da.from_array(labels, chunks=700))
    expected = local.decision_function(X_new)
    assert np.abs(remote.decision_function(X_new) - expected).max() <= 1e-5 * np.abs(expected).max()
    assert remote.kernel_error_ == pytest.approx(local.kernel_error_, rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [EnsembleSVC, partial(SVC, solver="multiplicative")])
def test_more_than_a_hundred_thousand_rows(client, kind):
    model = kind(max_iter=100, **LOW)
    many, labels = make_waveform(110_000, random_state=2)
    local = clone(model).fit(many, labels)
    remote = clone(model).fit(da.from_array(many, chunks=(30_000, -1)), da.from_array(labels, chunks=30_000))
    expected = local.decision_function(X_new)
    assert np.abs(remote.decision_function(X_new) - expected).max() <= 1e-5 * np.abs(expected).max()


def test_dataframe_from_parquet_with_weights_and_names(client, tmp_path):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    weights = np.where(np.arange(ROWS) % 7 == 0, 0.0, 1.0 + np.arange(ROWS) % 3)
    dd.from_pandas(table.assign(label=y, weight=weights), npartitions=3).to_parquet(tmp_path)
    stored = dd.read_parquet(tmp_path)
    model = SVC(solver="multiplicative", max_iter=5, **LOW)
    with pytest.warns(UserWarning, match="did not converge"):
        local = clone(model).fit(table, y, weights)
    with pytest.warns(UserWarning, match="did not converge"):
        remote = clone(model).fit(stored[list(table.columns)], stored["label"], stored["weight"])
    assert list(remote.feature_names_in_) == list(table.columns)
    new = pd.DataFrame(X_new, columns=table.columns)
    expected = local.decision_function(new)
    assert np.abs(remote.decision_function(new) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_probabilities_agree(client):
    model = SVC(probability=True, solver="multiplicative", max_iter=3, **LOW)
    local, remote = clone(model).fit(X, y), clone(model).fit(da.from_array(X, chunks=(100, -1)), y)
    np.testing.assert_allclose(remote.predict_proba(X_new), local.predict_proba(X_new), rtol=1e-4)
