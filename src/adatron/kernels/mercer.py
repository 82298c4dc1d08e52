"""Mercer's condition, checked empirically on a sample of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.kernels.base import Kernel

__all__ = ["is_indefinite", "smallest_eigenvalue"]


def smallest_eigenvalue(kernel: Kernel, X: Any, *, n_samples: int = 500, random_state: int = 0) -> float:
    """Smallest eigenvalue of the Gram matrix of at most `n_samples` rows of `X`.

    A clearly negative value proves that the kernel is not positive semi-definite; the reverse
    does not hold, since a sample can miss the direction of negative curvature.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Gaussian, Sigmoid, smallest_eigenvalue
    >>> X = np.linspace(-1, 1, 9).reshape(-1, 1)
    >>> smallest_eigenvalue(Gaussian(), X) > -1e-12
    True
    >>> smallest_eigenvalue(Sigmoid(coef0=-1.0), X) < 0
    True
    """
    m = X.shape[0]
    if m > n_samples:
        rows = np.random.default_rng(random_state).choice(m, n_samples, replace=False)
        X = X[np.sort(rows)]
    return float(np.linalg.eigvalsh(kernel(X, X))[0])


def is_indefinite(gram: np.ndarray) -> bool:
    """Whether a symmetric matrix has an eigenvalue that is negative beyond rounding."""
    eigenvalues = np.linalg.eigvalsh(gram)
    return bool(eigenvalues[0] < -1e-10 * np.abs(eigenvalues).max())
