"""Every solver gives the iterates of its naive twin, on every kernel matrix it accepts."""

from functools import partial

import numpy as np
import pytest
from tests.grams import KERNELS, MATRICES, precise_pairs
from tests.problems_for_tests import noisy_points, noisy_targets, separated_points
from tests.reference import greedy_adatron, m3_munk, multiplicative, perceptron, rho_svm
from tests.reference import kernel_adatron as naive

from adatron.gram import DenseGram
from adatron.problems import classification, enclosing_ball, one_class, regression
from adatron.solvers import (
    M3,
    SOLVERS,
    GreedyAdatron,
    KernelAdatron,
    MultiplicativeUpdating,
    Munk,
    Perceptron,
    RhoSVM,
    SecantAdatron,
)


def canonical_rho(K, y, upper, n_epochs):
    """α = d/ρ̄ after each accepted step."""
    steps = list(rho_svm.accepted_steps(K, y, eps=1e-4))
    for d, _ in steps[1 : n_epochs + 1]:
        yield d / (d @ (np.outer(y, y) * K) @ d), 0.0


TWINS = {
    ("auto", False): (GreedyAdatron(size=6), partial(greedy_adatron.rounds, size=6, bias=False)),
    ("auto", True): (GreedyAdatron(size=6), partial(greedy_adatron.rounds, size=6)),
    ("adatron", False): (KernelAdatron(), naive.without_bias),
    ("adatron", True): (KernelAdatron(), naive.with_augmented_lagrangian),
    ("adatron-secant", True): (SecantAdatron(), naive.with_secant),
    ("multiplicative", True): (MultiplicativeUpdating(0.05), multiplicative.updating),
    ("multiplicative", False): (
        MultiplicativeUpdating(0.05),
        partial(multiplicative.updating, bias=False),
    ),
    ("m3", False): (M3(), m3_munk.m3),
    ("munk", False): (Munk(), m3_munk.munk),
    ("rho", False): (RhoSVM(eps=1e-4), canonical_rho),
}


def matrices(solver):
    """Kernels and matrices that a solver accepts; some need entries, which a factor does not have."""
    for kernel, name in precise_pairs():
        is_refused = "entries" in solver.needs and name == "cholesky"
        if not is_refused and not ("nonnegative" in solver.needs and kernel == "linear"):
            yield kernel, name


def test_every_registered_solver_has_a_twin():
    assert set(SOLVERS) == {name for name, _ in TWINS}


SOFT = [(*key, 0.7) for key in TWINS if key[0] != "rho"]


@pytest.mark.parametrize(("name", "bias", "C"), [*SOFT, *((*key, np.inf) for key in TWINS)])
def test_equal_iterates(name, bias, C):
    X, y = noisy_points(1, m=24) if np.isfinite(C) else separated_points(1, m=24)
    solver, twin = TWINS[name, bias]
    upper = np.full(len(y), C)
    at_least = 3 if name == "auto" else 5  # a working set ends small problems soon
    for kernel, matrix in matrices(solver):
        problem = classification(MATRICES[matrix](KERNELS[kernel], X), y, upper, bias=bias)
        known_as = "classification", name, bias, C, kernel
        check_equal_iterates(solver, problem, KERNELS[kernel](X, X), twin, at_least, known_as, matrix)


@pytest.mark.parametrize("m", [23, 24, 26])
def test_equal_iterates_with_float32_values(m):
    """The ρ-SVM of more than 1,000 rows keeps float32 values, and computes with them in float64."""
    X, y = separated_points(1, m=m)
    solver, twin = TWINS["rho", False]
    for kernel in ("gaussian", "polynomial", "linear"):
        gram = DenseGram(KERNELS[kernel](X, X), np.float32)
        problem = classification(gram, y, np.full(m, np.inf), bias=False)
        check_equal_iterates(solver, problem, gram.block(slice(0, m)).astype(np.float64), twin, 5)


KNOWN = {}  # iterates of twins: they are slow, and the same for every matrix


def twin_iterates(K, problem, twin, known_as):
    """Iterates of the literal loops with K, and with three matrices one rounding error away.

    Some iterations amplify rounding; the others show by how much.
    """
    if known_as is None or known_as not in KNOWN:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (3, *K.shape))
        matrices = [K, *(K * (1.0 + 2e-16 * sign) for sign in signs)]
        runs = [twin(matrix, problem.y[:, 0], problem.upper[:, 0], 25) for matrix in matrices]
        KNOWN[known_as] = list(zip(*runs, strict=False))
    return KNOWN[known_as]


def check_equal_iterates(solver, problem, K, twin, at_least, known_as=None, matrix=None):
    state = solver.init(problem)
    iterates = twin_iterates(K, problem, twin, known_as)
    assert len(iterates) >= at_least
    for (alpha, lam), *others in iterates:
        state = solver.epoch(problem, state, lambda: None)
        size = max(1.0, np.abs(alpha).max())
        amplified = max(np.abs(alpha - other).max() for other, _ in others)
        tolerance = max(1e-10 * size, 10.0 * amplified)
        assert tolerance < 1e-6 * size
        case = f"{known_as}, {matrix}"
        np.testing.assert_allclose(state.alpha[:, 0], alpha, rtol=0, atol=tolerance, err_msg=case)
        assert state.bias[0] == pytest.approx(lam, abs=100.0 * tolerance * max(1.0, abs(lam))), case
        outputs = K @ (problem.y[:, 0] * state.alpha[:, 0])  # f belongs to α
        error = 1e-9 * max(1.0, np.abs(outputs).max())
        np.testing.assert_allclose(state.f[:, 0], outputs, atol=error, err_msg=case)


@pytest.mark.parametrize(("name", "bias"), [key for key in TWINS if key[0] not in ("munk", "rho")])
def test_equal_iterates_of_a_regression(name, bias):
    X, t = noisy_targets(1, m=15)
    solver, twin = TWINS[name, bias]
    for kernel, matrix in matrices(solver):
        gram = MATRICES[matrix](KERNELS[kernel], X)
        problem = regression(gram, t, np.full(15, 0.7), epsilon=0.1, bias=bias)
        K = np.tile(KERNELS[kernel](X, X), (2, 2))  # the literal loops see 2m points
        known_as = "regression", name, bias, kernel
        check_equal_iterates(solver, problem, K, partial(twin, p=problem.p[:, 0]), 2, known_as, matrix)


@pytest.mark.parametrize("bias", [False, True])
def test_equal_iterates_of_a_regression_in_one_working_set(bias):
    X, t = noisy_targets(2, m=20)
    for operator in ("lazy", "dense"):
        gram = MATRICES[operator](KERNELS["gaussian"], X)
        problem = regression(gram, t, np.full(20, 5.0), epsilon=0.01, bias=bias)
        K = np.tile(KERNELS["gaussian"](X, X), (2, 2))
        twin = partial(greedy_adatron.rounds, size=12, bias=bias, p=problem.p[:, 0], copies=2)
        check_equal_iterates(GreedyAdatron(size=12), problem, K, twin, 1, ("one working set", bias))


@pytest.mark.parametrize("name", ["auto", "adatron", "adatron-secant", "multiplicative"])
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
@pytest.mark.parametrize("pose", [one_class, enclosing_ball])
def test_equal_iterates_of_a_one_class_problem(name, kernel, pose):
    X, _ = noisy_points(3, m=24)
    solver, twin = TWINS[name, True]
    problem = pose(DenseGram(KERNELS[kernel](X, X)), np.ones(24), 0.3)
    K = KERNELS[kernel](X, X)
    at_least = 2 if name == "auto" else 5
    check_equal_iterates(solver, problem, K, partial(twin, p=problem.p[:, 0], r=1.0), at_least)


@pytest.mark.parametrize("bias", [False, True])
def test_perceptron_equals_its_twin(bias):
    X, y = noisy_points(1, m=24)
    solver = Perceptron()
    for kernel, matrix in precise_pairs():
        gram = MATRICES[matrix](KERNELS[kernel], X)
        problem = classification(gram, y, np.full(24, np.inf), bias=bias)
        state = solver.init(problem)
        for alpha, b, mistakes, mean_alpha, mean_b in perceptron.dual(KERNELS[kernel](X, X), y, 20, bias):
            state = solver.epoch(problem, state, lambda: None)
            np.testing.assert_array_equal(state.alpha[:, 0], alpha, err_msg=f"{kernel}, {matrix}")
            assert state.bias[0] == pytest.approx(b, abs=1e-9)
            assert state.mistakes[0] == mistakes
            averaged = solver.averaged(state)
            np.testing.assert_allclose(averaged[0][:, 0], mean_alpha, atol=1e-9)
            assert averaged[1][0] == pytest.approx(mean_b, abs=1e-9)


@pytest.mark.parametrize("bias", [False, True])
def test_perceptron_primal_and_dual_agree(bias):
    X, y = noisy_points(6, m=30)
    for (w, b, n), (alpha, dual_b, dual_n, _, _) in zip(
        perceptron.primal(X, y, 10, bias=bias), perceptron.dual(X @ X.T, y, 10, bias=bias), strict=True
    ):
        np.testing.assert_allclose(w, X.T @ (alpha * y), atol=1e-9)
        assert (b, n) == (pytest.approx(dual_b), dual_n)


@pytest.mark.parametrize(("name", "bias"), [key for key in TWINS if key[0].startswith("adatron")])
def test_equal_iterates_with_a_fixed_rate(name, bias):
    X, y = noisy_points(5, m=20)
    solver, twin = TWINS[name, bias]
    K, upper = KERNELS["gaussian"](X, X), np.full(20, 2.0)
    problem = classification(DenseGram(KERNELS["gaussian"](X, X)), y, upper, bias=bias)
    solver = type(solver)(learning_rate=0.6)
    state = solver.init(problem)
    for alpha, _ in twin(K, y, upper, 50, rate=0.6):
        state = solver.epoch(problem, state, lambda: None)
        np.testing.assert_allclose(state.alpha[:, 0], alpha, rtol=0, atol=1e-10)


@pytest.mark.parametrize("bias", [False, True])
def test_columns_are_separate_runs(bias):
    X, y = noisy_points(2, m=25)
    gram = DenseGram(KERNELS["gaussian"](X, X))
    signs = np.column_stack([y, -y, np.where(X[:, 1] > 0, 1.0, -1.0)])
    together = classification(gram, signs, np.full(25, 1.5), bias=bias)
    solver = KernelAdatron()
    state = solver.init(together)
    singles = [classification(gram, signs[:, b], np.full(25, 1.5), bias=bias) for b in range(3)]
    states = [solver.init(problem) for problem in singles]
    for _ in range(20):
        state = solver.epoch(together, state, lambda: None)
        states = [solver.epoch(p, s, lambda: None) for p, s in zip(singles, states, strict=True)]
    for b in range(3):
        np.testing.assert_allclose(state.alpha[:, b], states[b].alpha[:, 0], atol=1e-12)


def test_recorded_margin_is_that_of_the_papers():
    X, y = noisy_points(4, m=20)
    K, upper = KERNELS["gaussian"](X, X), np.full(20, 1.0)
    problem = classification(DenseGram(KERNELS["gaussian"](X, X)), y, upper, bias=True)
    solver = KernelAdatron()
    state = solver.init(problem)
    for _ in range(5):
        state = solver.epoch(problem, state, lambda: None)
    objective, margin, _ = problem.measure(state)[0]
    alpha = state.alpha[:, 0]
    assert margin == pytest.approx(naive.margin(K, y, alpha, upper), abs=1e-12)
    assert objective == pytest.approx(alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha), abs=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("size", [8, 64])
def test_greedy_adatron_raises_large_bounds_like_its_twin(bias, size):
    X, y = noisy_points(3, m=30)
    K, upper = KERNELS["gaussian"](X, X), np.full(30, 2e4)
    problem = classification(DenseGram(KERNELS["gaussian"](X, X)), y, upper, bias=bias)
    solver = GreedyAdatron(size=size)
    state = solver.init(problem)
    assert state.reach[0] == pytest.approx(100.0 / 2e4)
    count = 0
    for alpha, _ in greedy_adatron.rounds(K, y, upper, 12, size=size, bias=bias):
        state = solver.epoch(problem, state, lambda: None)
        np.testing.assert_allclose(state.alpha[:, 0], alpha, rtol=0, atol=1e-9 * max(1.0, alpha.max()))
        count += 1
    assert count >= 3
    assert state.reach[0] > 100.0 / 2e4
