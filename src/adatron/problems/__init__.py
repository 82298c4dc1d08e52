"""The one quadratic programme, thin formulations of it, and the one whose columns are coupled.

>>> import numpy as np
>>> from adatron.gram import DenseGram
>>> from adatron.problems import classification
>>> gram = DenseGram(np.eye(3))
>>> one_vs_rest = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # three problems as columns
>>> classification(gram, one_vs_rest, np.full(3, np.inf), bias=False).n_columns
3
"""

from adatron.problems.classification import classification
from adatron.problems.crammer_singer import CrammerSingerProblem, crammer_singer
from adatron.problems.dual import DualProblem
from adatron.problems.measures import measure_columns
from adatron.problems.one_class import Ball, enclosing_ball, one_class
from adatron.problems.regression import regression

__all__ = [
    "Ball",
    "CrammerSingerProblem",
    "DualProblem",
    "classification",
    "crammer_singer",
    "enclosing_ball",
    "measure_columns",
    "one_class",
    "regression",
]
