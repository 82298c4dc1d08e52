"""`solver="auto"` on problems large enough for working sets: float32 rows, caches, sparse rows, threads."""

import os
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC as SklearnSVC

from adatron import SVC
from adatron.gram import LazyGram, RowGram, choose_gram, expand
from adatron.gram.tile_kinds import as_csr
from adatron.gram.tiles import DenseTiles, tile_evaluator
from adatron.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from adatron.numerics.threads import in_parallel, usable_threads
from adatron.problems import classification
from adatron.training import certify

GAMMA = 0.1


def rows(m, d=6, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] * X[:, 1] + noise * rng.normal(size=m) > 0.0, 1, -1)
    return X, y


def exact_gap(model, X, y, C, gamma=GAMMA):
    """Relative gap of a model from a float64 kernel matrix."""
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    gram = RowGram(Gaussian(gamma), X, 2**30, np.float64)
    problem = classification(gram, y, np.full(len(y), C), bias=bool(model.fit_intercept))
    return certify(problem, 0, alpha).gap


@pytest.mark.parametrize(("C", "bias"), [(0.1, True), (1.0, False), (30.0, True)])
def test_gap_holds_in_float64(C, bias):
    X, y = rows(5_100)
    model = SVC(C=C, gamma=GAMMA, fit_intercept=bias).fit(X, y)
    assert model.converged_
    assert model._precision is np.float32
    assert exact_gap(model, X, y, C) <= 1e-3


def test_same_predictions_as_sklearn():
    X, y = rows(3_000)
    X_test, _ = rows(2_000, seed=1)
    ours = SVC(gamma=GAMMA, tol=1e-4).fit(X, y)
    theirs = SklearnSVC(gamma=GAMMA, tol=1e-5).fit(X, y)
    assert np.mean(ours.predict(X_test) == theirs.predict(X_test)) >= 0.995
    difference = ours.decision_function(X_test) - theirs.decision_function(X_test)
    assert np.abs(difference).max() < 0.05


@pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-6), (1e4, 1e-3)])
def test_goes_on_with_float64_where_float32_is_too_coarse(C, tol):
    X, y = rows(5_200, d=4, noise=0.2)
    model = SVC(C=C, gamma=GAMMA, tol=tol).fit(X, y)
    assert model.converged_
    assert exact_gap(model, X, y, C) <= tol
    if tol < 1e-4:
        assert model._precision is np.float64


def test_small_cache_gives_the_same_model_and_says_what_it_keeps(capsys):
    X, y = rows(5_200)
    small = SVC(gamma=GAMMA, cache_size=25, verbose=1, tol=1e-6).fit(X, y)
    said = capsys.readouterr().out
    assert "rows: float32 rows of the 5200 × 5200 kernel matrix" in said
    assert "up to 25.0 MB kept" in said
    large = SVC(gamma=GAMMA, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(small.decision_function(X), large.decision_function(X), atol=5e-3)


@pytest.mark.parametrize(("m", "density"), [(1_000, 0.3), (2_200, 0.3), (5_200, 0.02)])
def test_sparse_rows_train_the_same_model(m, density):
    rng = np.random.default_rng(0)
    S = sparse.random_array((m, 60), density=density, format="csr", random_state=rng)
    y = np.where(S @ rng.normal(size=60) + 0.01 * rng.normal(size=m) > 0.0, 1, -1)
    thin, dense = SVC(gamma=1.0, tol=1e-6).fit(S, y), SVC(gamma=1.0, tol=1e-6).fit(S.toarray(), y)
    difference = thin.decision_function(S) - dense.decision_function(S.toarray())
    assert np.abs(difference).max() < 5e-3
    assert thin.converged_


def test_one_vs_rest_and_pairs_of_many_rows():
    X, _ = rows(6_400)
    y = np.argmax(X[:, :3], axis=1)
    for multi_class in ("ovo", "ovr"):
        model = SVC(gamma=GAMMA, multi_class=multi_class).fit(X, y)
        assert model.converged_
        assert model.duality_gap_ <= 1e-3
        assert model.score(X, y) > 0.97


def test_time_limit_ends_a_large_fit():
    X, y = rows(20_000, d=20)
    with pytest.warns(UserWarning, match="time_limit|did not converge"):
        model = SVC(C=100.0, tol=1e-6, time_limit=0.3).fit(X, y)
    assert model.status_ == "time_limit"
    assert np.isfinite(model.decision_function(X[:10])).all()


def test_warm_start_needs_fewer_rounds():
    X, y = rows(5_600)
    model = SVC(gamma=GAMMA, warm_start=True).fit(X, y)
    first = int(model.n_iter_[0])
    again = int(model.fit(X, y).n_iter_[0])
    assert again < first


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.2), Linear(), Polynomial(3, 0.3, 1.0), Sigmoid(0.1, 0.2), Laplacian(0.3)]
)
@pytest.mark.parametrize("form", ["dense", "sparse", "wide"])
def test_expansion_equals_the_kernel(kernel, form):
    rng = np.random.default_rng(0)
    d, m = (2_000, 270) if form == "wide" else (7, 700)
    X, Z = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3) / np.sqrt(d / 7) for n in (m, 90))
    coefficients = rng.normal(size=(90, 3))
    expected = kernel(X, Z) @ coefficients
    wrap = np.asarray if form == "dense" else sparse.csr_array
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-5)):
        error = tolerance * np.abs(expected).max()
        result = expand(kernel, wrap(X), wrap(Z), coefficients, dtype)
        np.testing.assert_allclose(result, expected, atol=error)
        parts = expand(kernel, wrap(X), wrap(Z), coefficients, dtype, groups=np.array([0, 30, 30, 90]))
        np.testing.assert_allclose(parts.sum(axis=1), expected, atol=error)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_zeros_of_dense_rows_are_not_multiplied_where_they_are_many(dtype, tolerance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_600, 500)) * (rng.random((2_600, 500)) < 0.02)
    kernel, chosen = Gaussian(0.05), np.array([5, 1_000, 2_599])
    tiles = tile_evaluator(kernel, X, dtype)
    assert not isinstance(tiles, DenseTiles)
    assert isinstance(tile_evaluator(kernel, X[:, :40], dtype), DenseTiles)  # too few values to care
    out = np.empty((3, 2_600), dtype=dtype)
    tiles.fill(chosen, None, out, n_threads=2)
    np.testing.assert_allclose(out, kernel(X[chosen], X), atol=tolerance)
    coefficients = rng.normal(size=(2_600, 2))
    expected = kernel(X[:300], X) @ coefficients
    result = expand(kernel, X[:300], X, coefficients, dtype)
    np.testing.assert_allclose(result, expected, atol=50.0 * tolerance)


@pytest.mark.fault("D41")
def test_rows_that_change_while_their_entries_are_counted():
    X = np.zeros((4, 6))
    X[0, 1] = X[2, 3] = 1.0
    counted, count_nonzero = X.copy(), np.count_nonzero
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "count_nonzero", lambda A, axis: count_nonzero(counted, axis))
        stored = as_csr(np.ones((4, 6)))
        fewer = as_csr(np.zeros((4, 6)))
    assert stored.nnz == fewer.nnz == 2
    assert stored.indices.max() < 6
    assert not fewer.data.any()


@pytest.mark.parametrize("d", [6, 200])  # blocks of narrow rows are evaluated, those of wide ones gathered
def test_rows_that_were_not_used_for_longest_leave_the_cache(d):
    X, _ = rows(3_000, d)
    kernel = Gaussian(0.6 / d)
    gram = RowGram(kernel, X, cache_bytes=8 * 3_000 * 1024, dtype=np.float64)
    assert gram.capacity == 1024
    K = kernel(X, X)
    rng = np.random.default_rng(0)
    recent = np.arange(0)
    for count in (900, 900, 40, 1024, 7, 60, 1000, 90, 30, 500):
        new = rng.choice(3_000, count, replace=False)
        chosen, f = np.unique(np.concatenate([recent, new]))[-1024:], np.zeros(3_000)
        recent, weights = chosen[::2], rng.normal(size=len(chosen))
        gram.add_rows(chosen, weights, f)
        np.testing.assert_allclose(f, K[chosen].T @ weights, atol=1e-9)
        np.testing.assert_allclose(gram.block(chosen, chosen), K[np.ix_(chosen, chosen)], atol=1e-12)


def test_rows_of_one_request_do_not_push_each_other_out():
    X, _ = rows(3_000)
    gram = RowGram(Gaussian(GAMMA), X, cache_bytes=8 * 3_000 * 1024, dtype=np.float64)
    requests = [np.arange(start, start + 225) for start in range(0, 900, 225)]
    requests.append(np.arange(1_000, 1_200))  # more than the 124 slots that were never used
    requests.append(np.concatenate([np.arange(1_000, 1_200), np.arange(2_000, 2_050)]))
    for chosen in requests:
        f = np.zeros(3_000)
        gram.add_rows(chosen, np.ones(len(chosen)), f)
        np.testing.assert_allclose(f, Gaussian(GAMMA)(X[chosen], X).sum(axis=0), rtol=1e-10)


def test_cache_stays_within_its_bound():
    X, _ = rows(5_200)
    gram = RowGram(Gaussian(GAMMA), X, cache_bytes=4 * 5_200 * 800)
    rng = np.random.default_rng(0)
    for count in (720, 132, 360, 28, 600):  # slots side by side at first, scattered later
        gram.add_rows(rng.choice(5_200, count, replace=False), np.ones(count), np.zeros(5_200))
    assert gram._kept.nbytes + gram._spare.nbytes <= 1.25 * 4 * 5_200 * 800


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_a_small_cache_could_not_hold_are_not_kept(dtype):
    X, _ = rows(1_500)
    few, rng = np.dtype(dtype).itemsize * 1_500 * 100, np.random.default_rng(0)
    gram = RowGram(Gaussian(GAMMA), X, cache_bytes=few, dtype=dtype)
    wide = RowGram(Linear(), rng.normal(size=(1_500, 200)), cache_bytes=few, dtype=dtype)
    assert gram.forgets
    assert not wide.forgets  # to evaluate its rows again costs more than to keep them
    chosen, weights = rng.choice(1_500, 400, replace=False), rng.normal(size=400)
    f, K = np.zeros(1_500), Gaussian(GAMMA)(X, X)
    gram.add_rows(chosen, weights, f)
    tolerance = 1e-3 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(f, weights @ K[chosen], atol=tolerance)
    V = np.column_stack([f, np.zeros(1_500)])
    np.testing.assert_allclose(gram.matmul(V), K @ V, atol=100.0 * tolerance)
    assert gram._kept is None


def test_lazy_matrix_evaluates_only_what_is_used():
    X, y = rows(900)
    gram = LazyGram(Gaussian(GAMMA), X)
    gram.block(np.array([3, 5, 3]))
    assert gram.partial().filled[0] == 2
    model_rows = SVC(gamma=GAMMA).fit(X, y).n_support_.sum()
    assert model_rows < 900


def test_choice_of_precision():
    X, _ = rows(2_100)
    assert choose_gram(Gaussian(GAMMA), X, "auto", needs_few_rows=True).gram.dtype == np.float32
    assert choose_gram(Gaussian(GAMMA), X, "auto", precise=True, needs_few_rows=True).gram.dtype == np.float64
    assert choose_gram(Gaussian(GAMMA), X[:2_000], 1.0, needs_few_rows=True).gram.dtype == np.float64
    assert (
        choose_gram(Polynomial(9), 1e4 * X, "auto", needs_few_rows=True).gram.dtype == np.float64
    )  # overflows float32
    assert isinstance(choose_gram(Gaussian(GAMMA), X[:500], "auto", needs_few_rows=True).gram, LazyGram)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux lets threads choose")
def test_helpers_leave_the_processor_to_the_caller():
    allowed, seen = os.sched_getaffinity(0), {}
    caller = threading.get_ident()
    barrier = threading.Barrier(2, timeout=10.0)  # so that the helper gets its share

    def work(item):
        seen[threading.get_ident()] = os.sched_getaffinity(0)
        barrier.wait()

    time.sleep(0.01)  # others count as idle after a millisecond
    in_parallel(work, range(2), n_threads=2)
    assert seen.pop(caller) == os.sched_getaffinity(0) == allowed
    (helper,) = seen.values()
    assert helper < allowed or len(allowed) == 1


def test_in_parallel_raises_what_a_thread_raises():
    done = []

    def work(item):
        if item == 3:
            raise ValueError("three")
        done.append(item)

    with pytest.raises(ValueError, match="three"):
        in_parallel(work, range(100), n_threads=4)
    assert 3 not in done
    in_parallel(done.append, [], n_threads=2)
    assert usable_threads() >= 1
