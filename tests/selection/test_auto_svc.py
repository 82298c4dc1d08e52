"""AutoSVC: a tuned model from the training data alone."""

import lzma
import warnings
from dataclasses import replace

import numpy as np
import pytest
from adatron.auto.candidates import trained_until
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_svmlight_file, load_wine, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, recall_score, roc_auc_score
from sklearn.model_selection import GroupKFold, PredefinedSplit, train_test_split
from sklearn.svm import SVC as ReferenceSVC
from sklearn.svm import LinearSVC
from tests.data_dir import data_dir
from tests.silent_callback import SilentCallback

from adatron import SVC, AutoSVC, AutoSVR
from adatron.auto import auto_svc
from adatron.auto import scoring as auto_scoring
from adatron.datasets import load_ionosphere, load_sonar
from adatron.estimators.classifier import Layout
from adatron.gram import REGIME, GaussianFamily
from adatron.selection import KernelPath
from adatron.training import Status


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(700, noise=0.3, random_state=0)
    return train_test_split(X, y, train_size=250, random_state=0)


@pytest.mark.parametrize("load", [load_sonar, load_ionosphere, load_iris, load_wine])
def test_no_worse_than_the_default_svc(load):
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.5, stratify=y, random_state=0)
    scale = np.maximum(X.std(axis=0), 1e-12)
    reference = ReferenceSVC().fit(X / scale, y).score(X_test / scale, y_test)
    assert AutoSVC().fit(X, y).score(X_test, y_test) >= reference - 0.02


def test_fitted_attributes(moons):
    X, X_test, y, _ = moons
    model = AutoSVC().fit(X, y)
    assert model.gamma_ > 0.0
    assert isinstance(model.path_, KernelPath)
    assert model.path_.best["gamma"] == model.gamma_
    assert model.path_.best["stage"] == model.n_iter_
    assert model.best_score_ == pytest.approx(1.0 - model.path_.best["error"])
    assert 0.0 <= model.duality_gap_ <= 1.0
    assert model.converged_
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    scaled = (X_test / model.feature_scale_)[:, None] - model.support_vectors_ / model.feature_scale_
    values = np.exp(-model.gamma_ * (scaled**2).sum(axis=2)) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X_test), values, atol=1e-10)


def test_held_out_decisions_are_those_of_fits_without_the_fold(moons):
    """Folds that are columns of one problem give what separate fits would."""
    X, _, y, _ = moons
    signs = Layout(2, "ovr").signs(y)
    held = np.arange(len(y)) % 3 == 0
    weights = np.column_stack([np.ones(len(y)), ~held])
    _, f, bias = trained_until(GaussianFamily(X).gram(2.0), signs, weights, 0.3, 4.5, lambda: None)
    gram = GaussianFamily(X[~held]).gram(2.0)
    alpha, _, own_bias = trained_until(gram, signs[~held], np.ones((sum(~held), 1)), 0.3, 4.5, lambda: None)
    distances = ((X[held][:, None] - X[~held]) ** 2).sum(axis=2)
    expected = np.exp(-2.0 * distances) @ (signs[~held] * alpha) + own_bias
    np.testing.assert_allclose((f + bias)[held, 1], expected[:, 0], atol=2e-3 * np.abs(expected).max())


def test_depends_on_the_rows_not_on_their_order(moons):
    X, X_test, y, _ = moons
    order = np.random.default_rng(0).permutation(len(y))
    first, second = AutoSVC(random_state=3).fit(X, y), AutoSVC(random_state=3).fit(X[order], y[order])
    np.testing.assert_array_equal(first.decision_function(X_test), second.decision_function(X_test))


def test_same_seed_same_bits_whatever_n_jobs(moons):
    X, X_test, y, _ = moons
    models = [AutoSVC(random_state=5, n_jobs=n).fit(X, y) for n in (None, 1, 2)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.decision_function(X_test), models[0].decision_function(X_test))


def test_sparse_and_dense_agree():
    X, y = make_classification(300, 30, random_state=0)
    X[np.abs(X) < 1.0] = 0.0
    dense = AutoSVC().fit(X[:200], y[:200])
    lean = AutoSVC().fit(sparse.csr_array(X[:200]), y[:200])
    assert lean.gamma_ == pytest.approx(dense.gamma_)
    np.testing.assert_allclose(
        lean.decision_function(sparse.csr_array(X[200:])), dense.decision_function(X[200:]), atol=1e-3
    )


def test_a_constant_column_of_sparse_rows_is_not_scaled():
    """Its deviation is 0 but for rounding: 26 times 1/26 is not quite 1."""
    X = np.column_stack([np.arange(26.0), np.ones(26)])
    y = np.arange(26) % 2
    sparse_scale = AutoSVC().fit(sparse.csr_array(X), y).feature_scale_
    np.testing.assert_allclose(sparse_scale, AutoSVC().fit(X, y).feature_scale_)


def test_probabilities_are_calibrated_and_agree_with_predictions(moons):
    X, X_test, y, y_test = moons
    model = AutoSVC().fit(X, y)
    p = model.predict_proba(X_test)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_test))
    np.testing.assert_allclose(model.predict_log_proba(X_test), np.log(p))
    bins = np.digitize(p[:, 1], np.linspace(0, 1, 6)[1:-1])
    off = [
        abs(p[bins == b, 1].mean() - y_test[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)
    ]
    assert sum(off) < 0.1  # expected calibration error
    assert brier_score_loss(y_test, p[:, 1]) < 0.1


def test_probabilities_of_three_classes():
    X, y = load_iris(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.5, stratify=y, random_state=0)
    model = AutoSVC().fit(X, y)
    p = model.predict_proba(X_test)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X_test))
    assert log_loss(y_test, p) < 0.35


def test_scoring_and_splitters_as_in_grid_search():
    X, y = make_classification(240, 6, weights=[0.85], random_state=2)
    groups = np.arange(240) % 4
    splits = list(GroupKFold(4).split(X, y, groups))
    model = AutoSVC(cv=splits, scoring="roc_auc").fit(X, y)
    assert 0.5 < model.best_score_ <= 1.0
    for scoring in ("neg_log_loss", lambda est, X, y: float((est.predict(X) == y).mean())):
        assert np.isfinite(AutoSVC(cv=3, scoring=scoring).fit(X, y).best_score_)
    validation = PredefinedSplit(np.where(np.arange(240) < 180, -1, 0))
    assert AutoSVC(cv=validation).fit(X, y).converged_


def test_weights_move_the_boundary(moons):
    X, X_test, y, _ = moons
    plain = AutoSVC().fit(X, y).predict(X_test)
    heavy = AutoSVC().fit(X, y, sample_weight=np.where(y == 1, 20.0, 1.0)).predict(X_test)
    assert (heavy == 1).sum() > (plain == 1).sum()


def test_more_rows_than_the_first_level(monkeypatch):
    monkeypatch.setattr(AutoSVC, "_regime", replace(REGIME, few=1_000, samples=(1_000, 50_000)))
    X, y = make_classification(2_500, 10, n_informative=6, class_sep=0.7, random_state=0)
    model = AutoSVC(random_state=0).fit(X[:1_200], y[:1_200])
    assert {record["level"] for record in model.path_.records} == {0, 1, 2}  # a sample, all rows, exact SVMs
    reference = ReferenceSVC(C=3.0).fit(X[:1_200], y[:1_200]).score(X[1_200:], y[1_200:])
    assert model.score(X[1_200:], y[1_200:]) > reference - 0.01


def test_many_rows_take_a_low_rank_kernel(monkeypatch):
    monkeypatch.setattr(AutoSVC, "_regime", replace(REGIME, many=1_100, few=1_000, samples=(1_000, 50_000)))
    X, y = make_classification(3_000, 8, n_informative=5, class_sep=0.8, random_state=0)
    model = AutoSVC(random_state=0).fit(X[:1_500], y[:1_500])
    assert len(model.support_) <= 1_000
    reference = ReferenceSVC(C=3.0).fit(X[:1_500], y[:1_500]).score(X[1_500:], y[1_500:])
    assert model.score(X[1_500:], y[1_500:]) > reference - 0.01


def test_a_sample_is_drawn_before_equal_rows_are_merged():
    """All copies of a row in one sample would make its held-out error flatter narrow kernels."""
    X, y = make_moons(3_200, noise=0.5, random_state=0)
    ((whole, (sample,)),) = AutoSVC()._scalings(np.repeat(X, 5, axis=0), np.repeat(y, 5), None, None)
    assert (whole.weights == 5.0).all()
    assert sample.weights.mean() < 1.7
    assert sample.weights.sum() == 3_000


class StopAfter(SilentCallback):
    """A callback that stops after some widths."""

    def __init__(self, widths):
        self.widths, self.scores = widths, []

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if context.parent is None:
            return False
        self.scores.append(fitted_estimator.score(X, y))
        return len(self.scores) >= self.widths


def test_callbacks_see_every_width_and_can_stop(moons):
    X, _, y, _ = moons
    stop = StopAfter(2)
    model = AutoSVC()
    model.set_callbacks(stop)
    model.fit(X, y)
    assert len(stop.scores) == 2
    assert all(score > 0.7 for score in stop.scores)
    assert model.status_ == "stopped"
    assert model.score(X, y) > 0.7


def test_progress_bar(moons, capsys):
    pytest.importorskip("rich")
    ProgressBar = pytest.importorskip("sklearn.callback", reason="scikit-learn >= 1.9").ProgressBar
    X, _, y, _ = moons
    model = AutoSVC()
    model.set_callbacks(ProgressBar())
    assert model.fit(X, y).converged_
    assert "AutoSVC" in capsys.readouterr().out


def test_verbose_tells_of_every_width(moons, capsys):
    X, _, y, _ = moons
    model = AutoSVC(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) >= len(model.path_)


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


def test_scoring_by_balanced_accuracy_moves_the_threshold_and_costs_no_ranking(rare):
    X, y, X_test, y_test = rare
    plain, balanced = AutoSVC().fit(X, y), AutoSVC(scoring="balanced_accuracy").fit(X, y)
    gain = [balanced_accuracy_score(y_test, model.predict(X_test)) for model in (plain, balanced)]
    assert gain[1] > gain[0] + 0.05
    ranks = [roc_auc_score(y_test, model.decision_function(X_test)) for model in (plain, balanced)]
    assert ranks[1] > ranks[0] - 0.03
    assert plain.best_threshold_ == 0.0 > balanced.best_threshold_
    expected = balanced.decision_function(X_test) > balanced.best_threshold_
    np.testing.assert_array_equal(balanced.predict(X_test) == 1, expected)
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (plain, balanced)]
    assert losses[1] < losses[0] + 0.05


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "f1", "neg_log_loss"])
def test_usual_metrics_are_not_asked_of_scikit_learn(rare, scoring, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("scikit-learn's scorer was asked")

    monkeypatch.setattr(auto_scoring, "check_scoring", never)
    X, y, _, _ = rare
    assert np.isfinite(AutoSVC(scoring=scoring).fit(X, y).best_score_)


def test_f1_is_of_the_class_1_wherever_it_stands(rare):
    X, y, X_test, _ = rare
    first, second = (AutoSVC(scoring="f1").fit(X, labels) for labels in (2 - y, y))  # 1 and 2, 0 and 1
    assert first.best_threshold_ != 0.0
    assert first.best_score_ == pytest.approx(second.best_score_, abs=0.05)
    assert np.mean((first.predict(X_test) == 1) == (second.predict(X_test) == 1)) > 0.9


def test_ctrl_c_before_any_width_leaves_nothing(moons, monkeypatch):
    X, X_test, y, _ = moons
    model = AutoSVC().fit(X, y)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    for name in ("prepared_data", "AutoSearch.run"):
        owner = auto_svc.AutoSearch if "." in name else auto_svc
        with monkeypatch.context() as patch:
            patch.setattr(owner, name.rpartition(".")[2], interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X[:, :1], y)
        with pytest.raises(NotFittedError):
            model.predict(X_test)


def test_class_weights_as_in_svc(rare):
    X, y, X_test, y_test = rare
    plain, balanced = AutoSVC().fit(X, y), AutoSVC(class_weight="balanced").fit(X, y)
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


def test_text_is_classified_at_least_as_well_as_by_the_default_svm():
    X, y = words(900)
    model = AutoSVC().fit(X[:500], y[:500])
    plain, linear = SVC().fit(X[:500], y[:500]), LinearSVC().fit(X[:500], y[:500])
    accuracy = model.score(X[500:], y[500:])
    assert accuracy > plain.score(X[500:], y[500:]) - 0.01
    assert accuracy > linear.score(X[500:], y[500:]) - 0.01


def test_sparse_rows_of_unequal_scales_are_still_divided_by_them():
    X, y = load_wine(return_X_y=True)
    model = AutoSVC().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(model.feature_scale_, AutoSVC().fit(X, y).feature_scale_)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_time_limits_that_suffice_for_all_rows_are_used(make, monkeypatch):
    """Estimates know how many entries a row has, and how fast the machine is."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(AutoSVC, "_regime", replace(REGIME, few=600, samples=(600, 50_000)))
    X = rng.normal(size=(900, 2000)) * (rng.random((900, 2000)) < 0.01)
    y = (X[:, :100].sum(axis=1) > 0.0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # on a slow machine the search may not end
        model = AutoSVC(time_limit=20).fit(make(X), y)
    assert len(model.support_) > 600  # of all rows, not of the sample


def test_a_time_limit_that_does_not_suffice_is_told_with_what_was_left_out():
    X, y = make_classification(4000, 20, random_state=0)
    message = r"within time_limit=0\.1 s: there was no time to train on all rows; .* 3,000 of them\. Raise"
    with pytest.warns(ConvergenceWarning, match=message):
        model = AutoSVC(time_limit=0.1).fit(X, y)
    assert model.status_ is Status.TIME_LIMIT
    assert model.score(X, y) > 0.7
