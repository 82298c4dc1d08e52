"""Products with tall matrices round in the same way wherever their rows are."""

from itertools import pairwise
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adatron.gram.row_source import group_by_group
from adatron.numerics.reproducible import (
    aligned,
    rounded_sum,
    rows_at_once,
    times,
    transposed_times,
    transposed_times_pair,
)

_RANDOM = np.random.default_rng(0)
M = _RANDOM.normal(size=(700, 5)) * 10.0 ** _RANDOM.integers(-6, 6, size=(700, 1))
V = _RANDOM.normal(size=(700, 2))
SIZE = rows_at_once(700)


@given(st.lists(st.integers(0, 700), max_size=6), st.permutations(range(8)))
def test_blocks_in_any_order_give_the_same_bits(cuts, order):
    bounds = aligned(sorted(cuts), 700)
    pairs = [transposed_times_pair(M[a:b], V[a:b], SIZE, 1) for a, b in pairwise(bounds.tolist())]
    shuffled = [pairs[i] for i in order if i < len(pairs)]
    np.testing.assert_array_equal(rounded_sum(shuffled), transposed_times(M, V, SIZE))
    outputs = [times(M[a:b], V[:5], SIZE, 1) for a, b in pairwise(bounds.tolist())]
    np.testing.assert_array_equal(np.concatenate(outputs), times(M, V[:5], SIZE))


def test_the_sum_of_groups_is_rounded_once():
    starts = range(0, 700, SIZE)
    parts = [V[i : i + SIZE, 0] @ M[i : i + SIZE] for i in starts]
    exact = [fsum(part[j] for part in parts) for j in range(5)]
    np.testing.assert_array_equal(transposed_times(M, V[:, 0], SIZE), exact)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(700,), (700, 1), (700, 3)])
def test_products_are_those_of_numpy(random, shape, dtype):
    A, B = M.astype(dtype), random.normal(size=shape)
    tolerance = 1e3 * np.finfo(dtype).eps
    expected = A.T.astype(float) @ B
    np.testing.assert_allclose(
        transposed_times(A, B, SIZE), expected, rtol=0, atol=tolerance * np.abs(expected).max()
    )
    expected = A.astype(float) @ B[:5]
    np.testing.assert_allclose(
        times(A, B[:5], SIZE), expected, rtol=0, atol=tolerance * np.abs(expected).max()
    )


def test_several_threads_change_nothing(random):
    large = random.normal(size=(3_001, 100))
    for function, other in ((transposed_times_pair, large[:, :2]), (times, large[:100, :2])):
        one, two = (function(large, other, 32, n_threads) for n_threads in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_infinity_stays_infinity():
    assert transposed_times(np.full((100, 1), 1e308), np.full(100, 10.0), 8)[0] == np.inf


def test_results_for_rows_are_joined():
    np.testing.assert_array_equal(group_by_group(M, np.sum, SIZE, 1), M.sum(axis=1))


def test_bounds_move_to_groups():
    np.testing.assert_array_equal(aligned([0, 3, 10, 21, 30], 30), [0, 8, 24, 30])
    np.testing.assert_array_equal(aligned([0, 5], 5), [0, 5])
    np.testing.assert_array_equal(aligned([0, 40, 90], 90), [0, 40, 90])  # the end moves nowhere
