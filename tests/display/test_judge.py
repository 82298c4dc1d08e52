"""How good a model is said to be."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import r2_score, roc_auc_score, root_mean_squared_error
from sklearn.pipeline import make_pipeline

from adatron import SVC, SVR
from adatron.display.report.judge import judge, what_mattered
from adatron.tables import TableEncoder


def points(n=200, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2


def test_classes():
    X, values = points()
    y = np.where(values > 0.8, "high", "low")
    model = SVC().fit(X[:100], y[:100])
    found = judge(model, X[100:], y[100:], y[:100])
    wrong = int((model.predict(X[100:]) != y[100:]).sum())
    assert (found["n_wrong"], found["n_judged"]) == (wrong, 100)
    known = binomtest(wrong, 100).proportion_ci(method="wilson")
    assert found["error_interval_percent"] == [pytest.approx(100 * end) for end in known]
    guess = DummyClassifier().fit(X[:100], y[:100])
    assert found["baseline_error_percent"] == pytest.approx(100 * (1 - guess.score(X[100:], y[100:])))
    auc = roc_auc_score(y[100:] == "low", model.decision_function(X[100:]))
    assert (found["positive_class"], found["auc"]) == ("low", pytest.approx(auc))


def test_numbers():
    X, y = points()
    model = SVR(C=10.0).fit(X[:100], y[:100])
    found, predicted = judge(model, X[100:], y[100:], y[:100]), model.predict(X[100:])
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y[100:], predicted))
    assert found["r2"] == pytest.approx(r2_score(y[100:], predicted))
    guess = DummyRegressor().fit(X[:100], y[:100]).predict(X[100:])
    assert found["baseline_rmse"] == pytest.approx(root_mean_squared_error(y[100:], guess))
    assert found["is_better"]


def test_the_interval_covers_the_error_of_many_rows():
    """About 95 of 100 intervals of 60 rows cover what the same model does on 20,000."""
    draw = np.random.default_rng(0)
    X = draw.uniform(-2.0, 2.0, size=(20_100, 3))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * draw.normal(size=len(X))
    model = SVR(C=10.0).fit(X[:100], y[:100])
    error = judge(model, X[100:], y[100:], y[:100])["rmse"]
    covered = 0
    for start in range(100, 6_100, 60):
        part = slice(start, start + 60)
        low, high = judge(model, X[part], y[part], y[:100])["rmse_interval"]
        covered += low <= error <= high
    assert 90 <= covered <= 99


def test_what_mattered_counts_the_outputs_of_a_column_together():
    rows = [[i % 7, "abc"[i % 3]] for i in range(60)]
    model = make_pipeline(TableEncoder(), SVC()).fit(rows, [i % 2 for i in range(60)])
    assert what_mattered(model, ["number", "letter"]) == []
    model[-1].feature_importances_ = np.array([1.0, 1.0, 1.0, 2.0])
    assert what_mattered(model, ["number", "letter"]) == [("letter", 0.8), ("number", 0.2)]
