"""Functions of the user as kernels, their answers checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adatron.exceptions import KernelError
from adatron.kernels.base import Kernel

__all__ = ["CallableKernel"]


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function ``function(X, Z)`` that returns the matrix of kernel values.

    Parameters
    ----------
    function : callable
        Of two matrices of rows, or two sequences of objects; returns an array or sparse matrix with one row
        for each row of the first, one column for each row of the second.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import CallableKernel
    >>> CallableKernel(lambda X, Z: np.cos(X - Z.T))(np.zeros((1, 1)), np.zeros((1, 1)))
    array([[1.]])
    """

    function: Callable[[Any, Any], Any]

    @property
    def name(self) -> str:
        """The function's name in messages."""
        return getattr(self.function, "__name__", repr(self.function))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        expected = (X.shape[0], Z.shape[0])
        try:
            values = self.function(X, Z)
        except Exception as error:
            where = f"kernel(X[0:{expected[0]}], Z[0:{expected[1]}])"
            raise KernelError(f"kernel function {self.name!r} failed in {where}: {error}") from error
        if sparse.issparse(values):
            values = values.toarray()
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
            kind = f"dtype {values.dtype}" if isinstance(values, np.ndarray) else type(values).__name__
            raise KernelError(
                f"kernel function {self.name!r} must return a NumPy array or a sparse matrix of numbers, "
                f"got {kind}"
            )
        if values.shape != expected:
            raise KernelError(
                f"kernel function {self.name!r} returned shape {values.shape}, expected {expected}: "
                "one row for each row of its first argument, one column for each row of its second"
            )
        array = np.array(values, dtype=np.float64, subok=False)  # the function may use its array again
        if not np.isfinite(array).all():
            i, j = np.argwhere(~np.isfinite(array))[0]
            raise KernelError(
                f"kernel function {self.name!r} returned {array[i, j]} for row {i} of its first and row {j} "
                "of its second argument; it must return finite numbers (scale X if they overflow)"
            )
        return array

    def diagonal(self, X: Any) -> np.ndarray:
        chunks = [self(X[i : i + 64], X[i : i + 64]).diagonal() for i in range(0, X.shape[0], 64)]
        return np.concatenate(chunks)
