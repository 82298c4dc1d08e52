"""Kernel matrices: something that multiplies, dense or evaluated on demand.

>>> import numpy as np
>>> from adatron.gram import choose_gram
>>> from adatron.kernels import Gaussian
>>> choice = choose_gram(Gaussian(gamma=0.1), np.arange(6.0).reshape(3, 2))
>>> choice.reason
'dense: the 3 × 3 kernel matrix takes 0.0 MB'
>>> choice.gram.diagonal()
array([1., 1., 1.])

Every matrix is a `Gram`: four methods, and capabilities that solvers ask for, so that they do not know which
one they have. `Regime` has the sizes at which one takes the place of another.
"""

# isort: off
from adatron.gram.base import Gram, PartialMatrix, TwinGram, add_kept_rows
from adatron.gram.choose import Choice, choose_gram
from adatron.gram.dense import (
    FEW_COLUMNS, DenseGram, LazyGram, evaluate_pair, row_of, symmetric_product,
)  # fmt: skip
from adatron.gram.low_rank import LowRankGram, low_rank_gram, nystroem_single, pivoted_cholesky
from adatron.gram.regime import REGIME, Regime
from adatron.gram.row_source import (
    blockwise, by_rows, fetched_if, is_dask, kept_rows, keys_of_rows, mapped_rows, on_client, row_bytes,
    row_keys, weighted_sum,
)  # fmt: skip
from adatron.gram.rows import RowGram
from adatron.gram.tiles import expand, whole_matrix
