"""What ``k(x, z)`` is: small frozen objects that know nothing of data or training.

A kernel is called with two sets of rows and gives the matrix of their values. Kernels add,
multiply and rise to powers, and their traits follow. Any function of two sets of rows becomes a kernel as
`CallableKernel`.

>>> import numpy as np
>>> from adatron.kernels import Gaussian, Polynomial
>>> k = Gaussian.of_width(2.0) * Polynomial(degree=2)
>>> k(np.zeros((1, 2)), np.ones((1, 2))).round(4)
array([[0.7788]])
>>> k.traits
Traits(psd=True, nonnegative=True, unit_diagonal=False)
"""

from adatron.kernels.base import Kernel, Power, Product, ProductForm, Sum, Traits, squared_norms
from adatron.kernels.functions import CallableKernel
from adatron.kernels.mercer import has_negative_curvature, is_indefinite, smallest_eigenvalue
from adatron.kernels.standard import (
    KERNELS,
    Constant,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = [
    "KERNELS",
    "CallableKernel",
    "Constant",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "ProductForm",
    "Sigmoid",
    "Sum",
    "Traits",
    "has_negative_curvature",
    "is_indefinite",
    "smallest_eigenvalue",
    "squared_norms",
]
