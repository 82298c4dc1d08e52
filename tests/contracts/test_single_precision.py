"""Float32 matrices are the kernel matrices they stand for."""

import numpy as np
import pytest
from scipy import sparse

from adatron.exceptions import KernelError
from adatron.gram import DenseGram, choose_gram, nystroem_single
from adatron.kernels import CallableKernel, Constant, Gaussian, Linear, Polynomial


@pytest.fixture(scope="module")
def points():
    X = np.random.default_rng(0).normal(size=(900, 6)) + 20.0  # far from the origin: digits could cancel
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    return X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_factor_in_float32(points, kind):
    landmarks = np.arange(0, 900, 9)
    single = nystroem_single(Gaussian(0.01), kind(points), landmarks)
    across, among = (
        Gaussian(0.01)(points, points[landmarks]),
        Gaussian(0.01)(points[landmarks], points[landmarks]),
    )
    expected = across @ np.linalg.pinv(among, rcond=1e-10, hermitian=True) @ across.T
    assert single.factor.dtype == np.float32
    np.testing.assert_allclose(single.block(slice(0, 50)), expected[:50], atol=5e-3)
    assert single.trace_error == pytest.approx(1.0 - np.trace(expected) / 900, abs=1e-3)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 31])
@pytest.mark.parametrize("columns", [1, 3])
def test_products_with_few_columns_have_the_precision_of_float64(m, columns):
    rng = np.random.default_rng(m)
    K = rng.normal(size=(m, m)).astype(np.float32)
    gram, V = DenseGram(K + K.T, np.float32), rng.normal(size=(m, columns))
    np.testing.assert_allclose(gram.matmul(V), (K + K.T).astype(np.float64) @ V, rtol=0, atol=1e-13 * m)


@pytest.mark.parametrize(("m", "dtype"), [(1_000, np.float64), (1_001, np.float32)])
def test_whole_matrices_are_float32_where_that_will_do(m, dtype):
    X = np.random.default_rng(0).normal(size=(m, 3))
    gram = choose_gram(Gaussian(0.5), X, "auto", single=True).gram
    assert gram.block(slice(0, 2)).dtype == dtype
    assert choose_gram(Gaussian(0.5), X, "auto").gram.block(slice(0, 2)).dtype == np.float64
    np.testing.assert_allclose(gram.block(slice(0, 50)), Gaussian(0.5)(X[:50], X), atol=2e-6)
    huge = choose_gram(Gaussian(0.5) * Constant(1e35), X, "auto", single=True).gram
    assert huge.block(slice(0, 2)).dtype == np.float64  # beyond what float32 can hold


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.01), Polynomial(2, 0.01, 1.0), CallableKernel(lambda X, Z: Linear()(X, Z) / 100.0)],
)
def test_half_of_a_matrix_is_all_of_it(points, kind, kernel):
    X = points[:301]
    gram, expected = DenseGram.half_of(kernel, kind(X)), np.asarray(kernel(X, X))
    size = np.abs(expected).max()
    for rows in (slice(3, 9), np.array([300, 0, 7, 7])):
        for cols in (None, np.array([299, 5, 300])):
            values = expected[rows] if cols is None else expected[rows][:, cols]
            np.testing.assert_allclose(gram.block(rows, cols), values, rtol=0, atol=2e-5 * size)
    V = np.random.default_rng(0).normal(size=(301, 5))
    stored = gram.block(slice(0, 301)).astype(np.float64)
    np.testing.assert_array_equal(stored, stored.T)
    np.testing.assert_allclose(gram.matmul(V), stored @ V, rtol=0, atol=1e-11 * size)
    np.testing.assert_array_equal(gram.diagonal(), stored.diagonal())
    some = np.array([4, 200, 9])
    np.testing.assert_array_equal(gram.restrict(some).block(slice(0, 3)), stored[np.ix_(some, some)])


def test_half_of_a_matrix_that_overflows():
    X = np.array([[1.0], [1e13], [1.0]])
    with pytest.raises(KernelError, match="row"):
        DenseGram.half_of(Polynomial(3, 1.0, 0.0), X)
