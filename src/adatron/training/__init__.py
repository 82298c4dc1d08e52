"""The only epoch loop, the only certificate, the exact finish and the reasons for stopping.

>>> import numpy as np
>>> from adatron.gram import DenseGram
>>> from adatron.problems import classification
>>> from adatron.solvers import KernelAdatron
>>> from adatron.training import Run, rounds
>>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
>>> problem = classification(DenseGram(x @ x.T), np.sign(x), np.full(4, np.inf), bias=True)
>>> run = Run(problem, KernelAdatron(), tol=1e-6, max_iter=1000)
>>> for records in rounds([run]):
...     pass
>>> solution = run.solutions[0]
>>> print(solution.status, solution.alpha.round(6), round(solution.bias, 6))
converged [0.  0.5 0.5 0. ] 0.0
"""

from adatron.training.certificate import Certificate, certify, is_single
from adatron.training.coupled import CoupledRun, certify_coupled
from adatron.training.coupled_finish import exact_coupled_finish
from adatron.training.finish import exact_finish
from adatron.training.loop import rounds
from adatron.training.own_rule import OwnRuleRun
from adatron.training.records import HISTORY_FIELDS, EpochRecord, History
from adatron.training.run import Run
from adatron.training.saved import restore_run, saved_run
from adatron.training.solution import DualSolution
from adatron.training.squared_hinge import nearest_penalty
from adatron.training.status import Status

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
