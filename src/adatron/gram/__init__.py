"""The kernel matrix as something that multiplies, dense or evaluated on demand.

>>> import numpy as np
>>> from adatron.kernels import Gaussian
>>> from adatron.gram import choose_operator
>>> X = np.arange(6.0).reshape(3, 2)
>>> choice = choose_operator(Gaussian(gamma=0.1), X, cache_size="auto")
>>> choice.reason
'dense: the 3 × 3 kernel matrix takes 0.0 MB'
>>> choice.gram.diagonal()
array([1., 1., 1.])

Every operator answers the same four methods (`GramOperator`), so solvers do not know which one they have.
"""

from adatron.gram.approximate import MANY_ROWS, TO_WHITEN, low_rank_gram
from adatron.gram.blocked import BlockedGram
from adatron.gram.choose import WHOLE_UP_TO, Choice, choose_operator, choose_rows
from adatron.gram.dense import FEW_COLUMNS, DenseGram
from adatron.gram.distances import GaussianFamily
from adatron.gram.expand import expand
from adatron.gram.factor_store import blocks_of_rows, is_on_disk
from adatron.gram.half import HalfGram
from adatron.gram.lazy import LazyGram, PartialMatrix, row_of
from adatron.gram.low_rank import LinearGram, LowRankGram, nystroem, pivoted_cholesky
from adatron.gram.nystroem_single import SingleGram, nystroem_single
from adatron.gram.protocol import GramOperator, Rows
from adatron.gram.row_blocks import RowBlocks, by_rows, is_distributed, kept_rows, weighted_sum
from adatron.gram.rows import RowGram
from adatron.gram.twin import TwinGram, cancel_twins, distinct
from adatron.numerics.memory import available_memory, peak_memory

__all__ = [
    "FEW_COLUMNS",
    "MANY_ROWS",
    "TO_WHITEN",
    "WHOLE_UP_TO",
    "BlockedGram",
    "Choice",
    "DenseGram",
    "GaussianFamily",
    "GramOperator",
    "HalfGram",
    "LazyGram",
    "LinearGram",
    "LowRankGram",
    "PartialMatrix",
    "RowBlocks",
    "RowGram",
    "Rows",
    "SingleGram",
    "TwinGram",
    "available_memory",
    "blocks_of_rows",
    "by_rows",
    "cancel_twins",
    "choose_operator",
    "choose_rows",
    "distinct",
    "expand",
    "is_distributed",
    "is_on_disk",
    "kept_rows",
    "low_rank_gram",
    "nystroem",
    "nystroem_single",
    "peak_memory",
    "pivoted_cholesky",
    "row_of",
    "weighted_sum",
]
