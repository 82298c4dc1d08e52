"""What every operator promises, checked against the dense matrix."""

import numpy as np
import pytest
from scipy import sparse
from tests.problems_for_tests import KERNELS, OPERATORS, noisy_points, operators

from adatron.kernels import Gaussian, Linear
from adatron.operators import BlockedGram, available_memory, choose_operator


@pytest.fixture(params=OPERATORS)
def operator_name(request):
    return request.param


@pytest.fixture(params=list(KERNELS))
def case(request, operator_name):
    X, _ = noisy_points(3, m=41)
    kernel = KERNELS[request.param]
    return operators(kernel, X)[operator_name], kernel(X, X)


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
        np.testing.assert_allclose(gram.block(rows, cols), expected, rtol=1e-11, atol=1e-12)


def test_restriction_is_the_submatrix_and_restricts_again(case):
    gram, K = case
    rows = np.array([4, 30, 2, 7, 19])
    inner = gram.restrict(rows)
    np.testing.assert_allclose(inner.block(slice(0, 5)), K[np.ix_(rows, rows)], rtol=1e-11)
    again = inner.restrict(np.array([3, 0]))
    np.testing.assert_allclose(again.matmul(np.eye(2)), K[np.ix_([7, 4], [7, 4])], rtol=1e-11)


def test_blocked_keeps_within_its_bound_and_evaluates_kept_rows_once():
    X, _ = noisy_points(0, m=40)
    asked = []

    class Counting(Linear):
        def __call__(self, A, B):
            asked.append(len(A))
            return super().__call__(A, B)

    gram = BlockedGram(Counting(), X, cache_bytes=8 * 40 * 10)
    gram.block(slice(0, 40))
    assert sum(asked) == 40
    gram.block(slice(0, 40))
    assert sum(asked) == 70  # ten rows were kept
    assert gram._kept.nbytes == 8 * 40 * 10


def test_choice_is_explained_and_respects_cache_size():
    X, _ = noisy_points(0, m=200)
    dense = choose_operator(Linear(), X, "auto")
    assert dense.reason.startswith("dense: the 200 × 200")
    blocked = choose_operator(Linear(), X, 0.1)
    assert blocked.reason.startswith("blocked")
    assert blocked.gram._kept.nbytes <= 0.1 * 2**20
    assert available_memory() > 0


def test_sparse_rows_behind_a_blocked_operator():
    X, _ = noisy_points(0, m=30)
    gram = BlockedGram(Gaussian(0.5), sparse.csr_array(X), cache_bytes=8 * 30 * 5)
    np.testing.assert_allclose(gram.block(slice(0, 30)), Gaussian(0.5)(X, X), rtol=1e-10)
