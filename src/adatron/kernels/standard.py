"""The kernels of the papers and of scikit-learn, and functions of the user as kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from adatron.exceptions import KernelError
from adatron.kernels.base import Kernel, ProductForm, Traits, squared_norms
from adatron.numerics.compiled import compiled
from adatron.numerics.exponential import exponentials


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
        return _inner_products(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)


class _Numeric(Kernel):
    """A kernel whose fields are finite numbers: a whole `degree`, any `coef0`, others above zero."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "weights":
                _check(name, value)


@dataclass(frozen=True)
class _OfDistance(_Numeric):
    """A kernel of the distance of two rows, whose features may have weights."""

    gamma: float = 1.0
    weights: Any = None  # a tuple once it is made
    traits = Traits(psd=True, nonnegative=True, unit_diagonal=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=np.float64)
            if weights.ndim != 1 or not np.isfinite(weights).all() or not (weights >= 0.0).all():
                raise ValueError(f"weights must be finite numbers >= 0, one a feature, got {self.weights!r}")
            object.__setattr__(self, "weights", tuple(weights.tolist()))

    def split(self, *rows: Any) -> tuple[Any, ...]:
        if self.weights is None:
            return self, *rows
        return replace(self, weights=None), *(_weighted(X, self.weights) for X in rows)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        same = X is Z
        plain, X, Z = self.split(X, Z)
        return plain._values(X, X if same else Z)

    def _values(self, X: Any, Z: Any) -> np.ndarray:
        raise NotImplementedError


def _weighted(X: Any, weights: Any) -> Any:
    if X.shape[1] != len(weights):
        raise ValueError(f"the kernel has weights for {len(weights)} features, X has {X.shape[1]}")
    return sparse.csr_array(X.multiply(weights)) if sparse.issparse(X) else X * np.asarray(weights)


def _check(name: str, value: Any) -> None:
    is_number = isinstance(value, Integral if name == "degree" else Real) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or (name != "coef0" and value <= 0):
        allowed = {"degree": "an integer >= 1", "coef0": "a finite number"}.get(name, "a finite number > 0")
        raise ValueError(f"{name} must be {allowed}, got {value!r}")


@dataclass(frozen=True)
class Constant(_Numeric):
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
class Gaussian(_OfDistance):
    """``k(x, z) = exp(−gamma |x − z|²)``; ``gamma = 1/(2σ²)``.

    Parameters
    ----------
    gamma : float > 0, default=1.0
    weights : sequence of float >= 0, optional
        By which each feature is multiplied first.

    Examples
    --------
    >>> from adatron.kernels import Gaussian
    >>> Gaussian.of_width(1.0)
    Gaussian(gamma=0.5)
    """

    @classmethod
    def of_width(cls, sigma: float) -> Gaussian:
        """The Gaussian of width σ, as the papers write it: ``gamma = 1/(2σ²)``.

        Parameters
        ----------
        sigma : float > 0

        Returns
        -------
        Gaussian
        """
        _check("sigma", sigma)
        if 2.0 * sigma * sigma < np.finfo(float).tiny:
            raise ValueError(f"sigma={sigma!r} is too small: gamma = 1/(2σ²) overflows")
        return cls(gamma=1.0 / (2.0 * sigma * sigma))

    @property
    def product_form(self) -> ProductForm:  # type: ignore[override]
        return ProductForm("exp", 2.0 * self.gamma)

    def _values(self, X: Any, Z: Any) -> np.ndarray:
        distances = squared_distances(X, Z)
        distances *= -self.gamma
        return exponentials(distances)


@dataclass(frozen=True)
class Exponential(_OfDistance):
    """``k(x, z) = exp(−gamma |x − z|)``, the Laplace kernel of the Euclidean distance (Matérn ½).

    Parameters
    ----------
    gamma : float > 0, default=1.0
    weights : sequence of float >= 0, optional
        By which each feature is multiplied first.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Exponential
    >>> Exponential(0.5)(np.array([[3.0, 4.0]]), np.zeros((1, 2))).round(4)
    array([[0.0821]])
    """

    @property
    def product_form(self) -> ProductForm:  # type: ignore[override]
        return ProductForm("exp of root", 2.0 * self.gamma**2)

    def _values(self, X: Any, Z: Any) -> np.ndarray:
        distances = squared_distances(X, Z)
        np.sqrt(distances, out=distances)
        distances *= -self.gamma
        return exponentials(distances)


@dataclass(frozen=True)
class Laplacian(_OfDistance):
    """``k(x, z) = exp(−gamma |x − z|₁)``, the Laplace kernel of the city-block distance.

    Parameters
    ----------
    gamma : float > 0, default=1.0
    weights : sequence of float >= 0, optional
        By which each feature is multiplied first.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Laplacian
    >>> Laplacian(0.5, weights=[1.0, 0.0])(np.array([[2.0, 9.0]]), np.zeros((1, 2))).round(4)
    array([[0.3679]])
    """

    uses_city_block = True

    def _values(self, X: Any, Z: Any) -> np.ndarray:
        if sparse.issparse(X) or sparse.issparse(Z):
            from sklearn.metrics.pairwise import manhattan_distances

            distances = manhattan_distances(X, Z)
        else:
            distances = np.empty((X.shape[0], Z.shape[0]))
            city_block_distances(
                np.asarray(X, dtype=np.float64), np.ascontiguousarray(Z.T, dtype=np.float64), distances
            )
        distances *= -self.gamma
        return exponentials(distances)


@dataclass(frozen=True)
class Polynomial(_Numeric):
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
            return (self.gamma * _inner_products(X, Z) + self.coef0) ** self.degree

    def diagonal(self, X: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            return (self.gamma * squared_norms(X) + self.coef0) ** self.degree


@dataclass(frozen=True)
class Sigmoid(_Numeric):
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
        return np.tanh(self.gamma * _inner_products(X, Z) + self.coef0)

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


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """All ``|x − z|²``."""
    if not sparse.issparse(X) and not sparse.issparse(Z):
        centre = Z.mean(axis=0)  # |x − z|² of rows about their centre loses fewer digits
        moved = Z - centre
        X, Z = (moved if X is Z else X - centre), moved
    with np.errstate(over="ignore", invalid="ignore"):  # reported with the rows they come from
        distances = _inner_products(X, Z)
        distances *= -2.0
        distances += squared_norms(X)[:, None]
        distances += squared_norms(Z)[None, :]
    np.maximum(distances, 0.0, out=distances)  # keeps NaN, so overflow is still seen
    if X is Z:
        np.fill_diagonal(distances, 0.0)
    return distances


@compiled
def city_block_distances(X, columns, out):
    """Write ``|x − z|₁`` of the rows of `X` and the columns of `columns`, which has a row for each feature.

    The inner loop runs over many z at once, four features at a time: that is what vectorises.
    """
    d, step = X.shape[1], 512
    for first in range(0, out.shape[1], step):
        last = min(first + step, out.shape[1])
        for i in range(out.shape[0]):
            row = out[i, first:last]
            row[:] = 0.0
            j = 0
            while j + 4 <= d:
                a, b, c, e = X[i, j], X[i, j + 1], X[i, j + 2], X[i, j + 3]
                A, B = columns[j, first:last], columns[j + 1, first:last]
                C, E = columns[j + 2, first:last], columns[j + 3, first:last]
                for k in range(len(row)):
                    row[k] += abs(a - A[k]) + abs(b - B[k]) + abs(c - C[k]) + abs(e - E[k])
                j += 4
            while j < d:
                a, A = X[i, j], columns[j, first:last]
                for k in range(len(row)):
                    row[k] += abs(a - A[k])
                j += 1


def _inner_products(X: Any, Z: Any) -> np.ndarray:
    """All ``⟨x, z⟩`` as a dense array; this is where sparse input ends."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values are reported with their rows
        products = X @ Z.T
    return products.toarray() if sparse.issparse(products) else np.asarray(products)
