"""Kernel-Adatron: Campbell & Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*.

>>> from adatron.papers.campbell1998 import DOCUMENT
>>> [experiment.name for experiment in DOCUMENT.experiments][:3]
['figure-1', 'figure-2', 'figure-3']
"""

from adatron.papers.campbell1998 import learning, rates, scaling, selection, soft_margin, tables, usps, width
from adatron.papers.experiment import Document

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    name="campbell1998",
    citation=(
        "C. Campbell, N. Cristianini, Simple Learning Algorithms for Training Support Vector Machines, "
        "University of Bristol, 1998"
    ),
    summary=(
        "Kernel-Adatron: gradient ascent on the dual, one point at a time, with and without a bias, for hard "
        "and soft margins."
    ),
    experiments=[
        *rates.EXPERIMENTS,
        *width.EXPERIMENTS,
        *learning.EXPERIMENTS,
        *soft_margin.EXPERIMENTS,
        *tables.EXPERIMENTS,
        *usps.EXPERIMENTS,
        *scaling.EXPERIMENTS,
        *selection.EXPERIMENTS,
    ],
)
