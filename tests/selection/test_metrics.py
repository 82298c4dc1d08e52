"""Our metrics of held-out predictions against scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import make_classification

from adatron import AutoSVC, AutoSVR
from adatron.auto.scoring import label_metric, regression_metric

OF_LABELS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1_macro": lambda y, p: metrics.f1_score(y, p, average="macro", zero_division=0),
    "f1_micro": lambda y, p: metrics.f1_score(y, p, average="micro"),
    "f1_weighted": lambda y, p: metrics.f1_score(y, p, average="weighted", zero_division=0),
}
OF_TARGETS = {
    "r2": metrics.r2_score,
    "neg_mean_squared_error": lambda y, p: -metrics.mean_squared_error(y, p),
    "neg_root_mean_squared_error": lambda y, p: -metrics.root_mean_squared_error(y, p),
    "neg_mean_absolute_error": lambda y, p: -metrics.mean_absolute_error(y, p),
}


def drawn(seed, k):
    """Classes of a few rows, some perhaps missing, and decisions with ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    decisions = np.round(rng.normal(size=(n, 1 if k == 2 else k)), int(rng.integers(0, 4)))
    return rng.integers(0, k, n), decisions


@pytest.mark.parametrize("name", OF_LABELS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_labels(name, k):
    for seed in range(50):
        codes, decisions = drawn(seed, k)
        predicted = (decisions[:, 0] > 0.0).astype(int) if k == 2 else decisions.argmax(axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that are predicted but not there
            expected = OF_LABELS[name](codes, predicted)
        assert label_metric(name, np.arange(k))(codes, decisions) == pytest.approx(expected, abs=1e-12)


def test_two_classes():
    classes = np.array([0, 1])
    for seed in range(100):
        codes, decisions = drawn(seed, 2)
        codes[:2] = 0, 1
        expected = metrics.f1_score(codes, decisions[:, 0] > 0.0, zero_division=0)
        assert label_metric("f1", classes)(codes, decisions) == pytest.approx(expected, abs=1e-12)
        expected = metrics.roc_auc_score(codes, decisions[:, 0])
        assert label_metric("roc_auc", classes)(codes, decisions) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [2, 4])
def test_log_loss(k):
    rng = np.random.default_rng(k)
    for n in range(3, 60):
        codes, probabilities = rng.integers(0, k, n), rng.dirichlet(np.ones(k), n)
        expected = -metrics.log_loss(codes, probabilities, labels=np.arange(k))
        ours = label_metric("neg_log_loss", np.arange(k))(codes, probabilities)
        assert ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", OF_TARGETS)
def test_targets(name):
    rng = np.random.default_rng(0)
    for n in range(2, 60):
        y, predicted = 100.0 + rng.normal(size=n), 100.0 + rng.normal(size=n)
        expected = OF_TARGETS[name](y, predicted)
        assert regression_metric(AutoSVR(scoring=name))(y, predicted) == pytest.approx(
            expected, rel=1e-12, abs=1e-12
        )


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1", "f1_macro", "f1_weighted"])
def test_no_threshold_between_two_decisions_is_better(name):
    metric = label_metric(name, np.array([0, 1]))
    for seed in range(50):
        codes, decisions = drawn(seed, 2)
        values = np.unique(decisions)
        cuts = 0.5 * (values[1:] + values[:-1])
        best = max((metric(codes, decisions, cut) for cut in cuts), default=metric(codes, decisions))
        found = metric(codes, decisions, metric.best_threshold(codes, decisions))
        assert found == pytest.approx(best, abs=1e-12)


def test_what_scikit_learn_must_be_asked_for():
    assert label_metric("average_precision", np.array([0, 1])) is None
    assert label_metric("f1", np.array(["no", "so so", "yes"])) is None  # f1 is of one class
    assert label_metric("roc_auc", np.arange(3)) is None
    y, predicted = np.arange(9.0), np.arange(9.0) ** 1.1
    own = regression_metric(AutoSVR(scoring="explained_variance"))(y, predicted)
    assert own == metrics.explained_variance_score(y, predicted)


@pytest.mark.parametrize("scoring", ["f1", "precision", "roc_auc", "neg_log_loss", "neg_brier_score"])
def test_labels_may_be_words_and_results_are_scores(scoring):
    X, y = make_classification(150, 5, flip_y=0.2, random_state=0)
    words = AutoSVC(scoring=scoring, cv=3).fit(X, np.array(["no", "yes"])[y])
    numbers = AutoSVC(scoring=scoring, cv=3).fit(X, y)
    assert words.best_score_ == pytest.approx(numbers.best_score_)
    assert abs(words.cv_results_["mean_test_score"].max() - words.best_score_) < 0.1
    assert scoring in repr(words.path_)


def test_probabilities_are_calibrated_for_scorers_of_others():
    X, y = make_classification(150, 5, flip_y=0.2, random_state=0)
    scorer = metrics.make_scorer(
        metrics.log_loss, response_method="predict_proba", greater_is_better=False, labels=[0, 1]
    )
    own, other = (AutoSVC(scoring=scoring, cv=3).fit(X, y) for scoring in ("neg_log_loss", scorer))
    assert other.best_score_ == pytest.approx(own.best_score_, abs=0.02)


@pytest.mark.parametrize(("scoring", "message"), [("r3", "no name of a scorer"), (["accuracy"], "one name")])
def test_scoring_that_is_none(scoring, message):
    for model in (AutoSVC(scoring=scoring), AutoSVR(scoring=scoring)):
        with pytest.raises(ValueError, match=message):
            model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
