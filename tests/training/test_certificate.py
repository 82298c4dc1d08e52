"""The certificate against its definition, and its properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tests.oracles.qp import solve_piqp
from tests.problems_for_tests import binary_problem, noisy_points, separated_points

from adatron.kernels import Gaussian, Linear
from adatron.training import certify
from adatron.training.certificate import best_bias, make_feasible


def by_definition(K, y, alpha, upper, bias):
    """(P − D)/max(|P|, |D|) with the sums as they are written."""
    f = K @ (y * alpha)
    quadratic = alpha @ (y * f)
    primal = 0.5 * quadratic + (upper * np.maximum(0.0, 1.0 - y * (f + bias))).sum()
    dual = alpha.sum() - 0.5 * quadratic
    return (primal - dual) / max(abs(primal), abs(dual)), primal, dual


@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.01, 1.0, 100.0]), bias=st.booleans())
def test_gap_by_definition_for_any_alpha(seed, C, bias):
    X, y = noisy_points(seed, m=20)
    problem = binary_problem(Gaussian(0.5), X, y, C, bias)
    alpha = np.random.default_rng(seed).uniform(-0.2 * C, 1.2 * C, len(y))
    certificate = certify(problem, 0, alpha)
    a = certificate.alpha
    assert (a >= 0).all()
    assert (a <= C).all()
    if bias:
        assert abs(y @ a) <= 1e-12 * a.sum()
    expected, primal, dual = by_definition(Gaussian(0.5)(X, X), y, a, np.full(20, C), certificate.bias)
    assert certificate.gap == pytest.approx(expected, abs=1e-12)
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    assert certificate.dual == pytest.approx(dual, rel=1e-12)
    assert certificate.gap >= 0.0


@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_best_bias_minimises_the_primal(seed, weighted):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(15) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    f, upper = rng.normal(size=15), rng.uniform(0.1, 2.0, 15) if weighted else np.ones(15)

    def loss(b):
        return (upper * np.maximum(0.0, 1.0 - y * (f + b))).sum()

    low, high = best_bias(f, y, np.ones(15), upper)
    assert low <= high
    found = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10}).fun
    for b in (low, 0.5 * (low + high), high):
        assert loss(b) <= found + 1e-7


def test_optimum_has_no_gap_and_zero_has_all_of_it():
    X, y = noisy_points(0, m=40)
    problem = binary_problem(Gaussian(0.5), X, y, 1.0, True)
    optimal = solve_piqp(Gaussian(0.5)(X, X), y, np.ones(40), True)
    assert certify(problem, 0, optimal).gap < 1e-8
    tiny = binary_problem(Gaussian(0.5), X, y, 1e-12, True)
    assert certify(tiny, 0, np.zeros(40)).gap == 1.0  # not optimal merely because C is tiny


@pytest.mark.parametrize("bias", [False, True])
def test_hard_margin_interval_holds_the_true_margin(bias):
    X, y = separated_points(0)
    problem = binary_problem(Linear(), X, y, np.inf, bias)
    alpha = solve_piqp(Linear()(X, X), y, np.full(len(y), np.inf), bias)
    true = 1.0 / np.sqrt(alpha.sum())
    rough = certify(problem, 0, alpha * np.random.default_rng(0).uniform(0.5, 1.5, len(y)))
    assert rough.margin_interval[0] <= true <= rough.margin_interval[1]
    assert rough.gap == pytest.approx(1 - (rough.margin_interval[0] / rough.margin_interval[1]) ** 2)
    exact = certify(problem, 0, alpha)
    assert exact.margin_interval == pytest.approx((true, true), rel=1e-5)


def test_feasible_alpha_is_left_alone():
    y = np.array([1.0, 1.0, -1.0])
    alpha = np.array([0.25, 0.25, 0.5])
    np.testing.assert_array_equal(make_feasible(alpha, y, np.ones(3), 0.0), alpha)


def test_points_with_upper_zero_take_no_part():
    X, y = noisy_points(3, m=30)
    upper = np.where(np.arange(30) < 20, 1.0, 0.0)
    problem = binary_problem(Gaussian(0.5), X, y, 1.0, True)
    object.__setattr__(problem, "upper", upper[:, None])
    part = binary_problem(Gaussian(0.5), X[:20], y[:20], 1.0, True)
    alpha = np.random.default_rng(0).uniform(0, 1, 30)
    whole, alone = certify(problem, 0, alpha), certify(part, 0, alpha[:20])
    assert whole.gap == pytest.approx(alone.gap, rel=1e-12)
