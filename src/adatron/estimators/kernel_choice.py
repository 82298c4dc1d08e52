"""From the parameters of an estimator and its data to a checked kernel."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators.parameters import (
    check_choice,
    check_finite_number,
    check_integer,
    check_number,
)
from adatron.exceptions import KernelError, KernelWarning
from adatron.gram import Gram, by_rows, weighted_sum
from adatron.kernels import (
    KERNELS,
    CallableKernel,
    Kernel,
    Precomputed,
    has_negative_curvature,
    is_indefinite,
    squared_norms,
)

__all__ = [
    "KERNELS",
    "check_precomputed",
    "inspect_gram",
    "is_precomputed",
    "kernel_from",
    "probe_callable",
]

_SAMPLE = 500
_FIRST_LOOK = 50  # rows that tell most kernels from degenerate ones
_ZERO = "the kernel is numerically zero for all rows of X; scale X"
_ROUNDING = 64 * np.finfo(float).eps  # a spread below this part of the mean is rounding


def kernel_from(estimator: Any, X: Any, weights: np.ndarray) -> Kernel:
    """The kernel object that ``kernel``, ``gamma``, ``degree`` and ``coef0`` describe."""
    kernel = estimator.kernel
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    kind: Any = KERNELS[check_choice("kernel", kernel, list(KERNELS))]
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name == "gamma":
            values["gamma"] = _gamma(estimator.gamma, X, weights)
        elif field.name == "coef0":
            values["coef0"] = check_finite_number("coef0", estimator.coef0)
        else:
            allowed = "an integer >= 1"
            values["degree"] = check_integer("degree", estimator.degree, at_least=1, allowed=allowed)
    return kind(**values)


def _gamma(gamma: Any, X: Any, weights: np.ndarray) -> float:
    if not isinstance(gamma, str):
        return check_number("gamma", gamma, allowed="'scale', 'auto', 'mean' or a finite number > 0")
    check_choice("gamma", gamma, ["scale", "auto", "mean"])
    n_features = X.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    if gamma == "mean":
        return _inverse_mean_distance(X, weights)
    mean, variance = _weighted_moments(X, weights)
    if variance * n_features > np.finfo(float).tiny and np.sqrt(variance) > _ROUNDING * abs(mean):
        return 1.0 / (n_features * variance)
    warnings.warn("X has zero variance, so gamma='scale' is taken as 1.0", KernelWarning, stacklevel=5)
    return 1.0


def _inverse_mean_distance(X: Any, weights: np.ndarray) -> float:
    """``1/β``, β the mean squared distance of the rows to their mean (Tsang & Kwok 2007)."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre, beta = _centre_and_spread(X, _scaled(weights))
    if not np.isfinite(beta):
        raise KernelError("the variance of X overflows float64; scale X (e.g. with StandardScaler)")
    if beta > _ROUNDING * float(centre @ centre) and beta > np.finfo(float).tiny:
        return 1.0 / beta
    warnings.warn("X has zero variance, so gamma='mean' is taken as 1.0", KernelWarning, stacklevel=5)
    return 1.0


def _weighted_moments(X: Any, weights: np.ndarray) -> tuple[float, float]:
    """Mean and variance of all entries of X, a row of weight 2 counting as two rows."""
    weights, d = _scaled(weights), X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _weighted_mean(weights, by_rows(_row_totals, X)) / d
        variance = _weighted_mean(weights, by_rows(_squared_deviations, X, mean)) / d
    if not np.isfinite(variance):
        raise KernelError("the variance of X overflows float64; scale X (e.g. with StandardScaler)")
    return mean, variance


def _scaled(weights: np.ndarray) -> np.ndarray:
    """Weights of moderate size by a power of two, which rounds nothing."""
    return np.ldexp(weights, -int(np.frexp(weights.max())[1]))


def _weighted_mean(weights: np.ndarray, values: np.ndarray) -> float:
    """Precise enough for a row of weight 2 and the row twice to give the same bits."""
    return float(np.sum(weights * values.astype(np.longdouble)) / weights.sum())


def _centre_and_spread(X: Any, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """The weighted mean of the rows, and their mean squared distance from it."""
    centre = weighted_sum(weights, X) / weights.sum()
    return centre, _weighted_mean(weights, by_rows(_less_the_centre, X, centre)) + float(centre @ centre)


def _less_the_centre(X: Any, centre: np.ndarray) -> np.ndarray:
    """``|x|² − 2⟨x, centre⟩`` of every row."""
    X = X.astype(np.float64, copy=False)
    # not by BLAS, whose sums depend on the place of a row
    products = np.ravel(X @ centre) if sparse.issparse(X) else np.einsum("ij,j->i", X, centre)
    return squared_norms(X) - 2.0 * products


def _row_totals(X: Any) -> np.ndarray:
    return np.ravel(X.sum(axis=1, dtype=np.float64))


def _squared_deviations(X: Any, mean: float) -> np.ndarray:
    """``Σ_j (x_ij − mean)²`` of every row."""
    if not sparse.issparse(X):
        return np.square(X.astype(np.float64, copy=False) - mean).sum(axis=1)
    stored = X.copy()
    stored.data = np.square(X.data - mean)
    return np.ravel(stored.sum(axis=1)) + (X.shape[1] - np.diff(X.indptr)) * np.square(mean)


def is_precomputed(kernel: Any) -> bool:
    """Whether the data are kernel values already."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def check_precomputed(K: Any) -> np.ndarray:
    """A symmetric float64 kernel matrix."""
    K = K.toarray() if sparse.issparse(K) else K
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs the square matrix of kernel values of the training rows, "
            f"got shape {K.shape}"
        )
    difference = np.abs(K - K.T)
    i, j = np.unravel_index(int(difference.argmax()), K.shape)
    if difference[i, j] > 1e-12 * np.abs(K).max():
        raise ValueError(
            f"the precomputed kernel matrix is not symmetric: K[{i}, {j}] = {K[i, j]} but "
            f"K[{j}, {i}] = {K[j, i]} (largest difference {difference[i, j]:.3g}); pass (K + K.T) / 2"
        )
    return K if difference[i, j] == 0.0 else 0.5 * (K + K.T)


def probe_callable(kernel: Kernel, X: Any) -> None:
    """Warn when a kernel function does not give the same values twice, or is not symmetric."""
    if not isinstance(kernel, CallableKernel) or X.shape[0] < 2:
        return
    pair = X[:2]
    first, again = kernel(pair, pair), kernel(pair, pair)
    scale = 1e-10 * max(float(np.abs(first).max()), 1e-300)
    if np.abs(first - again).max() > scale:
        _warn(f"kernel function {kernel.name!r} is not deterministic: two calls differ")
    elif np.abs(first - first.T).max() > scale:
        _warn(f"kernel function {kernel.name!r} is not symmetric: k(x, z) differs from k(z, x)")


def inspect_gram(gram: Gram, kernel: Kernel) -> bool:
    """Refuse a vanishing kernel, warn of a suspicious one; whether it is indefinite."""
    if gram.m > _SAMPLE and kernel.traits.psd and not _suspicion(_sample(gram, _FIRST_LOOK)):
        return False
    diagonal, sample = gram.diagonal(), _sample(gram, _SAMPLE)
    if isinstance(kernel, CallableKernel) and diagonal.min() < 0.0:
        raise KernelError(f"kernel function {kernel.name!r} gives negative values k(x, x) = {diagonal.min()}")
    if not np.any(diagonal) and not np.any(sample):
        raise KernelError(_ZERO)
    if suspicion := _suspicion(sample):
        _warn(suspicion)
    if kernel.traits.psd:
        return False
    unseen = gram.is_whole and gram.m > len(sample)
    return is_indefinite(sample) or (unseen and has_negative_curvature(gram.matmul, gram.m))


def _sample(gram: Gram, size: int) -> np.ndarray:
    """Kernel values between rows spread over all."""
    rows = np.unique(np.linspace(0, gram.m - 1, min(gram.m, size)).astype(int))
    return gram.block(rows, rows)


def _suspicion(sample: np.ndarray) -> str:
    """What is wrong with a degenerate kernel; of two rows only that all is zero."""
    last = len(sample) - 1
    if last < 2:
        return "" if np.any(sample) else _ZERO
    size = float(np.abs(sample).max())
    off_diagonal = sample.ravel()[1:].reshape(last, last + 2)[:, :-1]  # a view
    if max(float(off_diagonal.max()), -float(off_diagonal.min())) <= 1e-12 * size:
        return "the kernel matrix is numerically the identity: no two points are similar; decrease gamma"
    if np.ptp(sample) <= 1e-12 * size:
        return "the kernel matrix is numerically constant: all points look alike; increase gamma or scale X"
    return ""


def _warn(message: str) -> None:
    warnings.warn(message, KernelWarning, stacklevel=6)
