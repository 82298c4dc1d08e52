"""CISC 889, lecture 17: perceptron, Novikoff's theorem, kernels and the maximal margin."""

from reproduction.cisc889.feature_space import mercer, quadratic_map
from reproduction.cisc889.maximal_margin import margin
from reproduction.cisc889.perceptron import novikoff, perceptron
from reproduction.experiment import Paper

PAPER = Paper(
    name="cisc889",
    citation="CISC 889 Bioinformatics (Spring 2004), lecture 17: Support Vector Machines I, the methodology. "
    "University of Delaware.",
    summary="Slides of a lecture: from Rosenblatt's perceptron and Novikoff's bound on its mistakes, by its "
    "dual form, to kernels and the maximal margin. There are no published numbers; every statement is "
    "checked.",
    experiments=[perceptron, novikoff, quadratic_map, margin, mercer],
)
