"""The five classifiers of Table 2 on one split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.estimators import EnsembleSVC
from adatron.numerics.threads import one_blas_thread
from adatron.papers.tsang2007.published import METHODS
from adatron.papers.tsang2007.sets import Split
from adatron.selection import CPath, c_path

__all__ = [
    "GRID",
    "LARGEST_EXACT",
    "PathErrors",
    "StageErrors",
    "error",
    "five_errors",
    "path",
    "path_errors",
    "stage_errors",
]

LARGEST_EXACT = 2_000  # rows up to which the whole path is followed
GRID = 2.0 ** np.arange(-8.0, 10.5, 0.5)  # of C, beyond that
_ROUNDS = 1_000  # for one C: separable rows and a large C take for ever


def error(predicted: Any, y: Any) -> float:
    """Per cent of wrong predictions."""
    return 100.0 * float(np.mean(predicted != y))


@dataclass(frozen=True)
class PathErrors:
    """Test errors along a path in C, and which C the leave-one-out estimate takes."""

    C: np.ndarray
    errors: np.ndarray
    chosen: int

    @property
    def best(self) -> float:
        return float(self.errors.min())

    @property
    def loo(self) -> float:
        return float(self.errors[self.chosen])

    def at(self, Cs: np.ndarray) -> np.ndarray:
        """Errors at other C: those of the last one on the path that is not larger."""
        return self.errors[np.maximum(np.searchsorted(self.C, Cs, side="right") - 1, 0)]


@dataclass(frozen=True)
class StageErrors:
    """Test errors of the ensemble after each stage, and of its last hypothesis."""

    stages: np.ndarray
    last_hypothesis: float

    def up_to(self, n: int) -> np.ndarray:
        """The first n stages, the last one standing for those that are not there."""
        return self.stages[np.minimum(np.arange(n), len(self.stages) - 1)]


def path(split: Split, Cs: Any = None) -> CPath:
    """All C where there are few rows, otherwise a grid."""
    exact = Cs is None and len(split.y) <= LARGEST_EXACT
    values = GRID if Cs is None and not exact else Cs
    with one_blas_thread():  # results must not depend on the number of threads
        return c_path(split.X, split.y, values, gamma="mean", exact=exact, max_iter=_ROUNDS)


def path_errors(split: Split, Cs: Any = None) -> PathErrors:
    found = path(split, Cs)
    return PathErrors(found.C, 100.0 * found.test_errors(split.X_test, split.y_test), found.best_index)


def stage_errors(split: Split, **options: Any) -> StageErrors:
    """From the Parzen window, the first stage, to the ensemble, the last."""
    with one_blas_thread():
        model = EnsembleSVC(**options).fit(split.X, split.y)
        stages = [error(predicted, split.y_test) for predicted in model.staged_predict(split.X_test)]
        return StageErrors(np.array(stages), error(model.final_svm_.predict(split.X_test), split.y_test))


def five_errors(along_path: PathErrors, ensemble: StageErrors) -> dict[str, float]:
    """In the order of the table."""
    stages = ensemble.stages
    values = (along_path.best, along_path.loo, stages[0], ensemble.last_hypothesis, stages[-1])
    return dict(zip(METHODS, map(float, values), strict=True))
