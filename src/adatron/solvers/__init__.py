"""The algorithms, one small file each: a state, ``init`` and ``epoch``.

The loop, the clock and the stopping rule are in `adatron.training`. To add an algorithm: its file here, a
line in `SOLVERS`, its naive twin in ``tests/reference``, its paper's experiments.
"""

from collections.abc import Callable
from typing import Any

from adatron.solvers.base import Pause, Solver, take_columns
from adatron.solvers.crammer_singer import CrammerSinger, CrammerSingerProblem, crammer_singer
from adatron.solvers.finite_newton import LinearProblem, solve_linear
from adatron.solvers.greedy_adatron import GreedyAdatron
from adatron.solvers.kernel_adatron import KernelAdatron, SecantAdatron
from adatron.solvers.m3_munk import M3, Munk
from adatron.solvers.multiplicative import MultiplicativeUpdating
from adatron.solvers.perceptron import Perceptron
from adatron.solvers.rho import Journal, RhoSVM

SOLVERS: dict[str, Callable[..., Any]] = {
    "auto": GreedyAdatron, "adatron": KernelAdatron, "adatron-secant": SecantAdatron,
    "multiplicative": MultiplicativeUpdating, "m3": M3, "munk": Munk, "rho": RhoSVM,
}  # fmt: skip
