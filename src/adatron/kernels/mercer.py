"""Whether a kernel meets Mercer's condition (J. Mercer 1909), as far as a matrix of its values tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from adatron.kernels.base import Kernel

_ROUNDING = 1e-10  # eigenvalues between this part of the largest and its negative may be zero
_LANCZOS_STEPS = 40


def smallest_eigenvalue(kernel: Kernel, X: Any, *, n_samples: int = 500, random_state: int = 0) -> float:
    """Smallest eigenvalue of the Gram matrix of at most `n_samples` rows of `X`.

    A clearly negative value proves that the kernel is not positive semi-definite. The reverse does not hold:
    a sample can miss the direction of negative curvature.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    n_samples, random_state : int, default=500, 0
        How many rows, and what draws them.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Sigmoid, smallest_eigenvalue
    >>> smallest_eigenvalue(Sigmoid(coef0=-1.0), np.linspace(-1, 1, 9).reshape(-1, 1)) < 0
    True
    """
    if X.shape[0] > n_samples:
        rows = np.random.default_rng(random_state).choice(X.shape[0], n_samples, replace=False)
        X = X[np.sort(rows)]
    return float(np.linalg.eigvalsh(kernel(X, X))[0])


def is_indefinite(gram: np.ndarray) -> bool:
    """Whether a symmetric matrix has an eigenvalue that is negative beyond rounding.

    Parameters
    ----------
    gram : array of shape (m, m)

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import is_indefinite
    >>> is_indefinite(np.eye(2)), is_indefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (False, True)
    """
    eigenvalues = np.linalg.eigvalsh(gram)
    return bool(eigenvalues[0] < -_ROUNDING * np.abs(eigenvalues).max())


def has_negative_curvature(matmul: Callable[[np.ndarray], np.ndarray], m: int) -> bool:
    """Whether a few Lanczos steps find a v with ``vᵀKv < 0`` in a symmetric m × m matrix.

    In the orthonormal basis of ``v, Kv, K²v, …`` K is tridiagonal, and its extreme eigenvalues there approach
    those of K.
    """
    basis = np.zeros((_LANCZOS_STEPS, m))
    diagonal, beside = np.zeros(_LANCZOS_STEPS), np.zeros(_LANCZOS_STEPS)
    vector = np.random.default_rng(0).normal(size=m)
    for step in range(_LANCZOS_STEPS):
        basis[step] = vector / np.linalg.norm(vector)
        vector = matmul(basis[step][:, None])[:, 0]
        diagonal[step] = basis[step] @ vector
        for _ in range(2):  # rounding destroys orthogonality: once is not enough
            vector = vector - basis[: step + 1].T @ (basis[: step + 1] @ vector)
        beside[step] = np.linalg.norm(vector)
        if beside[step] <= _ROUNDING * np.abs(diagonal[: step + 1]).max():  # the basis is complete
            break
    ritz = eigvalsh_tridiagonal(diagonal[: step + 1], beside[:step])
    return bool(ritz[0] < -_ROUNDING * np.abs(ritz).max())
