"""ε-regression as a `DualProblem`: two multipliers for each point, one for each side of the tube."""

from __future__ import annotations

import numpy as np

from adatron.gram import GramOperator, TwinGram
from adatron.problems.dual import DualProblem

__all__ = ["regression"]


def regression(
    gram: GramOperator, targets: np.ndarray, upper: np.ndarray, *, epsilon: float, bias: bool
) -> DualProblem:
    """Fit outputs within `epsilon` of the targets, one problem per column of `targets`.

    Minimises ``½‖w‖² + Σ u_i max(0, |t_i − f_i − b| − ε)``. In the dual a point stands twice: with
    ``y = +1, p = t − ε`` for a target above the tube and ``y = −1, p = −t − ε`` for one below it.

    Parameters
    ----------
    gram : GramOperator
        The kernel matrix of the m points.
    targets : array of shape (m,) or (m, B)
    upper : array of shape (m,)
        ``C`` times the weight of each row.
    epsilon : float
        Half the width of the tube.
    bias : bool
        Whether a bias is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import regression
    >>> problem = regression(DenseGram(np.eye(2)), np.array([3.0, 4.0]), np.ones(2), epsilon=0.5, bias=True)
    >>> problem.y.ravel(), problem.p.ravel()
    (array([ 1.,  1., -1., -1.]), array([ 2.5,  3.5, -3.5, -4.5]))
    """
    t = np.asarray(targets, dtype=np.float64)
    t = t[:, None] if t.ndim == 1 else t
    y = np.concatenate([np.ones_like(t), -np.ones_like(t)])
    p = np.concatenate([t - epsilon, -t - epsilon])
    bounds = np.repeat(np.tile(upper, 2)[:, None], t.shape[1], axis=1)
    return DualProblem(TwinGram(gram), y, p, bounds, 0.0 if bias else None)
