"""What a path in C is asked for: every error names the argument, its value and a way out."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.estimators.parameters import closest_name
from adatron.paths.criteria import Criterion, criterion_from
from adatron.paths.exact_path import LARGEST_EXACT
from adatron.paths.grid import PathData

__all__ = ["DEFAULT_CS", "can_be_exact", "check_Cs", "check_bounds", "criterion_name", "held_out_rows"]

DEFAULT_CS = 2.0 ** np.arange(-5, 16)
_CRITERIA = ["loo", "support", "cv"]
_FOLDS = 5


def check_Cs(Cs: Any) -> np.ndarray:
    """Values of C, rising, each once."""
    try:
        values = np.atleast_1d(np.asarray(Cs, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"Cs must be numbers > 0, got {Cs!r}") from error
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"Cs must be a list of numbers > 0 with at least one of them, got {Cs!r}")
    bad = ~(np.isfinite(values) & (values > 0.0))
    if bad.any():
        place = int(bad.argmax())
        hard = " (for a hard margin use SVC(C=float('inf')))" if values[place] == np.inf else ""
        raise ValueError(f"Cs must be finite numbers > 0, but Cs[{place}] is {values[place]}{hard}")
    return np.unique(values)


def check_bounds(Cs: np.ndarray | None, shared: PathData) -> None:
    """Bounds ``C w_i`` that are numbers > 0."""
    Cs = DEFAULT_CS if Cs is None else Cs
    with np.errstate(over="ignore"):
        high, low = Cs[-1] * shared.data.weights.max(), Cs[0] * shared.data.weights.min()
    if not np.isfinite(high):
        raise ValueError(f"C * sample_weight overflows with C={Cs[-1]!r}; scale sample_weight down")
    if not low > 0.0:
        raise ValueError(f"C * sample_weight underflows with C={Cs[0]!r}; scale sample_weight up")


def criterion_name(criterion: Any, cv: Any, scoring: Any) -> str:
    """ "loo", "support", "cv" or "validation"."""
    if criterion is None:
        name = "loo" if cv is None else "cv"
    elif isinstance(criterion, tuple | list) and len(criterion) == 2:
        name = "validation"
    elif isinstance(criterion, str) and criterion in _CRITERIA:
        name = criterion
    else:
        raise ValueError(
            f"criterion must be one of {_CRITERIA}, a pair (X_val, y_val) or None, got {criterion!r}"
            f"{closest_name(criterion, _CRITERIA)}"
        )
    if cv is not None and name != "cv":
        raise ValueError(
            f"cv={cv!r} belongs to criterion='cv', got criterion={name!r}; leave one of them out"
        )
    if scoring is not None and name in ("loo", "support"):
        raise ValueError(f"scoring={scoring!r} needs rows held out; set cv, or criterion=(X_val, y_val)")
    return name


def held_out_rows(
    name: str, criterion: Any, cv: Any, random_state: Any, estimator: Any, shared: PathData
) -> Criterion | None:
    """Folds or validation rows, if there are any."""
    if name in ("loo", "support"):
        return None
    asked = "cv" if name == "cv" else criterion
    return criterion_from(asked, _FOLDS if cv is None else cv, random_state, estimator, shared.data)


def can_be_exact(exact: Any, shared: PathData) -> bool:
    """Whether to follow the exact path."""
    if not isinstance(exact, bool | np.bool_) and not (isinstance(exact, str) and exact == "auto"):
        raise ValueError(f"exact must be True, False or 'auto', got {exact!r}")
    reason = _why_not(shared) if exact else ""
    if reason and exact != "auto":
        raise ValueError(f"exact=True {reason}")
    return bool(exact) and not reason


def _why_not(shared: PathData) -> str:
    n_classes, m = len(shared.data.classes), len(shared.data.codes)
    if n_classes > 2:
        return f"is for two classes, y has {n_classes}; set exact=False"
    if m > LARGEST_EXACT:
        return f"is for at most {LARGEST_EXACT} rows, X has {m}; set exact=False, or take fewer rows"
    if shared.indefinite:
        return "needs a positive semi-definite kernel, which this one is not; set exact=False"
    return ""
