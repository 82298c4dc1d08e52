"""The certificate and the exact finish of Crammer & Singer's problem, without an estimator."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.gram import DenseGram
from adatron.kernels import Gaussian, Linear
from adatron.solvers import CrammerSinger, crammer_singer
from adatron.solvers.crammer_singer import CrammerSingerState
from adatron.training import GapRule, Run, Status, certify, exact_finish, rounds


def random_problem(seed, C, kernel, m=40, n_classes=4):
    rng = np.random.default_rng(seed)
    codes = np.arange(m) % n_classes
    X = rng.normal(size=(m, 3)) + rng.normal(size=(n_classes, 3))[codes]
    return crammer_singer(DenseGram(kernel(X, X)), codes, n_classes, C * rng.uniform(0.2, 3.0, m))


def by_definition(problem, A):
    """Primal and dual with the sums as they are written."""
    K = problem.gram.block(slice(None))
    f, primal, dual = K @ A, 0.0, 0.0
    for i, y in enumerate(problem.codes):
        loss = max((0.0 if c == y else 1.0) + f[i, c] - f[i, y] for c in range(problem.n_classes))
        primal += problem.upper[i, 0] * loss
        dual += A[i, y]
    square = 0.5 * sum(A[:, c] @ K @ A[:, c] for c in range(problem.n_classes))
    return primal + square, dual - square


@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.01, 1.0, 100.0]))
def test_gap_by_definition_for_any_A(seed, C):
    problem = random_problem(seed, C, Gaussian(0.5), m=20)
    A = np.random.default_rng(seed).normal(scale=C, size=(20, 4))
    certificate = certify(problem, 0, A)
    assert (problem.bounds >= certificate.alpha).all()
    np.testing.assert_allclose(certificate.alpha.sum(axis=1), 0.0, atol=1e-12 * C)
    primal, dual = by_definition(problem, certificate.alpha)
    assert certificate.primal == pytest.approx(primal, rel=1e-11)
    assert certificate.dual == pytest.approx(dual, rel=1e-9, abs=1e-9 * primal)
    assert certificate.gap == pytest.approx((primal - dual) / max(abs(primal), abs(dual)), abs=1e-11)
    assert certificate.gap >= 0.0


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.05), Gaussian(2.0)])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_finish_reaches_the_optimum_from_a_rough_start(C, kernel):
    for seed, epochs in product(range(2), (0, 5)):
        problem, solver = random_problem(seed, C, kernel, m=80), CrammerSinger()
        state = solver.init(problem)
        for _ in range(epochs):
            state = solver.epoch(problem, state, lambda: None)
        A = exact_finish(problem, 0, state.alpha[..., 0])
        assert A is not None
        assert certify(problem, 0, A).gap < 1e-10


def test_equal_rows_do_not_stop_the_finish():
    rng = np.random.default_rng(0)
    X, codes = np.repeat(rng.normal(size=(10, 2)), 4, axis=0), rng.integers(0, 3, 40)
    problem = crammer_singer(DenseGram(Linear()(X, X)), codes, 3, np.full(40, 5.0))
    run = Run(problem, CrammerSinger(), GapRule(1e-9, eager=True), max_iter=1000)
    for _ in rounds([run]):
        pass
    assert run.solutions[0].status is Status.CONVERGED


def test_sweeps_alone_converge_too():
    problem = random_problem(1, 1.0, Gaussian(1.0))
    solver = CrammerSinger()
    state = solver.init(problem)
    for _ in range(3000):
        state = solver.epoch(problem, state, lambda: None)
    assert certify(problem, 0, state.alpha[..., 0]).gap < 1e-9


def test_records_at_the_optimum():
    problem = random_problem(2, 1.0, Gaussian(1.0))
    A = exact_finish(problem, 0, np.zeros((40, 4)))
    state = CrammerSingerState(A[:, :, None], problem.gram.matmul(A)[:, :, None], np.zeros(1))
    ((objective, margin, violation),) = problem.measure(state)
    assert objective == pytest.approx(by_definition(problem, A)[1], rel=1e-12)
    assert margin == pytest.approx(1.0, abs=1e-9)
    assert violation == pytest.approx(0.0, abs=1e-9)


def test_shapes_are_checked():
    gram = DenseGram(np.eye(3))
    with pytest.raises(ValueError, match="codes must have shape"):
        crammer_singer(gram, np.zeros(2, dtype=int), 2, np.ones(3))
    with pytest.raises(ValueError, match="upper must have shape"):
        crammer_singer(gram, np.zeros(3, dtype=int), 2, np.ones(2))
