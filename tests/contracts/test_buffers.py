"""Memory for kernel rows goes from one fit to the next, and nothing of the rows with it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from adatron import SVC
from adatron.datasets import make_waveform
from adatron.gram import RowGram
from adatron.kernels import Gaussian
from adatron.numerics import memory as buffers
from adatron.numerics.memory import reused_buffer


@pytest.fixture(autouse=True)
def none_kept():
    buffers._kept.clear()
    yield
    buffers._kept.clear()


def test_the_next_takes_what_was_left():
    first = reused_buffer(1_000)
    first.leave(touched=1_000)
    assert reused_buffer(2_000) is not first  # too small, and given up
    assert not buffers._kept
    first.leave(touched=1_000)
    assert reused_buffer(1_000) is first
    assert reused_buffer(1_000) is not first  # nobody else has it


def test_much_memory_is_not_kept(monkeypatch):
    monkeypatch.setattr(buffers, "KEPT_BYTES", 100)
    buffer = reused_buffer(1_000)
    buffer.leave(touched=101)
    assert not buffers._kept
    buffer = reused_buffer(1_000)
    buffer.leave(touched=100)  # the rest was never written to
    assert buffers._kept == [buffer]


def test_of_two_that_are_left_the_one_that_was_used_more_stays():
    small, large = reused_buffer(100), reused_buffer(1_000)
    large.leave(touched=900)
    small.leave(touched=100)
    assert buffers._kept == [large]


def test_rows_of_the_last_fit_are_forgotten():
    X, _ = make_waveform(60, random_state=0)
    rows = np.arange(60)
    for gamma in (0.1, 0.02):
        gram = RowGram(Gaussian(gamma), X, 2**20, np.float64)
        V = np.ones((60, 1))
        np.testing.assert_allclose(gram.matmul(V), Gaussian(gamma)(X, X) @ V, rtol=1e-12)
        np.testing.assert_allclose(gram.block(rows, rows), Gaussian(gamma)(X, X), rtol=1e-12)
        gram.release()
    assert len(buffers._kept) == 1


def test_fits_one_after_the_other_and_at_once_are_the_same():
    X, y = make_waveform(2_300, random_state=0)
    other, other_y = make_waveform(2_600, random_state=1)
    expected = [SVC(gamma=0.01).fit(*data).dual_coef_ for data in ((X, y), (other, other_y))]
    assert buffers._kept
    with ThreadPoolExecutor(2) as pool:
        models = list(pool.map(lambda data: SVC(gamma=0.01).fit(*data), [(X, y), (other, other_y)] * 2))
    for model, coefficients in zip(models, expected * 2, strict=True):
        np.testing.assert_array_equal(model.dual_coef_, coefficients)
