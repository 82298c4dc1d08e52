"""Means over repetitions beside published numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adatron.papers.experiment import Comparison

__all__ = ["averaged"]


def averaged(
    labels: dict[str, str], values: Sequence[float], published: float | None = None, **more: Any
) -> Comparison:
    """The mean of `values` with its standard error, compared with what is published.

    Examples
    --------
    >>> from adatron.papers.cristianini1999.averages import averaged
    >>> comparison = averaged({"data": "sonar"}, [0.1, 0.2, 0.3])
    >>> round(comparison.ours, 3), round(comparison.standard_error, 4)
    (0.2, 0.0577)
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return Comparison(labels, published, float(np.mean(values)), spread / len(values) ** 0.5, **more)
