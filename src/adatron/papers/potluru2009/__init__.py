"""Potluru et al. 2009: MUNK, multiplicative updates for non-negative kernels, against M³."""

from adatron.papers.experiment import Document
from adatron.papers.potluru2009.convergence import FIGURE_1, SPEED_UP
from adatron.papers.potluru2009.rates import RATES
from adatron.papers.potluru2009.table import TABLE_1

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    name="potluru2009",
    citation=(
        "V. K. Potluru, S. M. Plis, M. Mørup, V. D. Calhoun, T. Lane, Multiplicative Updates for "
        "Non-negative Kernel SVM, 2009."
    ),
    summary=(
        "Two multiplicative rules without a learning rate for the dual without bias: M³ and, for kernels "
        "without negative values, MUNK, which comes from non-negative matrix factorisation and needs about "
        "half of the iterations."
    ),
    experiments=[TABLE_1, FIGURE_1, SPEED_UP, RATES],
)
