"""What every solver owes the loop; each function raises AssertionError where one does not keep it."""

import numpy as np
import pytest
from tests.problems_for_tests import noisy_points, separated_points

from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.problems import classification
from adatron.training import GapRule, Run, Status, rounds

__all__ = ["CONTRACT", "posed", "solved"]

M = 30
KERNEL = Gaussian(0.5)


class Paused(Exception):
    """What a limit raises inside an epoch."""


def posed(solver, seeds=(3,)):
    """A problem that the solver's needs allow, one column for each seed."""
    needs = solver.needs
    is_hard = "hard margin" in needs
    drawn = [(separated_points if is_hard else noisy_points)(seed, m=M) for seed in seeds]
    X = drawn[0][0]
    y = np.column_stack([labels for _, labels in drawn])
    upper = np.full(M, np.inf if is_hard else 2.0)
    gram = DenseGram(KERNEL(X, X))
    return classification(gram, y, upper, bias="no bias" not in needs)


def outputs_agree(problem, state):
    expected = problem.gram.matmul(problem.y * state.alpha)
    np.testing.assert_allclose(state.f, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))


def state_has_the_agreed_arrays(solver):
    problem = posed(solver)
    state = solver.init(problem)
    assert state.alpha.shape == state.f.shape == (M, 1)
    assert state.bias.shape == (1,)
    assert all(isinstance(array, np.ndarray) and array.shape[-1] == 1 for array in state)
    outputs_agree(problem, state)


def iterates_stay_in_the_box_with_their_outputs(solver):
    problem = posed(solver)
    state = solver.init(problem)
    for _ in range(20):
        state = solver.epoch(problem, state, lambda: None)
        assert np.isfinite(state.alpha).all()
        assert (state.alpha >= 0.0).all()
        assert (state.alpha <= problem.upper).all()
        outputs_agree(problem, state)


def some_epochs(solver, problem, state, pause):
    for _ in range(5):
        state = solver.epoch(problem, state, pause)


def a_pause_leaves_multipliers_and_outputs_together(solver):
    problem = posed(solver)
    state = solver.init(problem)
    for after in range(1, 4):
        calls = iter(range(10**6))

        def pause(after=after, calls=calls):
            if next(calls) >= after:
                raise Paused

        with pytest.raises(Paused):
            some_epochs(solver, problem, state, pause)
        outputs_agree(problem, state)


def columns_are_separate_problems(solver):
    together = posed(solver, seeds=(3, 3))
    alone = posed(solver)
    wide, narrow = solver.init(together), solver.init(alone)
    for _ in range(10):
        wide = solver.epoch(together, wide, lambda: None)
        narrow = solver.epoch(alone, narrow, lambda: None)
    for column in range(2):
        np.testing.assert_allclose(wide.alpha[:, column], narrow.alpha[:, 0], rtol=1e-9, atol=1e-12)


def solved(solver, problem, max_iter=50_000):
    run = Run(problem, solver, GapRule(1e-3), max_iter=max_iter)
    for _ in rounds([run]):
        pass
    return run


def the_loop_certifies_the_optimum(solver):
    solution = solved(solver, posed(solver)).solutions[0]
    assert solution.status is Status.CONVERGED
    assert solution.gap <= 1e-3


def a_run_can_be_saved_and_resumed(solver):
    problem = posed(solver)
    whole = solved(solver, problem, max_iter=12)
    part = Run(problem, solver, GapRule(1e-3), max_iter=12)
    for n, _ in enumerate(rounds([part]), 1):
        if n == 3:
            break
    saved = part.saved()
    again = Run(problem, solver, GapRule(1e-3), max_iter=12)
    again.restore(saved)
    for _ in rounds([again]):
        pass
    np.testing.assert_allclose(again.solutions[0].alpha, whole.solutions[0].alpha, rtol=1e-9, atol=1e-12)


CONTRACT = [
    state_has_the_agreed_arrays,
    iterates_stay_in_the_box_with_their_outputs,
    a_pause_leaves_multipliers_and_outputs_together,
    columns_are_separate_problems,
    the_loop_certifies_the_optimum,
    a_run_can_be_saved_and_resumed,
]
