"""Choose the kind of kernel matrix for a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from adatron.gram.base import Gram, check_finite
from adatron.gram.dense import DenseGram, LazyGram
from adatron.gram.low_rank import LowRankGram, is_on_disk, low_rank_gram
from adatron.gram.regime import REGIME, Regime
from adatron.gram.row_source import fits_single, is_distributed
from adatron.gram.rows import RowGram, row_gram
from adatron.gram.tiles import whole_matrix
from adatron.kernels import Kernel, Linear, Precomputed, squared_norms
from adatron.numerics.memory import available_memory

_SMALL = 2**20  # bytes


class Choice(NamedTuple):
    """A kernel matrix and the reason for its kind."""

    gram: Gram
    reason: str


def choose_gram(
    kernel: Kernel, X: Any, cache_size: float | str = "auto", rank: float | None = None,
    random_state: Any = None, *, needs_few_rows: bool = False, only_multiplies: bool = True,
    precise: bool = False, single: bool = False, whitened: bool = False, copies: float = 1.0,
    regime: Regime = REGIME,
) -> Choice:  # fmt: skip
    """Choose how the kernel matrix of the rows of `X` is held.

    `X` has rows here or on a cluster, or is a kernel matrix for `Precomputed`. `cache_size` is the memory for
    kernel values in MB; "auto" is half of what is available, at most 3 GB. `rank`, `random_state` and
    `whitened` are those of `low_rank_gram`. The caller says what the matrix is for:

    - `needs_few_rows`: a working-set method will read few rows, and multiply by few others;
    - `only_multiplies`: the solver needs products only, which a matrix on a cluster offers;
    - `precise`, `single`: float64 values are needed; float32 is enough, for products with few columns;
    - `copies`: how many matrices of this size there will be once the caller has restricted a dense one.
    """
    m = X.shape[0]
    if is_distributed(X):
        from adatron.gram.dask import dask_gram

        return Choice(*dask_gram(kernel, X, rank, random_state, only_multiplies, whitened, regime))
    if isinstance(kernel, Precomputed):
        if rank is not None:
            raise ValueError(f"rank={rank!r} needs rows of features, not a precomputed kernel; set rank=None")
        return Choice(DenseGram(X), f"dense: the precomputed {m} × {m} kernel matrix")
    if rank is not None:
        low = low_rank_gram(kernel, X, rank, random_state, whitened=whitened, regime=regime)
        reason = f"low rank: {m} × {low.factor.shape[1]}, relative trace error {low.trace_error:.2g}"
        return Choice(low, reason + (", kept on disk" if is_on_disk(low.factor) else ""))
    if kernel.product_form is not None:
        _check_norms(X)
    if isinstance(kernel, Linear) and not sparse.issparse(X) and X.shape[1] <= m * regime.linear_features:
        reason = f"linear: the rows themselves, {m} × {X.shape[1]}, are a factor of the matrix"
        return Choice(LowRankGram.linear(X), reason)
    # there is room for a small matrix, and asking the system takes as long as evaluating it
    free, is_auto = available_memory() if 8 * m * m > _SMALL else 2 * _SMALL, cache_size == "auto"
    budget = min(free // 2, regime.auto_bytes) if is_auto else min(int(float(cache_size) * 2**20), free)
    if needs_few_rows:
        # the cost of a kernel function on objects is unknown
        if is_auto and X.ndim == 2 and X.shape[1] <= regime.narrow_features:
            budget = min(budget, regime.narrow_bytes)
        return _few_rows(kernel, X, budget, precise, regime)
    return _all_rows(kernel, X, budget, copies, single, regime)


def _all_rows(kernel: Kernel, X: Any, budget: int, copies: float, single: bool, regime: Regime) -> Choice:
    """For a method that sweeps over all rows: the whole matrix if there is room for it."""
    m, size = X.shape[0], 8 * X.shape[0] ** 2
    if copies * size <= min(budget, 8 * regime.whole_up_to**2):
        in_single = single and m > regime.precise_up_to and fits_single(kernel, X)
        dense = DenseGram.half_of(kernel, X) if in_single else DenseGram(whole_matrix(kernel, X))
        return Choice(dense, f"dense: the {m} × {m} kernel matrix takes {_mb(dense.nbytes)}")
    kept = min(size, budget // (8 * m) * (8 * m))
    reason = f"blocked: rows of the {m} × {m} kernel matrix ({_mb(size)}) on demand, {_mb(kept)} of them kept"
    return Choice(RowGram(kernel, X, kept, np.float64, keeps_first=True), reason)


def _few_rows(kernel: Kernel, X: Any, budget: int, precise: bool, regime: Regime) -> Choice:
    """For a working-set method, which reads few rows."""
    m, gram = X.shape[0], row_gram(kernel, X, budget, precise or not fits_single(kernel, X), regime)
    if isinstance(gram, LazyGram):
        return Choice(gram, f"lazy: the {m} × {m} kernel matrix takes up to {_mb(8 * m * m)}")
    whole, kept = m * m * gram.dtype.itemsize, "not kept" if gram.forgets else f"up to {_mb(gram.cost)} kept"
    rows = f"{gram.dtype.name} rows of the {m} × {m} kernel matrix (all of them would take {_mb(whole)})"
    return Choice(gram, f"rows: {rows} are evaluated when a working set needs them, and {kept}")


def _check_norms(X: Any) -> None:
    """Raise an error if inner products of rows overflow."""
    with np.errstate(over="ignore"):
        squares = squared_norms(X)
    worst = int(squares.argmax())
    check_finite(squares[[worst], None], np.array([worst]), np.array([worst]))


def _mb(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
