"""Crammer & Singer's sweeps against their naive twin."""

import numpy as np
import pytest
from tests.grams import KERNELS, MATRICES, precise_pairs
from tests.reference import crammer_singer as naive

from adatron.gram import DenseGram, LowRankGram
from adatron.problems import classification
from adatron.solvers import CrammerSinger, KernelAdatron, crammer_singer


def points(seed, n_classes, m=24):
    """Overlapping classes; each is there."""
    rng = np.random.default_rng(seed)
    codes = np.arange(m) % n_classes
    X = rng.normal(size=(m, 3)) + 1.5 * rng.normal(size=(n_classes, 3))[codes]
    return X, codes, rng.uniform(0.2, 3.0, m)


@pytest.mark.parametrize(("n_classes", "C"), [(2, 0.7), (3, 0.7), (4, 30.0), (5, 0.05), (3, np.inf)])
def test_equal_iterates(n_classes, C):
    X, codes, weights = points(n_classes, n_classes)
    upper, solver, known = C * weights, CrammerSinger(), {}
    for kernel, matrix in precise_pairs():
        K = KERNELS[kernel](X, X)
        problem = crammer_singer(MATRICES[matrix](KERNELS[kernel], X), codes, n_classes, upper)
        state, case = solver.init(problem), f"{kernel}, {matrix}"
        if kernel not in known:
            known[kernel] = [A.copy() for A in naive.sweeps(K, codes, n_classes, upper, 8)]
        for A in known[kernel]:
            state = solver.epoch(problem, state, lambda: None)
            error = 1e-9 * max(1.0, np.abs(A).max())
            np.testing.assert_allclose(state.alpha[..., 0], A, rtol=0, atol=error, err_msg=case)
            error = 1e-9 * max(1.0, np.abs(K @ A).max())
            np.testing.assert_allclose(state.f[..., 0], K @ A, atol=error, err_msg=case)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e6, np.inf])
def test_every_iterate_is_feasible_and_the_dual_rises(C):
    X, codes, weights = points(3, 4, m=40)
    K = KERNELS["gaussian"](X, X)
    problem = crammer_singer(DenseGram(K), codes, 4, C * weights)
    solver, objectives = CrammerSinger(), [0.0]
    state = solver.init(problem)
    for _ in range(20):
        A = solver.epoch(problem, state, lambda: None).alpha[..., 0]
        np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-12 * np.abs(A).max())
        assert (problem.bounds >= A).all()
        objectives.append(A[problem.own].sum() - 0.5 * (A * (K @ A)).sum())
    assert (np.diff(objectives) > -1e-12 * objectives[-1]).all()
    assert objectives[-1] > objectives[1] > 0.0


def test_two_classes_take_the_steps_of_kernel_adatron_with_twice_the_bound():
    X, codes, weights = points(7, 2)
    gram = DenseGram(KERNELS["gaussian"](X, X))
    coupled = crammer_singer(gram, codes, 2, weights)
    plain = classification(gram, np.where(codes == 1, 1.0, -1.0), 2.0 * weights, bias=False)
    state, other = CrammerSinger().init(coupled), KernelAdatron().init(plain)
    for _ in range(20):
        state = CrammerSinger().epoch(coupled, state, lambda: None)
        other = KernelAdatron().epoch(plain, other, lambda: None)
        difference = state.alpha[:, 1, 0] - state.alpha[:, 0, 0]
        np.testing.assert_allclose(difference, plain.y[:, 0] * other.alpha[:, 0], atol=1e-10)


def test_a_warm_start_is_made_feasible():
    X, codes, weights = points(1, 3)
    problem = crammer_singer(LowRankGram.linear(X), codes, 3, weights)
    state = CrammerSinger().init(problem, np.random.default_rng(0).normal(size=(24, 3)))
    A = state.alpha[..., 0]
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-12)
    assert (problem.bounds >= A).all()
    np.testing.assert_allclose(state.f[..., 0], X @ X.T @ A, atol=1e-10)
