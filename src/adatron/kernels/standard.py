"""The kernels of the papers and of scikit-learn, and functions of the user as kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adatron.exceptions import KernelError
from adatron.kernels.base import Kernel, NumericKernel, ProductForm, Traits, inner_products, squared_norms
from adatron.kernels.distances import Exponential, Gaussian, Laplacian


@dataclass(frozen=True)
class Linear(Kernel):
    """``k(x, z) = ⟨x, z⟩``.

    Examples
    --------
    >>> from adatron.kernels import Linear
    >>> Linear().traits
    Traits(psd=True, nonnegative=False, unit_diagonal=False)
    """

    traits = Traits(psd=True)
    product_form = ProductForm("identity")

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return inner_products(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)


@dataclass(frozen=True)
class Constant(NumericKernel):
    """``k(x, z) = value``; added to another kernel, it takes the place of a bias.

    Parameters
    ----------
    value : float > 0, default=1.0

    Examples
    --------
    >>> from adatron.kernels import Constant, Gaussian
    >>> Gaussian() + Constant(2.0)
    Sum(left=Gaussian(gamma=1.0), right=Constant(value=2.0))
    """

    value: float = 1.0
    traits = Traits(psd=True, nonnegative=True)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return np.full((X.shape[0], Z.shape[0]), self.value)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.full(X.shape[0], self.value)


@dataclass(frozen=True)
class Polynomial(NumericKernel):
    """``k(x, z) = (gamma ⟨x, z⟩ + coef0) ** degree``; the papers' has gamma = coef0 = 1.

    Parameters
    ----------
    degree : int >= 1, default=3
    gamma : float > 0, default=1.0
    coef0 : float, default=1.0

    Examples
    --------
    >>> from adatron.kernels import Polynomial
    >>> Polynomial(degree=2).traits
    Traits(psd=True, nonnegative=True, unit_diagonal=False)
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return Traits(psd=self.coef0 >= 0.0, nonnegative=self.degree % 2 == 0)

    @property
    def product_form(self) -> ProductForm:  # type: ignore[override]
        return ProductForm("power", self.gamma, self.coef0, self.degree)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        with np.errstate(over="ignore"):  # infinite values are reported with their rows
            return (self.gamma * inner_products(X, Z) + self.coef0) ** self.degree

    def diagonal(self, X: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            return (self.gamma * squared_norms(X) + self.coef0) ** self.degree


@dataclass(frozen=True)
class Sigmoid(NumericKernel):
    """``k(x, z) = tanh(gamma ⟨x, z⟩ + coef0)``; not positive semi-definite in general.

    Parameters
    ----------
    gamma : float > 0, default=1.0
    coef0 : float, default=0.0

    Examples
    --------
    >>> from adatron.kernels import Sigmoid
    >>> Sigmoid().traits.psd
    False
    """

    gamma: float = 1.0
    coef0: float = 0.0

    @property
    def product_form(self) -> ProductForm:  # type: ignore[override]
        return ProductForm("tanh", self.gamma, self.coef0)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return np.tanh(self.gamma * inner_products(X, Z) + self.coef0)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.tanh(self.gamma * squared_norms(X) + self.coef0)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows of `X` are rows of the kernel matrix already; `Z` only counts its columns.

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
    """A function ``function(X, Z)`` that returns the matrix of kernel values, which are checked.

    Parameters
    ----------
    function : callable
        Of two matrices of rows, or two sequences of objects; returns an array or sparse matrix with one row
        for each row of the first, one column for each row of the second.

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
        expected, named = (X.shape[0], Z.shape[0]), f"kernel function {self.name!r}"
        try:
            values = self.function(X, Z)
        except Exception as error:
            where = f"kernel(X[0:{expected[0]}], Z[0:{expected[1]}])"
            raise KernelError(f"{named} failed in {where}: {error}") from error
        if sparse.issparse(values):
            values = values.toarray()
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
            kind = f"dtype {values.dtype}" if isinstance(values, np.ndarray) else type(values).__name__
            raise KernelError(f"{named} must return a NumPy array or a sparse matrix of numbers, got {kind}")
        if values.shape != expected:
            raise KernelError(
                f"{named} returned shape {values.shape}, expected {expected}: one row for each row of its "
                "first argument, one column for each row of its second"
            )
        array = np.array(values, dtype=np.float64, subok=False)  # the function may use its array again
        if not np.isfinite(array).all():
            i, j = np.argwhere(~np.isfinite(array))[0]
            raise KernelError(
                f"{named} returned {array[i, j]} for row {i} of its first and row {j} of its second "
                "argument; it must return finite numbers (scale X if they overflow)"
            )
        return array

    def diagonal(self, X: Any) -> np.ndarray:
        chunks = [self(X[i : i + 64], X[i : i + 64]).diagonal() for i in range(0, X.shape[0], 64)]
        return np.concatenate(chunks)


# What estimators call the kernels. Fields are named like the estimators' parameters: gamma, coef0, degree.
KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear, "poly": Polynomial, "rbf": Gaussian, "laplacian": Laplacian, "exponential": Exponential,
    "sigmoid": Sigmoid, "precomputed": Precomputed,
}  # fmt: skip
