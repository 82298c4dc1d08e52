"""Exact Shapley values of kernel expansions, in polynomial time (L. S. Shapley 1953).

The players are columns. A coalition S takes its columns from the row x and the others from a background row
z, and is worth the output there, ``Σ_i c_i k(v_i, (x_S, z_rest))``; several background rows are averaged. For
a kernel that is a product over columns, the worth is a sum of products with factors ``a_g = k_g(v_g, x_g)``
for columns in S and ``b_g = k_g(v_g, z_g)`` for others. The Shapley value of column g is, for each i and z::

    (a_g − b_g) ∫ Π_{h ≠ g} (b_h + t (a_h − b_h)) dt    from 0 to 1

The integrand is a polynomial of degree (columns − 1), so Gauss's rule with half as many nodes is exact (M.
Mohammadi et al. 2025 compute the same by elementary symmetric polynomials). The Gaussian and the city-block
Laplace kernel are such products. The Euclidean one is a mixture of Gaussians::

    exp(−γ r) = ∫ exp(−u r²) γ/(2√π) u^(−3/2) exp(−γ²/(4u)) du

and Shapley values are linear in the game, so they are mixtures, too. A linear kernel is a sum over columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.kernels import Constant, Exponential, Gaussian, Kernel, Laplacian, Linear, Sum
from adatron.numerics.compiled import compiled

_MOST_NODES = 128  # of Gauss's rule: exact up to 256 columns
_STEP = 0.5  # of the logarithm of u in the mixture of Gaussians; the error is about exp(−π²/step)
_SPAN = 30.0  # of that logarithm: distances from 5 orders below 1/γ
_NEGLIGIBLE = 1e-12  # largest product of a game that is left out


def is_separable(kernel: Kernel) -> bool:
    """Whether the Shapley values of the kernel's expansions can be computed."""
    if isinstance(kernel, Sum):
        return is_separable(kernel.left) and is_separable(kernel.right)
    return isinstance(kernel, Gaussian | Laplacian | Exponential | Linear | Constant)


def cost_of_a_pair(kernel: Kernel, n_columns: int) -> int:
    """About how many multiplications a vector and a background row take."""
    gaussians = 20 if isinstance(kernel, Exponential) else 1  # of the mixture that are not negligible
    return gaussians * n_columns * min(n_columns // 2 + 1, _MOST_NODES)


def shapley_values(
    kernel: Any, vectors: np.ndarray, c: np.ndarray, x: np.ndarray, background: np.ndarray,
    blocks: np.ndarray, n_columns: int,
) -> np.ndarray:  # fmt: skip
    """Shapley values at the row `x` of all columns; `blocks` has the column of every feature.

    Their sum is ``Σ_i c_i k(v_i, x)`` less the mean of it over the background.
    """
    if isinstance(kernel, Sum):
        rest = c, x, background, blocks, n_columns
        left, right = (shapley_values(k, vectors, *rest) for k in (kernel.left, kernel.right))
        return left + right
    if isinstance(kernel, Constant):
        return np.zeros(n_columns)
    if isinstance(kernel, Linear):
        return np.bincount(blocks, (c @ vectors) * (x - background.mean(axis=0)), n_columns)
    kernel, vectors, x, background = kernel.split(vectors, x[None], background)
    power = 1 if isinstance(kernel, Laplacian) else 2
    of_row = _by_block(np.abs(vectors - x) ** power, blocks, n_columns)
    scales, shares = np.array([-kernel.gamma]), np.ones(1)
    if isinstance(kernel, Exponential):
        scales, shares = _mixture(kernel.gamma)
    nodes, weights = np.polynomial.legendre.leggauss(min(n_columns // 2 + 1, _MOST_NODES))
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    values = np.zeros(n_columns)
    for z in background:
        of_background = _by_block(np.abs(vectors - z) ** power, blocks, n_columns)
        _add_games(of_row, of_background, c / len(background), scales, shares, nodes, weights, values)
    return values


def _by_block(parts: np.ndarray, blocks: np.ndarray, n_columns: int) -> np.ndarray:
    """Sums over the features of each column."""
    sums = np.zeros((len(parts), n_columns))
    for feature, column in enumerate(blocks.tolist()):
        sums[:, column] += parts[:, feature]
    return sums


def _mixture(gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Factors −u of squared distances, and their shares, which sum to 1."""
    logarithms = np.log(gamma**2 / 160.0) + np.arange(0.0, _SPAN, _STEP)
    u = np.exp(logarithms)
    shares = _STEP * gamma / (2.0 * np.sqrt(np.pi * u)) * np.exp(-(gamma**2) / (4.0 * u))
    rest = 1.0 - shares.sum()  # of so narrow Gaussians that they tell equal rows from all others
    return -np.append(u, u[-1] * 1e6), np.append(shares, rest)


@compiled
def _add_games(of_row, of_background, c, scales, shares, nodes, weights, values):
    """Add the Shapley values of all products, one for each vector and scale."""
    n, columns = of_row.shape
    a, b, before = np.empty(columns), np.empty(columns), np.empty(columns)
    for i in range(n):
        for k in range(len(scales)):
            largest = 1.0
            for g in range(columns):
                a[g], b[g] = np.exp(scales[k] * of_row[i, g]), np.exp(scales[k] * of_background[i, g])
                largest *= max(a[g], b[g])
            if largest < _NEGLIGIBLE:
                continue
            for q in range(len(nodes)):
                share, product = c[i] * shares[k] * weights[q], 1.0
                for g in range(columns):
                    before[g] = product
                    product *= b[g] + nodes[q] * (a[g] - b[g])
                product = 1.0
                for g in range(columns - 1, -1, -1):
                    values[g] += share * (a[g] - b[g]) * before[g] * product
                    product *= b[g] + nodes[q] * (a[g] - b[g])
