"""Tsang & Kwok 2007: ensembles of partially trained SVMs.

>>> from adatron.papers.tsang2007 import DOCUMENT
>>> [experiment.name for experiment in DOCUMENT.experiments][:3]
['figure-1', 'table-1', 'table-2']
"""

from adatron.papers.experiment import Document
from adatron.papers.tsang2007.boosting import SECTION_3
from adatron.papers.tsang2007.convergence import SECTION_2
from adatron.papers.tsang2007.large import FULL_ADULT_SET
from adatron.papers.tsang2007.learning_rate import FIGURE_1
from adatron.papers.tsang2007.sizes import TABLE_1
from adatron.papers.tsang2007.table_2 import TABLE_2
from adatron.papers.tsang2007.timing import TABLE_3

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    name="tsang2007",
    citation="I. W. Tsang, J. T. Kwok, Ensembles of Partially Trained SVMs with Multiplicative Updates, "
    "IJCAI 2007",
    summary="Multiplicative updates with a rate that adapts itself train a hard-margin SVM; the average of "
    "the hypotheses on the way, a boosted ensemble of Parzen windows, needs no C.",
    experiments=[FIGURE_1, TABLE_1, TABLE_2, TABLE_3, FULL_ADULT_SET, SECTION_2, SECTION_3],
)
