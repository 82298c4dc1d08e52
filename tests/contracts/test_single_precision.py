"""The float32 matrices of a search over widths are the kernel matrices they stand for."""

import numpy as np
import pytest
from scipy import sparse

from adatron.kernels import Gaussian
from adatron.operators import GaussianFamily, nystroem, nystroem_single


@pytest.fixture(scope="module")
def points():
    X = np.random.default_rng(0).normal(size=(900, 6)) + 20.0  # far from the origin: digits could cancel
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    return X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_one_family_serves_every_width(points, kind):
    family = GaussianFamily(kind(points))
    for gamma in (1e-4, 0.01, 0.5):
        expected = Gaussian(gamma)(points, points)
        gram = family.gram(gamma)
        np.testing.assert_allclose(gram.block(slice(0, 900)), expected, atol=2e-4)
        V = np.random.default_rng(2).normal(size=(900, 7))
        np.testing.assert_allclose(gram.matmul(V), expected @ V, atol=0.05)
        np.testing.assert_array_equal(gram.diagonal(), 1.0)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_factor_in_float32(points, kind):
    landmarks = np.arange(0, 900, 9)
    single = nystroem_single(Gaussian(0.01), kind(points), landmarks)
    double = nystroem(Gaussian(0.01), points, landmarks)
    assert single.factor.dtype == np.float32
    np.testing.assert_allclose(single.block(slice(0, 50)), double.block(slice(0, 50)), atol=5e-3)
    assert single.trace_error == pytest.approx(double.trace_error, abs=1e-3)
