"""Which operator serves a problem, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram.approximate import fits_single
from adatron.gram.blocked import BlockedGram
from adatron.gram.dense import DenseGram
from adatron.gram.finite import check_finite
from adatron.gram.half import HalfGram
from adatron.gram.lazy import LazyGram
from adatron.gram.low_rank import LinearGram
from adatron.gram.protocol import GramOperator
from adatron.gram.rows import RowGram
from adatron.gram.tiles import whole_matrix
from adatron.kernels import Kernel, Linear, product_form, squared_norms
from adatron.numerics.buffers import MOST_SPARE
from adatron.numerics.memory import available_memory

__all__ = ["WHOLE_UP_TO", "Choice", "choose_operator", "choose_rows"]

_LAZY_UP_TO = 2_000  # points up to which a working-set method has the whole matrix
_SINGLE_FROM = 2_000  # points above which float32 rows are used
_PRECISE_UP_TO = 1_000  # points up to which whole matrices are float64, whatever would do
_AUTO_AT_MOST = 3 * 2**30  # bytes of kernel values unless the user allows more
_NARROW_ROWS = 384  # features up to which evaluating a row again costs no more than fresh memory for it
_NARROW_AT_MOST = MOST_SPARE  # bytes kept of them, enough for the rows that are used again and again

_NARROW = 0.25  # features per row up to which products with X cost less than with the matrix
WHOLE_UP_TO = 5_792  # points: larger matrices are filled row by row, so limits and Ctrl-C are seen in time
_DENSE_AT_MOST = 8 * WHOLE_UP_TO**2


@dataclass(frozen=True)
class Choice:
    """An operator and the sentence that explains it."""

    gram: GramOperator
    reason: str


def choose_operator(
    kernel: Kernel, X: Any, cache_size: float | str, copies: float = 1.0, *, single: bool = False
) -> Choice:
    """Choose how the kernel matrix of the rows of `X` is held.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    cache_size : float or "auto"
        Memory for kernel values in MB; "auto" is half of what is available, at most 3 GB.
    copies : float
        How many matrices of this size there will be once the caller has restricted a dense one.
    single : bool
        Whether values of more than 1,000 rows may be kept in float32, for products with few columns.
    """
    m = X.shape[0]
    if (linear := _linear_or_checked(kernel, X)) is not None:
        return linear
    budget = _budget(cache_size)
    size = 8 * m * m
    if copies * size <= min(budget, _DENSE_AT_MOST):
        in_single = single and m > _PRECISE_UP_TO and fits_single(kernel, X)
        gram = HalfGram(kernel, X) if in_single else DenseGram(whole_matrix(kernel, X))
        return Choice(gram, f"dense: the {m} × {m} kernel matrix takes {_mb(gram.nbytes)}")
    kept = min(size, budget // (8 * m) * (8 * m))
    reason = f"blocked: rows of the {m} × {m} kernel matrix ({_mb(size)}) on demand, {_mb(kept)} of them kept"
    return Choice(BlockedGram(kernel, X, kept), reason)


def choose_rows(
    kernel: Kernel,
    X: Any,
    cache_size: float | str,
    *,
    precise: bool = False,
    bytes_at_most: int | None = None,
) -> Choice:
    """Choose how the kernel matrix is held for a working-set method, which needs few of its rows.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    cache_size : float or "auto"
        Memory for kernel values in MB; "auto" is half of what is available, at most 3 GB.
    precise : bool
        Whether only float64 will do.
    bytes_at_most : int, optional
        In place of `cache_size`, when that has been looked at already.
    """
    m = X.shape[0]
    if (linear := _linear_or_checked(kernel, X)) is not None:
        return linear
    budget = _budget(cache_size) if bytes_at_most is None else bytes_at_most
    if cache_size == "auto" and X.ndim == 2 and X.shape[1] <= _NARROW_ROWS:  # objects cost what they cost
        budget = min(budget, _NARROW_AT_MOST)
    if 8 * m * m <= min(budget, 8 * _LAZY_UP_TO**2):
        return Choice(LazyGram(kernel, X), f"lazy: the {m} × {m} kernel matrix takes up to {_mb(8 * m * m)}")
    dtype = np.float64 if precise or m <= _SINGLE_FROM or not fits_single(kernel, X) else np.float32
    gram = RowGram(kernel, X, budget, dtype)
    whole = m * m * gram.dtype.itemsize
    reason = (
        f"rows: {gram.dtype.name} rows of the {m} × {m} kernel matrix (all of them would take {_mb(whole)}) "
        "are evaluated when a working set needs them, "
        + ("and not kept" if gram.forgets else f"and up to {_mb(gram.cost)} kept")
    )
    return Choice(gram, reason)


def _linear_or_checked(kernel: Kernel, X: Any) -> Choice | None:
    """The linear kernel of narrow data, of which the rows are a factor; rows that overflow are reported."""
    if product_form(kernel) is not None:
        _check_norms(X)
    if not isinstance(kernel, Linear) or sparse.issparse(X):
        return None
    m, d = X.shape
    if d > m * _NARROW:
        return None
    return Choice(LinearGram(X), f"linear: the rows themselves, {m} × {d}, are a factor of the matrix")


def _check_norms(X: Any) -> None:
    """Rows whose inner products overflow are reported before any are used."""
    with np.errstate(over="ignore"):
        squares = squared_norms(X)
    worst = int(squares.argmax())
    check_finite(squares[[worst], None], np.array([worst]), np.array([worst]))


def _budget(cache_size: float | str) -> int:
    free = available_memory()
    if cache_size == "auto":
        return min(free // 2, _AUTO_AT_MOST)
    return min(int(float(cache_size) * 2**20), free)


def _mb(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
