"""Campbell & Cristianini 1998: Kernel-Adatron."""

from reproduction.campbell1998 import digits, learning, scaling, soft_margins, widths
from reproduction.experiment import Paper

PAPER = Paper(
    name="campbell1998",
    citation="C. Campbell, N. Cristianini, Simple Learning Algorithms for Training Support Vector Machines, "
    "University of Bristol, 1998",
    summary="Kernel-Adatron: gradient ascent on the dual, one point at a time, with and without a bias, for "
    "hard and soft margins.",
    experiments=[
        learning.figure_1, learning.figure_2, widths.figure_3, learning.figures_4_5, learning.figures_6_8,
        learning.figures_9_11, soft_margins.figure_12, learning.parity_and_spirals, widths.sonar,
        widths.breast_cancer, soft_margins.ionosphere, soft_margins.pima, digits.usps, scaling.scaling,
        widths.kernel_selection,
    ],
)  # fmt: skip
