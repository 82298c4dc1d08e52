"""Every registered solver keeps the contract, on every kernel matrix that it accepts.

`tests/solvers/test_twins.py` has those with float64 values, on which it takes the steps of its naive twin.
"""

import numpy as np
import pytest
from tests.contracts.solver_contract import CONTRACT, solved
from tests.grams import KERNELS, MATRICES, ON_WORKERS, on_workers
from tests.problems_for_tests import noisy_points, separated_points

from adatron.gram import DenseGram
from adatron.problems import classification
from adatron.solvers import SOLVERS
from adatron.training import Status, certify

ROUNDED = {  # of float32 values or a factor, with the gap that the dense matrix may show
    "dense, float32": 2e-3,
    "dense, lower half": 2e-3,
    "rows, float32": 2e-3,
    "rows, forgotten": 2e-3,
    "view of twins": 1.1e-3,
    "nystroem": 2e-3,
    "nystroem, float32": 0.05,
}


def made(name):
    return SOLVERS[name](eps=1e-9) if name == "rho" else SOLVERS[name]()


@pytest.mark.parametrize("clause", CONTRACT, ids=lambda clause: clause.__name__)
@pytest.mark.parametrize("name", SOLVERS)
def test_contract(name, clause):
    clause(made(name))


def problem_on(gram, solver, y):
    upper = np.full(len(y), np.inf if "hard margin" in solver.needs else 2.0)
    return classification(gram, y, upper, bias="no bias" not in solver.needs)


def points_for(solver, m):
    return (separated_points if "hard margin" in solver.needs else noisy_points)(3, m=m)


@pytest.mark.parametrize("name", SOLVERS)
def test_rounded_matrices_lead_to_the_optimum(name):
    solver = made(name)
    X, y = points_for(solver, 30)
    dense = problem_on(DenseGram(KERNELS["gaussian"](X, X)), solver, y)
    for matrix, gap in ROUNDED.items():
        gram = MATRICES[matrix](KERNELS["gaussian"], X)
        if "entries" in solver.needs and not gram.has_entries:
            continue
        solution = solved(solver, problem_on(gram, solver, y)).solutions[0]
        assert solution.status is Status.CONVERGED, matrix
        assert certify(dense, 0, solution.alpha).gap <= gap, matrix


# sweeps visit a factor, entrywise updates multiply by the matrix itself; a working set needs its rows
WHOLE, FACTORS = ["workers"], ["workers, factor", "workers, linear factor"]
WHERE = {"adatron": FACTORS, "adatron-secant": FACTORS, "m3": WHOLE, "munk": WHOLE}
WHERE |= {"multiplicative": WHOLE + FACTORS, "rho": WHOLE + FACTORS}


def test_every_solver_but_the_working_sets_runs_on_workers():
    assert set(WHERE) == set(SOLVERS) - {"auto"}


@pytest.mark.parametrize(("name", "matrix"), [(name, matrix) for name in WHERE for matrix in WHERE[name]])
def test_rows_on_workers_give_the_same_iterates(name, matrix, client):
    solver = made(name)
    X, y = points_for(solver, 40)
    kernel = KERNELS["linear" if "linear" in matrix else "gaussian"]
    near = problem_on(DenseGram(kernel(X, X)), solver, y)
    far = problem_on(ON_WORKERS[matrix](kernel, on_workers(client, X)), solver, y)
    states = [solver.init(problem) for problem in (near, far)]
    for _ in range(4):
        states = [solver.epoch(p, s, lambda: None) for p, s in zip((near, far), states, strict=True)]
        error = 1e-7 * np.abs(states[0].alpha).max()
        np.testing.assert_allclose(states[1].alpha, states[0].alpha, rtol=0, atol=error)
        np.testing.assert_allclose(states[1].f, states[0].f, atol=1e-7 * np.abs(states[0].f).max())
        np.testing.assert_allclose(states[1].bias, states[0].bias, atol=1e-6)
