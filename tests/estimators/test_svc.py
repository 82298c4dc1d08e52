"""What `SVC` does beyond scikit-learn's: certificates, limits, resuming, every kind of input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from tests.problems_for_tests import noisy_points
from tests.stopwatch import Stopwatch
from threadpoolctl import threadpool_info

from adatron import SVC, EnsembleSVC
from adatron.datasets import load_ionosphere, load_pima, load_sonar
from adatron.kernels import Gaussian, Linear
from adatron.solvers import SecantAdatron
from adatron.training import Status


@pytest.fixture(scope="module")
def sonar():
    return load_sonar(return_X_y=True)


def test_every_fit_is_certified(sonar):
    model = SVC().fit(*sonar)
    assert model.converged_ is True
    assert model.status_ == "converged"
    assert isinstance(model.duality_gap_, float)
    assert 0.0 <= model.duality_gap_ <= model.tol
    lengths = {len(column) for column in model.history_.values()}
    assert lengths == {int(model.n_iter_[0])}
    assert list(model.history_) == ["problem", "epoch", "seconds", "objective", "margin", "bias", "violation"]


def test_out_of_epochs_warns_with_the_gap_and_keeps_the_iterate(sonar):
    X, y = sonar
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        model = SVC(max_iter=3, solver="adatron", fit_intercept=False, gamma=0.5).fit(X, y)
    assert model.status_ == "max_iter"
    assert not model.converged_
    assert model.duality_gap_ > model.tol
    np.testing.assert_array_equal(model.n_iter_, [3])
    K, signs = rbf_kernel(X, gamma=0.5), np.where(y == 1, 1.0, -1.0)
    alpha = np.zeros(len(y))
    for _ in range(3):  # the algorithm's own iterate, untouched by the exact finish
        for i in range(len(y)):
            alpha[i] = np.clip(alpha[i] + 1 - signs[i] * (K[i] @ (signs * alpha)), 0.0, 1.0)
    found = np.zeros(len(y))
    found[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(found, alpha, atol=1e-7)


def test_time_limit_is_kept_with_a_usable_model():
    X, y = load_pima(return_X_y=True)
    for _ in range(2):  # the first time compiles
        watch = Stopwatch()
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            model = SVC(1e4, solver="adatron", tol=1e-9, time_limit=0.1).fit(X, y)
    assert watch.seconds() < 5.0
    assert model.status_ == "time_limit"
    assert model.score(X, y) > 0.6


def test_warm_start_saves_epochs(sonar):
    model = SVC(10.0, solver="adatron", warm_start=True, gamma=0.5).fit(*sonar)
    cold = int(model.n_iter_[0])
    model.set_params(gamma=0.45).fit(*sonar)
    fresh = SVC(10.0, solver="adatron", gamma=0.45).fit(*sonar)
    assert int(model.n_iter_[0]) < int(fresh.n_iter_[0])
    assert cold > 1
    np.testing.assert_allclose(
        model.decision_function(sonar[0]), fresh.decision_function(sonar[0]), atol=1e-6
    )


def test_warm_start_with_other_data_starts_cold(sonar):
    X, y = sonar
    model = SVC(warm_start=True).fit(X, y).fit(X[:100], y[:100])
    np.testing.assert_allclose(model.dual_coef_, SVC().fit(X[:100], y[:100]).dual_coef_, atol=1e-9)


def test_iter_fit_gives_records_and_a_usable_model_after_each(sonar):
    X, y = sonar
    model = SVC(10.0, solver="adatron")
    scores = []
    for record in model.iter_fit(X, y):
        scores.append(model.score(X, y))
        assert record.gap == pytest.approx(model.duality_gap_)
        assert record.n_support >= int(model.n_support_.sum())
        if record.epoch == 300:
            break
    assert len(scores) == 300
    assert scores[-1] > 0.9 > scores[0]
    for _ in model.iter_fit(X, y):
        pass
    np.testing.assert_allclose(model.dual_coef_, SVC(10.0, solver="adatron").fit(X, y).dual_coef_)


def test_one_vs_rest_columns_equal_separate_fits():
    X, y = load_iris(return_X_y=True)
    model = SVC(multi_class="ovr", tol=1e-6).fit(X, y)
    assert model.dual_coef_.shape[0] == model.intercept_.shape[0] == 3
    decisions = model.decision_function(X)
    for label in range(3):
        single = SVC(tol=1e-6).fit(X, y == label)
        np.testing.assert_allclose(decisions[:, label], single.decision_function(X), atol=1e-4)


def test_one_vs_one_pairs_equal_separate_fits_also_in_threads():
    X, y = load_iris(return_X_y=True)
    gamma = 0.3
    model = SVC(decision_function_shape="ovo", gamma=gamma, n_jobs=2, tol=1e-6).fit(X, y)
    for problem, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == i) | (y == j)
        single = SVC(gamma=gamma, tol=1e-6).fit(X[rows], y[rows] == i)
        np.testing.assert_allclose(
            model.decision_function(X)[:, problem], single.decision_function(X), atol=1e-4
        )


def test_blocked_operator_trains_the_same_model(sonar, capsys):
    X, y = sonar
    for solver, sentence in {
        "adatron": "blocked: rows of the 208 × 208 kernel matrix",
        "auto": "rows: float64 rows of the 208 × 208 kernel matrix",
    }.items():
        small = SVC(cache_size=0.05, verbose=1, solver=solver).fit(X, y)
        assert sentence in capsys.readouterr().out
        whole = SVC(solver=solver).fit(X, y)
        np.testing.assert_allclose(small.decision_function(X), whole.decision_function(X), atol=1e-9)


def test_silent_unless_verbose(sonar, capsys):
    SVC().fit(*sonar)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sparse_equals_dense(form, index_type):
    X, y = load_ionosphere(return_X_y=True)
    S = sparse.csr_array(X)
    S.indices, S.indptr = S.indices.astype(index_type), S.indptr.astype(index_type)
    dense, thin = SVC().fit(X, y), SVC().fit(S.asformat(form), y)
    assert sparse.issparse(thin.support_vectors_)
    np.testing.assert_allclose(thin.decision_function(S), dense.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(S), atol=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_feature_names(frame, sonar):
    X, y = sonar
    table = frame({f"band {j}": X[:, j] for j in range(5)})
    model = SVC().fit(table, y)
    assert model.feature_names_in_.tolist() == [f"band {j}" for j in range(5)]
    np.testing.assert_array_equal(model.predict(table), SVC().fit(X[:, :5], y).predict(X[:, :5]))


def test_float32_is_computed_in_float64(sonar):
    X, y = sonar
    single = X.astype(np.float32)
    a, b = SVC().fit(single, y), SVC().fit(single.astype(np.float64), y)
    np.testing.assert_array_equal(a.decision_function(single), b.decision_function(single.astype(np.float64)))


def test_precomputed_callable_and_object_kernels_agree(sonar):
    X, y = sonar
    K = rbf_kernel(X, gamma=0.5)
    models = {
        "string": (SVC(gamma=0.5).fit(X, y), X),
        "object": (SVC(kernel=Gaussian(0.5)).fit(X, y), X),
        "callable": (SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, y), X),
        "precomputed": (SVC(kernel="precomputed").fit(K, y), K),
    }
    expected = models["string"][0].decision_function(X)
    for name, (model, data) in models.items():
        np.testing.assert_allclose(model.decision_function(data), expected, atol=1e-8, err_msg=name)


def test_a_solver_object_with_its_own_settings(sonar):
    X, y = sonar
    solver = SecantAdatron(mu=5.0)
    model = SVC(10.0, gamma=0.5, solver=solver).fit(X, y)
    assert model.history_["bias"][:2] == [5.0, -5.0]


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.1, 1.0, 20.0]),
    kernel=st.sampled_from(["rbf", "linear", "poly"]),
    bias=st.booleans(),
)
def test_weight_two_is_the_row_twice(seed, C, kernel, bias):
    X, y = noisy_points(seed, m=30)
    counts = np.random.default_rng(seed).integers(0, 3, len(y))
    counts[:2] = 1
    weighted = SVC(C, kernel, fit_intercept=bias).fit(X, y, counts)
    repeated = SVC(C, kernel, fit_intercept=bias).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-7, rtol=1e-7
    )


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.01, 1.0, 100.0, np.inf]))
def test_order_of_rows_does_not_matter(seed, C):
    X, y = noisy_points(seed, m=25)
    order = np.random.default_rng(seed).permutation(len(y))
    kernel = Gaussian(2.0)
    a = SVC(C, kernel).fit(X, y).decision_function(X)
    b = SVC(C, kernel).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_probability_is_opt_in_and_normalised(sonar):
    X, y = sonar
    assert not hasattr(SVC(), "predict_proba")
    model = SVC(probability=True).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities)
    assert np.mean(probabilities.argmax(axis=1) == y) > 0.8


def test_grid_search(sonar):
    search = GridSearchCV(SVC(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, cv=3).fit(*sonar)
    assert search.best_score_ > 0.5


def test_history_is_bounded(sonar):
    X, y = sonar
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(1e6, Linear(), solver="adatron", max_iter=6_000, tol=1e-9).fit(X, y)
    epochs = model.history_["epoch"]
    assert len(epochs) <= 2_000
    assert epochs == sorted(epochs)
    assert (epochs[0], epochs[-1]) == (1, 6_000)


def test_records_of_columns_that_have_left_still_answer():
    X, y = load_iris(return_X_y=True)
    for record in SVC(multi_class="ovr", solver="adatron", tol=1e-6).iter_fit(X, y):
        assert 0.0 <= record.gap <= 1.0
        assert record.n_support > 0


def test_an_interrupt_keeps_the_columns_that_have_converged():
    X, y = load_iris(return_X_y=True)
    model = SVC(multi_class="ovr", solver="adatron", tol=1e-6)
    plan = model._plan(X, y, None)
    (run,) = plan.runs
    live, state = run.live, run.state
    for _ in plan.rounds():
        if any(solution is not None for solution in run.solutions):
            break
        live, state = run.live, run.state
    done = [column for column, solution in enumerate(run.solutions) if solution is not None]
    before = [run.solutions[column] for column in done]
    run.live, run.state = live, state  # as if interrupted before the columns left
    run.end(Status.STOPPED)
    assert [run.solutions[column] for column in done] == before


def test_nothing_of_an_earlier_fit_is_left(sonar):
    X, y = sonar
    model = SVC(probability=True, rank=20, random_state=0).fit(X, y)
    assert model.kernel_error_ > 0.0
    model.set_params(rank=None)
    for _ in model.iter_fit(X, 1 - y):
        pass
    assert not hasattr(model, "kernel_error_")
    with pytest.raises(NotFittedError, match="by iter_fit"):
        model.predict_proba(X)


def test_linear_weights_of_a_low_rank_model_are_those_it_decides_with(sonar):
    X, y = sonar
    model = SVC(kernel="linear", rank=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, model.decision_function(X), atol=1e-8)


def test_blas_threads_are_given_back(sonar):
    before = [pool["num_threads"] for pool in threadpool_info()]
    X, y = load_iris(return_X_y=True)
    for _ in range(3):
        SVC(n_jobs=2).fit(X, y)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.fault("K1")
@pytest.mark.parametrize("estimator", [EnsembleSVC(kernel="sigmoid"), SVC(kernel="sigmoid", coef0=-1.0)])
def test_an_indefinite_kernel_is_named_by_every_estimator(estimator, sonar):
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        estimator.set_params(gamma=1.0).fit(*sonar)
    assert estimator.status_ == "indefinite_kernel"


def test_coef_before_a_fit_says_that_there_was_none():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = SVC(kernel="linear").coef_
    assert not hasattr(SVC(kernel="linear"), "coef_")
