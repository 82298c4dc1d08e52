"""Which operator serves a problem, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adatron.kernels import Kernel, Linear
from adatron.operators.blocked import BlockedGram
from adatron.operators.dense import DenseGram
from adatron.operators.finite import check_finite
from adatron.operators.low_rank import LinearGram
from adatron.operators.memory import available_memory
from adatron.operators.protocol import GramOperator

__all__ = ["Choice", "choose_operator"]

_NARROW = 0.25  # features per row up to which products with X cost less than with the matrix
_DENSE_AT_MOST = 256 * 2**20  # larger matrices are filled row by row, so limits and Ctrl-C are seen in time


@dataclass(frozen=True)
class Choice:
    """An operator and the sentence that explains it."""

    gram: GramOperator
    reason: str


def choose_operator(kernel: Kernel, X: Any, cache_size: float | str, copies: float = 1.0) -> Choice:
    """Choose how the kernel matrix of the rows of `X` is held.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    cache_size : float or "auto"
        Memory for kernel values in MB; "auto" takes up to half of what is available.
    copies : float
        How many matrices of this size there will be once the caller has restricted a dense one.
    """
    m, d = X.shape
    if isinstance(kernel, Linear) and not sparse.issparse(X) and d <= m * _NARROW:
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", X, X)
        worst = int(squares.argmax())
        check_finite(squares[[worst], None], np.array([worst]), np.array([worst]))
        return Choice(LinearGram(X), f"linear: the rows themselves, {m} × {d}, are a factor of the matrix")
    free = available_memory()
    budget = free // 2 if cache_size == "auto" else min(int(float(cache_size) * 2**20), free)
    size = 8 * m * m
    if copies * size <= min(budget, _DENSE_AT_MOST):
        values = np.asarray(kernel(X, X), dtype=np.float64)
        gram = DenseGram(check_finite(values, None, None))
        return Choice(gram, f"dense: the {m} × {m} kernel matrix takes {_mb(size)}")
    kept = min(size, budget // (8 * m) * (8 * m))
    reason = f"blocked: rows of the {m} × {m} kernel matrix ({_mb(size)}) on demand, {_mb(kept)} of them kept"
    return Choice(BlockedGram(kernel, X, kept), reason)


def _mb(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
