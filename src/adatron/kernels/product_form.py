"""Kernels that are a function of inner products, written so that one matrix product does most of the work.

``k(x, z) = finish(scale ⟨x, z⟩ + ⟨l(x), r(z)⟩)`` with a few extra columns l and r that hold what depends
on one point only. The Gaussian's exponent is ``2γ⟨x, z⟩ − γ|x|² − γ|z|²``: its extra columns are
``r(z) = (1, −γ|z|²)`` and ``l(x)``, the same the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.kernels.base import Kernel, squared_norms
from adatron.kernels.standard import Gaussian, Linear, Polynomial, Sigmoid

__all__ = ["ProductForm", "product_form"]


@dataclass(frozen=True)
class ProductForm:
    """The linear kernel, and the base of the others."""

    scale: float = 1.0
    moves_with_data = False  # whether k(x + c, z + c) = k(x, z)

    def right(self, X: Any) -> np.ndarray:
        """Extra columns r(x) of every row, float64."""
        return np.zeros((X.shape[0], 0))

    def left(self, right: np.ndarray) -> np.ndarray:
        """Extra columns l(x) from r(x)."""
        return right

    def finish(self, values: np.ndarray) -> None:
        """From the sum to the kernel value, in place."""


@dataclass(frozen=True)
class _Exponential(ProductForm):
    moves_with_data = True

    def right(self, X: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            exponents = -0.5 * self.scale * squared_norms(X)
        return np.column_stack([np.ones(X.shape[0]), exponents])

    def left(self, right: np.ndarray) -> np.ndarray:
        return right[:, ::-1]

    def finish(self, values: np.ndarray) -> None:
        np.exp(values, out=values)


@dataclass(frozen=True)
class _Affine(ProductForm):
    """``scale ⟨x, z⟩ + constant``, raised to a power, or its tanh for degree 0."""

    constant: float = 0.0
    degree: int = 0

    def right(self, X: Any) -> np.ndarray:
        return np.ones((X.shape[0], 1))

    def left(self, right: np.ndarray) -> np.ndarray:
        return self.constant * right

    def finish(self, values: np.ndarray) -> None:
        if self.degree:
            np.power(values, self.degree, out=values)
        else:
            np.tanh(values, out=values)


def product_form(kernel: Kernel) -> ProductForm | None:
    """The product form of a kernel, None if it has none here.

    Examples
    --------
    >>> from adatron.kernels import Gaussian, Laplacian, product_form
    >>> product_form(Gaussian(gamma=0.5)).scale
    1.0
    >>> product_form(Laplacian()) is None
    True
    """
    if isinstance(kernel, Gaussian):
        return _Exponential(2.0 * kernel.gamma)
    if isinstance(kernel, Linear):
        return ProductForm()
    if isinstance(kernel, Polynomial):
        return _Affine(kernel.gamma, kernel.coef0, kernel.degree)
    if isinstance(kernel, Sigmoid):
        return _Affine(kernel.gamma, kernel.coef0)
    return None
