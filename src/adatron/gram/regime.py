"""The table of all sizes at which the library changes its method.

It is passed as a value: estimators have it as ``_regime``, and a test of the methods for many rows gives an
estimator another table instead of many rows. Sizes of tiles and chunks, which only change speed, are defined
where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass

MB, GB = 2**20, 2**30


@dataclass(frozen=True)
class Regime:
    """Thresholds on rows, features and bytes, with their reasons and the benchmarks that set them."""

    # --- how a kernel matrix is held (benchmarks/fit_speed.py) ---
    lazy_up_to: int = 2_000  # rows: a working set is all points, and the whole matrix may come to exist
    single_from: int = 2_000  # rows above which float32 rows save half of the memory traffic
    precise_up_to: int = 1_000  # rows up to which whole matrices are float64: float32 would gain nothing
    whole_up_to: int = 5_792  # rows (256 MB): larger matrices are filled by rows, so limits are seen in time
    auto_bytes: int = 3 * GB  # of kernel values for cache_size="auto": beyond, more rows kept hardly help
    narrow_features: int = 384  # up to which evaluating a row again costs no more than fresh memory for it
    narrow_bytes: int = 256 * MB  # kept of such rows: enough for those that are used again and again
    linear_features: float = 0.25  # per row, up to which products with X cost less than with the matrix
    # --- low rank (benchmarks/scale.py) ---
    many_rows: int = 100_000  # above, a factor is float32, and rows are read block by block
    most_columns: int = 2_000  # of a factor that only a tolerance would end: its cost grows with the square
    rows_to_whiten: int = 20  # times the rank: enough rows to estimate second moments
    # --- training (benchmarks/fit_speed.py, exact_speed.py) ---
    finish_up_to: int = 1_000  # multipliers up to which the exact finish is tried even at a small gap
    all_in_double: int = 5_000  # rows up to which certificates use float64 kernel values only
    one_blas_thread_up_to: int = 3_000  # rows: several threads would mostly wait for one another
    held_at_once: int = 256 * MB  # of kernel matrices of many problems that are trained in turn
    merge_up_to: int = 200_000  # rows: beyond, looking for equal rows costs more than it is likely to save
    # --- ensembles (benchmarks/ensemble_speed.py) ---
    stage_blas_thread_up_to: int = 1_000  # rows: their time is that of products, little happens in between
    # --- AutoSVC, AutoSVR (benchmarks/tables.py, scale.py, fixed_splits.py) ---
    search_rows: int = 500  # that kernels, widths and penalties are compared on,
    many_search_rows: int = 1_000  # and from `search_more_from` rows on, whose training takes longer anyway
    search_more_from: int = 4_000
    wide_search_rows: int = 1_500  # where features are many: fewer rows cannot tell which of them matter
    wide_from: int = 500  # features (benchmarks/many_rows.py)
    exact_rows: int = 12_000  # up to which machines are trained on the whole kernel matrix
    iterative_rows: int = 45_000  # up to which conjugate gradients use all rows: 4 GB of kernel values
    two_iterative_rows: int = 25_000  # up to which a second machine is trained so: each takes as long
    iterative_sample: int = 25_000  # rows drawn from more than that: as long as landmarks take, which compete
    few_rows: int = 3_000  # on which kernels are compared before that
    # --- clustering (benchmarks/clustering.py) ---
    cluster_path_rows: int = 1_500  # used to choose σ and ν, which takes a hundred fits
    all_edges_up_to: int = 300  # rows: the tests of all pairs of more would take longer than the ball


REGIME = Regime()
