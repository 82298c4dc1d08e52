"""`OneClassSVM` and the enclosing ball: agree with `sklearn.svm.OneClassSVM` and with geometry."""

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
import sklearn.svm
from scipy import sparse
from tests.data_dir import data_dir, needs_data

from adatron import OneClassSVM, datasets
from adatron.gram import LazyGram, RowGram
from adatron.kernels import Gaussian, Linear
from adatron.problems import enclosing_ball, one_class
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, certify, rounds

SETS = {
    "digits": sklearn.datasets.load_digits,
    "wine": sklearn.datasets.load_wine,
    "breast cancer": sklearn.datasets.load_breast_cancer,
    "ionosphere": datasets.load_ionosphere,
    "pima": datasets.load_pima,
}


def scattered(m, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(m, d))


def solved(problem, tol=1e-9):
    run = Run(problem, GreedyAdatron(), GapRule(tol), max_iter=1000)
    for _ in rounds([run]):
        pass
    (solution,) = run.solutions
    return solution


@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("name", SETS)
def test_same_inliers_as_sklearn(name, nu):
    X, _ = SETS[name](return_X_y=True)
    scale = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(scale > 0.0, scale, 1.0)
    ours, theirs = OneClassSVM(nu).fit(X), sklearn.svm.OneClassSVM(nu=nu, tol=1e-8).fit(X)
    assert ours.converged_
    on_the_surface = np.abs(theirs.decision_function(X)) < 1e-6 * theirs.offset_  # on either side by rounding
    away = ours.predict(X)[~on_the_surface] == theirs.predict(X)[~on_the_surface]
    assert away.mean() >= 0.995
    assert np.corrcoef(ours.decision_function(X), theirs.decision_function(X))[0, 1] > 0.99999


@needs_data
@pytest.mark.parametrize("nu", [0.05, 0.2, pytest.param(0.5, marks=pytest.mark.slow)])
def test_same_inliers_as_sklearn_on_many_rows(nu):
    table = pd.read_csv(data_dir() / "regression" / "cpusmall.csv.xz").to_numpy(float)
    X = (table - table.mean(axis=0)) / table.std(axis=0)
    ours, theirs = OneClassSVM(nu).fit(X), sklearn.svm.OneClassSVM(nu=nu).fit(X)
    assert ours._precision is np.float32
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.995
    assert np.corrcoef(ours.decision_function(X), theirs.decision_function(X))[0, 1] > 0.99999


@pytest.mark.parametrize("weighted", [False, True])
def test_fitted_attributes_follow_its_conventions(weighted):
    X = scattered(150)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 150) if weighted else None
    ours = OneClassSVM(0.3, gamma=0.4, tol=1e-9).fit(X, sample_weight=weights)
    theirs = sklearn.svm.OneClassSVM(nu=0.3, gamma=0.4, tol=1e-9).fit(X, sample_weight=weights)
    for name in ("support_", "dual_coef_", "intercept_", "offset_", "n_support_", "support_vectors_"):
        a, b = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        assert a.shape == b.shape, name
        assert a.dtype == b.dtype, name
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-4)
    np.testing.assert_array_equal(ours.fit_predict(X, sample_weight=weights), ours.predict(X))
    assert type(ours.n_iter_) is int


def test_every_parameter_of_sklearn_is_there_with_its_default():
    ours, theirs = OneClassSVM().get_params(), sklearn.svm.OneClassSVM().get_params()
    assert {name for name in theirs if ours[name] != theirs[name]} == {"cache_size"}


def test_linear_weights():
    X = scattered(80) + 3.0
    ours = OneClassSVM(0.2, "linear", tol=1e-9).fit(X)
    theirs = sklearn.svm.OneClassSVM(nu=0.2, kernel="linear", tol=1e-10).fit(X)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


@pytest.mark.parametrize("nu", [0.01, 0.2, 0.5, 1.0])
def test_nu_bounds_outliers_from_above_and_support_vectors_from_below(nu):
    X = scattered(300)
    model = OneClassSVM(nu).fit(X)
    assert (model.decision_function(X) < 0.0).mean() <= nu + 1e-12
    assert len(model.support_) / 300 >= nu - 1e-12
    assert model.dual_coef_.sum() == pytest.approx(nu * 300)


def test_weight_two_is_the_row_twice():
    X = scattered(120)
    weights = np.random.default_rng(0).integers(0, 4, 120).astype(float)
    weighted = OneClassSVM(0.3).fit(X, sample_weight=weights)
    repeated = OneClassSVM(0.3).fit(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "adatron", "adatron-secant", "multiplicative"])
def test_every_solver_finds_the_optimum(solver):
    X = scattered(90)
    model = OneClassSVM(0.3, solver=solver, gamma=0.3, tol=1e-5).fit(X)
    exact = OneClassSVM(0.3, gamma=0.3, tol=1e-12).fit(X)
    assert model.converged_
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["m3", "munk", "rho"])
def test_solvers_that_cannot_serve_say_which_can(solver):
    with pytest.raises(
        ValueError, match=f"solver='{solver}' .*use solver='auto', 'adatron' or 'multiplicative'"
    ):
        OneClassSVM(solver=solver).fit(scattered(30))


def test_sparse_rows_low_rank_precomputed_and_warm_start():
    X = scattered(200)
    base = OneClassSVM(0.2, gamma=0.2, warm_start=True).fit(X)
    decisions = base.decision_function(X)
    thin = OneClassSVM(0.2, gamma=0.2).fit(sparse.csr_array(X))
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), decisions, atol=1e-8)
    K = Gaussian(0.2)(X, X)
    np.testing.assert_allclose(
        OneClassSVM(0.2, "precomputed").fit(K).decision_function(K), decisions, atol=1e-8
    )
    low_rank = OneClassSVM(0.2, gamma=0.2, rank=1e-7).fit(X)
    np.testing.assert_allclose(low_rank.decision_function(X), decisions, atol=1e-2)
    np.testing.assert_allclose(base.fit(X).decision_function(X), decisions, atol=1e-8)


def test_float32_rows_pass_a_float64_certificate():
    X = scattered(6_000, d=5)
    model = OneClassSVM(0.1, gamma=0.1).fit(X)
    assert model._precision is np.float32
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0] / 600.0
    problem = one_class(RowGram(Gaussian(0.1), X, 2**29, np.float64), np.ones(len(X)), 0.1)
    assert certify(problem, 0, alpha).gap <= 1e-3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pose", [one_class, enclosing_ball])
def test_gap_by_definition_for_any_alpha(pose, seed):
    X = scattered(25, seed=seed)
    kernel, rng = Gaussian(0.5), np.random.default_rng(seed)
    problem = pose(LazyGram(kernel, X), rng.uniform(0.5, 2.0, 25), 0.4)
    certificate = certify(problem, 0, rng.uniform(-0.05, 0.2, 25))
    a, upper, p = certificate.alpha, problem.upper[:, 0], problem.p[:, 0]
    assert a.sum() == pytest.approx(1.0, abs=1e-12)
    assert ((a >= 0.0) & (a <= upper)).all()
    K = kernel(X, X)
    dual = p @ a - 0.5 * a @ K @ a
    biases = p - K @ a  # the primal is piecewise linear in the bias
    primals = [0.5 * a @ K @ a + (upper * np.maximum(0.0, p - K @ a - b)).sum() + b for b in biases]
    assert certificate.primal == pytest.approx(min(primals), rel=1e-12)
    assert certificate.gap == pytest.approx(
        (min(primals) - dual) / max(abs(min(primals)), abs(dual)), abs=1e-12
    )


def test_ball_of_two_points_and_of_a_circle():
    angles = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    circle = 3.0 * np.column_stack([np.cos(angles), np.sin(angles)]) + 5.0
    inside = scattered(30, d=2) * 0.5 + 5.0
    for X, centre, radius in ((np.array([[0.0, 0.0], [4.0, 0.0]]), [2.0, 0.0], 2.0),
                              (np.vstack([circle, inside]), [5.0, 5.0], 3.0)):  # fmt: skip
        problem = enclosing_ball(LazyGram(Linear(), X), np.ones(len(X)))
        solution = solved(problem)
        outputs = X @ X.T @ solution.alpha  # at the surface ½ K_ii − f_i is the bias
        assert solution.alpha @ outputs + 2.0 * solution.bias == pytest.approx(radius**2, rel=1e-9)
        np.testing.assert_allclose(solution.alpha @ X, centre, atol=1e-7)


def test_with_a_gaussian_kernel_ball_and_hyperplane_are_one():
    X = scattered(100)
    gram = LazyGram(Gaussian(0.5), X)
    ball, plane = solved(enclosing_ball(gram, np.ones(100), 0.2)), solved(one_class(gram, np.ones(100), 0.2))
    np.testing.assert_allclose(ball.alpha, plane.alpha, atol=1e-9)
