"""What skops has to trust to load adatron's models."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from adatron.io.registry import classes_by_tag, estimators_by_tag

__all__ = ["SKOPS_TRUSTED"]


def _trusted() -> list[str]:
    kinds = [*estimators_by_tag().values(), *classes_by_tag().values()]
    own = [kind for kind in kinds if kind.__module__.split(".")[0] == "adatron"]
    data = [np.dtype, sparse.csr_array]  # of fitted imputers, and of sparse support vectors
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in [*own, *data])


SKOPS_TRUSTED: list[str] = _trusted()
"""For ``skops.io.load(path, trusted=adatron.io.SKOPS_TRUSTED)``: adatron's estimators, kernels and parts."""
