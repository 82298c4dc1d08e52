"""Several targets at once, and targets that are learned as logarithms."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from tests.files.models import MIXED, NEW_MIXED

from adatron import AutoSVR
from adatron.auto.targets import LogTarget
from adatron.estimators.base import KernelMachine
from adatron.gram import REGIME


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng


def two_targets(n=200, seed=0):
    X, rng = rows(n, seed)
    noise = 0.1 * rng.normal(size=(n, 2))
    return X, np.column_stack([np.sin(X[:, 0]), 1e3 * (X[:, 1] + X[:, 2] ** 2)]) + noise * [1.0, 1e3]


def prices(n, seed=0, noise=0.1):
    X, rng = rows(n, seed)
    return X, 100.0 * np.exp(1.5 * np.sin(X[:, 0]) + X[:, 1] + noise * rng.normal(size=n))


def test_several_targets():
    X, Y = two_targets()
    model = AutoSVR().fit(X, pd.DataFrame(Y, columns=["a", "b"]))
    new, expected = two_targets(300, seed=1)
    found = model.predict(new)
    assert found.shape == (300, 2)
    assert r2_score(expected, found, multioutput="raw_values").min() > 0.9
    assert model.score(new, expected) == pytest.approx(r2_score(expected, found))
    assert model.best_score_ == pytest.approx(model.score(new, expected), abs=0.05)
    ends = model.predict_interval(new, 0.8)
    assert ends.shape == (300, 2, 2)
    inside = (ends[:, :, 0] <= expected) & (expected <= ends[:, :, 1])
    np.testing.assert_allclose(inside.mean(axis=0), 0.8, atol=0.1)
    assert model.predict_quantiles(new, [0.1, 0.5, 0.9]).shape == (300, 2, 3)


def test_equal_targets_are_the_target_twice():
    X, Y = two_targets()
    single, double = AutoSVR().fit(X, Y[:, 0]), AutoSVR().fit(X, Y[:, [0, 0]])
    np.testing.assert_allclose(
        double.predict(X), single.predict(X)[:, None] * [1.0, 1.0], rtol=1e-6, atol=1e-8
    )
    assert double.best_score_ == pytest.approx(single.best_score_, rel=1e-6)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error", "neg_max_error"])
def test_scores_are_means_over_targets(scoring):
    X, Y = two_targets(100)
    assert np.isfinite(AutoSVR(scoring=scoring, cv=3).fit(X, Y).best_score_)


def test_several_targets_of_tables_and_many_rows(monkeypatch):
    flags = np.column_stack([MIXED.new, ~MIXED.new]).astype(float)
    assert AutoSVR(cv=3).fit(MIXED, flags).predict(NEW_MIXED).shape == (len(NEW_MIXED), 2)
    X, Y = two_targets(1_500)
    few = replace(REGIME, exact_rows=600, few_rows=400)
    for regime in (few, replace(few, iterative_rows=0, iterative_sample=600)):  # iteration, landmarks
        monkeypatch.setattr(KernelMachine, "_regime", regime)
        assert AutoSVR().fit(X[:1_000], Y[:1_000]).score(X[1_000:], Y[1_000:]) > 0.9


def test_a_missing_target_is_named():
    X, Y = two_targets(20)
    Y[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN: 1 target"):
        AutoSVR().fit(X, Y)


def test_prices_are_learned_as_logarithms(capsys, monkeypatch):
    (X, y), (new, expected) = prices(400), prices(2_000, seed=1)
    model = AutoSVR(verbose=1).fit(X, y)
    assert "machines learn logarithms of the targets" in capsys.readouterr().out
    assert isinstance(model._log, LogTarget)
    scaled = AutoSVR().fit(X, 1e-3 * y)  # units do not matter
    np.testing.assert_allclose(1e3 * scaled.predict(new), model.predict(new), rtol=1e-6)
    low, high = model.predict_interval(new, 0.9).T
    assert np.all(low > 0.0)
    assert np.mean((low <= expected) & (expected <= high)) == pytest.approx(0.9, abs=0.04)
    assert model.predict(new).mean() == pytest.approx(expected.mean(), rel=0.05)
    monkeypatch.setattr(LogTarget, "is_better", lambda self, rows, targets: False)
    plain = AutoSVR().fit(X, y)
    assert plain._log is None
    assert model.score(new, expected) > plain.score(new, expected) + 0.01


def test_counts_with_zeros():
    X, rng = rows(600)
    y = rng.poisson(np.exp(1.0 + 1.5 * X[:, 0])).astype(float)
    log = LogTarget.of(y)
    assert log.offset == 1.0
    np.testing.assert_allclose(log.quantiles(log.inward(y)), y, atol=1e-9)
    assert LogTarget.of(y + 0.5 * (y > 0)) is None  # zeros among numbers that count nothing
    found = log.adjusted(log.inward(y) - 0.3, y, np.ones(600)).means(log.inward(y) - 0.3)
    assert found.mean() == pytest.approx(y.mean())


@pytest.mark.parametrize("shape", ["even", "negative", "few"])
def test_other_targets_stay_as_they_are(shape):
    X, y = prices(400)
    y = {"even": np.log(y), "negative": y - 150.0, "few": y[:80]}[shape]
    assert LogTarget.of(y) is None
    assert AutoSVR(cv=3).fit(X[: len(y)], y)._log is None


def test_skewed_noise_alone_is_no_reason():
    X, rng = rows(300)
    assert AutoSVR().fit(X, X[:, 0] + 10.0 + rng.exponential(3.0, size=300))._log is None
