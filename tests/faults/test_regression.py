"""Bad data and parameters in regression and one-class problems (rows D5, D6, P20, P21 and N15)."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from adatron import SVR, OneClassSVM
from adatron.gram import DenseGram
from adatron.kernels import Gaussian, Linear
from adatron.problems import enclosing_ball
from adatron.solvers import GreedyAdatron
from adatron.training import GapRule, Run, rounds

SOLVERS = ["auto", "adatron", "multiplicative"]
each_solver = pytest.mark.parametrize("solver", SOLVERS)


def data(m=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=m)


def fit_quietly(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **kwargs)


def check(model, X, n_rows):
    """Whatever ends without an error is finite, honest about its gap, and survives a round trip."""
    for name in ("dual_coef_", "intercept_", "bias_interval_", "duality_gap_"):
        values = getattr(model, name)
        assert np.isfinite(values.data if sparse.issparse(values) else values).all(), name
    assert all(np.isfinite(values).all() for values in model.history_.values())
    assert model.converged_ == (model.status_ == "converged") == (model.fit_status_ == 0)
    assert model.converged_ <= (model.duality_gap_ <= model.tol)
    assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]
    predicted = model.predict(X)
    assert predicted.shape == (n_rows,)
    assert np.isfinite(predicted).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)


@pytest.mark.fault("D5")
@each_solver
@pytest.mark.parametrize("bias", [True, False])
def test_one_row_is_a_regression(solver, bias):
    X = np.array([[1.0, 2.0]])
    model = fit_quietly(SVR(solver=solver, fit_intercept=bias, C=100.0, gamma=1.0), X, [3.0])
    check(model, X, 1)
    assert model.converged_
    assert abs(model.predict(X)[0] - 3.0) <= 0.1 + 1e-2


@pytest.mark.fault("D5")
@each_solver
@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_one_row_is_a_one_class_problem(solver, nu):
    X = np.array([[1.0, 2.0]])
    model = fit_quietly(OneClassSVM(nu, solver=solver, gamma=1.0), X)
    check(model, X, 1)
    assert model.converged_
    assert model.predict([[1.0, 2.0], [30.0, -9.0]]).tolist() == [1, -1]
    assert model.dual_coef_.tolist() == [[nu]]


@pytest.mark.fault("D6")
def test_one_class_is_what_one_class_problems_are_for():
    X, _ = data()
    one_label = OneClassSVM().fit(X, np.zeros(60))
    np.testing.assert_array_equal(one_label.decision_function(X), OneClassSVM().fit(X).decision_function(X))
    check(one_label, X, 60)


@pytest.mark.fault("D6")
@each_solver
def test_a_constant_target_is_predicted(solver):
    X, _ = data()
    model = SVR(solver=solver).fit(X, np.full(60, 7.5))
    check(model, X, 60)
    assert model.converged_
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X), 7.5)


@pytest.mark.fault("P20")
@pytest.mark.parametrize("nu", [0.0, -0.1, 1.0 + 1e-9, 2, np.nan, np.inf, "half", None, True])
def test_nu_outside_its_interval(nu):
    model = OneClassSVM(nu)
    with pytest.raises(ValueError, match=r"nu must be a number above 0 and at most 1, got"):
        model.fit(data()[0])
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P20")
@pytest.mark.parametrize("nu", [1e-300, 1e-9, 1.0 / 60.0, 0.999999, 1.0])
def test_nu_at_the_ends_of_its_interval(nu):
    X, _ = data()
    model = OneClassSVM(nu).fit(X)
    check(model, X, 60)
    assert model.converged_
    assert (model.predict(X) < 0).mean() <= nu


@pytest.mark.fault("P21")
@pytest.mark.parametrize("epsilon", [-1e-12, -1.0, np.nan, np.inf, "wide", None, True])
def test_bad_epsilon(epsilon):
    model = SVR(epsilon=epsilon)
    with pytest.raises(ValueError, match=r"epsilon must be a finite number"):
        model.fit(*data())
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P21")
@each_solver
@pytest.mark.parametrize("epsilon", [10.0, 1e6, 1e300])
def test_wide_tube_is_a_constant_without_support_vectors(solver, epsilon):
    X, y = data()
    model = SVR(epsilon=epsilon, solver=solver).fit(X, y)
    check(model, X, 60)
    assert model.converged_
    assert len(model.support_) == 0
    assert model.dual_coef_.shape == (1, 0)
    np.testing.assert_allclose(model.predict(X), model.intercept_[0])
    assert np.abs(model.predict(X) - y).max() <= epsilon
    assert clone(model).fit(X, y).intercept_ == model.intercept_


@pytest.mark.fault("P21")
@pytest.mark.parametrize("epsilon", [0.0, 1e-300])
def test_no_tube_at_all(epsilon):
    X, y = data()
    model = SVR(epsilon=epsilon).fit(X, y)
    check(model, X, 60)
    assert model.converged_


@pytest.mark.fault("P21")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda y: np.where(np.arange(60) == 4, np.nan, y),
            r"Input y contains NaN: 1 target.*row 4",
        ),
        (lambda y: np.where(np.arange(60) == 4, np.inf, y), r"Input y contains infinity: 1 target.*row 4"),
        (lambda y: [None, *y[1:]], r"Input y contains None: 1 target"),
        (lambda y: y[:-1], r"inconsistent numbers of samples: X has 60 rows, y has 59 targets"),
        (lambda y: np.column_stack([y, y]), r"1d array"),
        (lambda y: ["warm"] * 60, r"y must be numbers for a regression"),
        (lambda y: y + 1j, r"Complex data not supported"),
        (lambda y: 1e200 * y, r"y must be within ±1e\+100.*scale y"),
        (lambda y: None, r"requires y to be passed"),
    ],
)
def test_bad_targets(change, message):
    X, y = data()
    model = SVR()
    with pytest.raises(ValueError, match=message):
        model.fit(X, change(y))
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P21")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, r"C must be a number > 0"),
        ({"C": -1.0}, r"C must be a number > 0"),
        ({"C": np.nan}, r"C must be a number > 0 \(inf for a tube without slack\), got nan"),
        ({"C": 1e60}, r"C=1e\+60 times the kernel exceeds 1e\+50; use C=1e6 or so"),
        ({"tol": 0.0}, r"tol must be a finite number > 0, got 0.0"),
        ({"kernel": "rbff"}, r"kernel must be one of .*did you mean 'rbf'"),
        ({"n_jobs": 0}, r"n_jobs must be None or an integer other than 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SVR(**parameters).fit(*data())


@pytest.mark.fault("P21")
@pytest.mark.parametrize("estimator", [SVR(), OneClassSVM()])
def test_no_weight_at_all(estimator):
    X, y = data()
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        estimator.fit(X, y, sample_weight=np.zeros(60))


@pytest.mark.fault("P21")
@pytest.mark.parametrize("C", [1e-300, 1e-12, 1e4, 1e8, 1e20])
@pytest.mark.parametrize("same", [False, True])
def test_tiny_and_huge_C_end_certified(C, same):
    X, y = data()
    if same:
        X = np.repeat(X[:20], 3, axis=0)  # equal rows with different targets cannot be met
    model = fit_quietly(SVR(C=C), X, y)
    check(model, X, 60)
    assert model.status_ in ("converged", "precision_limit")
    if (1e4 if same else 1e8) >= C:
        assert model.converged_


def ball_of(K, nu=0.0):
    """α, the squared radius and the squared distances of all points from the centre."""
    problem = enclosing_ball(DenseGram(K), np.ones(len(K)), nu)
    run = Run(problem, GreedyAdatron(), GapRule(1e-6), max_iter=1000)
    for _ in rounds([run]):
        pass
    (solution,) = run.solutions
    assert solution.status == "converged"
    outputs = K @ solution.alpha
    centre = solution.alpha @ outputs
    return solution.alpha, centre + 2.0 * solution.bias, K.diagonal() - 2.0 * outputs + centre


@pytest.mark.fault("N15")
def test_ball_of_radius_zero():
    equal = np.full((6, 2), 3.0)
    for kernel in (Linear(), Gaussian(0.5)):
        for X in (equal, equal[:1]):
            _, radius_squared, distances = ball_of(kernel(X, X))
            assert radius_squared == pytest.approx(0.0, abs=1e-12)
            np.testing.assert_allclose(distances, 0.0, atol=1e-12)


@pytest.mark.fault("N15")
def test_points_with_nothing_in_common_are_all_on_the_surface():
    # a Gaussian so narrow that every point is a cluster of its own
    alpha, radius_squared, distances = ball_of(np.eye(5))
    np.testing.assert_allclose(alpha, 0.2)
    np.testing.assert_allclose(distances, radius_squared)
    _, radius_squared, distances = ball_of(np.eye(5), nu=1.0)
    assert np.isfinite(radius_squared)
    np.testing.assert_allclose(distances, 0.8)


@pytest.mark.fault("N15")
def test_origin_within_the_hull_of_the_points_is_said_or_certified():
    X, _ = data()
    model = fit_quietly(OneClassSVM(0.5, "linear"), X)
    check(model, X, 60)
    assert model.status_ in ("converged", "precision_limit")
