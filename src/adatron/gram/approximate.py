"""Which low-rank approximation serves a kernel and its rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adatron.exceptions import AdatronWarning
from adatron.gram.low_rank import LowRankGram, nystroem, pivoted_cholesky
from adatron.gram.nystroem_single import nystroem_single
from adatron.gram.row_blocks import by_rows
from adatron.kernels import Kernel

__all__ = ["MANY_ROWS", "TO_WHITEN", "fits_single", "low_rank_gram"]

MANY_ROWS = 100_000  # above, a factor is float32, and the rows are read block by block
MOST_COLUMNS = 2_000  # of a factor that only a tolerance would end
TO_WHITEN = 20  # times the rank: rows whose second moments whiten a factor
_LARGE = 1e30  # kernel values beyond, or below its inverse, are left to float64


def low_rank_gram(
    kernel: Kernel, X: Any, rank: float, random_state: Any = None, *, whitened: bool = False
) -> LowRankGram:
    """Approximate the kernel matrix of the rows of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix, shape (m, d)
    rank : int or float
        An integer is the number of Nyström landmarks; a number below 1 is the relative trace error at
        which pivoted incomplete Cholesky stops, with 2,000 columns at the latest.
    random_state : RandomState, optional
        Draws the landmarks.
    whitened : bool
        Whether the factor of many rows may be whitened, see `nystroem_single`.
    """
    m = X.shape[0]
    if rank < 1.0:
        return pivoted_cholesky(kernel, X, min(m, MOST_COLUMNS), tolerance=float(rank))
    state = random_state or np.random.RandomState(0)
    landmarks = drawn_landmarks(m, rank, state)
    if m <= MANY_ROWS or not fits_single(kernel, X):
        return nystroem(kernel, X, landmarks)
    return nystroem_single(kernel, X, landmarks, rows_to_whiten_on(m, len(landmarks), state, whitened))


def drawn_landmarks(m: int, rank: float, random_state: Any = None) -> np.ndarray:
    """Places of `rank` of m rows, drawn at random, in their order."""
    if rank > m:
        warnings.warn(
            f"rank={rank} is more than the {m} rows of X, so {m} is used", AdatronWarning, stacklevel=3
        )
    return np.sort((random_state or np.random.RandomState(0)).permutation(m)[: min(int(rank), m)])


def rows_to_whiten_on(m: int, rank: int, random_state: Any, whitened: bool) -> np.ndarray | None:
    """Places of the rows whose second moments whiten a factor, drawn at random, in their order."""
    return np.sort(random_state.permutation(m)[: TO_WHITEN * rank]) if whitened else None


def fits_single(kernel: Kernel, X: Any) -> bool:
    """Whether kernel values can neither overflow nor vanish in float32."""
    diagonal = np.asarray(by_rows(kernel.diagonal, X))
    return bool(diagonal.max() < _LARGE and diagonal.min() > 1.0 / _LARGE)
