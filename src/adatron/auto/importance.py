"""How much the decisions of a model depend on each column of the table.

The importance of a column is what decisions change by, on average, when it alone takes the values it has in
another row: its total effect in a variance decomposition (M. J. W. Jansen, *Analysis of variance designs for
model output*, Computer Physics Communications 117, 1999; I. M. Sobol', *Sensitivity estimates for nonlinear
mathematical models*, 1993). Numbers, and categories of however many levels, are measured alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.auto.least_squares import squared_or_city_block
from adatron.estimators.expansion import Expansion
from adatron.kernels import Exponential
from adatron.numerics.exponential import exponentials
from adatron.numerics.threads import one_blas_thread

_WORK = 4e7  # kernel values: some tenths of a second
_FEWEST, _MOST = 32, 128  # rows


def importances(machines: list[Expansion], X: Any, blocks: np.ndarray, n_columns: int) -> np.ndarray:
    """Shares of the columns; equal ones of those in use where they were not measured: rows of text.

    `X` are scaled training rows, and `blocks` the column of each of their features.
    """
    in_use = np.bincount(blocks, minlength=n_columns) > 0
    effects = np.zeros(n_columns)
    if not sparse.issparse(X) and len(X) > 1:
        n_values = in_use.sum() * sum(len(machine.coefficients) for machine in machines)
        n_rows = min(len(X), int(np.clip(_WORK / n_values, _FEWEST, _MOST)))
        order = np.random.default_rng(0).permutation(len(X))
        rows, others = order[:n_rows], np.roll(order, 1 + len(X) // 2)[:n_rows]
        with one_blas_thread():
            effects = _effects(machines, X[rows], X[others], blocks, n_columns)
    return effects / effects.sum() if effects.sum() > 0.0 else in_use / in_use.sum()


def _effects(
    machines: list[Expansion], X: np.ndarray, others: np.ndarray, blocks: np.ndarray, n_columns: int
) -> np.ndarray:
    """Mean squared changes of decisions for `X` when one column has the values of `others`."""
    changes = np.zeros((n_columns, len(X), machines[0].coefficients.shape[1]))
    for machine in machines:
        kernel, *parts = machine.kernel.split(X, others, machine.vectors)
        own, other, vectors = (np.ascontiguousarray(part, dtype=np.float32) for part in parts)
        distances = squared_or_city_block(type(kernel), own, vectors)
        outputs = _outputs(machine, kernel, distances)
        for column in np.unique(blocks):
            features = np.flatnonzero(blocks == column)
            x, new, v = (rows.take(features, axis=1) for rows in (own, other, vectors))
            moved = distances + squared_or_city_block(type(kernel), new, v)
            moved -= squared_or_city_block(type(kernel), x, v)
            changes[column] += _outputs(machine, kernel, moved) - outputs
    return np.mean(changes**2, axis=(1, 2))


def _outputs(machine: Expansion, kernel: Any, distances: np.ndarray) -> np.ndarray:
    values = np.maximum(distances, 0.0)  # differences of sums may be negative by rounding
    if type(kernel) is Exponential:
        np.sqrt(values, out=values)
    values *= -kernel.gamma
    return exponentials(values) @ machine.coefficients.astype(np.float32)
