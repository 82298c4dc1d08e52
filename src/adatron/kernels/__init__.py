"""What ``k(x, z)`` is: small frozen objects that know nothing of data or training.

A kernel is called with two sets of rows and gives the matrix of their values. Kernels add, multiply and rise
to powers, and their traits follow. Any function of two sets of rows becomes a kernel as `CallableKernel`.
The mathematics is in B. Schölkopf, A. J. Smola, *Learning with Kernels*, MIT Press 2002, chapters 2 and 13.

>>> import numpy as np
>>> from adatron.kernels import Gaussian, Polynomial
>>> k = Gaussian.of_width(2.0) * Polynomial(degree=2)
>>> k(np.zeros((1, 2)), np.ones((1, 2))).round(4)
array([[0.7788]])
>>> k.traits
Traits(psd=True, nonnegative=True, unit_diagonal=False)
"""

# isort: off
from adatron.kernels.base import (
    Kernel, Power, Product, ProductForm, Sum, Traits, squared_norms,
)  # fmt: skip
from adatron.kernels.mercer import has_negative_curvature, is_indefinite, smallest_eigenvalue
from adatron.kernels.distances import (
    Exponential, Gaussian, Laplacian, city_block_distances, squared_distances,
)  # fmt: skip
from adatron.kernels.standard import (
    KERNELS, CallableKernel, Constant, Linear, Polynomial, Precomputed, Sigmoid,
)  # fmt: skip

__all__ = [
    "KERNELS", "CallableKernel", "Constant", "Exponential", "Gaussian", "Kernel", "Laplacian", "Linear",
    "Polynomial", "Power", "Precomputed", "Product", "ProductForm", "Sigmoid", "Sum", "Traits",
    "has_negative_curvature", "is_indefinite", "smallest_eigenvalue", "squared_norms",
]  # fmt: skip
