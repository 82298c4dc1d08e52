"""What every operator promises, checked against the dense matrix."""

import numpy as np
import pytest
from scipy import sparse
from tests.problems_for_tests import KERNELS, OPERATORS, noisy_points, operators

from adatron.exceptions import AdatronWarning
from adatron.gram import LowRankGram, RowGram, TwinGram, choose_gram, low_rank_gram, pivoted_cholesky
from adatron.gram.factors import nystroem
from adatron.kernels import Gaussian, Laplacian, Linear
from adatron.numerics.memory import available_memory


@pytest.fixture(params=[*OPERATORS, "factor"])
def operator_name(request):
    return request.param


@pytest.fixture(params=["once", "twins"])
def copies(request):
    return {"once": 1, "twins": 2}[request.param]


@pytest.fixture(params=list(KERNELS))
def case(request, operator_name, copies):
    X, _ = noisy_points(3, m=41 // copies + copies - 1)
    kernel = KERNELS[request.param]
    grams = operators(kernel, X) | {"factor": pivoted_cholesky(kernel, X, len(X))}
    gram = grams[operator_name]
    return (TwinGram(gram) if copies == 2 else gram), np.tile(kernel(X, X), (copies, copies))


def test_size_and_diagonal(case):
    gram, K = case
    assert gram.m == len(K)
    np.testing.assert_allclose(gram.diagonal(), K.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("columns", [1, 4])
def test_product(case, columns):
    gram, K = case
    V = np.random.default_rng(0).normal(size=(len(K), columns))
    V[::3] = 0.0
    np.testing.assert_allclose(gram.matmul(V), K @ V, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rows", [slice(0, 7), slice(20, 41), np.array([5]), np.array([40, 3, 3, 17])])
@pytest.mark.parametrize("cols", [None, np.array([1, 0, 30])])
def test_block_again_and_again(case, rows, cols):
    gram, K = case
    expected = K[rows] if cols is None else K[rows][:, cols]
    for _ in range(3):  # from the kernel, then perhaps from the cache
        np.testing.assert_allclose(gram.block(rows, cols), expected, rtol=1e-10, atol=1e-10)


def test_restriction_is_the_submatrix_and_restricts_again(case):
    gram, K = case
    rows = np.array([4, 30, 2, 7, 19])
    inner = gram.restrict(rows)
    np.testing.assert_allclose(inner.block(slice(0, 5)), K[np.ix_(rows, rows)], rtol=1e-10, atol=1e-10)
    again = inner.restrict(np.array([3, 0]))
    np.testing.assert_allclose(again.matmul(np.eye(2)), K[np.ix_([7, 4], [7, 4])], rtol=1e-10, atol=1e-10)


def test_blocked_keeps_within_its_bound_and_evaluates_kept_rows_once():
    X, _ = noisy_points(0, m=40)
    asked = []

    class Counting(Laplacian):
        def __call__(self, A, B):
            asked.append(len(A))
            return super().__call__(A, B)

    gram = RowGram(Counting(), X, cache_bytes=8 * 40 * 10, dtype=np.float64, keeps_first=True)
    gram.block(slice(0, 40))
    assert sum(asked) == 40
    gram.block(slice(0, 40))
    assert sum(asked) == 70  # ten rows were kept
    assert gram.capacity == 10


def test_choice_is_explained_and_respects_cache_size():
    X, _ = noisy_points(0, m=200)
    dense = choose_gram(Gaussian(1.0), X, "auto")
    assert dense.reason.startswith("dense: the 200 × 200")
    blocked = choose_gram(Gaussian(1.0), X, 0.1)
    assert blocked.reason.startswith("blocked")
    assert 8 * 200 * blocked.gram.capacity <= 0.1 * 2**20
    assert available_memory() > 0


def test_sparse_rows_behind_a_blocked_operator():
    X, _ = noisy_points(0, m=30)
    gram = RowGram(
        Gaussian(0.5), sparse.csr_array(X), cache_bytes=8 * 30 * 5, dtype=np.float64, keeps_first=True
    )
    np.testing.assert_allclose(gram.block(slice(0, 30)), Gaussian(0.5)(X, X), rtol=1e-10)


def test_linear_kernel_of_narrow_data_is_its_own_factor():
    X, _ = noisy_points(0, m=40)
    choice = choose_gram(Linear(), X, "auto")
    assert choice.gram.factor is not None
    assert choice.gram.has_entries
    assert choice.reason.startswith("linear")
    np.testing.assert_allclose(choice.gram.block(slice(0, 40)), X @ X.T)
    assert not isinstance(choose_gram(Linear(), X[:8], "auto").gram, LowRankGram)


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Linear()])
def test_factors_extend_to_new_points_and_know_their_error(kernel):
    X, _ = noisy_points(0, m=60)
    new, _ = noisy_points(1, m=10)
    K = kernel(X, X)
    for gram in (nystroem(kernel, X, np.arange(0, 60, 2)), pivoted_cholesky(kernel, X, 30)):
        approximate = gram.matmul(np.eye(60))
        error = np.trace(K - approximate) / np.trace(K)
        assert gram.trace_error == pytest.approx(error, abs=1e-10)
        z = kernel(new, X[gram.landmarks]) @ gram.projection
        landmark_values = z @ gram.factor[gram.landmarks].T
        np.testing.assert_allclose(landmark_values, kernel(new, X[gram.landmarks]), atol=1e-6)


def test_cholesky_stops_at_the_tolerance_and_beats_random_landmarks():
    X, _ = noisy_points(0, m=80)
    by_error = low_rank_gram(Gaussian(0.3), X, 0.01)
    assert by_error.trace_error <= 0.01
    rank = by_error.factor.shape[1]
    assert rank < 80
    assert by_error.trace_error <= low_rank_gram(Gaussian(0.3), X, rank).trace_error


def test_P24_rank_above_the_rows_and_equal_landmarks():
    X, _ = noisy_points(0, m=20)
    with pytest.warns(AdatronWarning, match="rank=50 is more than the 20 rows"):
        whole = low_rank_gram(Gaussian(0.5), X, 50)
    np.testing.assert_allclose(whole.matmul(np.eye(20)), Gaussian(0.5)(X, X), atol=1e-9)
    repeated = np.repeat(X[:5], 4, axis=0)
    gram = nystroem(Gaussian(0.5), repeated, np.arange(20))
    assert gram.factor.shape[1] <= 5
    assert np.isfinite(gram.factor).all()
    assert gram.trace_error < 1e-9
