"""What `AutoSVC` tried, as a `KernelPath`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.auto.auto_search import AutoSearch
from adatron.auto.penalty_search import Trial
from adatron.auto.stages import StageCurve
from adatron.paths.kernel_path import KernelPath

__all__ = ["path_of"]


def path_of(search: AutoSearch) -> KernelPath:
    """Every width that was tried, level by level."""
    records: list[dict[str, Any]] = []
    best, found = 0, search.found
    for level, widths in enumerate(search.searches):
        for octave in sorted(widths.curves):
            if found is not None and (level, octave) == (found.level, found.choice.octave):
                best = len(records)
            records.append(_record(level, widths.curves[octave]))
    if search.exact is not None:
        for trial in search.exact.trials.values():
            if found is not None and found.is_exact and trial is search.exact.best:
                best = len(records)
            records.append(_exact_record(len(search.searches), trial, search.exact.C_of(trial)))
    return KernelPath(records, criterion="held-out soft error", best_index=best)


def _exact_record(level: int, trial: Trial, C: float) -> dict[str, Any]:
    return {
        "level": level,
        "sigma": (2.0 * trial.gamma) ** -0.5,
        "gamma": trial.gamma,
        "C": C,
        "criterion": trial.criterion,
        "error": trial.error,
        "stage": np.nan,
        "epochs": trial.epochs,
        "seconds": trial.seconds,
        "reason": "",
    }


def _record(level: int, curve: StageCurve) -> dict[str, Any]:
    record = {"level": level, "sigma": (2.0 * curve.gamma) ** -0.5, "gamma": curve.gamma}
    if curve.reason:
        unknown = dict.fromkeys(("criterion", "error", "stage"), np.nan)
        return record | unknown | {"epochs": 0, "seconds": curve.seconds, "reason": curve.reason}
    loss = int(np.argmin([min(values) for values in curve.criterion]))
    place = int(np.argmin(curve.criterion[loss]))
    return record | {
        "criterion": curve.criterion[loss][place],
        "error": curve.errors[loss][place],
        "stage": max(1.0, 0.5 * (place + 1)),
        "epochs": len(curve.errors[loss]) // 2,
        "seconds": curve.seconds,
        "reason": "",
    }
