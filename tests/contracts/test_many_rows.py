"""Factors of many rows: float32, whitened, on disk."""

import shutil
from collections import namedtuple

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from adatron.exceptions import KernelError
from adatron.gram import low_rank as store
from adatron.gram import low_rank_gram, nystroem_single
from adatron.gram.low_rank import is_on_disk
from adatron.kernels import Gaussian, Polynomial

GAMMA = 0.1


def nystroem(kernel, X, landmarks):
    """The float64 factor of as many landmarks, but others."""
    return low_rank_gram(kernel, X, len(landmarks))


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(9_000, 4))


@pytest.fixture
def little_memory(monkeypatch, tmp_path):
    """Memory for the landmarks' kernel, but not for a factor; temporary files go to an empty directory."""
    monkeypatch.setattr(store, "available_memory", lambda: 200_000)
    monkeypatch.setattr(store.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_float32_products_are_those_of_the_float64_factor(points):
    double = nystroem(Gaussian(GAMMA), points, np.arange(30))
    single = nystroem_single(Gaussian(GAMMA), points, double.landmarks)
    V = np.random.default_rng(1).normal(size=(9_000, 3))
    expected = double.matmul(V)
    np.testing.assert_allclose(single.matmul(V), expected, atol=3e-5 * np.abs(expected).max())
    np.testing.assert_allclose(single.matmul(V[:, :1])[:, 0], single.outputs_of(single.weights_of(V[:, 0])))
    assert single.trace_error == pytest.approx(double.trace_error, abs=1e-4)
    part = np.arange(3, 9_000, 7)
    np.testing.assert_array_equal(single.restrict(part).factor, single.factor[part])


def test_a_whitened_factor_has_unit_moments_and_extends_to_other_rows(points):
    landmarks, sample = np.arange(0, 9_000, 450), np.arange(0, 9_000, 2)
    plain = nystroem_single(Gaussian(GAMMA), points, landmarks)
    white = nystroem_single(Gaussian(GAMMA), points, landmarks, sample)
    spreads = [np.linalg.eigvalsh(gram.factor.T @ gram.factor / 9_000) for gram in (plain, white)]
    assert spreads[0][-1] > 300 * spreads[0][0]
    assert spreads[1][-1] < 1.1
    assert np.median(spreads[1]) > 0.1
    values = Gaussian(GAMMA)(points[5:9], points[landmarks])
    np.testing.assert_allclose(values @ white.projection, white.factor[5:9], atol=1e-3)
    assert white.trace_error == pytest.approx(plain.trace_error, abs=0.01)


def test_products_do_not_depend_on_the_threads(points):
    V = np.random.default_rng(1).normal(size=(9_000, 2))
    results = []
    for n in (1, 2):
        with threadpool_limits(n):
            gram = nystroem_single(Gaussian(GAMMA), points, np.arange(40), np.arange(0, 9_000, 3))
            results.append(gram.matmul(V))
    np.testing.assert_array_equal(*results)


def test_overflow_in_float32_is_reported():
    X = np.full((2_000, 2), 1e25)
    with pytest.raises(KernelError, match="scale X"):
        nystroem_single(Polynomial(2, 1.0, 0.0), X, np.arange(3))


@pytest.mark.fault("R1")
@pytest.mark.parametrize("make", [nystroem, nystroem_single])
def test_a_factor_beyond_memory_is_kept_on_disk(points, little_memory, make):
    landmarks = np.arange(0, 9_000, 300)
    with pytest.MonkeyPatch.context() as plenty:
        plenty.setattr(store, "available_memory", lambda: 2**33)
        inside = make(Gaussian(GAMMA), points, landmarks)
    outside = make(Gaussian(GAMMA), points, landmarks)
    assert is_on_disk(outside.factor)
    assert not is_on_disk(inside.factor)
    np.testing.assert_array_equal(outside.factor, inside.factor)
    V = np.ones((9_000, 1))
    np.testing.assert_array_equal(outside.matmul(V), inside.matmul(V))
    assert list(little_memory.iterdir()) == []  # the file has no name that could be left over


@pytest.mark.fault("R1")
def test_neither_memory_nor_disk(points, little_memory, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage(10, 10, 0))
    with pytest.raises(OSError, match=r"factor needs .* GB, more than .*; lower rank, or set TMPDIR"):
        nystroem_single(Gaussian(GAMMA), points, np.arange(40))
    assert list(little_memory.iterdir()) == []


@pytest.mark.fault("R1")
def test_too_many_landmarks_are_refused_before_allocation(points, little_memory):
    with pytest.raises(ValueError, match=r"rank=4000 landmarks needs 0.6 GB of memory.*lower rank"):
        nystroem_single(Gaussian(GAMMA), points, np.arange(4_000))


@pytest.mark.fault("R3")
def test_an_error_while_a_factor_is_filled_leaves_nothing(points, little_memory):
    class Short:
        shape = points.shape

        def __getitem__(self, rows):
            if isinstance(rows, slice) and rows.start > 4_000:
                raise MemoryError("no more")
            return points[rows]

    with pytest.raises(MemoryError, match="no more"):
        nystroem_single(Gaussian(GAMMA), Short(), np.arange(30))
    assert list(little_memory.iterdir()) == []


def test_a_single_gram_is_a_low_rank_one(points):
    gram = nystroem_single(Gaussian(GAMMA), points, np.arange(30))
    assert gram.factor.dtype == np.float32
    block = gram.block(np.arange(5), np.arange(7))
    assert block.dtype == np.float64
    np.testing.assert_allclose(np.diag(block), gram.diagonal()[:5], rtol=1e-5)
