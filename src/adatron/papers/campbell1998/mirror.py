"""The mirror symmetry problem of the document: 30 bits, 200 training strings, unseen test strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.datasets import make_mirror_symmetry
from adatron.papers.experiment import Effort

__all__ = ["mirror_splits"]

N_TRAINING = 200


def mirror_splits(effort: Effort, n_draws: int, n_test: int) -> list[tuple[Any, Any, Any, Any]]:
    """Draws of X_train, X_test, y_train, y_test.

    Test strings may repeat, but none of them is a training string; so a few less than `n_test` remain.

    Examples
    --------
    >>> from adatron.papers.campbell1998.mirror import mirror_splits
    >>> from adatron.papers.experiment import Effort
    >>> X_train, X_test, _, _ = mirror_splits(Effort(seed=0), n_draws=1, n_test=500)[0]
    >>> X_train.shape, len(X_test) > 480
    ((200, 30), True)
    """
    seeds = effort.generator().integers(2**31, size=(n_draws, 2)).tolist()
    return [_split(n_test, *pair) for pair in seeds]


def _split(n_test: int, training_seed: int, test_seed: int) -> tuple[Any, Any, Any, Any]:
    X_train, y_train = make_mirror_symmetry(N_TRAINING, random_state=training_seed)
    X_test, y_test = make_mirror_symmetry(n_test, random_state=test_seed)
    unseen = ~np.isin(_as_integers(X_test), _as_integers(X_train))
    return X_train, X_test[unseen], y_train, y_test[unseen]


def _as_integers(X: np.ndarray) -> np.ndarray:
    return (X > 0) @ (1 << np.arange(X.shape[1]))
