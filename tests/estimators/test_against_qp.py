"""Optimal solutions agree with independent QP solvers on hundreds of random duals."""

import numpy as np
import pytest
from tests.oracles.qp import dual_objective, solve_cvxopt, solve_piqp

from adatron import SVC
from adatron.kernels import Gaussian, Linear, Polynomial

KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.3), Gaussian(0.1), Gaussian(1.0)]
ALL_C = [0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, np.inf]
LONGER = pytest.mark.slow


def random_case(seed, kernel, C, largest=120):
    """A random training set, separable if C is infinite, and whether there is a bias."""
    rng = np.random.default_rng(1000 + seed)
    m, d = int(rng.integers(10, largest + 1)), int(rng.integers(2, 9))
    bias, X = bool(rng.integers(2)), rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if np.isinf(C):
        X[:, 0] = y * (1.0 + np.abs(X[:, 0]))
    return X, y, bias


def objectives(model, X, y, kernel, C, bias):
    """Of a fitted model, and of the solutions of two QP solvers."""
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K, upper = kernel(X, X), np.full(len(y), C)
    oracles = [solve_cvxopt(K, y, upper, bias), solve_piqp(K, y, upper, bias)]
    return [dual_objective(K, y, a) for a in (alpha, *(np.clip(oracle, 0.0, upper) for oracle in oracles))]


def check(seed, kernel, C, tol, digits, largest=120, solver="auto"):
    X, y, bias = random_case(seed, kernel, C, largest)
    model = SVC(C=C, kernel=kernel, fit_intercept=bias, tol=tol, solver=solver).fit(X, y)
    assert model.converged_, seed
    ours, *theirs = objectives(model, X, y, kernel, C, bias)
    for other in theirs:
        assert ours == pytest.approx(other, rel=digits), seed


@pytest.mark.parametrize("C", ALL_C)
@pytest.mark.parametrize("rounds", [range(2), pytest.param(range(2, 5), marks=LONGER)], ids=["few", "more"])
def test_objective_is_the_optimum_to_eight_digits_for_every_C(C, rounds):
    for again in rounds:
        for number, kernel in enumerate(KERNELS):
            seed = 40 * again + 8 * number + ALL_C.index(C)
            check(seed, kernel, C, 1e-9, 1e-8, largest=300 if again > 1 else 120)


@pytest.mark.parametrize(
    "seeds", [range(200, 240), pytest.param(range(240, 400), marks=LONGER)], ids=["few", "more"]
)
def test_objective_is_the_optimum_at_a_usual_tolerance(seeds):
    for seed in seeds:
        C = np.inf if seed % 7 == 0 else float(10.0 ** np.random.default_rng(seed).uniform(-2, 1))
        check(seed, KERNELS[seed % 5], C, 1e-6, 2e-6, largest=300 if seed >= 240 else 120)


def test_published_sweeps_reach_the_optimum_too():
    for seed in range(400, 408):
        check(seed, KERNELS[seed % 5], np.inf if seed % 2 else 1.0, 1e-6, 2e-6, solver="adatron")
