"""The only epoch loop, the only certificate, the exact finish and the reasons for stopping.

>>> import numpy as np
>>> from adatron.operators import DenseGram
>>> from adatron.problems import classification
>>> from adatron.solvers import KernelAdatron
>>> from adatron.solving import Run, rounds
>>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
>>> problem = classification(DenseGram(x @ x.T), np.sign(x), np.full(4, np.inf), bias=True)
>>> run = Run(problem, KernelAdatron(), tol=1e-6, max_iter=1000)
>>> for records in rounds([run]):
...     pass
>>> solution = run.solutions[0]
>>> print(solution.status, solution.alpha.round(6), round(solution.bias, 6))
converged [0.  0.5 0.5 0. ] 0.0
"""

from adatron.solving.certificate import Certificate, certify, is_single
from adatron.solving.coupled import CoupledRun, certify_coupled
from adatron.solving.coupled_finish import exact_coupled_finish
from adatron.solving.finish import exact_finish
from adatron.solving.loop import rounds
from adatron.solving.own_rule import OwnRuleRun
from adatron.solving.records import HISTORY_FIELDS, EpochRecord, History
from adatron.solving.run import Run
from adatron.solving.saved import restore_run, saved_run
from adatron.solving.solution import DualSolution
from adatron.solving.squared_hinge import nearest_penalty
from adatron.solving.status import Status

__all__ = [
    "HISTORY_FIELDS",
    "Certificate",
    "CoupledRun",
    "DualSolution",
    "EpochRecord",
    "History",
    "OwnRuleRun",
    "Run",
    "Status",
    "certify",
    "certify_coupled",
    "exact_coupled_finish",
    "exact_finish",
    "is_single",
    "nearest_penalty",
    "restore_run",
    "rounds",
    "saved_run",
]
