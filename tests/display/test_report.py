"""The report of a fit: every kind of model, what it says, what it must not do."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_blobs, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import (
    SVC,
    SVR,
    AutoSVC,
    AutoSVR,
    EnsembleSVC,
    KernelPerceptron,
    OneClassSVM,
    ParzenClassifier,
    SupportVectorClustering,
)
from adatron.datasets import load_sonar
from adatron.display.report import FitStory, fit_report
from adatron.display.report.judge import judge
from adatron.display.report.pictures import _margins_of
from adatron.display.report.words import certificate_words, score_words


@pytest.fixture(scope="module")
def sonar():
    X_train, X_test, y_train, y_test = load_sonar(split="half")
    return X_train, y_train, X_test, y_test


def told(model, *parts, **options):
    return fit_report(FitStory("made-up", model, *parts, **options))


@pytest.mark.parametrize(
    "model",
    [SVC(C=10.0, probability=True), EnsembleSVC(), AutoSVC(), KernelPerceptron(), ParzenClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_classifiers(sonar, model):
    X_train, y_train, X_test, y_test = sonar
    model.fit(X_train, y_train)
    page = told(model, *sonar)
    wrong = int(np.sum(model.predict(X_test) != y_test))
    assert f"({wrong} of 104 rows" in page
    assert "Confusion matrix" in page
    assert "ROC curve" in page
    assert page.count("<figure>") >= 2


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_several_classes(shape):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["a<b", "c&d", "e"])[y]
    model = make_pipeline(StandardScaler(), SVC(decision_function_shape=shape)).fit(X, names)
    page = told(model, X, names)
    assert "a&lt;b" in page
    assert "a<b" not in page
    assert "no test rows were held out" in page


@pytest.mark.parametrize("n_classes", [3, 4])
def test_margins_of_pairs_of_classes_are_those_of_classes(n_classes):
    """Three classes have as many pairs, whose decisions were taken for those of the classes."""
    X, y = make_blobs(120, centers=n_classes, cluster_std=4.0, random_state=0)
    margins = [
        _margins_of(FitStory("blobs", SVC(decision_function_shape=shape).fit(X, y), X, y), X, y)
        for shape in ("ovr", "ovo")
    ]
    np.testing.assert_allclose(*margins)


def test_regression_outliers_and_clusters():
    X, y = load_diabetes(return_X_y=True)
    model = SVR(C=100.0).fit(X[:300], y[:300])
    page = told(model, X[:300], y[:300], X[300:], y[300:])
    assert f"{model.score(X[300:], y[300:]):.4f}" in page
    assert "outliers" in told(OneClassSVM(nu=0.1).fit(X), X, None)
    clusters = SupportVectorClustering(sigma=0.01, nu=0.2).fit(X[:50, :2])
    page = told(clusters, X[:50, :2], None)
    assert "Sizes of the clusters" in page
    assert (clusters.labels_ < 0).any()
    assert "<td>noise points</td>" in page


def test_nothing_is_loaded_from_outside(sonar):
    X_train, y_train, *_ = sonar
    page = told(SVC().fit(X_train, y_train), *sonar, notes=["<script>alert(1)</script>"])
    assert "<script" not in page
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith("#") or link.startswith("data:") for link in links)


def test_the_certificate_is_in_words(sonar):
    X_train, y_train, *_ = sonar
    exact = SVC(C=10.0).fit(X_train, y_train)
    assert "more than rounding" in certificate_words(exact)[0]
    early = SVC(C=10.0, solver="adatron", max_iter=3)
    with pytest.warns(match="did not converge"):
        early.fit(X_train, y_train)
    assert f"{early.duality_gap_:.3g}" in certificate_words(early)[0]
    assert "nothing to certify" in certificate_words(ParzenClassifier().fit(X_train, y_train))[0]


def test_bounds_are_told_only_where_they_hold(sonar):
    X_train, y_train, *_ = sonar
    assert "Leaving out one training row" in told(SVC(C=10.0).fit(X_train, y_train), *sonar)
    assert "Leaving out one training row" not in told(AutoSVC().fit(X_train, y_train), *sonar)


def test_no_error_in_100_rows():
    model = DummyClassifier().fit(np.zeros((100, 1)), np.zeros(100))
    (_, error), (_, sure) = score_words(judge(model, np.zeros((100, 1)), np.zeros(100), [0]), "y")
    assert error.startswith("0.00 % (0 of 100 rows wrong); always guessing '0': ")
    assert sure.startswith("with 95 % confidence, between 0.0 % and 3.7 % on new rows")


@pytest.mark.parametrize(("rows", "is_estimate"), [(4_000, False), (6_000, True)])
def test_a_gap_from_single_precision_is_called_an_estimate_above_5000_rows(rows, is_estimate):
    X, y = make_classification(rows, 5, random_state=0)
    text = " ".join(certificate_words(SVC().fit(X, y)))
    assert ("estimate" in text) == is_estimate
    assert ("recomputed in double precision" in text) != is_estimate
    assert "estimate" not in " ".join(certificate_words(SVC(tol=1e-5).fit(X[:5_500], y[:5_500])))


def test_intervals_sets_and_the_worst_prediction_are_told():
    X, y = load_diabetes(return_X_y=True)
    model = AutoSVR().fit(X[:300], y[:300])
    text = fit_report(FitStory("diabetes", model, X[:300], y[:300], X[300:], y[300:]))
    low, high = model.predict_interval(X[300:], coverage=0.9).T
    held = 100 * np.mean((low <= y[300:]) & (y[300:] <= high))
    assert f"hold {held:.1f} % of these rows" in text
    worst = int(np.abs(model.predict(X[300:]) - y[300:]).argmax())
    assert f"Test row {worst} (counting from 0) is the worst" in text
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), AutoSVC()).fit(X[::2], y[::2])
    text = fit_report(FitStory("iris", model, X[::2], y[::2], X[1::2], y[1::2]))
    sets = model[-1].predict_set(model[0].transform(X[1::2]), coverage=0.9)
    held = 100 * sets[np.arange(75), y[1::2]].mean()
    assert f"hold the true class of {held:.1f} % of these rows" in text
    assert f"{sets.sum(axis=1).mean():.2f} classes on average" in text
    assert "The worst prediction, explained" in text
