"""Kernel values against scikit-learn's, traits, algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise

from adatron.gram import expand, whole_matrix
from adatron.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    city_block_distances,
    is_indefinite,
    smallest_eigenvalue,
)

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
PEERS = [
    (Gaussian(0.7), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.7)),
    (Laplacian(0.7), lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.7)),
    (Linear(), pairwise.linear_kernel),
    (Polynomial(3, 0.5, 1.5), lambda A, B: pairwise.polynomial_kernel(A, B, 3, 0.5, 1.5)),
    (Sigmoid(0.2, 0.1), lambda A, B: pairwise.sigmoid_kernel(A, B, 0.2, 0.1)),
]


@pytest.mark.parametrize(("kernel", "peer"), PEERS, ids=lambda k: type(k).__name__)
def test_values_diagonal_and_sparse_input(kernel, peer):
    np.testing.assert_allclose(kernel(X, Z), peer(X, Z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(X), peer(X, X).diagonal(), rtol=1e-12)
    A, B = sparse.csr_array(X), sparse.csr_array(Z)
    np.testing.assert_allclose(kernel(A, B), peer(X, Z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(A), peer(X, X).diagonal(), rtol=1e-12)


@given(st.sampled_from([k for k, _ in PEERS]), st.sampled_from([k for k, _ in PEERS]), st.integers(1, 3))
def test_algebra(a, b, exponent):
    for combined, values in (
        (a + b, a(X, Z) + b(X, Z)),
        (a * b, a(X, Z) * b(X, Z)),
        (a**exponent, a(X, Z) ** exponent),
    ):
        np.testing.assert_allclose(combined(X, Z), values)
        np.testing.assert_allclose(combined.diagonal(X), combined(X, X).diagonal(), rtol=1e-10)
        if combined.traits.psd:
            assert not is_indefinite(combined(X, X))
        if combined.traits.nonnegative:
            assert (combined(X, X) >= 0).all()


def test_squared_linear_kernel_is_the_explicit_quadratic_map():
    features = np.array([np.outer(x, x).ravel() for x in X])
    np.testing.assert_allclose((Linear() ** 2)(X, X), features @ features.T)


def test_gaussian_width_and_far_from_the_origin():
    assert Gaussian.of_width(2.0).gamma == pytest.approx(1 / 8)
    np.testing.assert_allclose(Gaussian(0.5)(X + 1e6, Z + 1e6), Gaussian(0.5)(X, Z), rtol=1e-8)


def test_errors_name_the_value():
    with pytest.raises(ValueError, match=r"gamma must be a finite number > 0, got -1"):
        Gaussian(-1.0)
    with pytest.raises(ValueError, match="exponent"):
        Linear() ** 0
    with pytest.raises(TypeError, match="cannot combine"):
        Linear() + 3


def test_smallest_eigenvalue_tells_valid_from_invalid():
    assert smallest_eigenvalue(Gaussian(0.5), X) > 0
    assert smallest_eigenvalue(Sigmoid(1.0, -2.0), X) < 0
    assert smallest_eigenvalue(CallableKernel(lambda A, B: -(A @ B.T)), X, n_samples=3) < 0


@pytest.mark.parametrize("kind", [Gaussian, Exponential, Laplacian])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_of_distances_with_and_without_weights(kind, dtype):
    random = np.random.default_rng(0)
    X, Z, coefficients = (
        random.normal(size=(1_100, 7)),
        random.normal(size=(70, 7)),
        random.normal(size=(1_100, 2)),
    )
    powers = {Gaussian: lambda D: (D**2).sum(axis=2), Laplacian: lambda D: np.abs(D).sum(axis=2)}
    distance = powers.get(kind, lambda D: np.sqrt((D**2).sum(axis=2)))
    tolerance = 1e-6 if dtype is np.float64 else 2e-3
    for weights in (None, random.random(7)):
        scale = 1.0 if weights is None else weights
        kernel, expected = kind(0.3, weights), np.exp(-0.3 * distance((Z * scale)[:, None] - X * scale))
        np.testing.assert_allclose(kernel(Z, X), expected, rtol=1e-12)
        np.testing.assert_allclose(
            expand(kernel, Z, X, coefficients, dtype), expected @ coefficients, atol=50 * tolerance
        )
        np.testing.assert_allclose(whole_matrix(kernel, X, dtype)[:70], kernel(X[:70], X), atol=tolerance)


def test_weights_of_features_are_checked():
    for wrong in ([1.0, -1.0], [[1.0]], [np.nan]):
        with pytest.raises(ValueError, match="weights must be finite numbers >= 0"):
            Laplacian(1.0, wrong)
    with pytest.raises(ValueError, match="weights for 2 features, X has 3"):
        Gaussian(1.0, [1.0, 2.0])(np.ones((1, 3)), np.ones((1, 3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 4, 11])
def test_city_block_distances_of_a_row_are_the_same_alone_and_among_others(d, dtype):
    rng = np.random.default_rng(d)
    X, Z = rng.normal(size=(7, d)).astype(dtype), rng.normal(size=(600, d)).astype(dtype)
    columns, found, alone = np.ascontiguousarray(Z.T), np.empty((7, 590), dtype), np.empty((1, 590), dtype)
    city_block_distances(X, columns, 5, 595, found)
    expected = pairwise.manhattan_distances(X.astype(float), Z[5:595].astype(float))
    np.testing.assert_allclose(found, expected, rtol=40.0 * np.finfo(dtype).eps)
    for i in range(7):
        city_block_distances(X[i : i + 1], columns, 5, 595, alone)
        np.testing.assert_array_equal(alone[0], found[i])
