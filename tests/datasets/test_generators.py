"""The generated problems have the structure that their names promise."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data_dir import data_dir, needs_data

from adatron.datasets import (
    make_majority,
    make_mirror_symmetry,
    make_parity,
    make_two_spirals,
    make_waveform,
)

RANDOM_GENERATORS = [
    make_majority,
    make_mirror_symmetry,
    partial(make_two_spirals, noise=0.3),
    make_waveform,
    partial(make_waveform, binary=False),
]
quick = settings(max_examples=30)
seeds = st.integers(0, 2**32 - 1)
counts = st.integers(1, 40)


def assert_bits_and_labels(X, y, shape):
    assert X.shape == shape
    assert y.shape == shape[:1]
    assert X.dtype == np.float64
    assert np.issubdtype(y.dtype, np.integer)
    assert set(np.unique(X)) <= {-1.0, 1.0}
    assert set(np.unique(y)) <= {-1, 1}


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (make_majority, (200, 40)),
        (make_mirror_symmetry, (200, 30)),
        (make_parity, (16, 4)),
        (make_two_spirals, (194, 2)),
        (make_waveform, (400, 21)),
    ],
)
def test_default_shape_and_types(make, shape):
    X, y = make()
    assert X.shape == shape
    assert X.dtype == np.float64
    assert np.issubdtype(y.dtype, np.integer)
    assert set(y) == {-1, 1}


@pytest.mark.parametrize("make", RANDOM_GENERATORS)
def test_random_state_decides_the_result(make):
    first, again, other = make(random_state=7), make(random_state=7), make(random_state=8)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("make", RANDOM_GENERATORS)
def test_takes_a_random_state_object(make):
    X, _ = make(random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(X, make(random_state=3)[0])


@quick
@given(n_samples=counts, n_bits=counts, seed=seeds)
def test_majority_counts_bits(n_samples, n_bits, seed):
    X, y = make_majority(n_samples, n_bits, random_state=seed)
    assert_bits_and_labels(X, y, (n_samples, n_bits))
    np.testing.assert_array_equal(y == 1, (X == 1).sum(axis=1) > (X == -1).sum(axis=1))


def test_majority_tie_is_negative():
    X, y = make_majority(200, 2, random_state=0)
    ties = X.sum(axis=1) == 0
    assert ties.any()
    assert (y[ties] == -1).all()


@quick
@given(n_samples=counts, half=st.integers(1, 20), seed=seeds)
def test_positive_rows_are_mirror_images(n_samples, half, seed):
    X, y = make_mirror_symmetry(n_samples, 2 * half, random_state=seed)
    assert_bits_and_labels(X, y, (n_samples, 2 * half))
    np.testing.assert_array_equal(X[y == 1], X[y == 1, ::-1])


def test_mirror_symmetry_negatives_are_random_and_classes_balanced():
    X, y = make_mirror_symmetry(2000, 30, random_state=0)
    assert abs(y.mean()) < 0.1
    assert not (X[y == -1] == X[y == -1, ::-1]).all(axis=1).any()
    assert np.abs(X[y == -1].mean(axis=0)).max() < 0.15


@pytest.mark.parametrize("n_bits", [1, 2, 5, 10])
def test_parity_has_every_string_once(n_bits):
    X, y = make_parity(n_bits)
    assert_bits_and_labels(X, y, (2**n_bits, n_bits))
    assert len(np.unique(X, axis=0)) == 2**n_bits
    np.testing.assert_array_equal(y == 1, (X == -1).sum(axis=1) % 2 == 0)
    assert y.sum() == 0


def test_two_spirals_is_the_original_benchmark():
    X, y = make_two_spirals()
    i = np.arange(97)
    radius, angle = 6.5 * (104 - i) / 104, i * np.pi / 16
    original = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
    np.testing.assert_allclose(X[y == 1], original, atol=1e-12)
    np.testing.assert_allclose(X[y == -1], -original, atol=1e-12)


@quick
@given(per_spiral=counts, turns=st.floats(0.1, 10.0))
def test_two_spirals_radius_shrinks(per_spiral, turns):
    X, y = make_two_spirals(2 * per_spiral, turns=turns)
    radius = np.linalg.norm(X[y == 1], axis=1)
    np.testing.assert_allclose(radius, np.linspace(6.5, 0.5, per_spiral))
    np.testing.assert_array_equal(X[y == 1], -X[y == -1])


def test_two_spirals_noise_has_the_asked_deviation():
    clean, _ = make_two_spirals(4000)
    noisy, _ = make_two_spirals(4000, noise=0.5, random_state=0)
    assert np.std(noisy - clean) == pytest.approx(0.5, rel=0.05)


def test_waveform_without_noise_is_a_mixture_of_two_waves():
    X, y = make_waveform(60, noise=0.0, binary=False, random_state=0)
    positions = np.arange(1, 22)
    waves = [np.maximum(6 - abs(positions - peak), 0) for peak in (7, 11, 15)]
    for label, pair in enumerate([(0, 1), (0, 2), (1, 2)]):
        basis = np.array([waves[k] for k in pair], dtype=float).T
        weights, residual, *_ = np.linalg.lstsq(basis, X[y == label].T)
        assert residual.max() < 1e-20
        assert weights.min() >= -1e-12
        np.testing.assert_allclose(weights.sum(axis=0), 1.0)


def test_waveform_binary_is_class_zero_against_the_rest():
    X, y = make_waveform(3000, random_state=1)
    X_classes, classes = make_waveform(3000, binary=False, random_state=1)
    np.testing.assert_array_equal(X, X_classes)
    np.testing.assert_array_equal(y, np.where(classes == 0, 1, -1))
    assert np.mean(y == 1) == pytest.approx(1 / 3, abs=0.03)


@needs_data
def test_waveform_positives_are_those_of_the_ida_benchmark():
    ida = np.load(data_dir() / "ida" / "waveform.npz")
    X, y = make_waveform(20_000, random_state=0)
    ours = ((X - X.mean(axis=0)) / X.std(axis=0))[y == 1].mean(axis=0)
    np.testing.assert_allclose(ours, ida["X"][ida["t"] == 1].mean(axis=0), atol=0.08)


@pytest.mark.parametrize("make", [make_majority, make_mirror_symmetry, make_two_spirals, make_waveform])
@pytest.mark.parametrize("n_samples", [0, -2, 2.0, "10", None, True])
def test_bad_n_samples_is_named(make, n_samples):
    with pytest.raises(ValueError, match=rf"n_samples={n_samples!r} .*give an integer of at least 1"):
        make(n_samples=n_samples)


@pytest.mark.parametrize("make", [make_majority, make_mirror_symmetry, make_parity])
@pytest.mark.parametrize("n_bits", [0, 1.5])
def test_bad_n_bits_is_named(make, n_bits):
    with pytest.raises(ValueError, match=rf"n_bits={n_bits!r} .*give an integer of at least 1"):
        make(n_bits=n_bits)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_mirror_symmetry(n_bits=7), "n_bits=7 .*even integer, such as 8"),
        (lambda: make_two_spirals(n_samples=193), "n_samples=193 .*even integer, such as 194"),
        (lambda: make_parity(n_bits=21), "n_bits=21 .*at most 20"),
        (lambda: make_two_spirals(noise=-0.1), "noise=-0.1 .*of at least 0"),
        (lambda: make_two_spirals(noise="high"), "noise='high' .*of at least 0"),
        (lambda: make_two_spirals(turns=0), "turns=0 .*above 0"),
        (lambda: make_waveform(noise=float("nan")), "noise=nan .*finite"),
    ],
)
def test_errors_name_argument_value_and_fix(call, message):
    with pytest.raises(ValueError, match=message):
        call()
