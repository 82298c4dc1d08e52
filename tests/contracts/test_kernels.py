"""What every kernel promises: those known by name, what they combine to, and functions of the user."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from adatron.kernels import KERNELS, CallableKernel, Constant, Gaussian, Linear, Polynomial, is_indefinite

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(9, 4)), RANDOM.normal(size=(5, 4))
X[np.abs(X) < 0.5] = 0.0


def cosine(A, B):
    """Of rows with a 1 in front."""
    A, B = (np.column_stack([np.ones(len(M)), M]) for M in (A, B))
    return A @ B.T / np.linalg.norm(A, axis=1)[:, None] / np.linalg.norm(B, axis=1)


CASES = {name: made() for name, made in KERNELS.items() if name != "precomputed"}
CASES |= {
    "other parameters": Polynomial(3, 0.5, 1.5),
    "constant": Constant(0.7),
    "sum": Gaussian(0.3) + Linear(),
    "product": Gaussian(0.3) * Polynomial(2),
    "power": Linear() ** 3,
    "even power": (Linear() + Constant()) ** 2,
    "nested": (Gaussian(0.2) + Constant(0.5) * Linear()) ** 2 * KERNELS["laplacian"](0.4),
    "function": CallableKernel(cosine),
    "weighted Gaussian": Gaussian(0.3, [1.0, 0.0, 0.5, 2.0]),
    "weighted Laplacian": KERNELS["laplacian"](0.3, [1.0, 0.0, 0.5, 2.0]),
    "weighted exponential": KERNELS["exponential"](0.3, [1.0, 0.0, 0.5, 2.0]),
}


@pytest.fixture(params=CASES)
def kernel(request):
    return CASES[request.param]


def test_values_are_symmetric_and_the_diagonal_is_theirs(kernel):
    K = kernel(X, X)
    assert K.shape == (9, 9)
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), K.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(kernel(X, Z), kernel(Z, X).T, rtol=1e-12)
    one_by_one = [[kernel(x[None], z[None])[0, 0] for z in Z] for x in X]
    np.testing.assert_allclose(kernel(X, Z), one_by_one, rtol=1e-12)


def test_any_rows(kernel):
    before, expected = X.copy(), kernel(X, Z)
    for A, B in ((np.asfortranarray(X), Z[:]), (X.astype(object).astype(float), Z), (X[::-1][::-1], Z)):
        np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", [name for name in CASES if name != "function"])  # which takes what it takes
def test_sparse_rows_are_rows(name):
    kernel = CASES[name]
    A, B = sparse.csr_array(X), sparse.csr_array(Z)
    for left, right in ((A, B), (A, Z), (X, B)):
        np.testing.assert_allclose(kernel(left, right), kernel(X, Z), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(A), kernel.diagonal(X), rtol=1e-12)


def test_traits_are_true(kernel):
    K, traits = kernel(X, X), kernel.traits
    assert not (traits.psd and is_indefinite(K))
    assert not (traits.nonnegative and (K < 0.0).any())
    assert not (traits.unit_diagonal and np.abs(K.diagonal() - 1.0).max() > 1e-12)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "other parameters"])
def test_the_fast_form_has_the_same_values(name):
    kernel = CASES[name]
    form = kernel.product_form
    squares = [np.square(rows).sum(axis=1) for rows in (X, Z)]
    sums = form.scale * X @ Z.T + form.offsets(squares[0])[:, None] + form.offsets(squares[1]) + form.constant
    form.finish(sums)
    np.testing.assert_allclose(sums, kernel(X, Z), rtol=1e-10)


def test_equal_kernels_are_equal_and_can_be_sent(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == repr(kernel)
    np.testing.assert_array_equal(again(X, Z), kernel(X, Z))


def test_a_precomputed_kernel_gives_what_it_is_given():
    K = Linear()(X, X)
    kernel = KERNELS["precomputed"]()
    np.testing.assert_array_equal(kernel(K, None), K)
    np.testing.assert_array_equal(kernel.diagonal(K), K.diagonal())
