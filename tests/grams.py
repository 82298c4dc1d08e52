"""Every kernel matrix of the library, of the same points, with what it must be equal to.

`MATRICES` has a function for each that takes a kernel and rows. Those of `ON_WORKERS` take rows that
`on_workers` has put on a cluster.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from adatron.gram import (
    REGIME,
    DenseGram,
    LazyGram,
    LowRankGram,
    RowGram,
    TwinGram,
    choose_gram,
    low_rank_gram,
    pivoted_cholesky,
)
from adatron.kernels import CallableKernel, Constant, Gaussian, Laplacian, Linear, Polynomial

KERNELS = {
    "gaussian": Gaussian(0.3),
    "polynomial": Polynomial(2, 0.5),
    "linear": Linear(),
    "laplacian": Laplacian(0.2),
    "sum": Gaussian(0.1) + Constant(0.5) * Linear(),
    "function": CallableKernel(lambda A, B: np.exp(-0.1 * ((A[:, None] - B[None]) ** 2).sum(axis=2))),
}
M = 41
ROWS = {"rows, few kept": 150, "rows, forgotten": 560}  # points where others than `M` are needed
FEW = 8 * M * (M // 3)  # bytes of a third of the rows
DOUBLE, SINGLE = 1e-10, 3e-6  # relative errors of entries


def some_rows(kernel, X):
    """The matrix of twice as many points, and where the wanted ones are among them."""
    order = np.random.default_rng(0).permutation(2 * len(X))
    return np.concatenate([X, X + 1.0])[order], np.argsort(order)[: len(X)]


def half_in_view(kernel, X):
    doubled, rows = some_rows(kernel, X)
    return RowGram(kernel, doubled, FEW, np.float64, keeps_first=True).restrict(rows)


def half_of_dense(kernel, X):
    doubled, rows = some_rows(kernel, X)
    return DenseGram(kernel(doubled, doubled)).restrict(rows)


def half_of_rows(kernel, X):
    doubled, rows = some_rows(kernel, X)
    return RowGram(kernel, doubled, FEW, np.float64).restrict(rows)


def half_of_twins(kernel, X):
    """Every point once, be it the first or its twin."""
    rows = np.arange(len(X)) + len(X) * (np.arange(len(X)) % 2)
    return TwinGram(LazyGram(kernel, X)).restrict(rows)


def single_factor(kernel, X):
    return low_rank_gram(kernel, X, len(X), regime=replace(REGIME, many_rows=0))


MATRICES = {
    "dense": lambda k, X: DenseGram(k(X, X)),
    "dense, float32": lambda k, X: DenseGram(k(X, X), np.float32),
    "dense, lower half": lambda k, X: DenseGram.half_of(k, X),
    "dense, restricted": half_of_dense,
    "lazy": LazyGram,
    "rows": lambda k, X: RowGram(k, X, FEW, np.float64),
    "rows, float32": lambda k, X: RowGram(k, X, FEW),
    "rows, restricted": half_of_rows,
    "rows, first kept": lambda k, X: RowGram(k, X, FEW, np.float64, keeps_first=True),
    "rows, none kept": lambda k, X: RowGram(k, X, 0, np.float64, keeps_first=True),
    "rows, few kept": lambda k, X: RowGram(k, X, 1, np.float64),
    "rows, forgotten": lambda k, X: RowGram(k, X, 1),
    "view": half_in_view,
    "view of twins": half_of_twins,
    "nystroem": lambda k, X: low_rank_gram(k, X, len(X)),
    "nystroem, float32": single_factor,
    "cholesky": lambda k, X: pivoted_cholesky(k, X, len(X)),
    "linear factor": lambda k, X: LowRankGram.linear(X),
}
TWINS = ["dense", "dense, lower half", "lazy", "rows, float32", "rows, first kept", "view", "cholesky"]
MATRICES |= {f"twins of {name}": lambda k, X, name=name: TwinGram(MATRICES[name](k, X)) for name in TWINS}
ON_WORKERS = {
    "workers": lambda k, X: choose_gram(k, X).gram,
    "workers, factor": lambda k, X: choose_gram(k, X, rank=X.shape[0]).gram,
    "workers, cholesky": lambda k, X: choose_gram(k, X, rank=1e-11).gram,
    "workers, linear factor": lambda k, X: choose_gram(k, X, only_multiplies=False).gram,
}
ON_WORKERS["twins of workers, factor"] = lambda k, X: TwinGram(ON_WORKERS["workers, factor"](k, X))
# those whose rounding is that of float64, on which a solver takes the same steps
PRECISE = ["dense", "dense, restricted", "lazy", "rows", "rows, restricted", "rows, first kept"]
PRECISE += ["rows, none kept", "view", "cholesky"]


def precise_pairs(kernels=("gaussian", "polynomial", "linear")):
    """Every precise matrix of the first kernel, and of the others those that solvers treat differently."""
    few = ["dense", "rows, first kept", "cholesky"]
    return [(kernel, name) for kernel in kernels for name in (PRECISE if kernel == kernels[0] else few)]


def precision(name):
    """The relative error that entries of a matrix may have."""
    if name.endswith("nystroem, float32"):
        return 5e-3  # eigenvalues below 1e-6 of the largest are left out
    if "float32" in name or "half" in name or "forgotten" in name:
        return SINGLE
    return 1e-7 if any(word in name for word in ("nystroem", "cholesky", "workers, factor")) else DOUBLE


def kernels_of(name):
    """The kernels that a matrix can be of."""
    if name.endswith("linear factor"):
        return ["linear"]
    return ["gaussian"] if "workers" in name else list(KERNELS)


def on_workers(client, X):
    """Rows in three blocks on the workers of a cluster."""
    from adatron.gram.cluster import Cluster, RowBlocks

    cluster, bounds = Cluster(client), [0, 16, 32, len(X)]
    blocks = [cluster.submit(np.asarray, X[a:b]) for a, b in pairwise(bounds)]
    return RowBlocks(cluster, blocks, np.diff(bounds), X.shape[1], [0, 1, 2])
