"""Direct multiclass training, by Crammer & Singer: what it cannot serve, and its kernel with a bias."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators.kernel_choice import operator_for
from adatron.gram import Choice
from adatron.kernels import Constant, Kernel, Linear, Precomputed

__all__ = ["check_direct_request", "direct_operator"]


def check_direct_request(svc: Any) -> None:
    """Raise when ``multi_class="crammer_singer"`` cannot serve the other parameters, saying what can."""
    if not isinstance(svc.solver, str) or svc.solver != "auto":
        raise _unserved(f"solver={svc.solver!r}", "has its own solver", "solver='auto'")
    if not isinstance(svc.learning_rate, str):
        raise _unserved(f"learning_rate={svc.learning_rate!r}", "has no rate", "learning_rate='auto'")
    if svc.rank is not None:
        raise _unserved(f"rank={svc.rank!r}", "trains on the kernel itself", "rank=None")
    if svc.decision_function_shape == "ovo":
        raise _unserved(
            "decision_function_shape='ovo'", "has no pairs of classes", "decision_function_shape='ovr'"
        )


def _unserved(request: str, reason: str, way_out: str) -> ValueError:
    return ValueError(
        f"multi_class='crammer_singer' {reason}, got {request}; set {way_out}, "
        "or use multi_class='ovo' or 'ovr'"
    )


def direct_operator(kernel: Kernel, X: Any, bias: bool, cache_size: float | str) -> Choice:
    """The operator of the kernel, or of the kernel + 1 when there is to be a bias."""
    if not bias:
        return operator_for(kernel, X, cache_size, None, None)
    if isinstance(kernel, Precomputed):
        return operator_for(kernel, X + 1.0, cache_size, None, None)
    if isinstance(kernel, Linear):  # a feature that is 1 keeps the rows a factor of the matrix
        return operator_for(kernel, _with_ones(X), cache_size, None, None)
    return operator_for(kernel + Constant(1.0), X, cache_size, None, None)


def _with_ones(X: Any) -> Any:
    ones = np.ones((X.shape[0], 1))
    return sparse.csr_array(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])
