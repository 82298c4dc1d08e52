"""Classification as a `DualProblem`: signs from labels, bounds from C and weights."""

from __future__ import annotations

import numpy as np

from adatron.gram import GramOperator
from adatron.problems.dual import DualProblem

__all__ = ["classification", "infinite_where_huge"]

_HARD = 1e100  # beyond this, in units of the kernel, a bound cannot be told from infinity in float64


def classification(gram: GramOperator, signs: np.ndarray, upper: np.ndarray, *, bias: bool) -> DualProblem:
    """Soft- or hard-margin classification, one problem per column of `signs`.

    Parameters
    ----------
    gram : GramOperator
    signs : array of shape (m,) or (m, B)
    upper : array of shape (m,)
        ``C`` times the weight of each row.
    bias : bool
        Whether a bias is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.gram import DenseGram
    >>> from adatron.problems import classification
    >>> problem = classification(DenseGram(np.eye(2)), np.array([1, -1]), np.array([1.0, 2.0]), bias=True)
    >>> problem.upper.ravel()
    array([1., 2.])
    """
    y = np.asarray(signs, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    upper = infinite_where_huge(gram, upper)
    return DualProblem(
        gram, y, np.ones_like(y), np.repeat(upper[:, None], y.shape[1], axis=1), 0.0 if bias else None
    )


def infinite_where_huge(gram: GramOperator, upper: np.ndarray) -> np.ndarray:
    """Bounds, infinite where float64 could not tell them from infinity."""
    scale = float(np.max(gram.diagonal(), initial=0.0))
    return np.where(upper * scale >= _HARD, np.inf, upper)
