"""The one quadratic programme, thin formulations of it, and the one whose columns are coupled.

>>> import numpy as np
>>> from adatron.gram import DenseGram
>>> from adatron.problems import classification, crammer_singer, enclosing_ball, one_class, regression
>>> gram, C = DenseGram(np.diag([1.0, 4.0, 4.0])), np.array([1.0, 2.0, np.inf])
>>> one_vs_rest = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # three problems as columns
>>> problem = classification(gram, one_vs_rest, C, bias=False)
>>> problem.n_columns, problem.upper[:, 0]
(3, array([ 1.,  2., inf]))
>>> problem = regression(gram, np.array([3.0, 4.0, 5.0]), C, epsilon=0.5, bias=True)
>>> problem.y.ravel(), problem.p.ravel()
(array([ 1.,  1.,  1., -1., -1., -1.]), array([ 2.5,  3.5,  4.5, -3.5, -4.5, -5.5]))
>>> one_class(gram, np.ones(3), nu=2 / 3).upper.ravel(), enclosing_ball(gram, np.ones(3)).p.ravel()
(array([0.5, 0.5, 0.5]), array([0.5, 2. , 2. ]))
>>> crammer_singer(gram, np.array([0, 2, 1]), 3, C).bounds
array([[ 1.,  0.,  0.],
       [ 0.,  0.,  2.],
       [ 0., inf,  0.]])
"""

from adatron.problems.crammer_singer import CrammerSingerProblem, crammer_singer
from adatron.problems.dual import DualProblem, measure_columns
from adatron.problems.formulations import Ball, classification, enclosing_ball, one_class, regression

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
