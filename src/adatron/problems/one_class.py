"""One-class problems: a hyperplane or a ball in feature space that has most of the points on one side.

Both have ``y = 1`` and ``Σα = 1``, with a bound of ``w_i/(ν Σw)`` for a row of weight w_i: at most the
part ν of the weight lies outside, and at least that part belongs to support vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adatron.gram import GramOperator
from adatron.problems.dual import DualProblem

__all__ = ["Ball", "enclosing_ball", "one_class"]


def one_class(gram: GramOperator, weights: np.ndarray, nu: float) -> DualProblem:
    """The hyperplane ``f(x) + b = 0`` farthest from the origin with f + b ≥ 0 for most points.

    Parameters
    ----------
    gram : GramOperator
    weights : array of shape (m,)
    nu : float
        Part of the weight that may lie outside.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import one_class
    >>> problem = one_class(DenseGram(np.eye(4)), np.ones(4), nu=0.5)
    >>> problem.upper.ravel(), problem.equality
    (array([0.5, 0.5, 0.5, 0.5]), 1.0)
    """
    return _simplex(gram, np.zeros(gram.m), weights, nu)


def enclosing_ball(gram: GramOperator, weights: np.ndarray, nu: float = 0.0) -> DualProblem:
    """The smallest ball that encloses the points, or all but the part ν of their weight.

    Parameters
    ----------
    gram : GramOperator
    weights : array of shape (m,)
    nu : float
        Part of the weight that may lie outside; 0 encloses all points.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import enclosing_ball
    >>> enclosing_ball(DenseGram(np.diag([1.0, 4.0])), np.ones(2)).p.ravel()
    array([0.5, 2. ])
    """
    return _simplex(gram, 0.5 * gram.diagonal(), weights, nu)


def _simplex(gram: GramOperator, p: np.ndarray, weights: np.ndarray, nu: float) -> DualProblem:
    share = weights / weights.max()
    share = share / share.sum()
    with np.errstate(divide="ignore", over="ignore"):
        upper = np.minimum(np.where(share > 0.0, share / nu, 0.0), 1.0)  # Σα = 1 implies α ≤ 1
    return DualProblem(gram, np.ones((gram.m, 1)), p[:, None], upper[:, None], 1.0)


@dataclass(frozen=True)
class Ball:
    """A ball in feature space with the centre ``Σ α_i φ(x_i)``.

    Parameters
    ----------
    alpha : array of shape (m,)
        Coefficients of the centre.
    centre_squared : float
        Squared norm of the centre, ``αᵀKα``.
    radius_squared : float

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import Ball, enclosing_ball
    >>> x = np.array([[-1.0], [0.5], [3.0]])
    >>> problem = enclosing_ball(DenseGram(x @ x.T), np.ones(3))
    >>> ball = Ball.of(problem, alpha=np.array([0.5, 0.0, 0.5]), bias=1.5)
    >>> ball.radius_squared, ball.squared_distances(x.ravel() ** 2, (x @ x.T) @ ball.alpha)
    (4.0, array([4.  , 0.25, 4.  ]))
    """

    alpha: np.ndarray
    centre_squared: float
    radius_squared: float

    @classmethod
    def of(cls, problem: DualProblem, alpha: np.ndarray, bias: float) -> Ball:
        """The ball of a solution of `enclosing_ball`: at its surface ``½ K_ii − f_i = bias``."""
        outputs = problem.gram.matmul(alpha[:, None])[:, 0]
        centre_squared = max(float(alpha @ outputs), 0.0)
        return cls(alpha, centre_squared, max(centre_squared + 2.0 * bias, 0.0))

    def squared_distances(self, diagonal: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """``‖φ(x) − c‖²`` of any points, from their ``k(x, x)`` and outputs ``Σ α_i k(x_i, x)``."""
        return np.maximum(diagonal - 2.0 * outputs + self.centre_squared, 0.0)
