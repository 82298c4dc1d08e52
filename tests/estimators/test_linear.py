"""`LinearSVC` and `LinearSVR`: optimal on random problems, like scikit-learn's, and certified."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from tests.oracles.qp import dual_objective, regression_terms, solve_cvxopt, solve_piqp

from adatron import SVC, LinearSVC, LinearSVR


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_both_are_the_optimum_to_eight_digits(every):
    for seed in range(0, 100, every):
        check_optimum(seed)


def check_optimum(seed):
    rng = np.random.default_rng(8000 + seed)
    m, d = int(rng.integers(5, 121)), int(rng.integers(1, 30))
    C, squared, is_regression = [0.01, 1.0, 10.0, 100.0][seed % 4], bool(seed // 4 % 2), bool(seed // 8 % 2)
    X = rng.normal(size=(m, d)) + 0.5
    t = X[:, 0] + 0.5 * rng.normal(size=m)
    weights = rng.uniform(0.5, 2.0, m) if rng.integers(2) else np.ones(m)
    K, upper = X @ X.T + 1.0, C * weights  # the intercept is a feature
    if is_regression:
        loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
        model = LinearSVR(epsilon=0.1, loss=loss, C=C, tol=1e-9).fit(X, t, sample_weight=weights)
        slack = np.maximum(np.abs(t - model.predict(X)) - 0.1, 0.0)
    else:
        t = np.where(t > 0.3, 1.0, -1.0)
        t[:2] = 1.0, -1.0
        model = LinearSVC(loss="squared_hinge" if squared else "hinge", C=C, tol=1e-9)
        slack = np.maximum(1.0 - t * model.fit(X, t, sample_weight=weights).decision_function(X), 0.0)
    assert model.converged_, seed
    w = np.append(model.coef_, model.intercept_)
    primal = 0.5 * w @ w + upper @ slack ** (2 if squared else 1)
    if squared:
        K, upper = K + np.diag(0.5 / upper), np.full(m, np.inf)
    K, y, p = regression_terms(K, t, 0.1) if is_regression else (K, t, np.ones(m))
    upper = np.tile(upper, 2) if is_regression else upper
    for solve in (solve_cvxopt, solve_piqp):
        theirs = dual_objective(K, y, np.clip(solve(K, y, upper, False, p), 0.0, upper), p)
        assert primal == pytest.approx(theirs, rel=1e-8), seed
    assert model.duality_gap_ <= 1e-9, seed


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("parameters", [{}, {"C": 0.1, "intercept_scaling": 5.0}, {"fit_intercept": False}])
def test_weights_are_those_of_scikit_learn(loss, parameters):
    X, y = load_iris(return_X_y=True)
    ours = LinearSVC(loss=loss, **parameters).fit(X, y)
    theirs = sklearn.svm.LinearSVC(loss=loss, dual=True, tol=1e-8, max_iter=10**6, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ * np.ones(3), atol=2e-4)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    two = y < 2
    pair = LinearSVC(loss=loss, **parameters).fit(X[two], y[two])
    assert pair.coef_.shape == (1, 4)
    assert pair.score(X[two], y[two]) == 1.0


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regressions_are_those_of_scikit_learn(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    t = X @ [1.0, -2.0, 0.0, 0.5] + 3.0 + 0.3 * rng.normal(size=200)
    ours = LinearSVR(loss=loss, epsilon=0.2).fit(X, t)
    theirs = sklearn.svm.LinearSVR(loss=loss, epsilon=0.2, dual=True, tol=1e-9, max_iter=10**6).fit(X, t)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert ours.intercept_.shape == (1,)


def test_without_intercept_it_is_the_svc_of_the_linear_kernel():
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    ours = LinearSVC(loss="hinge", fit_intercept=False).fit(X, y)
    dual = SVC(kernel="linear", fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, dual.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_many_rows_and_many_features(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 30))
    y = X @ rng.normal(size=30) + 3.0 * rng.normal(size=5_000) > 0.0
    model = LinearSVC(loss=loss).fit(X, y)
    assert model.converged_
    assert model.n_iter_ <= 60
    assert model.score(X, y) > 0.8
    thin = sparse.random_array((500, 3_000), density=0.02, rng=rng, format="csr")
    y = thin @ rng.normal(size=3_000) > 0.0
    wide = LinearSVC(loss=loss, C=10.0).fit(thin, y)
    assert wide.converged_
    few = thin[:300].toarray()
    np.testing.assert_allclose(wide.decision_function(thin[:300]), wide.decision_function(few), atol=1e-12)


def test_weights_are_repetitions():
    X, y = make_classification(90, 6, flip_y=0.1, random_state=0)
    counts = np.arange(90) % 3
    weighted = LinearSVC(loss="hinge").fit(X, y, sample_weight=counts)
    repeated = LinearSVC(loss="hinge").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    heavier = LinearSVC(class_weight={1: 2.0}).fit(X, y)
    np.testing.assert_allclose(heavier.coef_, LinearSVC().fit(X, y, sample_weight=1.0 + y).coef_)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearSVC(penalty="l1"), r"penalty must be one of \['l2'\], got 'l1'"),
        (LinearSVC(loss="hing"), r"loss must be one of .* got 'hing'; did you mean 'hinge'"),
        (LinearSVC(multi_class="crammer_singer"), "multi_class must be one of"),
        (LinearSVC(C=0.0), "C must be a finite number > 0, got 0.0"),
        (LinearSVC(intercept_scaling=-1.0), "intercept_scaling must be"),
        (LinearSVC(max_iter=0), "max_iter must be an integer >= 1, got 0"),
        (LinearSVR(epsilon=-1.0), "epsilon must be a finite number >= 0, got -1.0"),
        (LinearSVR(loss="hinge"), "loss must be one of"),
        (LinearSVR(tol=None), "tol must be"),
    ],
)
def test_bad_values_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(estimator, "coef_")


def test_limits_and_overflow():
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    with pytest.warns(UserWarning, match="max_iter epochs were not enough"):
        model = LinearSVC(loss="hinge", max_iter=2).fit(X, y)
    assert model.duality_gap_ > model.tol
    assert not model.converged_
    with pytest.raises(ValueError, match="scale X"):
        LinearSVC().fit(1e200 * X, y)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}])
def test_class_weights_of_several_classes_are_those_of_liblinear(class_weight):
    X, y = load_iris(return_X_y=True)
    X, y = X[20:], y[20:]
    ours = LinearSVC(class_weight=class_weight, tol=1e-9).fit(X, y)
    theirs = sklearn.svm.LinearSVC(class_weight=class_weight, tol=1e-10, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_unscaled_rows_end_where_rounding_is_all_that_is_left():
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(loss="hinge", max_iter=100_000).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 300
    with pytest.warns(ConvergenceWarning, match="float64"):
        assert LinearSVC(loss="hinge", tol=1e-300, max_iter=100_000).fit(X, y).status_ == "precision_limit"
    with pytest.raises(ValueError, match="C must be smaller"):
        LinearSVC(C=1e200).fit(X, y)
