"""What every kernel matrix promises, checked against the matrix itself: the same tests for all of them."""

from functools import cache

import numpy as np
import pytest
from tests.grams import KERNELS, MATRICES, ON_WORKERS, ROWS, M, kernels_of, on_workers, precision
from tests.problems_for_tests import noisy_points

from adatron.gram import LazyGram, evaluate_pair, row_of
from adatron.numerics.compiled import compiled


@pytest.fixture(scope="module")
def matrix_on_workers(request):
    """Matrices on a cluster, each of them once: they take a second."""

    @cache
    def made(name, kernel, m):
        rows = on_workers(request.getfixturevalue("client"), noisy_points(3, m=m)[0])
        return ON_WORKERS[name](KERNELS[kernel], rows)

    return made


@pytest.fixture(params=[*MATRICES, *ON_WORKERS])
def cases(request, matrix_on_workers):
    """Matrices of every kernel, new ones each time, with what they must be and how nearly."""
    name = request.param
    X, _ = noisy_points(3, m=ROWS.get(name, M))

    def each():
        for kernel in kernels_of(name):
            k = KERNELS[kernel]
            gram = matrix_on_workers(name, kernel, M) if name in ON_WORKERS else MATRICES[name](k, X)
            K = np.tile(k(X, X), (gram.copies, gram.copies))
            yield kernel, gram, K, precision(name) * np.abs(K).max()

    return each


def assert_close(found, expected, error, kernel):
    np.testing.assert_allclose(found, expected, rtol=0, atol=error, err_msg=kernel)


def test_size_diagonal_and_what_it_says_of_itself(cases):
    for kernel, gram, K, error in cases():
        assert gram.m == len(K) == gram.points.m * gram.copies
        assert_close(gram.diagonal(), K.diagonal(), error, kernel)
        diagonal = gram.diagonal()
        diagonal[:] = 7.0  # the caller's own
        assert_close(gram.diagonal(), K.diagonal(), error, kernel)
        if gram.factor is not None:
            assert_close(gram.factor @ gram.factor.T, K, error, kernel)
        if gram.lower_half is not None:
            assert_close(np.tril(gram.lower_half), np.tril(K), error, kernel)
        if len(gram.landmarks):
            assert gram.trace_error < 1e-3
            assert gram.points.projection.shape[0] == len(gram.landmarks)


@pytest.mark.parametrize("columns", [1, 7])
def test_product(cases, random, columns):
    for kernel, gram, K, error in cases():
        V = random.normal(size=(len(K), columns))
        V[::3] = 0.0
        before = V.copy()
        for _ in range(2):
            product = gram.matmul(V)
            assert product.dtype == np.float64
            assert_close(product, K @ V, error * len(K), kernel)
        np.testing.assert_array_equal(V, before)
        np.testing.assert_array_equal(gram.matmul(np.zeros_like(V)), 0.0)
        assert_close(gram.outputs_of(gram.weights_of(V)), K @ V, error * len(K), kernel)


def test_block_again_and_again(cases):
    for kernel, gram, K, error in cases():
        m = len(K)
        for rows in (slice(0, 7), slice(20, m), np.array([5]), np.array([m - 1, 3, 3, 17]), np.arange(m)):
            for cols in (None, np.array([1, 0, m - 11]), rows if isinstance(rows, np.ndarray) else None):
                expected = K[rows] if cols is None else K[rows][:, cols]
                for _ in range(3):  # from the kernel, then perhaps from the cache
                    assert_close(gram.block(rows, cols), expected, error, kernel)


def test_restriction_is_the_submatrix_and_restricts_again(cases):
    for kernel, gram, K, error in cases():
        rows = np.array([4, 30, 2, 7, len(K) - 1])
        inner = gram.restrict(rows)
        assert inner.m == 5
        assert_close(inner.block(slice(0, 5)), K[np.ix_(rows, rows)], error, kernel)
        assert_close(inner.diagonal(), K.diagonal()[rows], error, kernel)
        again = inner.restrict(np.array([3, 0]))
        assert_close(again.matmul(np.eye(2)), K[np.ix_([7, 4], [7, 4])], error, kernel)
        assert_close(gram.block(rows), K[rows], error, kernel)


def test_rows_are_added(cases, random):
    for kernel, gram, K, error in cases():
        for rows in (np.array([3]), np.arange(0, len(K), 2), np.array([len(K) - 1, 0, 5, 22, 9, 30])):
            weights, f = random.normal(size=len(rows)), random.normal(size=len(K))
            expected = f + weights @ K[rows]
            gram.add_rows(rows, weights, f)
            assert_close(f, expected, error * len(rows), kernel)


def test_outputs_in_float64_however_values_are_kept(cases, random):
    for kernel, gram, K, error in cases():
        error = 1e-10 * np.abs(K).max() if gram.is_single else error
        weights = np.where(random.random(len(K)) < 0.6, random.normal(size=len(K)), 0.0)
        for rows in (np.arange(len(K)), np.array([5, 2, len(K) - 1])):
            assert_close(gram.exact_outputs(rows, weights), K[rows] @ weights, error * len(K), kernel)
        exact = gram.exact()
        assert not exact.is_single
        assert_close(exact.matmul(weights[:, None])[:, 0], K @ weights, error * len(K), kernel)


def test_what_is_released_comes_back(cases):
    for kernel, gram, K, error in cases():
        first = gram.block(slice(0, 9))
        gram.release()
        np.testing.assert_array_equal(gram.block(slice(0, 9)), first)
        assert_close(gram.matmul(np.eye(len(K))[:, :2]), K[:, :2], error, kernel)


def test_compiled_code_reads_rows(cases):
    for kernel, gram, K, error in cases():
        partial = gram.partial()
        for i in (len(K) - 1, 0, 17, 0):
            partial = gram.grow() if partial.is_full else partial
            assert_close(row_of(i, partial), K[i], error, kernel)


@compiled
def alone(a, b, matrix):
    row_of(a, matrix)
    row_of(b, matrix)


@compiled
def together(a, b, matrix):
    evaluate_pair(a, b, matrix)


@pytest.mark.parametrize("d", [1, 4, 7, 203])
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
def test_two_rows_together_have_the_bits_of_each_alone(random, kernel, d):
    X = random.normal(size=(90, d))
    one, other = (LazyGram(KERNELS[kernel], X).partial() for _ in range(2))
    alone(70, 3, one)
    together(70, 3, other)
    assert one.filled[0] == other.filled[0] == 2
    np.testing.assert_array_equal(one.place, other.place)
    np.testing.assert_array_equal(one.K[:2], other.K[:2])
    assert_close(other.K[:2], KERNELS[kernel](X[[70, 3]], X), 1e-9 * np.abs(one.K[:2]).max(), kernel)


def test_positive_and_negative_entries_apart(cases, random):
    for kernel, gram, K, error in cases():
        V = random.normal(size=(len(K), 2))
        above, below = gram.split_matmul(V, lambda: None)
        assert_close(above, np.maximum(K, 0.0) @ V, error * len(K), kernel)
        assert_close(below, np.maximum(-K, 0.0) @ V, error * len(K), kernel)
        if np.abs(K).min() > 10.0 * error:  # no entry whose sign rounding decides
            assert gram.is_nonnegative() == (K.min() >= 0.0)


def test_rows_are_kept_as_the_names_say():
    X, _ = noisy_points(3, m=ROWS["rows, forgotten"])
    assert MATRICES["rows, forgotten"](KERNELS["gaussian"], X).forgets
    few = MATRICES["rows, few kept"](KERNELS["gaussian"], X[: ROWS["rows, few kept"]])
    assert not few.forgets
    assert few.capacity < few.m


def test_a_point_and_its_twin_cancel(cases, random):
    for _, gram, K, _ in cases():
        alpha = random.random(len(K))
        left = gram.cancel_twins(alpha)
        if gram.copies == 1:
            np.testing.assert_array_equal(left, alpha)
        else:
            np.testing.assert_array_equal(left.reshape(2, -1).min(axis=0), 0.0)
            np.testing.assert_allclose(left[: gram.points.m] - left[gram.points.m :],
                                       alpha[: gram.points.m] - alpha[gram.points.m :])  # fmt: skip
