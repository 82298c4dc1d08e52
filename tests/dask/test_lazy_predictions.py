"""Predictions for Dask collections are collections: nothing is computed before it is asked for."""

from functools import partial

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask
from adatron import SVC, SVR, AutoSVC, AutoSVR, EnsembleSVC, LinearSVC, LinearSVR, OneClassSVM
from adatron.datasets import make_waveform
from adatron.io import load_model, save_model

X, y = make_waveform(150, random_state=0)
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 6], [1.0, 3.0])]
NUMBERS = X[:, 3]
METHODS = {
    "decision_function": lambda: SVC().fit(X, y).decision_function,
    "predict": lambda: SVC().fit(X, THREE).predict,
    "decisions of classes": lambda: SVC().fit(X, THREE).decision_function,
    "predict_proba": lambda: SVC(probability=True, random_state=0).fit(X, THREE).predict_proba,
    "ensemble": lambda: EnsembleSVC(max_iter=50, eps=0.05).fit(X, THREE).predict,
    "auto": lambda: AutoSVC(cv=3).fit(X, y).predict_proba,
    "sets": lambda: partial(AutoSVC(cv=3).fit(X, THREE).predict_set, coverage=0.95),
    "intervals": lambda: partial(AutoSVR(cv=3).fit(X, NUMBERS).predict_interval, coverage=0.8),
    "regression": lambda: SVR().fit(X, NUMBERS).predict,
    "one-class": lambda: OneClassSVM(nu=0.2).fit(X).predict,
    "linear": lambda: LinearSVC().fit(X, THREE).predict,
    "linear decisions": lambda: LinearSVC().fit(X, THREE).decision_function,
    "linear regression": lambda: LinearSVR().fit(X, NUMBERS).predict,
}


@pytest.mark.parametrize("name", list(METHODS))
def test_array(name):
    predict, computed = METHODS[name](), []
    expected = predict(X)
    rows = da.map_blocks(lambda block: computed.append(len(block)) or block, da.from_array(X, chunks=(40, 9)))
    computed.clear()
    result = predict(rows)
    assert isinstance(result, da.Array)
    assert computed == []
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    with dask.config.set(scheduler="sync"):
        values = result.compute()
    assert sum(computed) > 0
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("target", [y, THREE])
def test_dataframe_keeps_its_index(target):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).set_index(np.arange(len(X)) * 3)
    model = SVC(probability=True, random_state=0).fit(table, target)
    parts = dd.from_pandas(table, npartitions=3)
    with dask.config.set(scheduler="sync"):
        labels, probabilities = model.predict(parts).compute(), model.predict_proba(parts).compute()
    assert list(labels.index) == list(table.index)
    np.testing.assert_array_equal(labels, model.predict(table))
    np.testing.assert_allclose(probabilities, model.predict_proba(table), rtol=1e-9)


def test_a_model_trained_on_a_cluster_is_a_model_like_others(client, tmp_path):
    """Saved, loaded, and used without a cluster; its support vectors stay behind, its landmarks do not."""
    model = SVC(rank=30, random_state=0, solver="multiplicative", tol=0.5)
    model.fit(da.from_array(X, chunks=(80, -1)), y)
    assert model.support_vectors_.shape == (0, X.shape[1])
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_allclose(model.to_sklearn().decision_function(X), model.decision_function(X), rtol=1e-6)
