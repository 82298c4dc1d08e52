"""Tsang & Kwok 2007: ensembles of partially trained SVMs."""

from reproduction.experiment import Paper
from reproduction.tsang2007 import adaptive_rate, data, table_2, timing

PAPER = Paper(
    name="tsang2007",
    citation="I. W. Tsang, J. T. Kwok, Ensembles of Partially Trained SVMs with Multiplicative Updates, "
    "IJCAI 2007",
    summary="Multiplicative updates with a rate that adapts itself train a hard-margin SVM; the average of "
    "the hypotheses on the way, a boosted ensemble of Parzen windows, needs no C.",
    experiments=[
        adaptive_rate.figure_1, data.table_1, table_2.table_2, timing.table_3, timing.full_adult,
        adaptive_rate.section_2, adaptive_rate.section_3,
    ],
)  # fmt: skip
