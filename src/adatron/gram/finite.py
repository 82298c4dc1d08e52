"""No kernel value may be NaN or infinite: say which rows, before training starts on nonsense."""

from __future__ import annotations

import numpy as np

from adatron.exceptions import KernelError

__all__ = ["check_finite"]


def check_finite(values: np.ndarray, rows: np.ndarray | None, cols: np.ndarray | None) -> np.ndarray:
    """Return `values` unless one of them is NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass; a sum can overflow by itself, hence the second look
            return values
    bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0:
        return values
    i, j = bad[0]
    row = i if rows is None else rows[i]
    col = j if cols is None else cols[j]
    raise KernelError(
        f"the kernel value is {values[i, j]} for rows {row} and {col} of X ({len(bad)} such values); "
        "scale X (e.g. with StandardScaler) or change the kernel's parameters"
    )
