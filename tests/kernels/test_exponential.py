"""`exponentials`, beside NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adatron.numerics.compiled import IS_COMPILED
from adatron.numerics.exponential import exponentials


def test_two_units_in_the_last_place():
    x = np.linspace(-707.0, 708.0, 1_000_001).reshape(1, -1)
    values = exponentials(x.copy())
    assert np.abs(values / np.exp(x) - 1.0).max() <= 2.0 * np.finfo(float).eps


def test_one_unit_in_the_last_place_of_float32():
    x = np.linspace(-86.0, 88.0, 1_000_001, dtype=np.float32).reshape(1, -1)
    values = exponentials(x.copy()).astype(np.float64)
    limit = 1.0 if IS_COMPILED else 2.0
    assert np.abs(values / np.exp(x.astype(np.float64)) - 1.0).max() <= limit * np.finfo(np.float32).eps


@given(st.floats(-707.0, 708.0))
def test_any_number(x):
    assert exponentials(np.array([[x]]))[0, 0] == pytest.approx(np.exp(x), rel=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_no_number_holds(dtype):
    x = np.array([[0.0, -0.0, -np.inf, -3e38, -746.0, np.inf, 3e38, 710.0, np.nan]], dtype=dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(exponentials(x.copy()), np.exp(x))


def test_below_normal_numbers_it_is_tiny():
    values = exponentials(np.array([[-708.0, -709.0, -745.0]]))
    assert np.all(values >= 0.0)
    assert np.all(values <= 4e-308)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", [np.s_[:, :], np.s_[2:5, 3:6], np.s_[::2, 1:], np.s_[:, ::2], np.s_[::-1]])
def test_part_of_a_matrix(part, dtype):
    whole = np.random.default_rng(0).normal(size=(7, 9)).astype(dtype)
    expected = whole.copy()
    expected[part] = np.exp(expected[part])
    result = exponentials(whole[part])
    assert np.shares_memory(result, whole)
    np.testing.assert_allclose(whole, expected, rtol=1e-6 if dtype is np.float32 else 1e-15)


def test_columns_first_and_nothing():
    values = np.asfortranarray(np.random.default_rng(0).normal(size=(4, 3)))
    expected = np.exp(values)
    np.testing.assert_allclose(exponentials(values), expected, rtol=1e-15)
    assert exponentials(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_of_sums_that_rounding_may_have_made_positive(dtype):
    x = np.array([[-4.0, -1e-6, 0.0, 1e-7, -np.inf, np.nan], [-2500.0, -9.0, 1e-300, -0.25, -0.0, -1.0]])
    with np.errstate(invalid="ignore"):
        expected = np.exp(-np.sqrt(-np.minimum(x.astype(dtype), 0.0)))
    values = exponentials(x.astype(dtype), of_roots=True)
    np.testing.assert_allclose(values, expected, rtol=4.0 * np.finfo(dtype).eps)
