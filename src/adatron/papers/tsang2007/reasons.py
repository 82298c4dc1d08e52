"""Why a number of Table 2 differs: one sentence on what was measured here."""

from __future__ import annotations

import numpy as np

from adatron.papers.tsang2007.classifiers import GRID, PathErrors, StageErrors

__all__ = ["reason"]


def reason(method: str, published: float, paths: list[PathErrors], ensembles: list[StageErrors]) -> str:
    """A sentence that a reader can check with the same runs."""
    if method.startswith("SVM"):
        return _along_the_path(method, published, paths)
    if method == "ensemble":
        return _along_the_stages(published, ensembles)
    if method == "ρ-SVM":
        values = [ensemble.last_hypothesis for ensemble in ensembles]
        return f"{_range(values)}: where it stops depends on the rows and, by rounding, on their order."
    return "Nothing is trained, so only other rows or another scaling can give another number."


def _range(values: list[float]) -> str:
    if len(values) == 1:
        return f"One run gave {values[0]:.1f} %"
    return f"Our {len(values)} runs gave from {min(values):.1f} to {max(values):.1f} %"


def _along_the_path(method: str, published: float, paths: list[PathErrors]) -> str:
    Cs = GRID[max(path.C[0] for path in paths) <= GRID]  # below, nothing was measured
    errors = np.mean([path.at(Cs) for path in paths], axis=0)
    nearest = int(np.abs(errors - published).argmin())
    what = f"this path has {errors[nearest]:.1f} % at C = {Cs[nearest]:.2g}"
    if method == "SVM (BEST)":
        return f"The document does not say how far or how finely its path went; {what}."
    taken = np.median([path.C[path.chosen] for path in paths])
    return f"Our estimate, y(f + b) ≤ αk(x, x), takes C = {taken:.2g} (median); {what}."


def _along_the_stages(published: float, ensembles: list[StageErrors]) -> str:
    longest = max(len(ensemble.stages) for ensemble in ensembles)
    errors = np.mean([ensemble.up_to(longest) for ensemble in ensembles], axis=0)
    nearest = int(np.abs(errors - published).argmin())
    return (
        f"Ours has {errors[nearest]:.1f} % after {nearest + 1} of {longest} stages, and goes on from there."
    )
