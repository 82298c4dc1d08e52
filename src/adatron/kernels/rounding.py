"""Kernel values and outputs with bounds of their rounding errors.

The errors are the textbook ones: a sum of n products is wrong by at most n ε times the sum of their sizes,
and a function by its slope times the error of its argument. Bounds are doubled, which covers terms in ε².
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from adatron.kernels.base import Kernel, squared_norms
from adatron.kernels.standard import Precomputed

MOST_WORK = 2e8  # multiplications in extended precision, some seconds; beyond, float64 has to do
_QUICK_WORK = 2e7  # of them, some tenths of a second
_VALUES_AT_ONCE = 2_000_000
_SUMMED_AT_ONCE = 256  # terms of a sum in the precision of the values; the rest is summed in long double
_LIBRARY = 8.0  # units in the last place that an exponential, root or power may be wrong by

long = np.longdouble
LONG_EPS = float(np.finfo(long).eps)


class Bounded(NamedTuple):
    """A number in long double, and a bound of its error."""

    value: Any
    error: Any

    @property
    def highest(self) -> Any:
        return self.value + self.error


def precision_for(X: Any, n_vectors: int, most_work: float = MOST_WORK) -> Any:
    """Extended precision where it takes at most so many products, float64 for more rows and sparse ones."""
    work = float(X.shape[0]) * n_vectors * (X.shape[1] if X.ndim == 2 else 1)
    return np.float64 if sparse.issparse(X) or work > most_work else long


def outputs(
    kernel: Kernel, X: Any, vectors: Any, coefficients: np.ndarray, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """``Σ_j coefficients_j k(x_i, v_j)`` of the rows of `X` in long double, and bounds of their errors."""
    n, s = X.shape[0], len(coefficients)
    f, error = np.zeros(n, dtype=long), np.zeros(n, dtype=long)
    eps, step = float(np.finfo(dtype).eps), max(1, _VALUES_AT_ONCE // max(1, s))
    weights = coefficients.astype(dtype)
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        K, E = bounded_values(kernel, X[part], vectors, dtype)
        for start in range(0, s, _SUMMED_AT_ONCE):
            terms = slice(start, start + _SUMMED_AT_ONCE)
            f[part] += K[:, terms] @ weights[terms]
        E += 2.0 * (_SUMMED_AT_ONCE + 4) * eps * np.abs(K)
        error[part] = 1.001 * (E @ np.abs(weights)).astype(long)
    return f, error + (s // _SUMMED_AT_ONCE + 2) * LONG_EPS * np.abs(f)


def squared_norm(kernel: Kernel, X: Any, vectors: Any, coefficients: np.ndarray, dtype: Any) -> Bounded:
    """``‖w‖²`` of a function, at least 0."""
    if not len(coefficients):
        return Bounded(long(0.0), long(0.0))
    rows = X[vectors] if isinstance(kernel, Precomputed) else vectors
    f, errors = outputs(kernel, rows, vectors, coefficients, dtype)
    found = total_of(coefficients * f)
    return Bounded(max(found.value, long(0.0)), found.error + np.sum(np.abs(coefficients) * errors))


def total_of(terms: np.ndarray) -> Bounded:
    """A sum in long double."""
    terms = terms.astype(long)
    return Bounded(terms.sum(), (len(terms) + 4) * LONG_EPS * np.abs(terms).sum())


def long_expansion(kernel: Kernel, X: Any, weights: np.ndarray) -> np.ndarray | None:
    """``k(X, X) @ weights`` in extended precision, or None where that takes more than tenths of a second."""
    used = np.flatnonzero(weights)
    if precision_for(X, len(used), _QUICK_WORK) is not long:
        return None
    return outputs(kernel, X, X[used], weights[used], long)[0]


def long_product(Z: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """``Z @ weights`` in extended precision, or None where that takes more than tenths of a second."""
    return None if Z.size > _QUICK_WORK else Z.astype(long) @ weights.astype(long)


def bounded_values(kernel: Kernel, X: Any, Z: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """``k(X, Z)`` in the given precision, and bounds of the errors.

    Z has places of columns for `Precomputed`. Values of a function of the user, and of kernels that are made
    of others, define the kernel: they count as exact.
    """
    if isinstance(kernel, Precomputed):
        return _exact(np.asarray(X[:, Z].toarray() if sparse.issparse(X) else X[:, Z]), dtype)
    form = kernel.product_form
    if form is None and not kernel.uses_city_block:
        return _exact(kernel(X, Z), dtype)
    kernel, X, Z = kernel.split(_in_precision(X, dtype), _in_precision(Z, dtype))
    if form is None or form.function == "exp of root":
        return _of_differences(kernel, X, Z, dtype)
    if form.moves_with_data and not sparse.issparse(X):
        centre = Z.mean(axis=0) if Z.shape[0] else 0.0
        X, Z = X - centre, Z - centre
    products = X @ Z.T
    values = products.toarray() if sparse.issparse(products) else np.asarray(products)
    squares = [np.asarray(squared_norms(rows)).astype(dtype) for rows in (X, Z)]
    eps, scale, constant = float(np.finfo(dtype).eps), dtype(form.scale), dtype(form.constant)
    values *= scale
    sizes = np.outer(*(np.sqrt(square) for square in squares))
    sizes *= abs(scale)
    if form.moves_with_data:
        offsets = [dtype(-0.5) * scale * square for square in squares]
        values += offsets[0][:, None] + offsets[1][None, :]
        sizes -= offsets[0][:, None] + offsets[1][None, :]
        np.minimum(values, 0.0, out=values)
    values += constant
    sizes += abs(constant)
    sizes *= 2.0 * (X.shape[1] + 8) * eps  # now the error of the argument
    return _with_function(form, values, sizes, eps)


def _with_function(
    form: Any, values: np.ndarray, errors: np.ndarray, eps: float
) -> tuple[np.ndarray, np.ndarray]:
    """The function of a product form, of arguments that are wrong by at most `errors`."""
    if form.function == "exp":
        K = np.exp(values)
        return K, K * (np.expm1(errors) + _LIBRARY * eps)
    if form.function == "power":
        K, degree = values**form.degree, form.degree
        slope = degree * (np.abs(values) + errors) ** (degree - 1)
        return K, slope * errors + (_LIBRARY + degree) * eps * np.abs(K)
    if form.function == "tanh":
        return np.tanh(values), errors + _LIBRARY * eps
    return values, errors


def _of_differences(kernel: Any, X: Any, Z: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """The Laplace kernels, from differences of features: products would lose all digits of near rows."""
    X, Z = (rows.toarray() if sparse.issparse(rows) else rows for rows in (X, Z))
    distances, eps = np.zeros((len(X), len(Z)), dtype=dtype), float(np.finfo(dtype).eps)
    for x, z in zip(X.T, Z.T, strict=True):
        difference = x[:, None] - z[None, :]
        distances += np.abs(difference) if kernel.uses_city_block else difference * difference
    exponents = dtype(kernel.gamma) * (distances if kernel.uses_city_block else np.sqrt(distances))
    K = np.exp(-exponents)
    return K, K * (2.0 * (X.shape[1] + 8) * eps * exponents + _LIBRARY * eps)


def _in_precision(rows: Any, dtype: Any) -> Any:
    return rows if sparse.issparse(rows) else np.asarray(rows, dtype=dtype)


def _exact(values: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    return values.astype(dtype), np.zeros(values.shape, dtype=dtype)
