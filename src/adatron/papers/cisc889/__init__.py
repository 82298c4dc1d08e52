"""CISC 889, lecture 17: perceptron, Novikoff's theorem, kernels and the maximal margin, checked by numbers.

The lecture prints no results; its statements are what is checked.
"""

from adatron.papers.cisc889.maximal_margin import MARGIN
from adatron.papers.cisc889.mercer import MERCER
from adatron.papers.cisc889.novikoff import NOVIKOFF
from adatron.papers.cisc889.perceptron import PERCEPTRON
from adatron.papers.cisc889.quadratic_map import QUADRATIC_MAP
from adatron.papers.experiment import Document

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    name="cisc889",
    citation=(
        "CISC 889 Bioinformatics (Spring 2004), lecture 17: Support Vector Machines I, the methodology. "
        "University of Delaware."
    ),
    summary=(
        "Slides of a lecture: from Rosenblatt's perceptron and Novikoff's bound on its mistakes, by its dual "
        "form, to kernels and the maximal margin. There are no published numbers; every statement is checked."
    ),
    experiments=[PERCEPTRON, NOVIKOFF, QUADRATIC_MAP, MARGIN, MERCER],
)
