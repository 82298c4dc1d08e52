"""What a kernel is, and how kernels combine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from numbers import Integral, Real
from operator import add, mul
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from adatron.numerics.exponential import exponentials

_DISTANCE_FUNCTIONS = ("exp", "exp of root")  # functions of ``−|x − z|²``


@dataclass(frozen=True)
class Traits:
    """What is known about every value of a kernel; ``False`` means "not known to hold".

    Parameters
    ----------
    psd, nonnegative, unit_diagonal : bool, default=False
        Every kernel matrix is positive semi-definite; no value is negative; ``k(x, x) = 1``.

    Examples
    --------
    >>> from adatron.kernels import Gaussian
    >>> Gaussian().traits
    Traits(psd=True, nonnegative=True, unit_diagonal=True)
    """

    psd: bool = False
    nonnegative: bool = False
    unit_diagonal: bool = False


@dataclass(frozen=True)
class ProductForm:
    """A kernel as a function of inner products, so that one matrix product does most of the work.

    ``k(x, z) = function(scale ⟨x, z⟩ + o(x) + o(z) + constant)``. The Gaussian's exponent is
    ``2γ⟨x, z⟩ − γ|x|² − γ|z|²``, so its offset is ``o(x) = −γ|x|²``. As a product of two rows this is
    ``[scale x, o(x), 1] · [z, 1, o(z) + constant]``.
    """

    function: str  # "identity", "exp", "exp of root" (of minus the sum), "power" or "tanh"
    scale: float = 1.0
    constant: float = 0.0
    degree: int = 1  # of the power

    @property
    def moves_with_data(self) -> bool:
        """Whether ``k(x + c, z + c) = k(x, z)``."""
        return self.function in _DISTANCE_FUNCTIONS

    def offsets(self, squares: np.ndarray) -> np.ndarray:
        """o(x) of rows from ``|x|²``."""
        if self.function not in _DISTANCE_FUNCTIONS:
            return np.zeros(len(squares))
        with np.errstate(over="ignore"):
            return -0.5 * self.scale * squares

    def right(self, squares: np.ndarray) -> np.ndarray:
        """The last two columns of the right factor, float64."""
        return np.column_stack([np.ones(len(squares)), self.offsets(squares) + self.constant])

    def left(self, right: np.ndarray) -> np.ndarray:
        """The last two columns of the left factor from those of the right one."""
        return np.column_stack([right[:, 1] - right.dtype.type(self.constant), right[:, 0]])

    def finish(self, values: np.ndarray) -> None:
        """From the sum to the kernel value, in place."""
        if self.function == "exp":
            exponentials(values)
        elif self.function == "exp of root":  # of −γ²|x − z|², which rounding may make positive
            exponentials(values, of_roots=True)
        elif self.function == "power":
            np.power(values, self.degree, out=values)
        elif self.function == "tanh":
            np.tanh(values, out=values)


class Kernel:
    """Base class of kernels; combine them with ``+``, ``*`` and ``**``.

    Attributes
    ----------
    traits : Traits
        What is known about every value of the kernel.
    product_form : ProductForm or None
        How to evaluate it fast; by default there is no such form, and ``k(X, Z)`` is called.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Gaussian, Kernel, Linear
    >>> k: Kernel = Gaussian(gamma=0.5) + Linear() ** 2
    >>> k(np.eye(1, 2), np.eye(2)).round(3), k.traits.psd
    (array([[2.   , 0.368]]), True)
    """

    traits: Traits = Traits()
    product_form: ProductForm | None = None
    uses_city_block: bool = False  # whether it is ``exp(−gamma |x − z|₁)``, which has tiles of its own

    def split(self, *rows: Any) -> tuple[Any, ...]:
        """The kernel without weights of features, and rows that are multiplied by them.

        Parameters
        ----------
        *rows : ndarray or sparse matrix

        Returns
        -------
        tuple
            A kernel, and as many sets of rows.
        """
        return self, *rows

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """The values ``k(x, z)`` of all pairs of rows.

        Parameters
        ----------
        X, Z : ndarray or sparse matrix, of shape (n, d) and (m, d)

        Returns
        -------
        ndarray of shape (n, m)
        """
        raise NotImplementedError

    def diagonal(self, X: Any) -> np.ndarray:
        """The values ``k(x, x)``, one for each row of `X`; all 1 if ``traits`` says so.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        if self.traits.unit_diagonal:
            return np.ones(X.shape[0])
        raise NotImplementedError

    def __add__(self, other: Kernel) -> Sum:
        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Product:
        return Product(self, other)

    def __pow__(self, exponent: int) -> Power:
        return Power(self, exponent)


class NumericKernel(Kernel):
    """A kernel whose fields are finite numbers: a whole `degree`, any `coef0`, others above zero."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "weights":
                check_parameter(name, value)


def check_parameter(name: str, value: Any) -> None:
    is_number = isinstance(value, Integral if name == "degree" else Real) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or (name != "coef0" and value <= 0):
        allowed = {"degree": "an integer >= 1", "coef0": "a finite number"}.get(name, "a finite number > 0")
        raise ValueError(f"{name} must be {allowed}, got {value!r}")


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel
    _operation: ClassVar[Any]
    _keeps_ones: ClassVar[bool]  # whether the operation of 1 and 1 is 1

    def __post_init__(self) -> None:
        for kernel in (self.left, self.right):
            if not isinstance(kernel, Kernel):
                raise TypeError(f"cannot combine a kernel with {kernel!r}; wrap functions in CallableKernel")

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        left, right = self.left.traits, self.right.traits
        return Traits(
            psd=left.psd and right.psd,
            nonnegative=left.nonnegative and right.nonnegative,
            unit_diagonal=self._keeps_ones and left.unit_diagonal and right.unit_diagonal,
        )

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self._operation(self.left(X, Z), self.right(X, Z))

    def diagonal(self, X: Any) -> np.ndarray:
        return self._operation(self.left.diagonal(X), self.right.diagonal(X))


class Sum(_Pair):
    """``k(x, z) = left(x, z) + right(x, z)``.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from adatron.kernels import Gaussian, Linear
    >>> Gaussian() + Linear()
    Sum(left=Gaussian(gamma=1.0), right=Linear())
    """

    _operation, _keeps_ones = staticmethod(add), False


class Product(_Pair):
    """``k(x, z) = left(x, z) · right(x, z)``.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from adatron.kernels import Gaussian, Linear
    >>> Gaussian() * Linear()
    Product(left=Gaussian(gamma=1.0), right=Linear())
    """

    _operation, _keeps_ones = staticmethod(mul), True


@dataclass(frozen=True)
class Power(Kernel):
    """``k(x, z) = base(x, z) ** exponent`` for a whole number of at least 1.

    Parameters
    ----------
    base : Kernel
    exponent : int >= 1

    Examples
    --------
    >>> from adatron.kernels import Linear
    >>> Linear() ** 2
    Power(base=Linear(), exponent=2)
    """

    base: Kernel
    exponent: int

    def __post_init__(self) -> None:
        if not isinstance(self.exponent, int) or self.exponent < 1:
            raise ValueError(f"a kernel's exponent must be an integer >= 1, got {self.exponent!r}")

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        traits = self.base.traits
        return replace(traits, nonnegative=traits.nonnegative or self.exponent % 2 == 0)

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        return self.base(X, Z) ** self.exponent

    def diagonal(self, X: Any) -> np.ndarray:
        return self.base.diagonal(X) ** self.exponent


def squared_norms(X: Any) -> np.ndarray:
    """``|x|²`` of every row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)


def inner_products(X: Any, Z: Any) -> np.ndarray:
    """All ``⟨x, z⟩`` as a dense array; this is where sparse input ends."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values are reported with their rows
        products = X @ Z.T
    return products.toarray() if sparse.issparse(products) else np.asarray(products)
