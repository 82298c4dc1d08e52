"""`Expansion`: what a fitted model computes, ``f(x) = Σ_i coef_i k(v_i, x) + b``, for every estimator."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram import expand
from adatron.kernels import Kernel, Linear, Precomputed

__all__ = ["Expansion", "coef_beside", "dense_coef", "is_far", "linear_weights"]

_FAR = 1e4  # squared distance of rows from the origin, relative to that from their mean


@dataclass(frozen=True)
class Expansion:
    """Outputs of B problems as sums over the same rows.

    Parameters
    ----------
    vectors : array or CSR matrix of shape (n, d)
        Rows; for a precomputed kernel their places in the training data.
    coefficients : array of shape (n, B)
    bias : array of shape (B,) or float
    kernel : Kernel
    precision : float32 or float64
        Of kernel values; sums are float64.
    """

    vectors: Any
    coefficients: np.ndarray
    bias: Any
    kernel: Kernel
    precision: Any = np.float64

    def __call__(self, X: Any) -> np.ndarray:
        """Outputs (n, B) of the rows of `X`."""
        if isinstance(self.kernel, Linear):  # quicker by the weights of the features, and fewer digits cancel
            with np.errstate(over="ignore", invalid="ignore"):
                outputs = X @ linear_weights(self.vectors, self.coefficients).T
        elif isinstance(self.kernel, Precomputed):
            outputs = X[:, self.vectors] @ self.coefficients
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                outputs = expand(self.kernel, X, self.vectors, self.coefficients, self.precision)
        return _checked(outputs) + self.bias

    def by_groups(self, X: Any, bounds: np.ndarray) -> np.ndarray:
        """What each group of vectors adds to the outputs, shape (n, G, B), without the bias."""
        if isinstance(self.kernel, Precomputed):
            parts = [slice(*ends) for ends in itertools.pairwise(bounds)]
            sums = [X[:, self.vectors[part]] @ self.coefficients[part] for part in parts]
            return _checked(np.stack(sums, axis=1))
        with np.errstate(over="ignore", invalid="ignore"):
            return _checked(expand(self.kernel, X, self.vectors, self.coefficients, self.precision, bounds))


def _checked(outputs: np.ndarray) -> np.ndarray:
    if not np.isfinite(outputs).all():
        row = int(np.argwhere(~np.isfinite(outputs))[0][0])
        raise ValueError(f"the kernel overflows at row {row} of X; scale X as in training")
    return outputs


def linear_weights(vectors: Any, coefficients: np.ndarray) -> np.ndarray:
    """``Σ_i coefficients_i x_i`` for each column, about the mean of the vectors: fewer digits cancel.

    Coefficients add up to nearly 0. Far from the origin what is left matters: it is summed exactly, whatever
    the order of the vectors.
    """
    if sparse.issparse(vectors) or not len(vectors):
        return np.asarray(coefficients.T @ vectors)
    centre, totals = vectors.mean(axis=0), coefficients.sum(axis=0)
    if is_far(centre, vectors):
        totals = np.array([fsum(column) for column in coefficients.T])
    return coefficients.T @ (vectors - centre) + np.outer(totals, centre)


def is_far(centre: np.ndarray, X: np.ndarray) -> bool:
    """Whether rows are so far from the origin that products of them lose digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(float(centre @ centre) > _FAR * float(X.var(axis=0).sum()))


def coef_beside(vectors: Any, dual_coef: np.ndarray) -> Any:
    """``dual_coef_`` as scikit-learn has it: sparse where the support vectors are."""
    return sparse.csr_array(dual_coef) if sparse.issparse(vectors) else dual_coef


def dense_coef(model: Any) -> np.ndarray:
    """``dual_coef_`` of a fitted model as an ndarray."""
    return model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
