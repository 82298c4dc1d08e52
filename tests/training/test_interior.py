"""The interior-point method, and the fits that need it."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.oracles.long_double import certified_gap
from tests.oracles.qp import dual_objective, regression_terms, solve_piqp
from tests.problems_for_tests import noisy_points, noisy_targets

from adatron import SVC, SVR
from adatron.gram import DenseGram, LowRankGram
from adatron.kernels import Gaussian, Linear
from adatron.problems import DualProblem, classification, regression
from adatron.training import Status, certify
from adatron.training.interior import interior_point


def solved(problem, goal=1e-6):
    """The certificate of what the interior point finds, with nothing dropped."""
    rounded, inside = interior_point(problem, 0, goal, lambda: None)
    upper = problem.upper[:, 0]
    assert (inside[upper > 0.0] > 0.0).all()
    assert (inside <= upper).all()
    assert np.abs(rounded - inside).max() <= 1e-3 * upper.max()
    return certify(problem, 0, inside, None, negligible=0.0)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_classification_agrees_with_another_solver(bias, C):
    X, y = noisy_points(0, m=60)
    upper = C * np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    K = Gaussian(0.5)(X, X)
    certificate = solved(classification(DenseGram(K), y, upper, bias=bias))
    assert certificate.gap <= 1e-8
    assert certificate.dual == pytest.approx(dual_objective(K, y, solve_piqp(K, y, upper, bias)), rel=1e-7)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.5)], ids=["factor", "dense"])
def test_a_point_and_its_twin_are_solved_together(bias, kernel):
    X, t = noisy_targets(0, m=60)
    gram = LowRankGram.linear(X) if isinstance(kernel, Linear) else DenseGram(kernel(X, X))
    certificate = solved(regression(gram, t, np.full(len(t), 5.0), epsilon=0.1, bias=bias))
    assert certificate.gap <= 1e-8
    K, y, p = regression_terms(kernel(X, X), t, 0.1)
    best = solve_piqp(K, y, np.full(len(y), 5.0), bias, p)
    assert certificate.dual == pytest.approx(dual_objective(K, y, best, p), rel=1e-6)


def test_a_factor_and_the_matrix_give_the_same_and_points_may_be_left_out():
    X, y = noisy_points(1, m=80)
    upper = np.full(len(y), 3.0)
    upper[::4] = 0.0
    grams = LowRankGram.linear(X), DenseGram(X @ X.T)
    first, second = (solved(classification(gram, y, upper, bias=True)) for gram in grams)
    assert first.gap <= 1e-8
    assert first.dual == pytest.approx(second.dual, rel=1e-8)
    assert not first.alpha[::4].any()


def test_problems_without_an_interior_are_refused():
    ones = np.ones((5, 1))
    problem = DualProblem(DenseGram(np.eye(5)), ones, ones, 0.2 * ones, 1.0)  # Σα = 1 = Σ upper
    assert interior_point(problem, 0, 1e-3, lambda: None) is None


def test_it_can_be_interrupted():
    X, y = noisy_points(0)

    def pause():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        interior_point(classification(DenseGram(X @ X.T), y, np.ones(len(y)), bias=True), 0, 1e-3, pause)


def slow_data(kind, n=300):
    """Rows, classes and parameters on which steps of two multipliers crawl."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    score = X.sum(axis=1) + 2.0 * rng.normal(size=n)
    if kind == "unscaled":
        return X * 10.0 ** np.linspace(-3, 3, 8), score > 0.0, {"kernel": "linear", "C": 10.0}
    if kind == "near duplicates":
        X = np.tile(X[: n // 3], (3, 1)) + 1e-6 * rng.normal(size=X.shape)
        return X, score > 0.0, {"C": 1e5, "gamma": 0.01}
    if kind == "few of a class":
        return X @ rng.normal(size=(8, 2)), score > 7.0, {"kernel": "linear", "C": 1e5}
    X = rng.standard_t(1.5, size=X.shape)
    return X, score > 0.0, {"kernel": "poly", "degree": 2, "gamma": 1.0, "C": 1e3}


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["unscaled", "near duplicates", "few of a class", "heavy tails"])
def test_slow_problems_are_solved_in_few_epochs(kind, bias, tol):
    X, y, parameters = slow_data(kind)
    model = SVC(**parameters, fit_intercept=bias, tol=tol).fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert model.duality_gap_ <= tol
    assert model.n_iter_.max() <= 20
    assert certified_gap(model, X, y) <= tol


def test_many_rows_of_few_unscaled_features_are_solved_in_few_epochs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 6))
    y = X.sum(axis=1) + rng.normal(size=4_000)
    X *= 10.0 ** np.linspace(-3, 3, 6)
    for model in (SVC(kernel="linear").fit(X, y > 0.0), SVR(kernel="linear", C=10.0).fit(X, y)):
        assert model.converged_
        assert np.max(model.n_iter_) <= 3


def test_solutions_are_sparse():
    X, y, parameters = slow_data("unscaled")
    model = SVC(**parameters).fit(X, y)
    assert len(model.support_) < len(y)
    at_bound = np.isclose(np.abs(model.dual_coef_[0]), parameters["C"], rtol=1e-12)
    assert len(model.support_) - at_bound.sum() <= X.shape[1] + 1


def test_what_rounding_forbids_is_said():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(200, 1)).astype(float)
    y = rng.random(200) < 0.5
    with pytest.warns(ConvergenceWarning, match=r"float64 arithmetic"):
        model = SVC(kernel="poly", degree=4, gamma=500.0, C=1e5).fit(X, y)
    assert model.status_ is Status.PRECISION_LIMIT
    assert model.n_iter_.max() <= 20


@pytest.mark.parametrize("solver", ["auto", "adatron"])
def test_fits_that_a_limit_ends_keep_the_iterate(solver):
    X, y, parameters = slow_data("unscaled")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(**parameters, solver=solver, max_iter=2).fit(X, y)
    assert model.status_ is Status.MAX_ITER
    assert model.n_iter_.max() == 2
    assert not model.finished_exactly_
