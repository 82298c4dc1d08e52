"""Potluru et al. 2009: MUNK, multiplicative updates for non-negative kernels, against M³."""

from reproduction.experiment import Paper
from reproduction.potluru2009.problems import table_1
from reproduction.potluru2009.rates import rates
from reproduction.potluru2009.speed import figure_1, speed_up

PAPER = Paper(
    name="potluru2009",
    citation="V. K. Potluru, S. M. Plis, M. Mørup, V. D. Calhoun, T. Lane, Multiplicative Updates for "
    "Non-negative Kernel SVM, 2009.",
    summary="Two multiplicative rules without a learning rate for the dual without bias: M³ and, for kernels "
    "without negative values, MUNK, which comes from non-negative matrix factorisation and needs about half "
    "of the iterations.",
    experiments=[table_1, figure_1, speed_up, rates],
)
