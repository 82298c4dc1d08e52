"""The skeleton on the page "Adding a solver", followed literally, is a solver that works."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.contracts.solver_contract import CONTRACT, posed

from adatron import SVC
from adatron.datasets import load_sonar
from adatron.solvers import SOLVERS

PAGE = Path(__file__).parents[2] / "docs" / "adding_a_solver.md"


@pytest.fixture(scope="module")
def skeleton():
    [code] = re.findall(r"<!-- skeleton -->\n```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    module = ModuleType("adatron_solver_skeleton")
    sys.modules[module.__name__] = module
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    yield module
    del sys.modules[module.__name__]


@pytest.fixture
def registered(skeleton, monkeypatch):
    monkeypatch.setitem(SOLVERS, "gradient", skeleton.ProjectedGradient)


@pytest.mark.parametrize("clause", CONTRACT, ids=lambda clause: clause.__name__)
def test_contract(skeleton, clause):
    clause(skeleton.ProjectedGradient())


def test_its_iterates_are_those_of_the_literal_loops(skeleton):
    solver = skeleton.ProjectedGradient()
    problem = posed(solver)
    state = solver.init(problem)
    K, y, upper = problem.gram.block(slice(0, problem.m)), problem.y[:, 0], problem.upper[:, 0]
    rate = 1.0 / skeleton.largest_eigenvalue(problem)
    alpha = np.zeros(problem.m)
    for _ in range(20):
        state = solver.epoch(problem, state, lambda: None)
        f = [sum(alpha[j] * y[j] * K[i, j] for j in range(problem.m)) for i in range(problem.m)]
        alpha = np.array(
            [min(max(alpha[i] + rate * (1.0 - y[i] * f[i]), 0.0), upper[i]) for i in range(problem.m)]
        )
        np.testing.assert_allclose(state.alpha[:, 0], alpha, atol=1e-10)


@pytest.mark.usefixtures("registered")
def test_it_serves_the_estimators_by_name():
    X, y = load_sonar(return_X_y=True)
    model = SVC(5.0, solver="gradient", fit_intercept=False).fit(X, y)
    assert model.converged_
    exact = SVC(5.0, fit_intercept=False, tol=1e-6).fit(X, y)
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.99
    with pytest.raises(ValueError, match="set fit_intercept=False"):
        SVC(solver="gradient").fit(X, y)
