"""Kernels that are a function of inner products, written so that one matrix product does most of the work.

``k(x, z) = function(scale ⟨x, z⟩ + o(x) + o(z) + constant)``. The Gaussian's exponent is
``2γ⟨x, z⟩ − γ|x|² − γ|z|²``, so its offset is ``o(x) = −γ|x|²``. As a product of two rows this is
``[scale x, o(x), 1] · [z, 1, o(z) + constant]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adatron.kernels.base import Kernel
from adatron.kernels.standard import Gaussian, Linear, Polynomial, Sigmoid
from adatron.numerics.exponential import exponentials

__all__ = ["ProductForm", "product_form"]


@dataclass(frozen=True)
class ProductForm:
    """How a kernel follows from inner products."""

    function: str  # "identity", "exp", "power" or "tanh"
    scale: float = 1.0
    constant: float = 0.0
    degree: int = 1  # of the power

    @property
    def moves_with_data(self) -> bool:
        """Whether ``k(x + c, z + c) = k(x, z)``."""
        return self.function == "exp"

    def offsets(self, squares: np.ndarray) -> np.ndarray:
        """o(x) of rows from ``|x|²``."""
        with np.errstate(over="ignore"):
            return -0.5 * self.scale * squares if self.moves_with_data else np.zeros(len(squares))

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
        elif self.function == "power":
            np.power(values, self.degree, out=values)
        elif self.function == "tanh":
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
        return ProductForm("exp", 2.0 * kernel.gamma)
    if isinstance(kernel, Linear):
        return ProductForm("identity")
    if isinstance(kernel, Polynomial):
        return ProductForm("power", kernel.gamma, kernel.coef0, kernel.degree)
    if isinstance(kernel, Sigmoid):
        return ProductForm("tanh", kernel.gamma, kernel.coef0)
    return None
