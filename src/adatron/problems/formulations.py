"""Classification, regression and one-class problems, each a few lines over `DualProblem`.

`upper`, of shape (m,), is C times the weight of each row, and `bias` says whether one is fitted. Labels and
targets have shape (m,), or (m, B) for B problems.

The one-class problems, a hyperplane or a ball in feature space that has most of the points on one side,
have ``y = 1`` and ``Σα = 1``, with a bound of ``w_i/(ν Σw)`` for a row of weight w_i: at most the part ν of
the weight lies outside, and at least that part belongs to support vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adatron.gram import Gram, TwinGram
from adatron.problems.dual import DualProblem, infinite_where_huge

__all__ = ["Ball", "classification", "enclosing_ball", "one_class", "regression"]


def classification(gram: Gram, signs: np.ndarray, upper: np.ndarray, *, bias: bool) -> DualProblem:
    """Soft- or hard-margin classification, for labels −1 and +1."""
    y = np.asarray(signs, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    bounds = np.repeat(infinite_where_huge(gram, upper)[:, None], y.shape[1], axis=1)
    return DualProblem(gram, y, np.ones_like(y), bounds, 0.0 if bias else None)


def regression(
    gram: Gram, targets: np.ndarray, upper: np.ndarray, *, epsilon: float, bias: bool
) -> DualProblem:
    """Fit outputs within `epsilon` of the targets.

    Minimises ``½‖w‖² + Σ u_i max(0, |t_i − f_i − b| − ε)``. In the dual a point stands twice: with
    ``y = +1, p = t − ε`` for a target above the tube and ``y = −1, p = −t − ε`` for one below it.
    """
    t = np.asarray(targets, dtype=np.float64)
    t = t[:, None] if t.ndim == 1 else t
    y = np.concatenate([np.ones_like(t), -np.ones_like(t)])
    p = np.concatenate([t - epsilon, -t - epsilon])
    bounds = np.repeat(np.tile(upper, 2)[:, None], t.shape[1], axis=1)
    return DualProblem(TwinGram(gram), y, p, bounds, 0.0 if bias else None)


def one_class(gram: Gram, weights: np.ndarray, nu: float) -> DualProblem:
    """The hyperplane ``f(x) + b = 0`` farthest from the origin with f + b ≥ 0 for most points."""
    return _simplex(gram, np.zeros(gram.m), weights, nu)


def enclosing_ball(gram: Gram, weights: np.ndarray, nu: float = 0.0) -> DualProblem:
    """The smallest ball that encloses the points, or all but the part `nu` of their weight."""
    return _simplex(gram, 0.5 * gram.diagonal(), weights, nu)


def _simplex(gram: Gram, p: np.ndarray, weights: np.ndarray, nu: float) -> DualProblem:
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
