"""Optimal solutions agree with independent QP solvers on 200 random duals."""

import numpy as np
import pytest
from tests.oracles.qp import dual_objective, solve_cvxopt, solve_piqp

from adatron import SVC
from adatron.kernels import Gaussian, Linear, Polynomial

KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.3), Gaussian(0.1), Gaussian(1.0)]


def random_case(seed):
    """A random training set, kernel, C (0.01 to 10, or inf where well separable) and bias."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(10, 301)), int(rng.integers(2, 9))
    kernel = KERNELS[seed % len(KERNELS)]
    hard = seed % 7 == 0
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if hard:
        X[:, 0] = y * (1.0 + np.abs(X[:, 0]))
    C = np.inf if hard else float(10.0 ** rng.uniform(-2, 1))
    return X, y, kernel, C, bool(rng.integers(2))


@pytest.mark.parametrize("seed", range(200))
def test_objective_is_the_optimum(seed):
    X, y, kernel, C, bias = random_case(seed)
    model = SVC(C=C, kernel=kernel, fit_intercept=bias, tol=1e-6).fit(X, y)
    assert model.converged_
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K, upper = kernel(X, X), np.full(len(y), C)
    ours = dual_objective(K, y, alpha)
    oracles = [solve_cvxopt(K, y, upper, bias), solve_piqp(K, y, upper, bias)]
    for oracle in oracles:
        theirs = dual_objective(K, y, np.clip(oracle, 0.0, upper))
        assert ours == pytest.approx(theirs, rel=2e-6)


ALL_C = [0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, np.inf]


@pytest.mark.parametrize("seed", range(200))
def test_objective_is_the_optimum_to_eight_digits_for_every_C(seed):
    rng = np.random.default_rng(1000 + seed)
    m, d = int(rng.integers(10, 301)), int(rng.integers(2, 9))
    C, kernel, bias = ALL_C[seed % 8], KERNELS[(seed // 8) % 5], bool(rng.integers(2))
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if np.isinf(C):
        X[:, 0] = y * (1.0 + np.abs(X[:, 0]))
    model = SVC(C=C, kernel=kernel, fit_intercept=bias, tol=1e-9).fit(X, y)
    assert model.converged_
    alpha = np.zeros(m)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K, upper = kernel(X, X), np.full(m, C)
    ours = dual_objective(K, y, alpha)
    for oracle in (solve_cvxopt(K, y, upper, bias), solve_piqp(K, y, upper, bias)):
        assert ours == pytest.approx(dual_objective(K, y, np.clip(oracle, 0.0, upper)), rel=1e-8)


@pytest.mark.parametrize("seed", [7, 21, 42, 63])
@pytest.mark.parametrize("bias", [False, True])
def test_published_sweeps_reach_the_optimum_too(seed, bias):
    X, y, kernel, C, _ = random_case(seed)
    model = SVC(C=C, kernel=kernel, fit_intercept=bias, tol=1e-6, solver="adatron").fit(X, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    K, upper = kernel(X, X), np.full(len(y), C)
    theirs = dual_objective(K, y, np.clip(solve_piqp(K, y, upper, bias), 0.0, upper))
    assert dual_objective(K, y, alpha) == pytest.approx(theirs, rel=2e-6)
