"""Every solver gives the iterates of its naive twin, on every operator."""

import numpy as np
import pytest
from tests.problems_for_tests import KERNELS, OPERATORS, noisy_points, operators, separated_points
from tests.reference import kernel_adatron as naive

from adatron.problems import classification
from adatron.solvers import SOLVERS, KernelAdatron, SecantAdatron
from adatron.solving.records import measure

TWINS = {
    ("adatron", False): (KernelAdatron, naive.without_bias),
    ("adatron", True): (KernelAdatron, naive.with_augmented_lagrangian),
    ("adatron-secant", True): (SecantAdatron, naive.with_secant),
}


def test_every_registered_solver_has_a_twin():
    covered = {name for name, _ in TWINS} | {"auto"}
    assert set(SOLVERS) == covered


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.7, np.inf])
@pytest.mark.parametrize(("name", "bias"), TWINS)
def test_equal_iterates(name, bias, C, kernel, operator):
    X, y = noisy_points(1, m=24) if np.isfinite(C) else separated_points(1, m=24)
    solver_class, twin = TWINS[name, bias]
    K = KERNELS[kernel](X, X)
    upper = np.full(len(y), C)
    problem = classification(operators(KERNELS[kernel], X)[operator], y, upper, bias=bias)
    solver = solver_class()
    state = solver.init(problem)
    # The secant amplifies rounding; a kernel matrix one rounding error away shows by how much.
    shaken = K * (1.0 + 2e-16 * np.random.default_rng(0).choice([-1.0, 1.0], K.shape))
    for (alpha, lam), (other, _) in zip(twin(K, y, upper, 50), twin(shaken, y, upper, 50), strict=True):
        state = solver.epoch(problem, state, lambda: None)
        tolerance = max(1e-10 * max(1.0, np.abs(alpha).max()), 10.0 * np.abs(alpha - other).max())
        assert tolerance < 1e-6 * max(1.0, np.abs(alpha).max())
        np.testing.assert_allclose(state.alpha[:, 0], alpha, rtol=0, atol=tolerance)
        assert state.bias[0] == pytest.approx(lam, abs=100.0 * tolerance * max(1.0, abs(lam)))


@pytest.mark.parametrize(("name", "bias"), TWINS)
def test_equal_iterates_with_a_fixed_rate(name, bias):
    X, y = noisy_points(5, m=20)
    solver_class, twin = TWINS[name, bias]
    K, upper = KERNELS["gaussian"](X, X), np.full(20, 2.0)
    problem = classification(operators(KERNELS["gaussian"], X)["dense"], y, upper, bias=bias)
    solver = solver_class(learning_rate=0.6)
    state = solver.init(problem)
    for alpha, _ in twin(K, y, upper, 50, rate=0.6):
        state = solver.epoch(problem, state, lambda: None)
        np.testing.assert_allclose(state.alpha[:, 0], alpha, rtol=0, atol=1e-10)


@pytest.mark.parametrize("bias", [False, True])
def test_columns_are_separate_runs(bias):
    X, y = noisy_points(2, m=25)
    gram = operators(KERNELS["gaussian"], X)["dense"]
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


def test_recorded_margin_is_the_documents():
    X, y = noisy_points(4, m=20)
    K, upper = KERNELS["gaussian"](X, X), np.full(20, 1.0)
    problem = classification(operators(KERNELS["gaussian"], X)["dense"], y, upper, bias=True)
    solver = KernelAdatron()
    state = solver.init(problem)
    for _ in range(5):
        state = solver.epoch(problem, state, lambda: None)
    objective, margin, _ = measure(problem, state)[0]
    alpha = state.alpha[:, 0]
    assert margin == pytest.approx(naive.margin(K, y, alpha, upper), abs=1e-12)
    assert objective == pytest.approx(alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha), abs=1e-12)
