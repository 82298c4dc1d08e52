"""The kernels of the papers and of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from adatron.kernels.base import Kernel, ProductForm, Traits, inner_products, squared_norms
from adatron.numerics.exponential import exponentials

__all__ = ["KERNELS", "Constant", "Gaussian", "Laplacian", "Linear", "Polynomial", "Precomputed", "Sigmoid"]


@dataclass(frozen=True)
class Linear(Kernel):
    """``k(x, z) = ⟨x, z⟩``.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

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
class Constant(Kernel):
    """``k(x, z) = value``; added to another kernel, it takes the place of a bias.

    Parameters
    ----------
    value : float > 0, default=1.0

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> from adatron.kernels import Constant, Gaussian
    >>> Gaussian() + Constant(2.0)
    Sum(left=Gaussian(gamma=1.0), right=Constant(value=2.0))
    """

    value: float = 1.0
    traits = Traits(psd=True, nonnegative=True)

    def __post_init__(self) -> None:
        _check("value", self.value)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return np.full((X.shape[0], Z.shape[0]), self.value)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.full(X.shape[0], self.value)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """``k(x, z) = exp(−gamma |x − z|²)``; ``gamma = 1/(2σ²)``.

    Parameters
    ----------
    gamma : float > 0, default=1.0

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
        _check("gamma", self.gamma)

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

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        if not sparse.issparse(X) and not sparse.issparse(Z):
            centre = Z.mean(axis=0)  # |x − z|² of rows about their centre loses fewer digits
            moved = Z - centre
            X, Z = (moved if X is Z else X - centre), moved
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
    gamma : float > 0, default=1.0

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> from adatron.kernels import Laplacian
    >>> Laplacian(0.5).traits
    Traits(psd=True, nonnegative=True, unit_diagonal=True)
    """

    gamma: float = 1.0
    traits = Traits(psd=True, nonnegative=True, unit_diagonal=True)

    def __post_init__(self) -> None:
        _check("gamma", self.gamma)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        from sklearn.metrics.pairwise import manhattan_distances

        return np.exp(-self.gamma * manhattan_distances(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Polynomial(Kernel):
    """``k(x, z) = (gamma ⟨x, z⟩ + coef0) ** degree``; the papers' has gamma = coef0 = 1.

    Parameters
    ----------
    degree : int >= 1, default=3
    gamma : float > 0, default=1.0
    coef0 : float, default=1.0

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> from adatron.kernels import Polynomial
    >>> Polynomial(degree=2).traits
    Traits(psd=True, nonnegative=True, unit_diagonal=False)
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        _check("gamma", self.gamma)
        _check("coef0", self.coef0, positive=False)
        if not isinstance(self.degree, Integral) or isinstance(self.degree, bool) or self.degree < 1:
            raise ValueError(f"degree must be an integer >= 1, got {self.degree!r}")

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
class Sigmoid(Kernel):
    """``k(x, z) = tanh(gamma ⟨x, z⟩ + coef0)``; not positive semi-definite in general.

    Parameters
    ----------
    gamma : float > 0, default=1.0
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
        _check("gamma", self.gamma)
        _check("coef0", self.coef0, positive=False)

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


# What estimators call the kernels. Fields are named like the estimators' parameters: gamma, coef0, degree.
KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": Gaussian,
    "laplacian": Laplacian,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}


def _check(name: str, value: Any, *, positive: bool = True) -> None:
    is_finite = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    if not is_finite or (positive and value <= 0.0):
        raise ValueError(f"{name} must be a finite number{' > 0' if positive else ''}, got {value!r}")
