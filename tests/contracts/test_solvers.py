"""Every registered solver keeps the contract."""

import pytest
from tests.contracts.solver_contract import CONTRACT

from adatron.solvers import SOLVERS


@pytest.mark.parametrize("clause", CONTRACT, ids=lambda clause: clause.__name__)
@pytest.mark.parametrize("name", SOLVERS)
def test_contract(name, clause):
    clause(SOLVERS[name](eps=1e-9) if name == "rho" else SOLVERS[name]())
