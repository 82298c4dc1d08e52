"""Optimal regressions and one-class models agree with independent QP solvers on random duals."""

import numpy as np
import pytest
from tests.oracles.qp import dual_objective, regression_terms, solve_cvxopt, solve_piqp

from adatron import SVR, OneClassSVM
from adatron.gram import LazyGram
from adatron.kernels import Gaussian, Linear, Polynomial
from adatron.problems import enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, rounds

KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.3), Gaussian(0.1), Gaussian(1.0)]
ALL_C = [0.01, 0.1, 1.0, 10.0, 100.0]
ALL_EPSILON = [0.0, 0.01, 0.1, 1.0]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_regression_is_the_optimum_to_eight_digits(every):
    for seed in range(0, 100, every):
        check_regression(seed)


def check_regression(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(5, 151)), int(rng.integers(1, 9))
    C, epsilon = ALL_C[seed % 5], ALL_EPSILON[(seed // 5) % 4]
    kernel, bias = KERNELS[(seed // 20) % 5], bool(rng.integers(2))
    X = rng.normal(size=(m, d))
    t = np.sin(X[:, 0]) + 0.3 * rng.normal(size=m) + 2.0
    model = SVR(C, epsilon, kernel, fit_intercept=bias, tol=1e-9).fit(X, t)
    assert model.converged_, seed
    beta = np.zeros(m)
    beta[model.support_] = model.dual_coef_[0]
    K, y, p = regression_terms(kernel(X, X), t, epsilon)
    ours = dual_objective(K, y, np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)]), p)
    upper = np.full(2 * m, C)
    for oracle in (solve_cvxopt(K, y, upper, bias, p), solve_piqp(K, y, upper, bias, p)):
        theirs = dual_objective(K, y, np.clip(oracle, 0.0, upper), p)
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-10), seed


def one_class_case(seed):
    rng = np.random.default_rng(1000 + seed)
    m, d = int(rng.integers(5, 201)), int(rng.integers(1, 9))
    nu, weighted = [0.01, 0.1, 0.5, 0.9, 1.0][seed % 5], bool(rng.integers(2))
    X = rng.normal(size=(m, d)) + 1.0
    weights = rng.uniform(0.5, 2.0, m) if weighted else np.ones(m)
    upper = np.minimum(weights / (nu * weights.sum()), 1.0)
    return X, weights, nu, upper, KERNELS[(seed // 5) % 5]


def test_one_class_is_the_optimum_to_eight_digits():
    for seed in range(100):
        check_one_class(seed)


def check_one_class(seed):
    X, weights, nu, upper, kernel = one_class_case(seed)
    model = OneClassSVM(nu, kernel, tol=1e-9).fit(X, sample_weight=weights)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0] / (nu * weights.sum())
    assert alpha.sum() == pytest.approx(1.0, abs=1e-12)
    assert (alpha <= upper * (1.0 + 1e-12)).all()
    K, y, p = kernel(X, X), np.ones(len(X)), np.zeros(len(X))
    ours = dual_objective(K, y, alpha, p)
    size = float(K.diagonal().max())
    assert model.converged_
    for oracle in (solve_cvxopt(K, y, upper, True, p, 1.0), solve_piqp(K, y, upper, True, p, 1.0)):
        theirs = dual_objective(K, y, np.clip(oracle, 0.0, upper), p)
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-10 * size), seed


def test_enclosing_ball_is_the_optimum_to_eight_digits():
    for seed in range(0, 100, 4):
        check_enclosing_ball(seed)


def check_enclosing_ball(seed):
    X, weights, nu, upper, kernel = one_class_case(seed)
    problem = enclosing_ball(LazyGram(kernel, X), weights, nu)
    np.testing.assert_allclose(problem.upper[:, 0], upper)
    run = Run(problem, GreedyAdatron(), GapRule(1e-9), max_iter=1000)
    for _ in rounds([run]):
        pass
    (solution,) = run.solutions
    assert solution.status == "converged", seed
    K, y, p = kernel(X, X), np.ones(len(X)), problem.p[:, 0]
    ours = dual_objective(K, y, solution.alpha, p)
    for oracle in (solve_cvxopt(K, y, upper, True, p, 1.0), solve_piqp(K, y, upper, True, p, 1.0)):
        assert ours == pytest.approx(dual_objective(K, y, np.clip(oracle, 0.0, upper), p), rel=1e-8)
