"""Blocks of rows on a cluster behave as one matrix; tasks run at once here."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.gram import by_rows, kept_rows, weighted_sum
from adatron.gram.cluster import RowBlocks
from adatron.numerics.reproducible import rows_at_once

ROWS = np.random.default_rng(0).normal(size=(90, 3))


class AtOnce:
    """A cluster whose futures are the results."""

    def map(self, function, first, *others):
        columns = [other if isinstance(other, list) else [other] * len(first) for other in others]
        return [function(*arguments) for arguments in zip(first, *columns, strict=True)]

    def submit(self, function, *arguments):
        return function(*arguments)

    def gather(self, futures, partitions=None):
        assert partitions is None or len(partitions) == len(futures)
        return futures


def in_blocks(lengths):
    blocks = np.split(ROWS, np.cumsum(lengths)[:-1])
    return RowBlocks(AtOnce(), blocks, lengths, 3, range(len(lengths)))


def check(X, rows):
    np.testing.assert_array_equal(np.concatenate(X.blocks), rows)
    assert X.shape == rows.shape
    assert np.diff(X.bounds).tolist() == [len(block) for block in X.blocks]
    assert not (X.bounds[:-1] % rows_at_once(len(rows))).any()  # blocks are whole groups
    assert len(X.partitions) == len(X.blocks)
    V = np.random.default_rng(1).normal(size=len(rows))
    np.testing.assert_array_equal(weighted_sum(V, X), weighted_sum(V, rows))
    np.testing.assert_array_equal(by_rows(np.sum, X, 1), by_rows(np.sum, rows, 1))


@pytest.mark.parametrize("lengths", [(90,), (0, 50, 0, 40), (1, 88, 1), (30, 30, 30), (10,) * 9])
@settings(max_examples=20)
@given(st.lists(st.integers(0, 89), min_size=1, max_size=120), st.integers(1, 4))
def test_some_rows_in_any_order(lengths, rows, n_blocks):
    rows = np.array(rows)
    X = in_blocks(lengths).rearranged(np.linspace(0, 90, n_blocks + 1))
    check(X, ROWS)
    np.testing.assert_array_equal(X[rows], ROWS[rows])
    for kept in (rows, np.unique(rows), np.arange(90)):
        check(kept_rows(X, kept), ROWS[kept])


def test_blocks_that_stay_whole_are_not_copied():
    X = in_blocks((40, 50))
    assert all(new is old for new, old in zip(X.keep(np.arange(90)).blocks, X.blocks, strict=True))
    assert X.keep(np.arange(40)).blocks[0] is X.blocks[0]
