"""Widths to try: those asked for, checked, or some that suit the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

__all__ = ["check_sigmas", "default_sigmas"]

_SAMPLE = 1_000  # rows whose distances are looked at


def check_sigmas(sigmas: Any) -> np.ndarray:
    """Distinct positive widths in ascending order."""
    try:
        values = np.atleast_1d(np.asarray(sigmas, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"sigmas must be numbers > 0, got {sigmas!r}") from error
    if values.ndim != 1 or not len(values):
        raise ValueError(f"sigmas must be a list of at least one number > 0, got shape {values.shape}")
    bad = ~(np.isfinite(values) & (values > 0.0))
    if bad.any():
        place = int(bad.argmax())
        raise ValueError(f"sigmas must be finite numbers > 0, got {values[place]} at position {place}")
    return np.unique(values)


def default_sigmas(X: Any, n_sigmas: int = 20) -> np.ndarray:
    """Widths in geometric progression, from where rows hardly see each other to where all see all.

    The first is a quarter of the median distance of a row to its nearest neighbour, where two such rows
    have a kernel value of exp(−8); the last is the median distance of two rows.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.paths.widths import default_sigmas
    >>> default_sigmas(np.array([[0.0], [4.0], [8.0], [16.0]]), n_sigmas=4)
    array([1., 2., 4., 8.])
    """
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)).astype(int))
    distances = euclidean_distances(X[rows])
    apart = distances > 1e-9 * distances.max(initial=0.0)
    if not apart.any():
        raise ValueError("all rows of X are equal, so no width can be derived from them; give sigmas")
    nearest = np.where(apart, distances, np.inf).min(axis=1)
    tiny = 0.25 * float(np.median(nearest[np.isfinite(nearest)]))
    return np.geomspace(tiny, max(float(np.median(distances[apart])), 2.0 * tiny), n_sigmas)
