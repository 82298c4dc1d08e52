"""What a kernel is: a frozen object ``k`` with ``k(X, Z)``, ``k.diagonal(X)`` and traits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Kernel", "Power", "Product", "Sum", "Traits", "inner_products", "squared_norms"]


@dataclass(frozen=True)
class Traits:
    """What is known about every value of a kernel; ``False`` means "not known to hold".

    Parameters
    ----------
    psd : bool, default=False
        Every kernel matrix is positive semi-definite.
    nonnegative : bool, default=False
        No value is negative.
    unit_diagonal : bool, default=False
        ``k(x, x) = 1``.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapter 2.

    Examples
    --------
    >>> from adatron.kernels import Gaussian
    >>> Gaussian().traits
    Traits(psd=True, nonnegative=True, unit_diagonal=True)
    """

    psd: bool = False
    nonnegative: bool = False
    unit_diagonal: bool = False


class Kernel:
    """Base class of kernels; combine them with ``+``, ``*`` and ``**``.

    Attributes
    ----------
    traits : Traits
        What is known about every value of the kernel.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, section 13.1.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Gaussian, Kernel, Linear
    >>> k = Gaussian(gamma=0.5) + Linear() ** 2
    >>> k(np.eye(2), np.eye(2)).round(3)
    array([[2.   , 0.368],
           [0.368, 2.   ]])
    >>> isinstance(k, Kernel), k.traits.psd
    (True, True)
    """

    traits: Traits = Traits()

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """The values ``k(x, z)`` of all pairs of rows.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
        Z : ndarray or sparse matrix of shape (m, d)

        Returns
        -------
        ndarray of shape (n, m)
        """
        raise NotImplementedError

    def diagonal(self, X: Any) -> np.ndarray:
        """The values ``k(x, x)``, one for each row of `X`.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        raise NotImplementedError

    def __add__(self, other: Kernel) -> Sum:
        return Sum(self, _as_kernel(other))

    def __mul__(self, other: Kernel) -> Product:
        return Product(self, _as_kernel(other))

    def __pow__(self, exponent: int) -> Power:
        return Power(self, exponent)


def _as_kernel(value: Any) -> Kernel:
    if not isinstance(value, Kernel):
        raise TypeError(f"cannot combine a kernel with {value!r}; wrap functions in CallableKernel")
    return value


@dataclass(frozen=True)
class Sum(Kernel):
    """``k(x, z) = left(x, z) + right(x, z)``.

    Parameters
    ----------
    left, right : Kernel

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, section 13.1.

    Examples
    --------
    >>> from adatron.kernels import Gaussian, Linear
    >>> Gaussian() + Linear()
    Sum(left=Gaussian(gamma=1.0), right=Linear())
    """

    left: Kernel
    right: Kernel

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        a, b = self.left.traits, self.right.traits
        return Traits(psd=a.psd and b.psd, nonnegative=a.nonnegative and b.nonnegative)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.left.diagonal(X) + self.right.diagonal(X)


@dataclass(frozen=True)
class Product(Kernel):
    """``k(x, z) = left(x, z) · right(x, z)``.

    Parameters
    ----------
    left, right : Kernel

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, section 13.1.

    Examples
    --------
    >>> from adatron.kernels import Gaussian, Linear
    >>> Gaussian() * Linear()
    Product(left=Gaussian(gamma=1.0), right=Linear())
    """

    left: Kernel
    right: Kernel

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        a, b = self.left.traits, self.right.traits
        return Traits(a.psd and b.psd, a.nonnegative and b.nonnegative, a.unit_diagonal and b.unit_diagonal)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.left.diagonal(X) * self.right.diagonal(X)


@dataclass(frozen=True)
class Power(Kernel):
    """``k(x, z) = base(x, z) ** exponent`` for a whole number of at least 1.

    Parameters
    ----------
    base : Kernel
    exponent : int
        At least 1.

    References
    ----------
    B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, section 13.1.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Linear
    >>> k = Linear() ** 2
    >>> k
    Power(base=Linear(), exponent=2)
    >>> k.diagonal(np.array([[3.0]]))
    array([81.])
    """

    base: Kernel
    exponent: int

    def __post_init__(self) -> None:
        if not isinstance(self.exponent, int) or self.exponent < 1:
            raise ValueError(f"a kernel's exponent must be an integer >= 1, got {self.exponent!r}")

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        t = self.base.traits
        return Traits(t.psd, t.nonnegative or self.exponent % 2 == 0, t.unit_diagonal)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.base(X, Z) ** self.exponent

    def diagonal(self, X: Any) -> np.ndarray:
        return self.base.diagonal(X) ** self.exponent


def inner_products(X: Any, Z: Any) -> np.ndarray:
    """All ``⟨x, z⟩`` as a dense array; this is where sparse input ends."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values are reported with their rows
        products = X @ Z.T
    return products.toarray() if sparse.issparse(products) else np.asarray(products)


def squared_norms(X: Any) -> np.ndarray:
    """``|x|²`` of every row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)
