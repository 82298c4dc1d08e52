"""`SVR`: agrees with `sklearn.svm.SVR`, its gap is what it says, and every solver finds the same model."""

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.data_dir import data_dir, needs_data
from tests.problems_for_tests import noisy_targets

from adatron import SVR
from adatron.gram import RowGram
from adatron.kernels import Gaussian, Laplacian
from adatron.problems import regression
from adatron.training import certify


def standardised(X, y):
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def smooth(m, d=6, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.sin(X[:, 0]) * X[:, 1] + noise * rng.normal(size=m)


def by_definition(model, X, y, weights=1.0):
    """(P − D)/max(|P|, |D|) of a fitted Gaussian model, from the primal of ε-regression."""
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    K = np.exp(-model.gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    f = K @ beta + model.intercept_[0]
    loss = np.maximum(np.abs(y - f) - model.epsilon, 0.0)
    primal = 0.5 * beta @ K @ beta + (model.C * weights * loss).sum()
    dual = y @ beta - model.epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta
    return (primal - dual) / max(abs(primal), abs(dual))


@pytest.mark.parametrize("parameters", [{}, {"C": 10.0, "epsilon": 0.02}, {"kernel": "poly"}], ids=str)
def test_predictions_agree_with_sklearn_on_diabetes(parameters):
    X, y = standardised(*sklearn.datasets.load_diabetes(return_X_y=True))
    ours, theirs = SVR(**parameters).fit(X, y), sklearn.svm.SVR(**parameters).fit(X, y)
    assert ours.converged_
    assert np.corrcoef(ours.predict(X), theirs.predict(X))[0, 1] > 0.99999


@needs_data
@pytest.mark.parametrize(
    ("name", "rows"),
    [("concrete", 1030), ("space_ga", 3107), pytest.param("cpusmall", 6000, marks=pytest.mark.slow)],
)
def test_predictions_agree_with_sklearn_on_data(name, rows):
    table = pd.read_csv(data_dir() / "regression" / f"{name}.csv.xz").drop(columns="fold", errors="ignore")
    X, y = standardised(table.to_numpy(float)[:rows, :-1], table.to_numpy(float)[:rows, -1])
    ours, theirs = SVR(tol=1e-4).fit(X, y), sklearn.svm.SVR(tol=1e-4).fit(X, y)
    assert np.corrcoef(ours.predict(X), theirs.predict(X))[0, 1] > 0.99999
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=5e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_fitted_attributes_follow_its_conventions(kernel):
    X, y = smooth(120)
    X = X @ X.T if kernel == "precomputed" else X
    ours = SVR(kernel=kernel, tol=1e-9).fit(X, y)
    theirs = sklearn.svm.SVR(kernel=kernel, tol=1e-9).fit(X, y)
    names = ["support_", "dual_coef_", "intercept_", "n_support_", "support_vectors_"]
    if kernel == "linear":
        names = ["intercept_", "coef_"]  # multipliers are not unique
    for name in names:
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.shape == b.shape, name
        assert a.dtype == b.dtype, name
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == theirs.fit_status_ == 0
    assert type(ours.n_iter_) is type(theirs.n_iter_) is int
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_every_parameter_of_sklearn_is_there_with_its_default():
    ours, theirs = SVR().get_params(), sklearn.svm.SVR().get_params()
    assert {name for name in theirs if ours[name] != theirs[name]} == {"cache_size"}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("solver", ["auto", "adatron", "adatron-secant", "multiplicative", "m3"])
def test_every_solver_finds_the_optimum(solver, bias):
    if solver == "m3" and bias:
        return
    X, y = noisy_targets(0, m=80)
    model = SVR(solver=solver, fit_intercept=bias, gamma=0.3, tol=1e-2).fit(X, y)
    assert model.converged_
    assert by_definition(model, X, y) == pytest.approx(model.duality_gap_, abs=1e-9)
    exact = SVR(fit_intercept=bias, gamma=0.3, tol=1e-9).fit(X, y)
    assert exact.duality_gap_ < 1e-9
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=0.1)


@pytest.mark.parametrize("m", [300, 1_200, 2_100])
def test_working_sets_and_small_problems_reach_the_same_gap(m):
    X, y = smooth(m)
    model = SVR(gamma=0.1, tol=1e-6).fit(X, y)
    assert model.converged_
    assert by_definition(model, X, y) == pytest.approx(model.duality_gap_, abs=1e-9)


@pytest.mark.parametrize(
    ("C", "tol"), [(1.0, 1e-3), (1.0, 1e-6), pytest.param(1e4, 1e-3, marks=pytest.mark.slow)]
)
def test_float32_rows_pass_a_float64_certificate(C, tol):
    X, y = smooth(5_200, d=4)
    model = SVR(C, gamma=0.1, tol=tol).fit(X, y)
    assert model.converged_
    assert model._precision is (np.float64 if tol < 1e-4 else model._precision)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    gram = RowGram(Gaussian(0.1), X, 2**29, np.float64)
    problem = regression(gram, y, np.full(len(y), C), epsilon=0.1, bias=True)
    alpha = np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)])
    assert certify(problem, 0, alpha).gap <= tol


def test_no_matrix_of_twins_is_built():
    X, y = smooth(3_000)
    shapes = []

    def spying(A, B):
        values = Laplacian(0.1)(A, B)
        shapes.append(values.shape)
        return values

    SVR(kernel=spying).fit(X, y)
    assert shapes
    assert max(max(shape) for shape in shapes) <= 3_000


def test_weight_two_is_the_row_twice():
    X, y = smooth(200)
    weights = np.random.default_rng(0).integers(0, 4, 200).astype(float)
    weighted = SVR().fit(X, y, sample_weight=weights)
    repeated = SVR().fit(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0, atol=1e-9)
    theirs = sklearn.svm.SVR(tol=1e-9, gamma=weighted._kernel.gamma).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.predict(X), theirs.predict(X), atol=1e-5)


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e9), (1e3, -1e7)])
def test_targets_of_any_scale_and_place(scale, shift):
    X, y = smooth(150)
    base = SVR().fit(X, y)
    moved = SVR(C=scale, epsilon=0.1 * scale).fit(X, scale * y + shift)
    assert moved.converged_
    np.testing.assert_allclose((moved.predict(X) - shift) / scale, base.predict(X), atol=1e-6)


def test_sparse_rows_low_rank_and_precomputed_kernels():
    X, y = smooth(400, d=3)
    base = SVR(gamma=0.1).fit(X, y)
    np.testing.assert_allclose(
        SVR(gamma=0.1).fit(sparse.csr_array(X), y).predict(X), base.predict(X), atol=1e-8
    )
    low_rank = SVR(gamma=0.1, rank=1e-6).fit(X, y)
    assert low_rank.kernel_error_ < 1e-6
    np.testing.assert_allclose(low_rank.predict(X), base.predict(X), atol=1e-2)
    K = Gaussian(0.1)(X, X)
    np.testing.assert_allclose(SVR(kernel="precomputed").fit(K, y).predict(K), base.predict(X), atol=1e-8)


def test_iter_fit_warm_start_and_time_limit():
    X, y = smooth(5_600)
    model = SVR(gamma=0.1, warm_start=True)
    for record in model.iter_fit(X, y):
        if record.epoch == 3:
            break
    assert np.isfinite(model.predict(X[:5])).all()
    first = clone(model).fit(X, y).n_iter_
    model.fit(X, y)
    again = model.fit(X, y).n_iter_
    assert again < first
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        limited = SVR(C=100.0, tol=1e-7, time_limit=0.05).fit(X, y)
    assert limited.status_ == "time_limit"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"solver": "munk", "fit_intercept": False},
            "solver='munk' is for classification only; use",
        ),
        (
            {"solver": "rho", "fit_intercept": False},
            "solver='rho' is for classification only; use",
        ),
        ({"solver": "m3"}, "solver='m3' fits no bias; set fit_intercept=False, or use solver='adatron'"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"solver": "m3", "fit_intercept": False, "rank": 5}, "set rank=None, or use solver='adatron'"),
    ],
)
def test_solvers_that_cannot_serve_say_which_can(parameters, message):
    X, y = smooth(30)
    model = SVR(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


def test_indefinite_kernel_has_its_status():
    X, y = smooth(60)
    with pytest.warns(ConvergenceWarning, match="positive semi-definite"):
        model = SVR(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.status_ == "indefinite_kernel"
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_a_gap_below_tol_has_converged_though_the_fit_aims_lower():
    X, y = smooth(600)
    model = SVR(solver="adatron", max_iter=5, tol=1e-3)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        gap = model.fit(X, y).duality_gap_
    again = clone(model).set_params(tol=1.5 * gap).fit(X, y)
    assert again.n_iter_ == 5
    assert 0.5 * again.tol < again.duality_gap_ <= again.tol
    assert again.status_ == "converged"
