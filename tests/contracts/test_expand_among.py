"""Outputs at the vectors themselves, each pair evaluated once, are those of the plain expansion."""

import numpy as np
import pytest

from adatron.gram import RowGram, expand
from adatron.gram.rows import _expand_among as expand_among
from adatron.kernels import Gaussian, Laplacian, Linear, Polynomial
from adatron.numerics.threads import one_blas_thread


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(3), Linear(), Laplacian(0.2)], ids=repr)
def test_same_as_the_plain_expansion(random, kernel):
    for n in (0, 1, 255, 256, 257, 700):
        X, w = random.normal(size=(n, 4)), random.normal(size=n)
        expected = expand(kernel, X, X, w[:, None])[:, 0]
        np.testing.assert_allclose(expand_among(kernel, X, w), expected, rtol=1e-11, atol=1e-11)


def test_threads_change_nothing(random):
    X, w = random.normal(size=(900, 4)), random.normal(size=900)
    several = expand_among(Gaussian(0.3), X, w)
    with one_blas_thread():
        np.testing.assert_array_equal(expand_among(Gaussian(0.3), X, w), several)


def test_exact_outputs_of_all_rows(random):
    X, w = random.normal(size=(300, 4)), np.where(random.random(300) < 0.6, random.normal(size=300), 0.0)
    gram = RowGram(Gaussian(0.3), X, 2**20)
    expected = Gaussian(0.3)(X, X) @ w
    np.testing.assert_allclose(gram.exact_outputs(np.arange(300), w), expected, rtol=1e-11, atol=1e-12)
    some = np.array([5, 2, 299])
    np.testing.assert_allclose(gram.exact_outputs(some, w), expected[some], rtol=1e-11, atol=1e-12)
