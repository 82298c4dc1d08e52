"""The bounds against numbers worked out by other means, and against the errors they bound."""

import math
from math import comb, e, inf, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.problems_for_tests import noisy_points, separated_points

from adatron import SVC
from adatron.bounds import (
    compression_bound,
    margin_bound,
    novikoff_bound,
    radius_margin_bound,
    span_bound,
    support_vector_loo_bound,
)
from adatron.datasets import load_sonar
from adatron.kernels import Gaussian

fixed = settings(max_examples=60)
radii = st.floats(0.01, 100.0)
ratios = st.floats(0.001, 1.0)
sizes = st.integers(1, 10**7)
deltas = st.floats(1e-6, 0.999)


# margin_bound


def test_margin_bound_by_hand():
    # k = 577; log(8e·10⁶/577) = 1 + 6 log 10 + log(8/577), log(32·10⁶) = log 32 + 6 log 10
    complexity = 577 * (1 + 6 * log(10) + log(8) - log(577)) * (5 * log(2) + 6 * log(10))
    confidence = log(8) + 6 * log(10) + log(20)
    assert margin_bound(1.0, 1.0, 10**6) == pytest.approx((complexity + confidence) / 10**6, rel=1e-12)
    assert margin_bound(1.0, 1.0, 10**6) == pytest.approx(0.10508, abs=1e-5)


def test_margin_bound_with_logarithms_of_base_two():
    complexity = 577 * log2(8 * e * 10**6 / 577) * log2(32 * 10**6) + log2(8 * 10**6 / 0.05)
    assert margin_bound(1.0, 1.0, 10**6, log_base=2) == pytest.approx(complexity / 10**6, rel=1e-12)


def test_margin_bound_rounds_k_down():
    same = margin_bound(math.sqrt(577.9 / 577.0), 1.0, 10**5)
    assert same == pytest.approx(margin_bound(1.0, 1.0, 10**5), rel=1e-15)
    assert margin_bound(math.sqrt(578.1 / 577.0), 1.0, 10**5) > same
    assert margin_bound(0.04, 1.0, 100) == pytest.approx(log(8 * 100 / 0.05) / 100)  # k = 0


def test_margin_bound_is_infinite_where_the_expression_falls():
    m = 577  # k = 8m at R²/γ² = 8
    assert math.isfinite(margin_bound(math.sqrt(8.0005), 1.0, m))
    for ratio in (8.01, 20.0, 8 * e + 0.1, 1e6, 1e300):  # falling, and negative from 8e on
        assert margin_bound(math.sqrt(ratio), 1.0, m) == inf
    assert margin_bound(1.0, 0.0, m) == margin_bound(1.0, -0.1, m) == margin_bound(1e200, 1e-200, m) == inf


@fixed
@given(radii, ratios, sizes, deltas, st.floats(1.0, 1.5))
def test_margin_bound_grows_with_the_ratio_and_the_confidence(radius, ratio, m, delta, factor):
    bound = margin_bound(radius, ratio * radius, m, delta=delta)
    assert bound > 0.0
    assert margin_bound(factor * radius, ratio * radius, m, delta=delta) >= bound
    assert margin_bound(radius, ratio * radius / factor, m, delta=delta) >= bound
    assert margin_bound(radius, ratio * radius, m, delta=0.5 * delta) >= bound
    assert margin_bound(radius, ratio * radius, m, delta=delta, log_base=2.0) >= bound


# compression_bound


def test_compression_bound_by_hand():
    expected = (10 * log2(100 * e) + log2(1_000 / 0.05)) / 990
    assert compression_bound(10, 1_000) == pytest.approx(expected, rel=1e-14)
    assert compression_bound(10, 1_000) == pytest.approx(0.09611, abs=1e-5)
    assert compression_bound(0, 64, delta=0.5) == 7 / 64
    assert compression_bound(7, 7) == inf


@pytest.mark.parametrize(
    ("d", "p", "delta"), [(1, 30, 0.1), (10, 1_000, 0.05), (40, 500, 0.01), (3, 60, 0.5)]
)
def test_compression_bound_follows_from_its_probability(d, p, delta):
    """At ε the probability ``Σ C(p, i) (1 − ε)^(p−i)`` of the theorem is at most δ."""
    epsilon = compression_bound(d, p, delta=delta)
    assert epsilon < 1.0
    assert sum(comb(p, i) * (1.0 - epsilon) ** (p - i) for i in range(1, d + 1)) <= delta


@fixed
@given(st.integers(1, 5_000), st.data())
def test_compression_bound_grows_with_support_vectors(p, data):
    d = data.draw(st.integers(0, p - 1))
    assert 0.0 < compression_bound(d, p) < compression_bound(d + 1, p)


# leave-one-out


def test_leave_one_out_bounds_by_hand():
    assert support_vector_loo_bound(3, 12) == 0.25
    assert support_vector_loo_bound(12, 12) == 1.0
    assert radius_margin_bound(2.0, 0.5, 64) == 16 / 64
    assert radius_margin_bound(2.0, 0.5, 64, bias=True) == 1.0
    assert radius_margin_bound(2.0, 0.0, 64) == inf
    assert novikoff_bound(2.0, 0.5, bias=False) == 16.0
    assert novikoff_bound(2.0, 0.5) == 64.0
    assert novikoff_bound(1e200, 1e-200) == inf


def leave_one_out_errors(model, X, y):
    """By training once for each point."""
    kept = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
    return np.mean([model.fit(X[r], y[r]).predict(X[[i]])[0] != y[i] for i, r in enumerate(kept)])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_leave_one_out_error_is_below_its_bounds(seed, bias):
    X, y = separated_points(seed, m=24) if seed else noisy_points(seed, m=24)
    kernel = Gaussian(0.3)
    model = SVC(C=inf, kernel=kernel, fit_intercept=bias, tol=1e-9)
    error = leave_one_out_errors(model, X, y)
    model.fit(X, y)
    margin = 1.0 / math.sqrt(
        model.dual_coef_[0] @ kernel(*[model.support_vectors_] * 2) @ model.dual_coef_[0]
    )
    assert error <= support_vector_loo_bound(len(model.support_), len(y))
    assert error <= radius_margin_bound(1.0, margin, len(y), bias=bias)
    assert seed == 1 or error > 0.0


# span_bound


def span_of(model, kernel, m, **settings):
    K = kernel(model.support_vectors_, model.support_vectors_)
    return span_bound(K, model.dual_coef_[0], model.intercept_[0], m, **settings)


@pytest.mark.parametrize(("C", "bias"), [(inf, True), (inf, False), (2.0, True), (2.0, False)])
def test_span_is_the_leave_one_out_error(C, bias):
    X, _, y, _ = load_sonar(split="half")
    kernel = Gaussian.of_width(0.8)
    model = SVC(C=C, kernel=kernel, fit_intercept=bias, tol=1e-9)
    error = leave_one_out_errors(model, X, y)
    span = span_of(model.fit(X, y), kernel, len(y), C=C, bias=bias)
    assert 0.05 < error < 0.35
    assert abs(span - error) <= 2.001 / len(y)  # two points may join or leave the support vectors
    assert span <= support_vector_loo_bound(len(model.support_), len(y))


def test_span_by_hand():
    # Two points at distance 2, w = 1/1: α = ½ each, S² = 4, so α S² = 2 ≥ y f = 1: both are lost.
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert span_bound(K, [0.5, -0.5], 0.0, 4) == 0.5
    # Without a bias and orthogonal: α = 1, S² = 1, y f = 1: both are lost; a third equal point saves one.
    assert span_bound(np.eye(2), [1.0, -1.0], 0.0, 2, bias=False) == 1.0
    K = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert span_bound(K, [0.5, 0.5, -1.0], 0.0, 4, bias=False) == 0.25
    # All at the bound: nothing spans.
    assert span_bound(np.eye(2), [0.1, -0.1], 0.0, 2, C=0.1) == 1.0


# what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_bound(-1.0, 1.0, 10), r"radius must be a finite number >= 0, got -1.0"),
        (lambda: margin_bound(inf, 1.0, 10), r"radius must be .* got inf"),
        (lambda: margin_bound("1", 1.0, 10), r"radius must be .* got '1'"),
        (lambda: margin_bound(1.0, math.nan, 10), r"margin must be a number, got nan"),
        (lambda: margin_bound(1.0, 1.0, 0), r"n_samples must be an integer >= 1, got 0"),
        (lambda: margin_bound(1.0, 1.0, 10.5), r"n_samples must be an integer >= 1, got 10.5"),
        (lambda: margin_bound(1.0, 1.0, True), r"n_samples must be .* got True"),
        (lambda: margin_bound(1.0, 1.0, 10, delta=0.0), r"delta must be .* between 0 and 1, .* got 0.0"),
        (lambda: margin_bound(1.0, 1.0, 10, delta=1), r"delta must be .* got 1"),
        (lambda: margin_bound(1.0, 1.0, 10, log_base=1.0), r"log_base must be a finite number > 1, got 1.0"),
        (lambda: compression_bound(11, 10), r"n_support must be at most n_samples=10, got 11"),
        (lambda: compression_bound(-1, 10), r"n_support must be an integer >= 0, got -1"),
        (lambda: compression_bound(1, 10, delta=2.0), r"delta must be .* got 2.0"),
        (lambda: support_vector_loo_bound(11, 10), r"n_support must be at most n_samples=10, got 11"),
        (lambda: radius_margin_bound(1.0, 1.0, -3), r"n_samples must be an integer >= 1, got -3"),
        (lambda: novikoff_bound(math.nan, 1.0), r"radius must be .* got nan"),
        (lambda: span_bound(np.eye(3), [1.0, -1.0], 0.0, 5), r"K must have shape \(2, 2\).* got \(3, 3\)"),
        (lambda: span_bound(np.eye(2), [[1.0, -1.0]], 0.0, 5), r"dual_coef must have shape .* got \(1, 2\)"),
        (lambda: span_bound(np.eye(2), [1.0, 0.0], 0.0, 5), r"no zeros, got 0 at 1"),
        (lambda: span_bound(np.eye(2), [1.0, -1.0], "b", 5), r"intercept must be a finite number, got 'b'"),
        (lambda: span_bound(np.eye(2), [1.0, -1.0], 0.0, 5, C="1"), r"C must be a number > 0 .* got '1'"),
        (lambda: span_bound(np.eye(2), [1.0, math.nan], 0.0, 5), r"dual_coef must be finite, got nan"),
        (lambda: span_bound(np.eye(2), [1.0, -1.0], inf, 5), r"intercept must be a finite number, got inf"),
        (lambda: span_bound(np.eye(2), [1.0, -1.0], 0.0, 1), r"n_samples must be an integer >= 2, got 1"),
        (lambda: span_bound(np.eye(2), [1.0, -1.0], 0.0, 5, C=0.0), r"C must be .* got 0.0"),
    ],
)
def test_errors_name_argument_value_and_what_is_allowed(call, message):
    with pytest.raises(ValueError, match=message):
        call()
