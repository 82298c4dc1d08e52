"""The runs behind one row of Table 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.papers.experiment import Effort
from adatron.papers.tsang2007.classifiers import (
    PathErrors,
    StageErrors,
    five_errors,
    path_errors,
    stage_errors,
)
from adatron.papers.tsang2007.published import METHODS
from adatron.papers.tsang2007.sets import WEB7, DataSet, Split

__all__ = ["WEB7_RANK", "Row", "row_of"]

WEB7_RANK = 1_000
_WEB7_GRID = 2.0 ** np.arange(-3.0, 7.0)
_QUICK_TEST_ROWS = 3_000
_QUICK_GRID = 2.0 ** np.arange(-5.0, 11.0)
_QUICK_WEB7_ROWS = 2_000
_QUICK_WEB7_RANK = 200


@dataclass(frozen=True)
class Row:
    """Errors of the five classifiers on all splits of a data set."""

    data: DataSet
    paths: list[PathErrors]
    ensembles: list[StageErrors]
    test_rows: int | None  # where not all were used

    @property
    def means(self) -> dict[str, float]:
        return {method: float(np.mean(self.values(method))) for method in METHODS}

    def values(self, method: str) -> list[float]:
        """One for each run; the path does not depend on the order of the rows, so it may have but one."""
        if method.startswith("SVM"):
            return [path.best if method == METHODS[0] else path.loo for path in self.paths]
        found = [five_errors(self.paths[0], ensemble) for ensemble in self.ensembles]
        return [errors[method] for errors in found]

    def standard_error(self, method: str) -> float:
        """Over the runs; that of the test rows as well, if they are a sample of those in the file."""
        values = np.array(self.values(method))
        over_runs = float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        if self.test_rows is None:
            return over_runs
        rate, n = values.mean() / 100.0, self.test_rows * len(values)
        return float(np.hypot(over_runs, 100.0 * np.sqrt(rate * (1.0 - rate) / n)))


def row_of(data: DataSet, effort: Effort) -> Row:
    """Train all classifiers on all splits."""
    rank = effort.count(full=WEB7_RANK, quick=_QUICK_WEB7_RANK)
    options: dict[str, Any] = {"rank": rank, "random_state": effort.seed} if data is WEB7 else {}
    paths, ensembles = [], []
    for i in range(effort.count(full=data.n_splits, quick=2 if data.n_splits == 10 else 1)):
        split = data.split(i, effort.seed)
        split = _cut(data, split) if effort.quick else split
        if i == 0 or not data.is_one_file:
            paths.append(path_errors(split, _Cs(data, split, effort)))
        ensembles.append(stage_errors(split, **options))
    return Row(data, paths, ensembles, len(split.y_test) if effort.quick else None)


def _cut(data: DataSet, split: Split) -> Split:
    n_test = len(split.y_test)
    test = np.random.default_rng(0).permutation(n_test)[:_QUICK_TEST_ROWS]  # the file may be sorted
    part = split._replace(X_test=split.X_test[test], y_test=split.y_test[test])
    return part.first(_QUICK_WEB7_ROWS, n_test) if data is WEB7 else part


def _Cs(data: DataSet, split: Split, effort: Effort) -> Any:
    """None: all C if there are few rows, otherwise the usual grid."""
    if effort.quick and len(split.y) > 500:
        return _QUICK_GRID
    return _WEB7_GRID if data is WEB7 else None
