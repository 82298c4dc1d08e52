"""The only epoch loop, the only certificate, the exact finish and the reasons for stopping.

A `Run` has a problem, a solver and a rule; `rounds` advances runs epoch by epoch until their rules have ended
all columns, `solved` gives the solutions.

>>> import numpy as np
>>> from adatron.gram import DenseGram
>>> from adatron.problems import classification
>>> from adatron.solvers import KernelAdatron
>>> from adatron.training import GapRule, Run, solved
>>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
>>> problem = classification(DenseGram(x @ x.T), np.sign(x), np.full(4, np.inf), bias=True)
>>> run = Run(problem, KernelAdatron(), GapRule(1e-6), max_iter=1000)
>>> [solution] = solved([run])
>>> print(solution.status, solution.alpha.round(6), round(solution.bias, 6))
converged [0.  0.5 0.5 0. ] 0.0
"""

from adatron.training.certificate import certify
from adatron.training.finish import exact_finish
from adatron.training.level import LevelSearch
from adatron.training.records import HISTORY_FIELDS, DualSolution, EpochRecord, Status
from adatron.training.rule import GapRule, Rule
from adatron.training.run import History, Run, rounds, solved
from adatron.training.stages import StageRule
