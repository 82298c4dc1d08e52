"""Which kernel matrix is chosen, what it keeps, and what low-rank factors promise."""

import numpy as np
import pytest
from scipy import sparse
from tests.problems_for_tests import noisy_points

from adatron.exceptions import AdatronWarning
from adatron.gram import LowRankGram, RowGram, choose_gram, low_rank_gram, pivoted_cholesky
from adatron.kernels import CallableKernel, Gaussian, Laplacian, Linear


def test_blocked_keeps_within_its_bound_and_evaluates_kept_rows_once():
    X, _ = noisy_points(0, m=40)
    asked = []

    def counting(A, B):
        asked.append(len(A))
        return Laplacian()(A, B)

    gram = RowGram(CallableKernel(counting), X, cache_bytes=8 * 40 * 10, dtype=np.float64, keeps_first=True)
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
    for gram in (low_rank_gram(kernel, X, 30), pivoted_cholesky(kernel, X, 30)):
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


@pytest.mark.fault("P24")
def test_rank_above_the_rows_and_equal_landmarks():
    X, _ = noisy_points(0, m=20)
    with pytest.warns(AdatronWarning, match="rank=50 is more than the 20 rows"):
        whole = low_rank_gram(Gaussian(0.5), X, 50)
    np.testing.assert_allclose(whole.matmul(np.eye(20)), Gaussian(0.5)(X, X), atol=1e-9)
    repeated = np.repeat(X[:5], 4, axis=0)
    gram = low_rank_gram(Gaussian(0.5), repeated, 20)
    assert gram.factor.shape[1] <= 5
    assert np.isfinite(gram.factor).all()
    assert gram.trace_error < 1e-9
