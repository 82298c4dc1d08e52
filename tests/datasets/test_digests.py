"""The digest sees every change of a value, and not the order that is free in the IDA sets."""

import hashlib

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from adatron.datasets.retrieval import digest

DENSE = {"data": np.array([[1.0, 0.0], [2.0, 3.0]]), "target": np.array([1, -1])}
IDA = {
    "data": np.array([[2.0, 5.0], [1.0, 7.0], [1.0, 6.0]]),
    "target": np.array([1, -1, 1]),
    "train": np.array([[0, 1], [1, 2]]),
    "test": np.array([[2], [0]]),
}


def test_digest_follows_the_written_rule():
    expected = hashlib.sha256(b"<f8 (2, 2)\n" + np.array([1, 0, 2, 3], dtype="<f8").tobytes())
    expected.update(b"<i8 (2,)\n" + np.array([1, -1], dtype="<i8").tobytes())
    assert digest(DENSE) == expected.hexdigest()


def test_digest_of_a_sparse_matrix_follows_the_written_rule():
    expected = hashlib.sha256(b"csr (2, 2)\n<f8 (3,)\n" + np.array([1, 2, 3], dtype="<f8").tobytes())
    expected.update(b"<i4 (3,)\n" + np.array([0, 0, 1], dtype="<i4").tobytes())
    expected.update(b"<i4 (3,)\n" + np.array([0, 1, 3], dtype="<i4").tobytes())
    expected.update(b"<i8 (2,)\n" + np.array([1, -1], dtype="<i8").tobytes())
    assert digest(DENSE | {"data": csr_matrix(DENSE["data"])}) == expected.hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"data": np.array([[1.0, 0.0], [2.0, np.nextafter(3.0, 4.0)]])},
        {"data": np.array([[1.0, 0.0, 2.0, 3.0]])},
        {"data": DENSE["data"].T},
        {"data": csr_matrix(DENSE["data"])},
        {"target": np.array([-1, 1])},
        {"data_test": DENSE["data"]},
    ],
)
def test_any_change_changes_the_digest(change):
    assert digest(DENSE | change) != digest(DENSE)


def test_layout_and_the_sign_of_zero_do_not_count():
    assert digest(DENSE | {"data": np.asfortranarray(DENSE["data"])}) == digest(DENSE)
    assert digest(DENSE | {"data": np.array([[1.0, -0.0], [2.0, 3.0]])}) == digest(DENSE)
    assert digest(DENSE | {"data": DENSE["data"].astype(">f8")}) == digest(DENSE)


def test_ida_rows_may_be_stored_in_any_order():
    order = np.array([2, 0, 1])
    place = np.argsort(order)
    moved = {"data": IDA["data"][order], "target": IDA["target"][order]}
    indices = {"train": place[IDA["train"]][:, ::-1], "test": place[IDA["test"]]}
    assert digest(moved | indices) == digest(IDA)


@pytest.mark.parametrize(
    "change",
    [
        {"train": np.array([[0, 1], [0, 2]]), "test": np.array([[2], [1]])},
        {"train": IDA["train"][::-1], "test": IDA["test"][::-1]},
        {"target": np.array([1, 1, -1])},
        {"train": IDA["train"][:1], "test": IDA["test"][:1]},
    ],
)
def test_other_ida_realizations_change_the_digest(change):
    assert digest(IDA | change) != digest(IDA)
