"""Kernels of the distance of two rows, whose features may have weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from adatron.kernels import base
from adatron.kernels.base import NumericKernel, ProductForm, Traits
from adatron.numerics.compiled import compiled, ordered_part
from adatron.numerics.exponential import exponentials

_AT_ONCE = 256  # columns that stay in cache while rows go by


@dataclass(frozen=True, repr=False)
class _DistanceKernel(NumericKernel):
    """``exp(−gamma distance)``, where features may be multiplied by weights first."""

    gamma: float = 1.0
    weights: Any = None  # a tuple once it is made
    traits = Traits(psd=True, nonnegative=True, unit_diagonal=True)
    _distances: ClassVar[Any]  # (X, Z) → the distances of all pairs of rows

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
        w = np.asarray(self.weights)
        for X in rows:
            if X.shape[1] != len(w):
                raise ValueError(f"the kernel has weights for {len(w)} features, X has {X.shape[1]}")
        weighted = (sparse.csr_array(X.multiply(w)) if sparse.issparse(X) else X * w for X in rows)
        return replace(self, weights=None), *weighted

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        same = X is Z
        _, X, Z = self.split(X, Z)
        distances = self._distances(X, X if same else Z)
        distances *= -self.gamma
        return exponentials(distances)


class Gaussian(_DistanceKernel):
    """``k(x, z) = exp(−gamma |x − z|²)``; ``gamma = 1/(2σ²)``.

    Parameters
    ----------
    gamma, weights : float > 0, and floats >= 0 that multiply the features, default=1.0, None

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
        base.check_parameter("sigma", sigma)
        if 2.0 * sigma * sigma < np.finfo(float).tiny:
            raise ValueError(f"sigma={sigma!r} is too small: gamma = 1/(2σ²) overflows")
        return cls(gamma=1.0 / (2.0 * sigma * sigma))

    @property
    def product_form(self) -> ProductForm:  # type: ignore[override]
        return ProductForm("exp", 2.0 * self.gamma)

    def _distances(self, X: Any, Z: Any) -> np.ndarray:
        return squared_distances(X, Z)


class Exponential(_DistanceKernel):
    """``k(x, z) = exp(−gamma |x − z|)``, the Laplace kernel of the Euclidean distance (Matérn ½).

    Parameters
    ----------
    gamma, weights : float > 0, and floats >= 0 that multiply the features, default=1.0, None

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

    def _distances(self, X: Any, Z: Any) -> np.ndarray:
        return np.sqrt(squared_distances(X, Z))


class Laplacian(_DistanceKernel):
    """``k(x, z) = exp(−gamma |x − z|₁)``, the Laplace kernel of the city-block distance.

    Parameters
    ----------
    gamma, weights : float > 0, and floats >= 0 that multiply the features, default=1.0, None

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.kernels import Laplacian
    >>> Laplacian(0.5, weights=[1.0, 0.0])(np.array([[2.0, 9.0]]), np.zeros((1, 2))).round(4)
    array([[0.3679]])
    """

    uses_city_block = True

    def _distances(self, X: Any, Z: Any) -> np.ndarray:
        if sparse.issparse(X) or sparse.issparse(Z):
            from sklearn.metrics.pairwise import manhattan_distances

            return manhattan_distances(X, Z)
        distances = np.empty((X.shape[0], Z.shape[0]))
        left, columns = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (X, Z.T))
        city_block_distances(left, columns, 0, len(Z), distances)
        return distances


def squared_distances(X: Any, Z: Any) -> np.ndarray:
    """All ``|x − z|²``."""
    if not sparse.issparse(X) and not sparse.issparse(Z):
        centre = Z.mean(axis=0) if len(Z) else 0.0  # about their centre, |x − z|² loses fewer digits
        moved = Z - centre
        X, Z = (moved if X is Z else X - centre), moved
    with np.errstate(over="ignore", invalid="ignore"):  # reported with the rows they come from
        distances = base.inner_products(X, Z)
        distances *= -2.0
        distances += base.squared_norms(X)[:, None]
        distances += base.squared_norms(Z)[None, :]
    np.maximum(distances, 0.0, out=distances)  # keeps NaN, so overflow is still seen
    if X is Z:
        np.fill_diagonal(distances, 0.0)
    return distances


@compiled
def city_block_distances(X, columns, start, stop, out):
    """Write ``|x − z|₁`` of the rows of `X` and some of the columns of `columns`, a row for each feature.

    The inner loops run over many z at once, for four rows and four features at a time: that is what
    vectorises, and what keeps the values that are read in registers.
    """
    together = len(out) - len(out) % 4
    for first in range(start, stop, _AT_ONCE):
        last = min(first + _AT_ONCE, stop)
        for i in range(0, together, 4):
            _distances_of_four(X, i, columns, first, last, out, first - start)
        for i in range(together, len(out)):
            _distances_of_one(X[i], columns, first, last, out[i, first - start : last - start])


# The order of their sums is kept: a row has the same distances, to the bit, alone and among others.
@ordered_part
def _distances_of_four(X, i, columns, first, last, out, place):
    d, end = len(columns), place + last - first
    f, g, h, s = out[i, place:end], out[i + 1, place:end], out[i + 2, place:end], out[i + 3, place:end]
    for row in (f, g, h, s):
        row[:] = 0.0
    j = 0
    while j + 4 <= d:
        A, B = columns[j, first:last], columns[j + 1, first:last]
        C, D = columns[j + 2, first:last], columns[j + 3, first:last]
        a0, b0, c0, d0 = X[i, j], X[i, j + 1], X[i, j + 2], X[i, j + 3]
        a1, b1, c1, d1 = X[i + 1, j], X[i + 1, j + 1], X[i + 1, j + 2], X[i + 1, j + 3]
        a2, b2, c2, d2 = X[i + 2, j], X[i + 2, j + 1], X[i + 2, j + 2], X[i + 2, j + 3]
        a3, b3, c3, d3 = X[i + 3, j], X[i + 3, j + 1], X[i + 3, j + 2], X[i + 3, j + 3]
        for k in range(len(f)):
            f[k] += abs(a0 - A[k]) + abs(b0 - B[k]) + abs(c0 - C[k]) + abs(d0 - D[k])
            g[k] += abs(a1 - A[k]) + abs(b1 - B[k]) + abs(c1 - C[k]) + abs(d1 - D[k])
            h[k] += abs(a2 - A[k]) + abs(b2 - B[k]) + abs(c2 - C[k]) + abs(d2 - D[k])
            s[k] += abs(a3 - A[k]) + abs(b3 - B[k]) + abs(c3 - C[k]) + abs(d3 - D[k])
        j += 4
    while j < d:
        A = columns[j, first:last]
        a0, a1, a2, a3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
        for k in range(len(f)):
            f[k] += abs(a0 - A[k])
            g[k] += abs(a1 - A[k])
            h[k] += abs(a2 - A[k])
            s[k] += abs(a3 - A[k])
        j += 1


@ordered_part
def _distances_of_one(x, columns, first, last, out):
    d = len(columns)
    out[:] = 0.0
    j = 0
    while j + 4 <= d:
        A, B = columns[j, first:last], columns[j + 1, first:last]
        C, D = columns[j + 2, first:last], columns[j + 3, first:last]
        a, b, c, e = x[j], x[j + 1], x[j + 2], x[j + 3]
        for k in range(len(out)):
            out[k] += abs(a - A[k]) + abs(b - B[k]) + abs(c - C[k]) + abs(e - D[k])
        j += 4
    while j < d:
        A, a = columns[j, first:last], x[j]
        for k in range(len(out)):
            out[k] += abs(a - A[k])
        j += 1
