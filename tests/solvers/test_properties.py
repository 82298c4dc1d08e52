"""What the papers claim of their algorithms, and what goes wrong in practice."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.data_dir import needs_data
from tests.oracles.qp import solve_piqp
from tests.problems_for_tests import binary_problem, noisy_points, separated_points

from adatron import SVC
from adatron.datasets import load_breast_cancer_wisconsin, load_sonar
from adatron.exceptions import InfeasibleError
from adatron.gram import DenseGram
from adatron.kernels import Gaussian, Linear, Polynomial
from adatron.problems import classification, one_class
from adatron.solvers import M3, MultiplicativeUpdating, Munk
from adatron.solvers.greedy_adatron import feasible_start
from adatron.training import GapRule, Run, rounds

HARD = float("inf")


def sonar():
    X, _, y, _ = load_sonar(split="aspect")
    return X, np.where(y == 1, 1.0, -1.0)


def wisconsin():
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    return X[:550], np.where(y[:550] == 1, 1.0, -1.0)


def objectives(solver, problem, n_epochs):
    state, values = solver.init(problem), []
    for _ in range(n_epochs):
        state = solver.epoch(problem, state, lambda: None)
        values.append(problem.measure(state)[0, 0])
    return np.array(values)


def hard_margin(data, kernel):
    X, y = data()
    return binary_problem(kernel, X, y, HARD, False)


@needs_data
@pytest.mark.parametrize("solver", [M3(), Munk()], ids=["M3", "MUNK"])
@pytest.mark.parametrize("data", [sonar, wisconsin])
@pytest.mark.parametrize("kernel", [Gaussian.of_width(1.0), Gaussian.of_width(3.0), Polynomial(4)], ids=str)
def test_objective_never_falls(solver, data, kernel):
    values = objectives(solver, hard_margin(data, kernel), 300)
    assert (np.diff(values) >= -1e-11 * np.abs(values[1:])).all()


@needs_data
@pytest.mark.parametrize(
    ("data", "kernel", "epochs"),
    [
        (sonar, Gaussian.of_width(1.0), 3_000),
        pytest.param(sonar, Gaussian.of_width(3.0), 30_000, marks=pytest.mark.slow),
        (sonar, Polynomial(4), 30_000),
        (wisconsin, Gaussian.of_width(3.0), 10_000),
    ],
    ids=["sonar g1", "sonar g3", "sonar p4", "wisconsin g3"],
)
def test_munk_needs_about_half_of_m3s_epochs(data, kernel, epochs):
    problem = hard_margin(data, kernel)
    X, y = data()
    best = SVC(HARD, kernel, fit_intercept=False, tol=1e-9).fit(X, y)
    optimum = 0.5 * np.abs(best.dual_coef_).sum()
    needed = {}
    for solver in (M3(), Munk()):
        state = solver.init(problem)
        count = 0
        while problem.measure(state)[0, 0] < 0.99 * optimum:
            state = solver.epoch(problem, state, lambda: None)
            count += 1
            assert count <= epochs
        needed[type(solver)] = count
    assert 1.6 <= needed[M3] / needed[Munk] <= 2.4


@needs_data
@pytest.mark.parametrize(
    ("solver", "parameters"),
    [
        ("multiplicative", {"learning_rate": 0.05}),
        ("multiplicative", {}),
        ("m3", {"fit_intercept": False}),
        ("munk", {"fit_intercept": False}),
        ("rho", {"fit_intercept": False}),
    ],
)
def test_sonar_width_1(solver, parameters):
    X, X_test, y, y_test = load_sonar(split="aspect")
    model = SVC(HARD, Gaussian.of_width(1.0), solver=solver, **parameters).fit(X, y)
    assert model.converged_
    assert 100 * np.mean(model.predict(X_test) != y_test) == pytest.approx(7.69, abs=0.005)


@needs_data
def test_multiplicative_updating_reaches_the_qp_solution():
    X, y = sonar()
    K = Gaussian.of_width(1.0)(X, X)
    problem = classification(DenseGram(K), y, np.full(104, HARD), bias=True)
    solver = MultiplicativeUpdating(0.05)
    state = solver.init(problem)
    for _ in range(5_000):
        state = solver.epoch(problem, state, lambda: None)
        assert abs(y @ state.alpha[:, 0]) <= 1e-9 * state.alpha.sum()
    np.testing.assert_allclose(state.alpha[:, 0], solve_piqp(K, y, np.full(104, HARD), True), atol=5e-3)


@pytest.mark.fault("P12")
@needs_data
@pytest.mark.parametrize(
    ("rate", "first_fall"), [pytest.param(0.07, 459, marks=pytest.mark.slow), (0.1, 125), (0.2, 41)]
)
def test_divergence_is_seen_within_ten_epochs_and_a_working_rate_is_named(rate, first_fall):
    X, _, y, _ = load_sonar(split="aspect")
    kernel = Gaussian.of_width(1.0)
    problem = binary_problem(kernel, X, np.where(y == 1, 1.0, -1.0), HARD, True)
    values = objectives(MultiplicativeUpdating(rate), problem, 2 * first_fall)
    with np.errstate(invalid="ignore"):  # long after the fall
        falls = 2 + int(np.argmax(np.diff(values) < 0.0))  # epoch; near the edge rounding decides when
    assert falls == pytest.approx(first_fall, rel=0.1, abs=2)
    expected = rf"learning_rate={rate} is too large.*use learning_rate="
    with pytest.warns(ConvergenceWarning, match=expected) as caught:
        model = SVC(HARD, kernel, solver="multiplicative", learning_rate=rate).fit(X, y)
    assert model.status_ == "diverged"
    assert falls - 2 <= int(model.n_iter_[0]) <= falls + 10
    (said,) = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    named = float(said.split("use learning_rate=")[1].split(",")[0])
    assert 0.001 < named < 0.066  # the largest stable rate
    assert SVC(HARD, kernel, solver="multiplicative", learning_rate=named).fit(X, y).converged_


@pytest.mark.fault("P12")
def test_learning_rate_just_below_the_edge():
    X, y = separated_points(0, m=40)
    problem = binary_problem(Gaussian(0.3), X, y, HARD, True)
    values = objectives(MultiplicativeUpdating("auto"), problem, 500)
    assert (np.diff(values) >= -1e-12 * np.abs(values[1:])).all()  # falls are taken back


@pytest.mark.parametrize("C", [0.5, 5.0])
def test_soft_margin_of_every_solver_is_the_same(C):
    X, y = noisy_points(0, m=60)
    kernel = Gaussian(0.5)
    reference = SVC(C, kernel, fit_intercept=False).fit(X, y).decision_function(X)
    for solver in ("multiplicative", "m3", "munk"):
        model = SVC(C, kernel, fit_intercept=False, solver=solver).fit(X, y)
        assert model.converged_
        np.testing.assert_allclose(model.decision_function(X), reference, atol=1e-6)
    with_bias = SVC(C, kernel, solver="multiplicative").fit(X, y)
    np.testing.assert_allclose(
        with_bias.decision_function(X), SVC(C, kernel).fit(X, y).decision_function(X), atol=1e-6
    )


@pytest.mark.fault("N1")
def test_exponents_of_any_size():
    X, y = separated_points(0, m=40)
    with pytest.warns(ConvergenceWarning, match="duality gap of"):
        model = SVC(HARD, "linear", solver="multiplicative", max_iter=2_000).fit(1e4 * X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert model.score(1e4 * X, y) > 0.9
    assert all(np.isfinite(values).all() for values in model.history_.values())


@pytest.mark.fault("N2")
def test_an_underflowed_multiplier_comes_back():
    X, y = noisy_points(0, m=40)
    problem = binary_problem(Gaussian(0.5), X, y, 1.0, True)
    solver = MultiplicativeUpdating(0.5)
    state = solver.init(problem)
    optimal = SVC(1.0, Gaussian(0.5)).fit(X, y)
    row = int(optimal.support_[np.abs(optimal.dual_coef_[0]).argmax()])
    state.log_alpha[row], state.alpha[row] = -700.0, 0.0
    state.f[:] = problem.gram.matmul(problem.y * state.alpha)
    for _ in range(10_000):
        state = solver.epoch(problem, state, lambda: None)
        if state.alpha[row, 0] > 1e-3:
            break
    assert state.alpha[row, 0] > 1e-3


@pytest.mark.fault("N3")
@pytest.mark.parametrize("solver", [M3(), Munk()], ids=["M3", "MUNK"])
def test_zeros_are_revived(solver):
    X, y = noisy_points(0, m=40)
    problem = binary_problem(Gaussian(0.5), X, y, 1.0, False)
    state = solver.init(problem, np.zeros((40, 1)))
    assert (state.alpha > 0).all()
    state.alpha[:20] = 0.0
    for _ in range(3_000):
        state = solver.epoch(problem, state, lambda: None)
    expected = SVC(1.0, Gaussian(0.5), fit_intercept=False).fit(X, y)
    assert problem.measure(state)[0, 0] == pytest.approx(dual_objective(expected, X, y), rel=1e-3)


def dual_objective(model, X, y):
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha.sum() - 0.5 * (y * alpha) @ Gaussian(0.5)(X, X) @ (y * alpha)


@pytest.mark.fault("N4")
@pytest.mark.parametrize("solver", ["m3", "adatron"])
def test_a_point_without_curvature_goes_to_its_bound(solver):
    X, y = noisy_points(0, m=30)
    X[4] = 0.0  # k(x, ·) = 0 for the linear kernel
    model = SVC(2.0, "linear", fit_intercept=False, solver=solver, max_iter=20_000).fit(X, y)
    place = model.support_.tolist().index(4)
    assert abs(model.dual_coef_[0, place]) == 2.0


@pytest.mark.parametrize("solver", ["multiplicative", "m3", "munk", "rho"])
def test_inseparable_hard_margin_is_an_error(solver):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    y = np.array([0, 0, 1, 1, 1])
    with pytest.raises(InfeasibleError, match="rows 0 and 4 of X coincide"):
        SVC(HARD, Gaussian(1.0), solver=solver, fit_intercept=False).fit(X, y)


@pytest.mark.fault("K2", "P23")
def test_a_signed_kernel_is_refused_by_munk_with_a_way_out():
    X, y = noisy_points(0, m=30)
    with pytest.raises(ValueError, match=r"solver='munk' needs K >= 0.*solver='m3'"):
        SVC(solver="munk", kernel="linear", fit_intercept=False).fit(X, y)


@pytest.mark.fault("P13", "P23")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "m3"}, "fits no bias; set fit_intercept=False"),
        ({"solver": "rho", "fit_intercept": False}, "hard margins only; set C=float"),
        ({"solver": "m3", "fit_intercept": False, "learning_rate": 0.1}, "has no rate"),
        ({"solver": "multiplicativ"}, "did you mean 'multiplicative'"),
        ({"solver": "multiplicative", "learning_rate": 0.0}, "learning_rate must be"),
        ({"rank": 0}, "rank must be None, an integer >= 1"),
    ],
)
def test_requests_that_cannot_be_served(parameters, message):
    X, y = noisy_points(0, m=20)
    with pytest.raises(ValueError, match=message):
        SVC(**parameters).fit(X, y)


def test_batches_of_columns_cost_less_than_separate_runs():
    """Forty problems as columns share every pass over the kernel matrix."""
    X, _ = noisy_points(0, m=60)
    rng = np.random.default_rng(0)
    signs = np.where(X @ rng.normal(size=(3, 40)) > 0, 1.0, -1.0)
    passes = []

    class Counting(DenseGram):
        def matmul(self, V):
            passes.append(V.shape[1])
            return super().matmul(V)

    K = Linear()(X, X) + Gaussian(0.5)(X, X)
    problem = classification(Counting(K), signs, np.full(60, 1.0), bias=False)
    run = Run(problem, MultiplicativeUpdating(0.1), GapRule(0.05), max_iter=2_000)
    widths = [len(records) for records in rounds([run])]
    wide = sum(1 for width in passes if width > 1)
    assert wide <= len(widths) + 5  # one product an epoch for all columns together
    assert widths[-1] < 40  # converged columns left
    assert sum(widths) > 5 * len(widths)


@pytest.mark.parametrize("C", [1.5, np.inf])
def test_feasible_start_of_a_warm_classification(C):
    X, y = noisy_points(0, m=30)
    problem = binary_problem(Gaussian(0.3), X, y, C, True)
    start = feasible_start(problem, np.random.default_rng(0).uniform(0.0, 2.0, (30, 1)))
    assert ((start >= 0.0) & (start <= C)).all()
    assert problem.imbalance(start) == pytest.approx(0.0, abs=1e-12)
    assert feasible_start(problem, None) is None


@pytest.mark.parametrize("nu", [0.05, 0.37, 1.0])
def test_feasible_start_of_a_one_class_problem(nu):
    X, _ = noisy_points(0, m=30)
    problem = one_class(DenseGram(Gaussian(0.3)(X, X)), np.ones(30), nu)
    for warm in (0.0, 0.01, 1.0):
        start = feasible_start(problem, warm * problem.upper)
        assert ((start >= 0.0) & (start <= problem.upper)).all()
        assert problem.imbalance(start) == pytest.approx(0.0, abs=1e-12)
