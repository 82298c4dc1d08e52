"""AutoSVC's exact SVMs: the same models as `SVC`'s, chosen by the same folds."""

from dataclasses import replace

import numpy as np
import pytest
from adatron.auto.candidates import ExactSearch
from adatron.auto.search_data import divided_by
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from tests.silent_callback import SilentCallback

from adatron import SVC, AutoSVC
from adatron.auto import search as auto_search
from adatron.auto.search import AutoSearch
from adatron.display import KernelPathDisplay
from adatron.gram import REGIME


@pytest.fixture
def exact_always(monkeypatch):
    monkeypatch.setattr(AutoSVC, "_regime", replace(REGIME, exact_from=0))
    monkeypatch.setattr(auto_search, "_CLEARLY", -np.inf)
    monkeypatch.setattr(auto_search, "_CLEARLY_FOR_TEXT", -np.inf)


def two_classes():
    return make_moons(300, noise=0.3, random_state=0)


def three_classes():
    return load_iris(return_X_y=True)


def sparse_rows():
    X, y = make_classification(200, 12, n_informative=6, random_state=0)
    return sparse.csr_array(np.where(np.abs(X) < 0.7, 0.0, X)), y


@pytest.mark.parametrize("load", [two_classes, three_classes, sparse_rows])
def test_the_model_is_the_svm_with_that_width_and_penalty(exact_always, load):
    X, y = load()
    model = AutoSVC().fit(X, y)
    assert model.is_exact_
    scaled = divided_by(X, model.feature_scale_)
    svm = SVC(model.C_, gamma=model.gamma_, multi_class="ovr", tol=1e-6).fit(scaled, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(scaled), atol=0.02)
    assert model.duality_gap_ <= 1e-3
    assert model.converged_
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_weights_tell_rows_apart_but_do_not_scale(exact_always):
    X, y = two_classes()
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model, scaled = (AutoSVC().fit(X, y, factor * weights) for factor in (1.0, 1e3))
    np.testing.assert_allclose(model.decision_function(X), scaled.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(model.C_, 1e3 * scaled.C_)
    svm = SVC(model.C_, gamma=model.gamma_).fit(divided_by(X, model.feature_scale_), y, weights)
    own = svm.decision_function(divided_by(X, model.feature_scale_))
    np.testing.assert_allclose(model.decision_function(X), own, atol=0.02)


@pytest.mark.fault("P4")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-308, 1e-30, 1e38, 1e300])
def test_weights_of_extreme_size(exact_always, size):
    X, y = two_classes()
    model = AutoSVC().fit(X, y, np.full(len(y), size))
    assert model.is_exact_
    np.testing.assert_allclose(model.path_.best["C"], model.C_)
    one = AutoSVC().fit(X, y)
    assert np.mean(model.predict(X) == one.predict(X)) > 0.97


@pytest.mark.parametrize("load", [two_classes, three_classes])
def test_held_out_errors_are_those_of_fits_without_the_fold(exact_always, load, monkeypatch):
    X, y = load()
    searches = []
    run = AutoSearch.run
    monkeypatch.setattr(AutoSearch, "run", lambda self: (searches.append(self), run(self))[1])
    AutoSVC().fit(X, y)
    search = searches[0].exact
    trial, data, k = search.best, search.data, search.data.n_problems
    for fold in range(data.folds.n_folds):
        training, held = (np.flatnonzero(w[:, fold]) for w in (data.folds.training, data.folds.held))
        svm = SVC(trial.C, gamma=trial.gamma, multi_class="ovr")
        svm.fit(data.scaled[training], data.codes[training], data.folds.training[training, fold])
        expected = svm.decision_function(data.scaled[held]).reshape(len(held), k)
        own = trial.decisions[held, fold * k : (fold + 1) * k]
        np.testing.assert_allclose(own, expected, atol=0.1 * np.abs(expected).max())


def test_neighbours_of_the_best_were_looked_at(exact_always):
    X, y = two_classes()
    path = AutoSVC().fit(X, y).path_
    exact = [record for record in path if np.isfinite(record.get("C", np.nan))]
    assert path.best in exact
    tried = {(round(np.log2(r["gamma"] / path.best["gamma"])), r["C"] / path.best["C"]) for r in exact}
    assert (-1, 1.0) in tried
    assert {(0, 0.25), (0, 4.0)} & tried
    assert path.best["criterion"] == min(record["criterion"] for record in exact)
    display = KernelPathDisplay.from_path(path)
    drawn = display.line_.get_xdata()
    assert len(drawn) == len(set(drawn)) > 1  # one point for each width


def test_order_of_rows_and_n_jobs_do_not_matter(exact_always):
    X, y = two_classes()
    model = AutoSVC(random_state=3).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    for other in (
        AutoSVC(random_state=3, n_jobs=2).fit(X, y),
        AutoSVC(random_state=3).fit(X[order], y[order]),
    ):
        assert (other.gamma_, other.C_) == (model.gamma_, model.C_)
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_a_class_that_some_folds_lack(exact_always):
    X, y = two_classes()
    y = y.copy()
    y[:3] = 2
    model = AutoSVC().fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.85


def test_scores_other_than_the_error(exact_always):
    X, y = two_classes()
    model = AutoSVC(scoring="neg_log_loss").fit(X, y)
    assert model.is_exact_
    assert model.score(X, y) > 0.85


def test_weights_are_repetitions_and_rows_without_weight_are_absent(exact_always):
    X, y = two_classes()
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AutoSVC().fit(X, y, counts)
    repeated = AutoSVC().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert (weighted.is_exact_, repeated.is_exact_) == (True, True)
    present = AutoSVC().fit(X[counts > 0], y[counts > 0], counts[counts > 0])
    np.testing.assert_array_equal(weighted.decision_function(X), present.decision_function(X))
    assert weighted.C_ == present.C_ == weighted.path_.best["C"]
    # folds are dealt to rows, not to weights, so that only the model of one width and C is the same
    same = SVC(weighted.C_, gamma=weighted.gamma_).fit(
        divided_by(np.repeat(X, counts, axis=0), weighted.feature_scale_), np.repeat(y, counts)
    )
    own = same.decision_function(divided_by(X, weighted.feature_scale_))
    np.testing.assert_allclose(weighted.decision_function(X), own, atol=0.02)


@pytest.mark.parametrize("scale", [5.0, -1.0])
def test_a_worse_one_is_not_taken_whatever_the_sign_of_the_score(monkeypatch, scale):
    monkeypatch.setattr(AutoSVC, "_regime", replace(REGIME, exact_from=0))
    X, y = two_classes()

    def score(model, X, y):
        right = np.mean(model.predict(X) == y)
        return 5.0 * right if scale > 0.0 else right - 3.0

    model = AutoSVC(scoring=score).fit(X, y)
    assert "C" in model.path_.columns
    assert model.path_.best["criterion"] == min(model.path_["criterion"])


def test_without_any_error_training_stops_early():
    X, y = make_blobs(1_200, centers=2, cluster_std=0.3, random_state=0)
    assert not AutoSVC(scoring="accuracy").fit(X, y).is_exact_


def test_a_scorer_that_fails_on_the_last_exact_models(exact_always):
    X, y = two_classes()
    calls, allowed = [], np.inf

    def score(model, X, y):
        calls.append(None)
        if len(calls) > allowed:
            raise ValueError("no")
        return np.mean(model.predict(X) == y)

    path = AutoSVC(scoring=score).fit(X, y).path_
    allowed, _ = len(calls) - 10, calls.clear()  # five folds: the last two models cannot be scored
    model = AutoSVC(scoring=score).fit(X, y)
    assert len(model.path_) == len(path) - 2
    assert model.score(X, y) > 0.85


def test_a_limit_that_ends_the_search_is_told(exact_always, monkeypatch):
    X, y = two_classes()
    monkeypatch.setattr(AutoSearch, "seconds_left", lambda self, part=None: self.exact and 0.0)
    with pytest.warns(ConvergenceWarning, match="within time_limit"):
        model = AutoSVC(time_limit=100.0).fit(X, y)
    assert model.status_ == "time_limit"
    assert not model.is_exact_


@pytest.mark.parametrize("worse", [False, True])
def test_taken_only_if_clearly_better(monkeypatch, worse):
    monkeypatch.setattr(AutoSVC, "_regime", replace(REGIME, exact_from=0))
    monkeypatch.setattr(auto_search, "_CLEARLY", np.inf if worse else -np.inf)
    X, y = two_classes()
    model = AutoSVC().fit(X, y)
    assert model.is_exact_ != worse
    assert "C" in model.path_.columns
    assert np.isfinite(model.path_.best.get("C", np.nan)) != worse


def test_few_rows_are_not_enough_to_tell():
    X, y = make_moons(1_000, noise=0.3, random_state=0)
    assert "C" not in AutoSVC().fit(X, y).path_.columns
    X, y = make_moons(1_001, noise=0.3, random_state=0)
    assert "C" in AutoSVC().fit(X, y).path_.columns


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0])
def test_a_time_limit_leaves_a_usable_model(exact_always, seconds):
    X, y = make_classification(2_500, 20, n_informative=8, flip_y=0.1, random_state=0)
    model = AutoSVC(time_limit=seconds).fit(X, y)
    assert model.score(X, y) > 0.7


class StopAtTheFirstExact(SilentCallback):
    """A callback that stops when an exact SVM was tried."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, X=None, y=None):
        return context.parent is not None and "C" in fitted_estimator.path_.columns


def test_a_callback_can_stop_it(exact_always):
    X, y = two_classes()
    model = AutoSVC().set_callbacks(StopAtTheFirstExact()).fit(X, y)
    assert model.status_ == "stopped"
    assert np.isfinite(model.path_["C"].astype(float)).sum() == 1
    assert not model.is_exact_
    assert model.score(X, y) > 0.85


def test_verbose_tells_of_exact_svms(exact_always, capsys):
    X, y = two_classes()
    AutoSVC(verbose=1).fit(X, y)
    assert ", C=4: held-out criterion" in capsys.readouterr().out


def test_a_stage_that_cannot_win_ends_after_its_first_trial(exact_always, monkeypatch):
    X, y = two_classes()
    found = []
    run = ExactSearch.run

    def against_a_strong_rival(self, octave, rival):
        found.append(self)
        return run(self, octave, 0.3 * rival)

    monkeypatch.setattr(ExactSearch, "run", against_a_strong_rival)
    AutoSVC().fit(X, y)
    assert len(found[0].trials) == 1
