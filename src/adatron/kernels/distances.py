"""Kernels of the distance of two rows, whose features may have weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from adatron.kernels.base import (
    NumericKernel,
    ProductForm,
    Traits,
    check_parameter,
    inner_products,
    squared_norms,
)
from adatron.numerics.compiled import compiled
from adatron.numerics.exponential import exponentials


@dataclass(frozen=True, repr=False)
class _OfDistance(NumericKernel):
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

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", weights={self.weights!r}"
        return f"{type(self).__name__}(gamma={self.gamma!r}{weights})"

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


@dataclass(frozen=True, repr=False)
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
        check_parameter("sigma", sigma)
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


@dataclass(frozen=True, repr=False)
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


@dataclass(frozen=True, repr=False)
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
            left, columns = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (X, Z.T))
            city_block_distances(left, columns, len(Z), distances)
        distances *= -self.gamma
        return exponentials(distances)


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """All ``|x − z|²``."""
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
    return distances


@compiled
def city_block_distances(X, columns, n, out):
    """Write ``|x − z|₁`` of the rows of `X` and the first n columns of `columns`, a row for each feature.

    The inner loop runs over many z at once, four features at a time: that is what vectorises.
    """
    d, step = X.shape[1], 512
    for first in range(0, n, step):
        last = min(first + step, n)
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
