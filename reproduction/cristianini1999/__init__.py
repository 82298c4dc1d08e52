"""N. Cristianini, C. Campbell and J. Shawe-Taylor: multiplicative updates for support vector machines."""

from reproduction.cristianini1999 import four_problems, solutions
from reproduction.cristianini1999.bounds import bounds, compression_bound
from reproduction.experiment import Paper

PAPER = Paper(
    name="cristianini1999",
    citation="N. Cristianini, C. Campbell, J. Shawe-Taylor, A Multiplicative Updating Algorithm for Training "
    "Support Vector Machines, ESANN 1999.",
    summary="Every multiplier is multiplied by the exponential of its gradient, all at once, with the bias "
    "in closed form; good when few points become support vectors.",
    experiments=[
        four_problems.majority, four_problems.mirror_symmetry, four_problems.sonar,
        four_problems.breast_cancer, solutions.qp, bounds, solutions.learning_rate, compression_bound,
        solutions.regression,
    ],
)  # fmt: skip
