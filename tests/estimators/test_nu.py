"""`NuSVC` and `NuSVR`: optimal on random duals, like scikit-learn's, true to ν, and certified."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import make_classification
from tests.oracles.qp import dual_objective, regression_terms, solve_cvxopt, solve_piqp

from adatron import SVC, SVR, NuSVC, NuSVR
from adatron.exceptions import InfeasibleError
from adatron.kernels import Gaussian, Linear, Polynomial

KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.3), Gaussian(0.1), Gaussian(1.0)]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_classification_is_the_optimum_to_eight_digits(every):
    for seed in range(0, 100, every):
        check_classification(seed)


def check_classification(seed):
    rng = np.random.default_rng(6000 + seed)
    m, d = int(rng.integers(10, 121)), int(rng.integers(1, 9))
    kernel, bias = KERNELS[seed % 5], bool(rng.integers(4))
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = rng.uniform(0.5, 2.0, m) if rng.integers(2) else np.ones(m)
    most = 2.0 * min(weights[y > 0.0].sum(), weights[y < 0.0].sum()) / weights.sum()
    nu = most * [0.3, 0.6, 0.9, 1.0][(seed // 5) % 4]
    K, total, p = kernel(X, X), nu * weights.sum(), np.zeros(m)
    oracles = [solve(K, y, weights, bias, p, total=total) for solve in (solve_cvxopt, solve_piqp)]
    theirs = [dual_objective(K, y, np.clip(alpha, 0.0, weights), p) for alpha in oracles]
    model = NuSVC(nu, kernel, fit_intercept=bias, tol=1e-9)
    if max(theirs) > -1e-9 * total**2 * K.max():  # the classes overlap: there is no margin
        with pytest.raises(InfeasibleError, match=r"specified nu is infeasible.*raise nu"):
            model.fit(X, y, sample_weight=weights)
        return
    model.fit(X, y, sample_weight=weights)
    assert model.converged_, seed
    alpha = np.zeros(m)
    alpha[model.support_] = np.abs(model.dual_coef_[0]) / model.C_
    assert alpha.sum() == pytest.approx(total, rel=1e-10), seed
    assert (alpha <= weights * (1.0 + 1e-12)).all(), seed
    assert bias is False or abs(alpha @ y) <= 1e-10 * total, seed
    for objective in theirs:
        assert dual_objective(K, y, alpha, p) == pytest.approx(objective, rel=1e-8), seed


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_regression_is_the_optimum_to_eight_digits(every):
    for seed in range(0, 100, every):
        check_regression(seed)


def check_regression(seed):
    rng = np.random.default_rng(7000 + seed)
    m, d = int(rng.integers(5, 101)), int(rng.integers(1, 9))
    C, nu = [0.01, 0.1, 1.0, 10.0, 100.0][seed % 5], [0.05, 0.3, 0.6, 1.0][(seed // 5) % 4]
    kernel, bias = KERNELS[(seed // 20) % 5], bool(rng.integers(4))
    X = rng.normal(size=(m, d))
    t = np.sin(X[:, 0]) + 0.3 * rng.normal(size=m) + 2.0
    weights = rng.uniform(0.5, 2.0, m) if rng.integers(2) else np.ones(m)
    model = NuSVR(nu, C, kernel, fit_intercept=bias, tol=1e-9).fit(X, t, sample_weight=weights)
    assert model.duality_gap_ <= 1e-7, seed  # C times polynomials leaves no more digits to the primal
    beta = np.zeros(m)
    beta[model.support_] = model.dual_coef_[0]
    K, y, p = regression_terms(kernel(X, X), t, 0.0)
    alpha = np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)])
    upper, total = np.tile(C * weights, 2), C * nu * weights.sum()
    assert alpha.sum() <= total * (1.0 + 1e-10), seed
    assert (alpha <= upper * (1.0 + 1e-12)).all(), seed
    ours = dual_objective(K, y, alpha, p)
    for solve in (solve_cvxopt, solve_piqp):
        theirs = dual_objective(K, y, np.clip(solve(K, y, upper, bias, p, total=total), 0.0, upper), p)
        assert ours == pytest.approx(theirs, rel=1e-8), seed


def two_classes(n=200):
    return make_classification(n, 6, flip_y=0.1, class_sep=0.7, random_state=3)


def wave(n=150):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 6.0, size=(n, 1))
    return X, np.sin(X).ravel() + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("nu", [0.25, 0.5, 0.8])
def test_decisions_are_those_of_scikit_learn(nu):
    X, y = two_classes()
    ours, theirs = NuSVC(nu).fit(X, y), sklearn.svm.NuSVC(nu=nu, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.abs(ours.dual_coef_).max(), ours.C_[0], rtol=1e-9)
    same = SVC(ours.C_[0]).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), same.decision_function(X), atol=1e-8)
    X, t = wave()
    ours, theirs = NuSVR(nu, 10.0).fit(X, t), sklearn.svm.NuSVR(nu=nu, C=10.0, tol=1e-9).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    same = SVR(10.0, ours.epsilon_).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), same.predict(X), atol=1e-7)


@pytest.mark.parametrize("nu", [0.25, 0.6])
def test_nu_is_a_part_of_the_rows(nu):
    X, y = two_classes()
    model = NuSVC(nu).fit(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    assert np.mean(margins < 1.0 - 1e-9) <= nu <= len(model.support_) / len(X)
    X, t = wave()
    regression = NuSVR(nu).fit(X, t)
    outside = np.abs(t - regression.predict(X)) > regression.epsilon_ + 1e-9
    assert outside.mean() <= nu <= len(regression.support_) / len(X)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(multi_class):
    X, y = make_classification(240, 6, n_classes=3, n_informative=4, random_state=0)
    model = NuSVC(0.3, multi_class=multi_class, probability=True).fit(X, y)
    assert model.C_.shape == model.n_iter_.shape == (3,)
    assert model.converged_
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    if multi_class == "ovo":
        theirs = sklearn.svm.NuSVC(nu=0.3, tol=1e-9, decision_function_shape="ovo").fit(X, y)
        ours = model.set_params(decision_function_shape="ovo").decision_function(X)
        np.testing.assert_allclose(ours, theirs.decision_function(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a true gap, small or not
@pytest.mark.parametrize("max_iter", [1, 3, 5, -1])
@pytest.mark.parametrize("solver", ["auto", "adatron"])
def test_the_gap_is_that_of_the_nu_problem(solver, max_iter):
    X, y = two_classes()
    model = NuSVC(0.4, solver=solver, max_iter=max_iter, tol=1e-2).fit(X, y)
    signs, rho = np.where(y == 1, 1.0, -1.0), 1.0 / model.C_[0]
    outputs = rho * model.decision_function(X)
    square = rho * model.dual_coef_[0] @ (outputs - rho * model.intercept_)[model.support_]
    primal = 0.5 * square - rho * 0.4 * len(X) + np.maximum(0.0, rho - signs * outputs).sum()
    gap = (primal + 0.5 * square) / max(abs(primal), 0.5 * square)
    assert model.duality_gap_ == pytest.approx(gap, rel=1e-6, abs=1e-9)
    assert model.converged_ == (gap <= 1e-2)
    X, t = wave()
    regression = NuSVR(0.4, 5.0, solver=solver, max_iter=max_iter, tol=1e-2).fit(X, t)
    beta, predicted, epsilon = regression.dual_coef_[0], regression.predict(X), regression.epsilon_
    square = beta @ (predicted - regression.intercept_)[regression.support_]
    loss = epsilon * 0.4 * len(X) + np.maximum(0.0, np.abs(t - predicted) - epsilon).sum()
    primal, dual = 0.5 * square + 5.0 * loss, beta @ t[regression.support_] - 0.5 * square
    assert regression.duality_gap_ == pytest.approx((primal - dual) / primal, rel=1e-6, abs=1e-9)


def test_weights_count_in_nu():
    X, y = two_classes(90)
    weights = np.arange(90) % 3
    weighted = NuSVC(0.4, gamma=0.5).fit(X, y, sample_weight=weights)
    repeated = NuSVC(0.4, gamma=0.5).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    rare = y == 0
    heavier = NuSVC(0.3, gamma=0.5, class_weight={0: 3.0}).fit(X, y)
    np.testing.assert_allclose(
        heavier.decision_function(X),
        NuSVC(0.3, gamma=0.5).fit(X, y, sample_weight=np.where(rare, 3.0, 1.0)).decision_function(X),
    )


def test_many_rows_sparse_rows_and_low_rank():
    X, y = make_classification(3000, 10, flip_y=0.05, random_state=0)
    model = NuSVC(0.3).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= model.tol
    assert model.score(X, y) > 0.85
    low_rank = NuSVC(0.3, rank=200, random_state=0).fit(X, y)
    assert low_rank.converged_
    assert np.mean(low_rank.predict(X) == model.predict(X)) > 0.9
    thin = NuSVC(0.3).fit(sparse.csr_array(X[:300]), y[:300])
    whole = NuSVC(0.3).fit(X[:300], y[:300])
    np.testing.assert_allclose(thin.decision_function(X), whole.decision_function(X), atol=1e-7)


def test_records_and_warm_starts():
    X, y = two_classes()
    model = NuSVC(0.4, warm_start=True)
    levels = [(record.epoch, model.C_[0], model.predict(X[:1])[0]) for record in model.iter_fit(X, y)]
    assert len(levels) == model.n_iter_[0]
    decisions = model.decision_function(X)
    assert model.fit(X, y).n_iter_[0] <= len(levels)
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-9)


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, np.nan, np.inf, "half", None, True])
@pytest.mark.parametrize("kind", [NuSVC, NuSVR])
def test_bad_values_of_nu_are_named(kind, nu):
    with pytest.raises(ValueError, match="nu must be a number above 0 and at most 1, got"):
        kind(nu).fit([[0.0], [1.0]], [0, 1])


def test_infeasible_values_of_nu():
    X, y = two_classes()
    few = np.r_[np.flatnonzero(y == 0)[:10], np.flatnonzero(y == 1)]
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu=0\.5 is more than 0\.1"):
        NuSVC(0.5).fit(X[few], y[few])
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="so small that no margin is left; raise nu"):
        NuSVC(0.1, "linear").fit(rng.normal(size=(100, 2)), np.arange(100) % 2)
    with pytest.raises(ValueError, match="C must be a finite number > 0, got inf"):
        NuSVR(C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="multi_class must be one of"):
        NuSVC(multi_class="crammer_singer").fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_few_iterations_do_not_make_nu_infeasible():
    X, y = make_classification(60, 5, random_state=0)
    for max_iter in (1, 2, 3, 5):
        assert NuSVC(nu=0.1, max_iter=max_iter).fit(X, y).status_ == "max_iter"
    assert NuSVC(nu=0.1).fit(X, y).converged_


@pytest.mark.filterwarnings("ignore")
def test_indefinite_kernels_end_soon():
    X, y = make_classification(60, 5, random_state=0)
    model = NuSVC(kernel="sigmoid").fit(X, y)
    assert model.status_ == "indefinite_kernel"
    assert model.n_iter_[0] <= 30
    reference = sklearn.svm.NuSVC(kernel="sigmoid").fit(X, y)
    assert model.score(X, y) >= reference.score(X, y) - 0.05
