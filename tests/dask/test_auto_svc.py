"""`AutoSVC` and `AutoSVR` on Dask collections: the search on a sample, then all rows block by block."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from adatron import AutoSVC, AutoSVR
from adatron.datasets import make_waveform
from adatron.gram import REGIME

X, y = make_waveform(400, random_state=0)
X_new, y_new = make_waveform(1_000, random_state=1)


def collection():
    return da.from_array(X, chunks=(150, -1))


def test_few_rows_are_fetched_and_the_model_is_the_one_in_memory(client):
    local, remote = AutoSVC().fit(X, y), AutoSVC().fit(collection(), y)
    assert remote.gamma_ == local.gamma_
    np.testing.assert_allclose(remote.decision_function(X_new), local.decision_function(X_new), rtol=1e-9)


@pytest.mark.parametrize("kind", [AutoSVC, AutoSVR])
def test_many_rows_are_read_block_by_block(client, kind, monkeypatch):
    """400 rows count as many."""
    small = replace(REGIME, exact_rows=300, search_rows=200, many_search_rows=200)
    monkeypatch.setattr(kind, "_regime", small)
    target = y if kind is AutoSVC else X[:, 0] + X[:, 5]
    local, remote = kind().fit(X, target), kind().fit(collection(), target)
    assert remote.gamma_ == local.gamma_
    np.testing.assert_allclose(remote._scale.scale, local._scale.scale, rtol=1e-12)
    expected = local.predict(X_new) if kind is AutoSVR else local.decision_function(X_new)
    found = remote.predict(X_new) if kind is AutoSVR else remote.decision_function(X_new)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("is_price", [True, False], ids=["logarithms", "several targets"])
def test_logarithms_and_several_targets(client, is_price, monkeypatch):
    monkeypatch.setattr(AutoSVR, "_regime", replace(REGIME, exact_rows=300, search_rows=200))
    target = np.exp(X[:, 0] + X[:, 5]) if is_price else X[:, [0, 5]]
    local, remote = AutoSVR().fit(X, target), AutoSVR().fit(collection(), target)
    assert (remote._log is None, local._log is None) == (not is_price, not is_price)
    expected = local.predict_interval(X_new)
    np.testing.assert_allclose(remote.predict_interval(X_new), expected, atol=1e-3 * np.abs(expected).max())
