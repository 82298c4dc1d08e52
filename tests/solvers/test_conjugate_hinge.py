"""Conjugate gradients on hinge losses: iterates of the naive twin, and what they are good for."""

import numpy as np
import pytest
from tests.problems_for_tests import noisy_points
from tests.reference import conjugate_hinge as naive

from adatron.gram import DenseGram, pivoted_cholesky
from adatron.kernels import Gaussian
from adatron.problems import DualProblem
from adatron.solvers import ConjugateHinge


def problem_of(gram, y, u, equality=0.0):
    return DualProblem(gram, y, np.ones_like(y), u, equality)


def run(problem, caps, n_epochs):
    solver = ConjugateHinge(caps, precision=0.0)
    state = solver.init(problem)
    for _ in range(n_epochs):
        state = solver.epoch(problem, state, lambda: None)
        yield state.alpha.copy(), state.f.copy(), state.bias.copy()


@pytest.fixture(scope="module")
def points():
    X, y = noisy_points(3, m=40)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=(len(y), 2))
    weights[:8, 1] = 0.0  # held out
    return Gaussian(0.7)(X, X), y.astype(float), weights


@pytest.mark.parametrize("has_bias", [True, False])
def test_iterates_of_the_twin(points, has_bias):
    K, y, weights = points
    caps = np.array([np.inf, 0.3])
    equality = 0.0 if has_bias else None
    problem = problem_of(DenseGram(K), np.column_stack([y, y]), weights, equality)
    twins = [naive.epochs(K, y, weights[:, b], caps[b], has_bias) for b in range(2)]
    for alpha, f, bias in run(problem, caps, 4):
        for b, (twin_alpha, twin_f, twin_bias) in enumerate(map(next, twins)):
            scale = np.abs(twin_f).max()
            np.testing.assert_allclose(f[:, b], twin_f, atol=1e-6 * scale)
            np.testing.assert_allclose(alpha[:, b], twin_alpha, atol=1e-6 * np.abs(twin_alpha).max())
            assert bias[b] == pytest.approx(twin_bias, abs=1e-6 * scale)


def test_the_loss_falls_and_alpha_is_feasible(points):
    K, y, weights = points
    caps = np.array([np.inf, 0.3])
    problem = problem_of(DenseGram(K), np.column_stack([y, y]), weights)
    losses = []
    for alpha, f, bias in run(problem, caps, 15):
        assert (alpha >= 0.0).all()
        assert np.abs(y @ alpha).max() <= 1e-5 * alpha.sum()
        np.testing.assert_allclose(f, K @ (y[:, None] * alpha), atol=1e-8 * np.abs(f).max())
        assert (alpha[:8, 1] == 0.0).all()  # held-out rows have no say
        losses.append([naive.loss(1 - y * (f[:, b] + bias[b]), weights[:, b], caps[b]) for b in range(2)])
    assert (np.diff(losses, axis=0) <= 1e-12).all()


def test_quadratic_loss_ends_after_as_many_epochs_as_points_have_directions():
    """Where every margin stays below 1 the loss is quadratic, and conjugate directions do not repeat."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(30, 3))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)[:, None]  # noise: nothing can be separated
    problem = problem_of(DenseGram(A @ A.T), y, np.ones((30, 1)), None)
    *_, (_, f, _) = run(problem, np.inf, 3)  # what is left of the gradient then is rounding
    best = A @ np.linalg.lstsq(A, y[:, 0], rcond=None)[0]
    assert np.abs(y[:, 0] * f[:, 0]).max() < 1.0
    np.testing.assert_allclose(f[:, 0], best, atol=1e-12)


def test_works_on_a_factor(points):
    K, y, weights = points
    X, _ = noisy_points(3, m=40)
    gram = pivoted_cholesky(Gaussian(0.7), X, 40)
    dense = problem_of(DenseGram(K), y[:, None], weights[:, :1])
    factored = problem_of(gram, y[:, None], weights[:, :1])
    *_, (_, expected, _) = run(dense, np.inf, 5)
    *_, (_, f, _) = run(factored, np.inf, 5)
    np.testing.assert_allclose(f, expected, atol=1e-6)
