"""The loop and the exact finish on problems alone, without an estimator."""

import numpy as np
import pytest
from tests.problems_for_tests import binary_problem, noisy_points
from tests.stopwatch import Stopwatch

from adatron.gram import DenseGram
from adatron.kernels import Gaussian, Linear
from adatron.problems import DualProblem, classification
from adatron.solvers import KernelAdatron
from adatron.training import GapRule, History, Run, Status, certify, exact_finish, rounds


def solve(problem, *, tol=1e-3, max_iter=10_000, alpha=None, **options):
    run = Run(problem, KernelAdatron(), GapRule(tol, **options), max_iter=max_iter, alpha=alpha)
    for _ in rounds([run]):
        pass
    return run.solutions


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.05), Gaussian(2.0)])
@pytest.mark.parametrize("bias", [False, True])
def test_finish_reaches_the_optimum_from_a_rough_start(bias, kernel):
    solver = KernelAdatron()
    for seed in range(10):
        X, y = noisy_points(seed, m=80)
        problem = binary_problem(kernel, X, y, 1.0, bias)
        state = solver.init(problem)
        for _ in range(10):
            state = solver.epoch(problem, state, lambda: None)
        alpha = exact_finish(problem, 0, state.alpha[:, 0])
        assert alpha is not None, seed
        assert certify(problem, 0, alpha).gap < 1e-10, seed


def test_converged_columns_leave_and_all_are_certified():
    X, y = noisy_points(0, m=60)
    easy = np.where(X[:, 0] > 0, 1.0, -1.0)
    signs = np.column_stack([y, easy, -y])
    problem = classification(DenseGram(Gaussian(0.5)(X, X)), signs, np.full(60, 10.0), bias=True)
    run = Run(problem, KernelAdatron(), GapRule(1e-4), max_iter=10_000)
    widths = [len(records) for records in rounds([run])]
    assert widths[0] == 3
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 3
    for column, solution in enumerate(run.solutions):
        assert solution.status is Status.CONVERGED
        alone = solve(problem.columns([column]), tol=1e-4)[0]
        np.testing.assert_allclose(solution.alpha, alone.alpha, atol=1e-9)


def test_warm_start_at_the_optimum_ends_at_once():
    X, y = noisy_points(1, m=50)
    problem = binary_problem(Gaussian(0.5), X, y, 1.0, False)
    alpha = solve(problem)[0].alpha
    again = solve(problem, alpha=alpha[:, None])[0]
    assert again.n_iter == 1


def test_inseparable_hard_margin_is_recognised():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    solution = solve(binary_problem(Linear(), X, y, np.inf, True))[0]
    assert solution.status is Status.NOT_SEPARABLE


def test_time_limit_ends_every_run():
    X, y = noisy_points(0, m=60)
    problem = binary_problem(Gaussian(1e-3), X, y, 1e4, True)  # too slow for cyclic sweeps to end in time
    for _ in range(2):  # the first time compiles
        runs = [Run(problem, KernelAdatron(), GapRule(1e-3), max_iter=10**9, first=i) for i in range(2)]
        watch = Stopwatch()
        for _ in rounds(runs, time_limit=0.05, n_threads=2):
            pass
    assert watch.seconds() < 5.0
    assert [run.solutions[0].status for run in runs] == [Status.TIME_LIMIT] * 2
    assert all(0.0 < run.solutions[0].gap <= 1.0 for run in runs)


def test_history_keeps_first_and_last_and_thins_geometrically():
    history = History(limit=100)
    for epoch in range(1, 10_001):
        history.add((epoch,))
    epochs = [row[0] for row in history.rows]
    assert len(epochs) <= 100
    assert epochs[0] == 1
    assert epochs[-1] == 10_000
    assert epochs == sorted(epochs)
    assert np.diff(epochs)[:10].max() <= np.diff(epochs)[-10:].max()


def test_problem_checks_its_shapes():
    gram = DenseGram(np.eye(2))
    one = np.ones((2, 1))
    with pytest.raises(ValueError, match="y must have shape"):
        DualProblem(gram, np.ones((3, 1)), one, one)
    with pytest.raises(ValueError, match="upper must have the shape"):
        DualProblem(gram, one, one, np.ones((2, 2)))
    with pytest.raises(ValueError, match="equality"):
        DualProblem(gram, one, one, one, equality=3.0)
