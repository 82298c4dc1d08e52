"""Machines of the search against plain loops, and their held-out decisions against separate fits."""

import numpy as np
import pytest
from tests.oracles.qp import solve_cvxopt
from tests.reference import least_squares as naive

from adatron.auto import low_rank
from adatron.auto.geometry import feature_weights, marginal_relevances, relevances, shared
from adatron.auto.least_squares import (
    FoldKernels,
    coefficients,
    distances,
    huber_coefficients,
    kernel_values,
    relative_gap,
)
from adatron.auto.rows import SearchRows, fold_list
from adatron.estimators.folds import Folds
from adatron.kernels import KERNELS

_RANDOM = np.random.default_rng(0)
X, Y, WEIGHTS = _RANDOM.normal(size=(24, 3)), _RANDOM.normal(size=(24, 2)), _RANDOM.uniform(0.5, 2.0, 24)
NAMES = ["laplacian", "exponential", "rbf"]


def gram(name, gamma, rows):
    return kernel_values(KERNELS[name], gamma, distances(KERNELS[name], rows, rows))


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_and_their_gap(name):
    K, ridge = gram(name, 0.4, X), 0.1 / WEIGHTS
    a = coefficients(K.copy(), Y, ridge)
    np.testing.assert_allclose(a, naive.coefficients(name, 0.4, X, Y, 0.1, WEIGHTS), rtol=1e-7, atol=1e-9)
    assert relative_gap(K @ a, Y, a, ridge) < 1e-10
    assert relative_gap(K @ (1.1 * a), Y, 1.1 * a, ridge) > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_weight_two_is_the_row_twice(random, name):
    counts = np.where(np.arange(24) % 3 == 0, 2, 1)
    once = coefficients(gram(name, 0.4, X), Y, 0.1 / counts)
    rows, targets = np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
    twice = coefficients(gram(name, 0.4, rows), targets, np.full(len(rows), 0.1))
    new = random.normal(size=(5, 3))
    expected = naive.outputs(name, 0.4, rows, twice, new)
    np.testing.assert_allclose(naive.outputs(name, 0.4, X, once, new), expected, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [0.2, 1.0, 2.5])
def test_huber_coefficients_solve_the_dual_with_bounds(name, limit):
    K, ridge, targets = gram(name, 0.4, X), 0.1 / WEIGHTS, Y.copy()
    targets[::7, 0] += 20.0
    targets[3::7, 1] += 20.0
    start = coefficients(K.copy(), targets, ridge)
    a, deltas = huber_coefficients(K, targets, ridge, start, limit)
    assert (np.abs(ridge[:, None] * start).max(axis=0) > 1.5 * deltas).all()  # thus some are at their bounds
    for own, y, delta in zip(a.T, targets.T, deltas, strict=True):
        bound = np.tile(delta / ridge, 2)  # a is the difference of two multipliers
        linear = np.concatenate([y, -y])
        signs = np.repeat([1.0, -1.0], len(y))
        alpha = solve_cvxopt(np.tile(K + np.diag(ridge), (2, 2)), signs, bound, bias=False, p=linear)
        np.testing.assert_allclose(own, alpha[: len(y)] - alpha[len(y) :], atol=1e-6 * np.abs(own).max())
        assert np.sum(np.abs(own) * ridge > 0.999 * delta) > 0
    assert relative_gap(K @ a, targets, a, ridge, deltas) < 1e-10
    # With Q = aᵀ(K + R)a the dual is ½Q + G for some G ≥ 0, and at 0.9 a at least 0.005 Q + 0.1 G below it.
    assert relative_gap(K @ (0.9 * a), targets, 0.9 * a, ridge, deltas) > 0.01 - 1e-9


def test_huber_coefficients_where_every_residual_is_beyond_delta():
    K, ridge = gram("laplacian", 0.4, X), 0.1 / WEIGHTS
    a, deltas = huber_coefficients(K, Y, ridge, coefficients(K, Y, ridge), 1e-4)
    largest = (K @ (1.0 / ridge))[:, None] * deltas  # output that bounded coefficients can have
    assert (np.abs(Y) > deltas + largest).all()
    np.testing.assert_allclose(a, deltas * np.sign(Y) / ridge[:, None], rtol=1e-9)


def test_huber_coefficients_where_steps_of_full_length_would_not_end(random):
    rows = np.repeat(random.normal(size=(40, 2)), 3, axis=0) + 1e-4 * random.normal(size=(120, 2))
    targets, ridge = random.standard_t(1.0, size=(120, 1)), np.full(120, 1e-5)
    K = gram("rbf", 0.05, rows)
    a, deltas = huber_coefficients(K, targets, ridge, coefficients(K, targets, ridge), 1.0)
    assert relative_gap(K @ a, targets, a, ridge, deltas) < 1e-6


def test_huber_coefficients_where_no_residual_is_within_the_limit():
    """As after the rounding of float32 values of a kernel that can fit nearly everything."""
    K, targets, ridge = np.eye(5) + 0.1, np.array([[1.0], [2.0], [-3.0], [0.5], [1.5]]), np.full(5, 1e-9)
    start = (1.0 + 1e-6) * coefficients(K, targets, ridge)
    a, deltas = huber_coefficients(K, targets, ridge, start, 1.5)
    assert relative_gap(K @ a, targets, a, ridge, deltas) < 1e-6


def test_huber_coefficients_of_a_row_of_weight_two_are_those_of_the_row_twice(random):
    counts = np.where(np.arange(24) % 3 == 0, 2, 1)
    rows, targets = np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
    new, found = random.normal(size=(5, 3)), []
    for own, y, ridge in ((X, Y, 0.1 / counts), (rows, targets, np.full(len(rows), 0.1))):
        K = gram("laplacian", 0.4, own)
        a, _ = huber_coefficients(K, y, ridge, coefficients(K, y, ridge), 1.0)
        found.append(naive.outputs("laplacian", 0.4, own, a, new))
    np.testing.assert_allclose(*found, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("together", [True, False], ids=["folds together", "folds mixed"])
def test_held_out_decisions_are_those_of_fits_without_the_fold(name, together):
    numbers = np.repeat(np.arange(3), 8) if together else np.arange(24) % 3
    held = np.where(numbers[:, None] == np.arange(3), WEIGHTS[:, None], 0.0)
    folds = fold_list(Folds(WEIGHTS[:, None] - held, held))
    rows = SearchRows(X, Y, np.zeros(2), np.empty(0), WEIGHTS, np.arange(3), folds)
    D = distances(KERNELS[name], X, X)
    found, _ = FoldKernels(rows, KERNELS[name], 0.4, D).solved(0.1)
    for fold in range(3):
        inside, others = numbers == fold, numbers != fold
        a = naive.coefficients(name, 0.4, X[others], Y[others], 0.1, WEIGHTS[others])
        expected = naive.outputs(name, 0.4, X[others], a, X[inside])
        np.testing.assert_allclose(found[rows.held_folds == fold], expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(numbers[rows.held], rows.held_folds)


def test_marginal_relevances_are_squared_correlations(random):
    X, counts = random.normal(size=(60, 4)), random.integers(1, 4, 60)
    Y = np.column_stack([X[:, 0] + random.normal(size=60), X[:, 1] ** 2])
    rows, targets = np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)  # a weight is a repetition
    squares = (rows - rows.mean(axis=0)) ** 2
    pairs = [
        np.corrcoef(np.column_stack([values[:, j], targets]).T)[0, 1:] ** 2
        for values in (rows, squares) for j in range(4)
    ]  # fmt: skip
    largest = np.max(pairs, axis=1).reshape(2, 4).max(axis=0)
    found = marginal_relevances(X, Y, counts.astype(float))
    np.testing.assert_allclose(found, np.maximum(largest - 1.0 / counts.sum(), 0.0), atol=1e-12)
    constant = marginal_relevances(np.ones((60, 1)), Y, counts.astype(float))
    np.testing.assert_array_equal(constant, [0.0])


def test_relevances_are_squared_gradients():
    a = naive.coefficients("laplacian", 0.4, X, Y, 0.1, WEIGHTS)
    expected = naive.relevances(0.4, X, a, WEIGHTS)
    np.testing.assert_allclose(relevances(X, WEIGHTS, 0.4, a), expected, rtol=1e-4)


def test_weights_of_features():
    relevance = np.array([4.0, 1.0, 0.0])
    np.testing.assert_allclose(feature_weights(relevance, 0.5), [1.0, 0.5, 1e-5])
    np.testing.assert_array_equal(feature_weights(np.zeros(2), 0.5), [1.0, 1.0])
    np.testing.assert_array_equal(shared(relevance, np.array([0, 1, 1])), [4.0, 1.0, 1.0])


def test_float32_matrices_that_rounding_makes_indefinite():
    wide = np.random.default_rng(1).normal(size=(1_200, 2)).astype(np.float32)
    K = gram("rbf", 0.01, wide)
    assert np.linalg.eigvalsh(K.astype(np.float64))[0] < -1e-6
    targets = np.sign(wide[:, :1]).astype(np.float64)
    a = coefficients(K, targets, np.full(1_200, 1e-9))
    assert np.abs(K.astype(np.float64) @ a - targets).mean() < 0.5


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-2])
def test_the_gap_of_a_machine_on_landmarks_is_no_smaller_than_the_truth(size):
    random = np.random.default_rng(0)
    Z, y, u, penalty = random.normal(size=(50, 8)), random.normal(size=(50, 2)), random.random(50) + 0.5, 0.3

    def objective(b):
        return 0.5 * (penalty * np.sum(b**2, axis=0) + u @ (y - Z @ b) ** 2)

    A, B = Z.T @ (u[:, None] * Z), Z.T @ (u[:, None] * y)
    best = np.linalg.solve(A + penalty * np.eye(8), B)
    moved = best + size * random.normal(size=best.shape)
    truth = np.max((objective(moved) - objective(best)) / objective(moved))
    found = low_rank._relative_gap(A, B, moved, penalty, u @ y**2)
    assert found >= truth - 1e-14
    assert found <= 1e-20 + (A.trace() / penalty + 1.0) * max(truth, 1e-15)
