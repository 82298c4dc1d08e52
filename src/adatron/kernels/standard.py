"""The kernels of the documents and of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from adatron.exceptions import KernelError
from adatron.kernels.base import Kernel, Traits, inner_products, squared_norms
from adatron.numerics.exponential import exponentials

__all__ = [
    "CallableKernel",
    "Constant",
    "Gaussian",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
]


@dataclass(frozen=True)
class Linear(Kernel):
    """``k(x, z) = ⟨x, z⟩``.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[5.]])
    """

    traits = Traits(psd=True)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return inner_products(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)


@dataclass(frozen=True)
class Constant(Kernel):
    """``k(x, z) = value``; added to another kernel, it takes the place of a bias.

    Parameters
    ----------
    value : float, default=1.0
        Above 0.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Constant, Gaussian
    >>> (Gaussian() + Constant(2.0)).diagonal(np.zeros((1, 3)))
    array([3.])
    """

    value: float = 1.0
    traits = Traits(psd=True, nonnegative=True)

    def __post_init__(self) -> None:
        check_positive("value", self.value)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return np.full((X.shape[0], Z.shape[0]), self.value)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.full(X.shape[0], self.value)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """``k(x, z) = exp(−gamma |x − z|²)``; ``gamma = 1/(2σ²)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> from adatron.kernels import Gaussian
    >>> Gaussian.of_width(1.0)
    Gaussian(gamma=0.5)
    """

    gamma: float = 1.0
    traits = Traits(psd=True, nonnegative=True, unit_diagonal=True)

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    @classmethod
    def of_width(cls, sigma: float) -> Gaussian:
        """The Gaussian of width σ, as the documents write it.

        Parameters
        ----------
        sigma : float
            Above 0.

        Returns
        -------
        Gaussian
            With ``gamma = 1/(2σ²)``.
        """
        check_positive("sigma", sigma)
        if 2.0 * sigma * sigma < np.finfo(float).tiny:
            raise ValueError(f"sigma={sigma!r} is too small: gamma = 1/(2σ²) overflows")
        return cls(gamma=1.0 / (2.0 * sigma * sigma))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        X, Z = _centred(X, Z)
        with np.errstate(over="ignore", invalid="ignore"):  # reported with the rows they come from
            distances = inner_products(X, Z)
            distances *= -2.0
            distances += squared_norms(X)[:, None]
            distances += squared_norms(Z)[None, :]
        np.maximum(distances, 0.0, out=distances)  # keeps NaN, so overflow is still seen
        if X is Z:
            np.fill_diagonal(distances, 0.0)
        distances *= -self.gamma
        return exponentials(distances)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Laplacian(Kernel):
    """``k(x, z) = exp(−gamma |x − z|₁)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Laplacian
    >>> Laplacian(0.5)(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])).round(3)
    array([[0.368]])
    """

    gamma: float = 1.0
    traits = Traits(psd=True, nonnegative=True, unit_diagonal=True)

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        from sklearn.metrics.pairwise import manhattan_distances

        return np.exp(-self.gamma * manhattan_distances(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Polynomial(Kernel):
    """``k(x, z) = (gamma ⟨x, z⟩ + coef0) ** degree``; the documents' has gamma = coef0 = 1.

    Parameters
    ----------
    degree : int, default=3
        At least 1.
    gamma : float, default=1.0
        Above 0.
    coef0 : float, default=1.0

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Polynomial
    >>> Polynomial(degree=2)(np.array([[1.0]]), np.array([[2.0]]))
    array([[9.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)
        check_finite_value("coef0", self.coef0)
        if not isinstance(self.degree, Integral) or isinstance(self.degree, bool) or self.degree < 1:
            raise ValueError(f"degree must be an integer >= 1, got {self.degree!r}")

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return Traits(psd=self.coef0 >= 0.0, nonnegative=self.degree % 2 == 0)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self._of(inner_products(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return self._of(squared_norms(X))

    def _of(self, products: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # infinite values are reported with their rows
            return (self.gamma * products + self.coef0) ** self.degree


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """``k(x, z) = tanh(gamma ⟨x, z⟩ + coef0)``; not positive semi-definite in general.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0.
    coef0 : float, default=0.0

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> from adatron.kernels import Sigmoid
    >>> Sigmoid().traits.psd
    False
    """

    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)
        check_finite_value("coef0", self.coef0)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return np.tanh(self.gamma * inner_products(X, Z) + self.coef0)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.tanh(self.gamma * squared_norms(X) + self.coef0)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows of `X` are rows of the kernel matrix already; `Z` only counts its columns.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Precomputed
    >>> Precomputed().diagonal(np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([2., 3.])
    """

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return X.toarray() if sparse.issparse(X) else np.asarray(X)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.asarray(X.diagonal(), dtype=np.float64)


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function ``function(X, Z)`` that returns the matrix of kernel values.

    Parameters
    ----------
    function : callable
        Of two matrices of rows, or two sequences of objects; returns an array or sparse matrix with a row
        for each of the first, a column for each of the second.

    Attributes
    ----------
    name : str
        What messages call the function.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import CallableKernel
    >>> cosine = CallableKernel(lambda X, Z: np.cos(X - Z.T))
    >>> cosine(np.array([[0.0]]), np.array([[0.0]]))
    array([[1.]])
    """

    function: Callable[[Any, Any], Any]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        expected = (X.shape[0], Z.shape[0])
        try:
            values = self.function(X, Z)
        except Exception as error:
            where = f"kernel(X[0:{expected[0]}], Z[0:{expected[1]}])"
            raise KernelError(f"kernel function {self.name!r} failed in {where}: {error}") from error
        return self._checked(values, expected)

    def _checked(self, values: Any, expected: tuple[int, int]) -> np.ndarray:
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
        array = np.array(
            values, dtype=np.float64, subok=False
        )  # a copy: the function may use its array again
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


def _centred(X: Any, Z: Any) -> tuple[Any, Any]:
    """Move the origin into the data: |x − z|² loses fewer digits to cancellation."""
    if sparse.issparse(X) or sparse.issparse(Z):
        return X, Z
    centre = Z.mean(axis=0)
    moved = Z - centre
    return (moved if X is Z else X - centre), moved


def check_positive(name: str, value: float) -> None:
    if not (_is_finite(value) and value > 0.0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")


def check_finite_value(name: str, value: float) -> None:
    if not _is_finite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
