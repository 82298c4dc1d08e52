"""The one quadratic programme behind every estimator, and its formulations.

>>> import numpy as np
>>> from adatron.gram import DenseGram
>>> from adatron.problems import classification, enclosing_ball, one_class, regression
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
"""

from adatron.problems.dual import DualProblem, classification, enclosing_ball, one_class, regression
from adatron.problems.level import LevelProblem, nu_classification, nu_regression
