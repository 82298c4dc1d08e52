"""AutoSVC: a tuned model from the training data alone."""

import lzma
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_svmlight_file, load_wine, make_classification, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import balanced_accuracy_score, log_loss, recall_score
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    train_test_split,
)
from sklearn.svm import SVC as ReferenceSVC
from sklearn.svm import LinearSVC
from tests.data_dir import data_dir
from tests.files.models import MIXED, MIXED_CODES, NEW_MIXED
from tests.silent_callback import SilentCallback

from adatron import AutoSVC, AutoSVR
from adatron.auto import base
from adatron.auto import scoring as auto_scoring
from adatron.auto.search import Search
from adatron.datasets import load_ionosphere, load_sonar
from adatron.exceptions import AdatronWarning
from adatron.gram.regime import REGIME
from adatron.numerics import threads
from adatron.selection import KernelPath


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(700, noise=0.3, random_state=0)
    return train_test_split(X, y, train_size=250, random_state=0)


@pytest.fixture(scope="module")
def usual(moons):
    """The default model of the moons."""
    X, _, y, _ = moons
    return AutoSVC().fit(X, y)


@pytest.mark.parametrize("load", [load_sonar, load_ionosphere, load_iris, load_wine])
def test_no_worse_than_the_default_svc(load):
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.5, stratify=y, random_state=0)
    scale = np.maximum(X.std(axis=0), 1e-12)
    reference = ReferenceSVC().fit(X / scale, y).score(X_test / scale, y_test)
    assert AutoSVC().fit(X, y).score(X_test, y_test) >= reference - 0.02


def test_many_features_are_judged_by_more_rows():
    X, y = make_classification(1_000, 20, random_state=0)
    sizes = []
    for wide_from in (20, 21):
        model = AutoSVC()
        model._regime = replace(REGIME, search_rows=100, wide_search_rows=300, wide_from=wide_from)
        sizes.append({step["n_rows"] for step in model.fit(X, y).path_})
    assert sizes == [{300}, {100}]


def test_fitted_attributes(moons, usual):
    X, X_test, *_ = moons
    model = usual
    assert isinstance(model.path_, KernelPath)
    assert model.path_.best["gamma"] == model.gamma_ > 0.0
    assert model.path_.best["C"] == pytest.approx(model.C_)
    assert model.n_iter_ == len(model.path_) == len(model.cv_results_["params"])
    assert 1 <= len(model.kernels_) <= 4
    assert 0.0 <= model.duality_gap_ < 1e-6
    assert model.converged_
    assert model.n_support_.sum() == len(model.support_) == len(X)
    scaled = model._scale(X_test)
    total = 0.0
    for kernel, machine in zip(model.kernels_, model._machines, strict=True):
        total = total + kernel(scaled, machine.vectors) @ machine.coefficients[:, 0] + machine.bias[0]
    np.testing.assert_allclose(model.decision_function(X_test), total, atol=1e-8)
    scores, ranks = (model.cv_results_[name] for name in ("mean_test_score", "rank_test_score"))
    assert scores[ranks.argmin()] == np.nanmax(scores)


def test_depends_on_the_rows_not_on_their_order(moons):
    X, X_test, y, _ = moons
    order = np.random.default_rng(0).permutation(len(y))
    first, second = AutoSVC(random_state=3).fit(X, y), AutoSVC(random_state=3).fit(X[order], y[order])
    np.testing.assert_array_equal(first.decision_function(X_test), second.decision_function(X_test))


def test_same_seed_same_bits_whatever_n_jobs_and_threads(moons, monkeypatch):
    X, X_test, y, _ = moons
    expected = AutoSVC(random_state=5).fit(X, y).decision_function(X_test)
    other = AutoSVC(random_state=5, n_jobs=2).fit(X, y).decision_function(X_test)
    np.testing.assert_array_equal(other, expected)
    monkeypatch.setattr(threads, "usable_threads", lambda *_: 1)
    monkeypatch.setattr("adatron.auto.search.usable_threads", lambda *_: 1)
    np.testing.assert_array_equal(AutoSVC(random_state=5).fit(X, y).decision_function(X_test), expected)


def test_permuted_labels_are_told_to_be_chance():
    X, y = make_classification(400, 10, random_state=0)
    scores = []
    for seed in range(3):
        labels = np.random.default_rng(seed).permutation(y)
        model = AutoSVC().fit(X[:200], labels[:200])
        scores.append(model.best_score_)
        assert model.score(X[200:], labels[200:]) < 0.65
    assert np.mean(scores) < 0.62


def test_best_score_is_that_of_new_rows():
    X, y = make_classification(3_000, 12, n_informative=6, flip_y=0.1, random_state=1)
    off = []
    for part in range(4):
        rows = slice(300 * part, 300 * (part + 1))
        model = AutoSVC().fit(X[rows], y[rows])
        off.append(model.best_score_ - model.score(X[1_200:], y[1_200:]))
    assert abs(np.mean(off)) < 0.03


def test_importances_find_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 100))
    y = X[:, :5] @ np.ones(5) > 0.0
    model = AutoSVC().fit(X[:400], y[:400])
    assert model.feature_importances_.shape == (100,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert set(np.argsort(-model.feature_importances_)[:5]) == set(range(5))
    assert any(kernel.weights is not None for kernel in model.kernels_)


@pytest.mark.slow
def test_ten_of_two_thousand_columns_are_found():
    X, y = make_classification(1_800, 2_000, n_informative=10, n_redundant=0, shuffle=False, random_state=0)
    train, test = np.split(np.random.default_rng(0).permutation(1_800), 2)
    model = AutoSVC().fit(X[train], y[train])
    assert model.score(X[test], y[test]) > 0.75
    assert set(np.argsort(-model.feature_importances_)[:5]) <= set(range(10))


def test_sparse_and_dense_agree():
    X, y = make_classification(300, 30, random_state=0)
    X[np.abs(X) < 1.0] = 0.0
    dense = AutoSVC().fit(X[:200], y[:200])
    lean = AutoSVC().fit(sparse.csr_array(X[:200]), y[:200])
    assert lean.gamma_ == pytest.approx(dense.gamma_)
    np.testing.assert_allclose(
        lean.decision_function(sparse.csr_array(X[200:])), dense.decision_function(X[200:]), atol=1e-3
    )


class TestTables:
    def test_columns_of_every_kind(self):
        model = AutoSVC(cv=3).fit(MIXED, MIXED_CODES)
        assert model.n_features_in_ == MIXED.shape[1]
        assert model.feature_names_in_.tolist() == list(MIXED.columns)
        assert model.score(NEW_MIXED, np.where(NEW_MIXED.new, "new", "used")) > 0.9
        assert MIXED.columns[model.feature_importances_.argmax()] == "new"
        assert model.feature_importances_[list(MIXED.columns).index("same")] == 0.0

    def test_one_row_unseen_levels_and_columns_in_another_order(self):
        model = AutoSVC(cv=3).fit(MIXED, MIXED_CODES)
        expected = model.decision_function(NEW_MIXED)
        turned = NEW_MIXED[NEW_MIXED.columns[::-1]]
        np.testing.assert_array_equal(model.decision_function(turned), expected)
        one = model.decision_function(NEW_MIXED.iloc[[4]])
        np.testing.assert_allclose(one, expected[[4]], atol=1e-9)
        strange = NEW_MIXED.assign(colour="ultraviolet", town="nowhere", note=None)
        assert np.isfinite(model.decision_function(strange)).all()
        with pytest.warns(AdatronWarning, match="columns that were not there at fit are ignored: 'more'"):
            more = model.decision_function(NEW_MIXED.assign(more=1.0))
        np.testing.assert_array_equal(more, expected)
        with pytest.raises(ValueError, match="X lacks columns that were there at fit: 'size', 'grade'"):
            model.predict(NEW_MIXED.drop(columns=["size", "grade"]))

    @pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, np.ndarray.tolist], ids=["a", "f", "l"])
    def test_missing_values_are_imputed_but_infinity_is_an_error(self, moons, kind):
        X, X_test, y, y_test = moons
        holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        model = AutoSVC().fit(kind(holes), y)
        assert model.encoder_ is not None
        assert model.score(kind(X_test), y_test) > 0.8
        for clean in (X, holes):
            bad = clean.copy()
            bad[7, 1] = np.inf
            with pytest.raises(ValueError, match=r"row 7, (column|feature) '?x?1"):
                AutoSVC().fit(kind(bad), y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(n_classes):
    X, y = make_classification(900, 6, n_informative=4, n_classes=n_classes, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, train_size=300, random_state=0)
    model = AutoSVC().fit(X, y)
    p = model.predict_proba(X_test)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X_test))
    np.testing.assert_allclose(model.predict_log_proba(X_test), np.log(p))
    assert log_loss(y_test, p) < 0.55


def test_scoring_and_splitters_as_in_grid_search():
    X, y = make_classification(240, 6, weights=[0.85], random_state=2)
    splits = list(GroupKFold(4).split(X, y, np.arange(240) % 4))
    assert 0.5 < AutoSVC(cv=splits, scoring="roc_auc").fit(X, y).best_score_ <= 1.0
    for scoring in ("neg_log_loss", lambda est, X, y: float((est.predict(X) == y).mean())):
        assert np.isfinite(AutoSVC(cv=3, scoring=scoring).fit(X, y).best_score_)
    validation = PredefinedSplit(np.where(np.arange(240) < 180, -1, 0))
    assert AutoSVC(cv=validation).fit(X, y).converged_


def test_weights_move_the_boundary_and_zero_weights_count_for_nothing(moons, usual):
    X, X_test, y, _ = moons
    plain = usual.predict(X_test)
    heavy = AutoSVC().fit(X, y, sample_weight=np.where(y == 1, 20.0, 1.0)).predict(X_test)
    assert (heavy == 1).sum() > (plain == 1).sum()
    kept = np.arange(len(y)) % 5 > 0
    zero, without = AutoSVC().fit(X, y, kept.astype(float)), AutoSVC().fit(X[kept], y[kept])
    np.testing.assert_allclose(zero.decision_function(X_test), without.decision_function(X_test), atol=1e-8)


class StopAfter(SilentCallback):
    """A callback that stops after some rounds."""

    def __init__(self, rounds):
        self.rounds, self.scores = rounds, []

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if context.parent is None:
            return False
        self.scores.append(fitted_estimator.score(X, y))
        return len(self.scores) >= self.rounds


def test_callbacks_see_every_round_and_can_stop(moons):
    X, _, y, _ = moons
    stop = StopAfter(2)
    model = AutoSVC().set_callbacks(stop).fit(X, y)
    assert len(stop.scores) == 2
    assert min(stop.scores) > 0.7
    assert model.status_ == "stopped"
    assert model.score(X, y) > 0.7


def test_ctrl_c_before_any_machine_leaves_nothing(moons, monkeypatch):
    X, X_test, y, _ = moons
    model = AutoSVC().fit(X, y)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    for owner, name in ((base, "scaler_for"), (Search, "run")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X[:, :1], y)
        with pytest.raises(NotFittedError):
            model.predict(X_test)


def test_verbose_tells_of_every_round(moons, capsys):
    X, _, y, _ = moons
    AutoSVC(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 2
    assert all("held-out criterion" in line for line in lines)


def test_verbose_tells_what_the_encoder_found(capsys):
    AutoSVC(cv=3, verbose=1).fit(MIXED, MIXED_CODES)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("[adatron] columns: ")
    assert f"{MIXED.isna().to_numpy().sum()} missing values in {MIXED.isna().any().sum()} of them" in first


def test_a_thousand_rows_of_adult_data():
    """Real data whose tuned SVC errs on 15.6 % of the other 30,956 rows."""
    parts = []
    for name in ("a1a", "a1a.t"):
        with lzma.open(data_dir() / "libsvm" / f"{name}.xz", "rb") as file:
            X, y = load_svmlight_file(file, n_features=123)
        parts += [X, y]
    X, y, X_test, y_test = parts
    assert 1.0 - AutoSVC(random_state=0).fit(X, y).score(X_test, y_test) < 0.162


@pytest.fixture(scope="module")
def rare():
    """One row in twenty is of the second class."""
    X, y = make_classification(3000, 12, n_informative=5, weights=[0.95], class_sep=0.6, random_state=0)
    return X[:800], y[:800], X[800:], y[800:]


@pytest.fixture(scope="module")
def usual_of_rare(rare):
    return AutoSVC().fit(*rare[:2])


def test_scoring_by_balanced_accuracy_moves_the_threshold(rare, usual_of_rare):
    X, y, X_test, y_test = rare
    plain, balanced = usual_of_rare, AutoSVC(scoring="balanced_accuracy").fit(X, y)
    gain = [balanced_accuracy_score(y_test, model.predict(X_test)) for model in (plain, balanced)]
    assert gain[1] > gain[0] + 0.05
    assert plain.best_threshold_ == 0.0 > balanced.best_threshold_
    expected = balanced.decision_function(X_test) > balanced.best_threshold_
    np.testing.assert_array_equal(balanced.predict(X_test) == 1, expected)


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "f1", "neg_log_loss"])
def test_usual_metrics_are_not_asked_of_scikit_learn(rare, scoring, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("scikit-learn's scorer was asked")

    monkeypatch.setattr(auto_scoring, "check_scoring", never)
    X, y, _, _ = rare
    assert np.isfinite(AutoSVC(scoring=scoring).fit(X[:300], y[:300]).best_score_)


def test_class_weights_as_in_svc(rare, usual_of_rare):
    X, y, X_test, y_test = rare
    plain, balanced = usual_of_rare, AutoSVC(class_weight="balanced").fit(X, y)
    recalls = [recall_score(y_test, model.predict(X_test)) for model in (plain, balanced)]
    assert recalls[1] > recalls[0] + 0.1
    counts = np.bincount(y)
    equal = AutoSVC(class_weight=dict(enumerate(len(y) / (2.0 * counts)))).fit(X, y)
    np.testing.assert_array_equal(equal.decision_function(X_test), balanced.decision_function(X_test))
    assert clone(AutoSVC(class_weight={0: 1, 1: 3})).class_weight == {0: 1, 1: 3}


def test_rows_of_a_group_are_on_one_side_of_every_split():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 8)
    X = rng.normal(size=(40, 6))[groups] + 0.05 * rng.normal(size=(320, 6))
    y = rng.integers(0, 2, 40)[groups]  # the label is that of the group, and nothing else tells it
    assert AutoSVC().fit(X, y).best_score_ > 0.95
    for model in (AutoSVC(), AutoSVC(cv=GroupKFold(4))):
        assert model.fit(X, y, groups=groups).best_score_ < 0.75
    targets = rng.normal(size=40)[groups]
    assert AutoSVR().fit(X, targets).best_score_ > 0.9
    assert AutoSVR().fit(X, targets, groups=groups).best_score_ < 0.3


def words(n, seed=0):
    """Rows like those of tf-idf: thousands of rare words, of which some belong to a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    frequencies = 1.0 / np.arange(1, 3001)
    topics = [frequencies.copy() for _ in range(4)]
    for c, own in enumerate(topics):
        own[np.random.default_rng(c).choice(3000, 150, replace=False)] *= 12.0
    counts = np.zeros((n, 3000))
    for i in range(n):
        own = topics[y[i]] / topics[y[i]].sum()
        np.add.at(counts[i], rng.choice(3000, size=30, p=own), 1.0)
    return sparse.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts)), y


def test_text_is_classified_as_well_as_by_a_linear_svm():
    X, y = words(900)
    model = AutoSVC().fit(X[:500], y[:500])
    linear = LinearSVC().fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > max(0.4, linear.score(X[500:], y[500:]) - 0.01)


@pytest.mark.parametrize("cv", [LeaveOneOut(), 120])
def test_folds_of_few_rows_judge_together(cv):
    X, y = make_moons(120, noise=0.2, random_state=0)
    order = np.argsort(y, kind="stable")
    model = AutoSVC(cv=cv).fit(X[order], y[order])
    assert model.score(X, y) > 0.9
    assert 0.85 < model.best_score_ < 1.0


def test_fewer_groups_than_folds():
    X, y = make_moons(60, noise=0.2, random_state=0)
    groups = np.arange(60) % 3
    best = AutoSVC().fit(X, y, groups=groups).best_score_
    assert best == AutoSVC(cv=StratifiedGroupKFold(3)).fit(X, y, groups=groups).best_score_
    with pytest.raises(ValueError, match="groups has only one group"):
        AutoSVC().fit(X, y, groups=np.zeros(60))
    with pytest.raises(
        ValueError, match=r"groups contains NaN: 20 group\(s\) are missing, the first in row 1"
    ):
        AutoSVC().fit(X, y, groups=np.where(groups == 1, np.nan, groups))


def test_a_missing_date_is_no_label():
    days = np.array(["2024-01-01", "2024-01-02", "NaT"] * 10, dtype="datetime64[D]")
    with pytest.raises(ValueError, match="y contains NaT"):
        AutoSVC().fit(np.arange(30.0)[:, None], days)
