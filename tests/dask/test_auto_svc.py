"""`AutoSVC` on Dask collections: widths looked for on a sample, then all rows on the workers."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from adatron import AutoSVC
from adatron.auto import candidates
from adatron.datasets import make_waveform
from adatron.gram import REGIME

SMALL = replace(REGIME, many=300, few=200, samples=(150, 300), ranks=(10, 40, 40))
X, y = make_waveform(400, random_state=0)
X_new, y_new = make_waveform(1_000, random_state=1)


def test_few_rows_are_fetched_and_the_model_is_the_one_in_memory(client):
    local, remote = AutoSVC().fit(X, y), AutoSVC().fit(da.from_array(X, chunks=(150, -1)), y)
    assert remote.gamma_ == local.gamma_
    np.testing.assert_allclose(remote.decision_function(X_new), local.decision_function(X_new), rtol=1e-9)


@pytest.fixture
def many(monkeypatch):
    """400 rows count as many."""
    monkeypatch.setattr(AutoSVC, "_regime", SMALL)
    monkeypatch.setattr(candidates, "_MOST_EPOCHS", 5)


def test_many_rows_stay_on_the_workers(client, many):
    local, remote = AutoSVC().fit(X, y), AutoSVC().fit(da.from_array(X, chunks=(150, -1)), y)
    np.testing.assert_array_equal(remote.feature_scale_, local.feature_scale_)
    assert remote.gamma_ == local.gamma_
    np.testing.assert_array_equal(remote.support_, local.support_)  # the same landmarks
    np.testing.assert_array_equal(remote.decision_function(X_new), local.decision_function(X_new))


def test_very_many_rows_take_the_projection_of_a_sample(client, many, monkeypatch):
    monkeypatch.setattr(AutoSVC, "_regime", replace(SMALL, large=350))
    local, remote = AutoSVC().fit(X, y), AutoSVC().fit(da.from_array(X, chunks=(150, -1)), y)
    assert len(remote.path_) == len(local.path_)
    assert remote.gamma_ == local.gamma_
    np.testing.assert_array_equal(remote.decision_function(X_new), local.decision_function(X_new))
