"""The kernel matrix as something that multiplies, dense or evaluated on demand.

>>> import numpy as np
>>> from adatron.gram import choose_gram
>>> from adatron.kernels import Gaussian
>>> X = np.arange(6.0).reshape(3, 2)
>>> choice = choose_gram(Gaussian(gamma=0.1), X)
>>> choice.reason
'dense: the 3 × 3 kernel matrix takes 0.0 MB'
>>> choice.gram.diagonal()
array([1., 1., 1.])

Every matrix is a `Gram`: four methods, and capabilities that solvers ask for, so that they do not know which
one they have. `Regime` has the sizes at which one takes the place of another.
"""

from adatron.gram.base import Gram, PartialMatrix, Rows, TwinGram, add_kept_rows, row_of
from adatron.gram.choose import Choice, choose_gram, nystroem_gram
from adatron.gram.dense import FEW_COLUMNS, DenseGram, GaussianFamily, LazyGram, symmetric_product
from adatron.gram.factors import low_rank_gram, pivoted_cholesky
from adatron.gram.low_rank import LowRankGram
from adatron.gram.regime import REGIME, Regime
from adatron.gram.row_source import (
    blockwise,
    by_rows,
    fetched_if,
    is_dask,
    is_distributed,
    kept_rows,
    keys_of_rows,
    mapped_rows,
    on_client,
    row_bytes,
    row_keys,
    weighted_sum,
)
from adatron.gram.rows import RowGram
from adatron.gram.tiles import expand, whole_matrix

__all__ = [
    "FEW_COLUMNS",
    "REGIME",
    "Choice",
    "DenseGram",
    "GaussianFamily",
    "Gram",
    "LazyGram",
    "LowRankGram",
    "PartialMatrix",
    "Regime",
    "RowGram",
    "Rows",
    "TwinGram",
    "add_kept_rows",
    "blockwise",
    "by_rows",
    "choose_gram",
    "expand",
    "fetched_if",
    "is_dask",
    "is_distributed",
    "kept_rows",
    "keys_of_rows",
    "low_rank_gram",
    "mapped_rows",
    "nystroem_gram",
    "on_client",
    "pivoted_cholesky",
    "row_bytes",
    "row_keys",
    "row_of",
    "symmetric_product",
    "weighted_sum",
    "whole_matrix",
]
