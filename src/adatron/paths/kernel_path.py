"""`KernelPath`: the steps along a path; and what all paths share to judge a step and to choose the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, overload

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, check_cv

from adatron.estimators.inputs import check_labels, check_predict_X
from adatron.estimators.parameters import as_random_state, check_integer, closest_name
from adatron.estimators.training_set import TrainingSet

__all__ = ["KernelPath", "best_step", "criterion_name", "folds", "validation_rows"]


@dataclass(frozen=True, repr=False)
class KernelPath:
    """Steps along a path, one record each; ``path["margin"]`` is a whole column.

    Parameters
    ----------
    records : sequence of dict
        One for each step, with at least the key `x` and, where the step succeeded, ``criterion``.
    criterion, best_index : str and int
        What ``criterion`` measures (less is better), and which step to take.
    x : str, default="sigma"
        The key that changes along the path.

    Notes
    -----
    `sigma_path` records ``sigma, gamma, criterion, margin`` (the smallest of all problems), ``radius_squared,
    bound`` (the margin bound, most often infinite), ``training_error, error`` (on folds or validation rows),
    ``n_support, epochs`` (of all problems), ``gap, status, converged, start`` ("cold", "exact": moved to the
    optimum of the new kernel before the first sweep, "scaled"), ``reason`` (of a failure) and ``seconds``.

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998.

    Examples
    --------
    >>> from adatron.selection import KernelPath
    >>> narrow = {"sigma": 0.5, "gamma": 2.0, "criterion": 0.2}
    >>> wide = {"sigma": 1.0, "gamma": 0.5, "criterion": 0.1}
    >>> path = KernelPath([narrow, wide], criterion="cv error", best_index=1)
    >>> path
    KernelPath(2 steps, sigma from 0.5 to 1, best sigma=1 with cv error 0.1)
    >>> path.best_gamma, path["criterion"].tolist(), len(path)
    (0.5, [0.2, 0.1], 2)
    """

    records: Sequence[Mapping[str, Any]]
    criterion: str
    best_index: int
    x: str = "sigma"

    def __post_init__(self) -> None:
        records = [dict(record) for record in self.records]
        if not records:
            raise ValueError("records must have at least one step, got none")
        without = [i for i, record in enumerate(records) if self.x not in record]
        if without:
            raise ValueError(f"every record must have the key x={self.x!r}; those at {without} lack it")
        if not -len(records) <= self.best_index < len(records):
            raise ValueError(f"best_index must be one of the {len(records)} steps, got {self.best_index!r}")
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "best_index", int(self.best_index) % len(records))

    @property
    def best(self) -> dict[str, Any]:
        """The record of the best step."""
        return self[self.best_index]

    @property
    def best_sigma(self) -> float:
        """The width σ of the best step."""
        return float(self.best["sigma"])

    @property
    def best_gamma(self) -> float:
        """The γ = 1/(2σ²) of the best step, which `SVC` calls ``gamma``."""
        record = self.best
        return float(record["gamma"] if "gamma" in record else 0.5 / record["sigma"] ** 2)

    @property
    def columns(self) -> list[str]:
        """Keys of the records, in order of appearance."""
        return list(dict.fromkeys(key for record in self.records for key in record))

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    def __getitem__(self, key: int | slice | str) -> Any:
        """A step by its number, or a column by its name; what a record lacks is NaN, or None in text."""
        if not isinstance(key, str):
            part = self.records[key]
            return dict(part) if isinstance(part, Mapping) else [dict(record) for record in part]
        if key not in self.columns:
            raise KeyError(f"no column {key!r}; this path has {self.columns}")
        given = [record[key] for record in self.records if key in record]
        missing = None if isinstance(given[0], str) else np.nan
        values = [record.get(key, missing) for record in self.records]
        return np.array(values, dtype=object if missing is None else None)

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame, one row for each step.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("KernelPath.to_frame needs pandas: pip install pandas") from error
        return pd.DataFrame([dict(record) for record in self.records], columns=self.columns)

    def __repr__(self) -> str:
        values, best = self[self.x], self.best
        steps = f"{len(self)} step{'s' if len(self) != 1 else ''}"
        spread = f"{self.x} from {values.min():.4g} to {values.max():.4g}"
        value = f" with {self.criterion} {best['criterion']:.4g}" if "criterion" in best else ""
        return f"{type(self).__name__}({steps}, {spread}, best {self.x}={best[self.x]:.4g}{value})"


def criterion_name(criterion: Any, names: list[str], otherwise: str) -> str:
    """One of the names, or "validation" for a pair of rows and labels."""
    if isinstance(criterion, tuple | list) and len(criterion) == 2:
        return "validation"
    if not isinstance(criterion, str) or criterion not in names:
        suggestion = closest_name(criterion, names)
        raise ValueError(f"criterion must be one of {names}{otherwise}, got {criterion!r}{suggestion}")
    return criterion


def best_step(records: Sequence[Any], usable: list[int], x: str, noun: str, key: Callable[[Any], Any]) -> int:
    """The usable record with the least key; of fits that did not converge only if none did."""
    unfinished = [records[i][x] for i in usable if not records[i]["converged"]]
    if unfinished:
        warnings.warn(
            f"{x.lower()}_path did not converge at {x}={', '.join(f'{value:g}' for value in unfinished)}; "
            f"raise max_iter or tol, or leave these {noun} out",
            ConvergenceWarning,
            stacklevel=3,
        )
    finished = [i for i in usable if records[i]["converged"]] or usable
    return min(finished, key=lambda i: key(records[i]))


def validation_rows(pair: Any, estimator: Any, data: TrainingSet) -> tuple[Any, np.ndarray]:
    """Checked rows and the index of each one's class, −1 for a class that training has not seen."""
    X_val = check_predict_X(estimator, pair[0])
    if X_val.shape[0] == 0:
        raise ValueError("criterion=(X_val, y_val) needs at least one validation row, got none")
    labels, places = check_labels(X_val, pair[1])
    known = {label: code for code, label in enumerate(data.classes.tolist())}
    codes = np.array([known.get(label, -1) for label in labels.tolist()])
    if (codes < 0).all():
        raise ValueError(
            f"criterion=(X_val, y_val): none of the labels {labels.tolist()[:5]!r} of y_val is a class of y, "
            f"which has {data.classes.tolist()[:5]!r}"
        )
    return X_val, codes[places]


def folds(cv: Any, random_state: Any, data: TrainingSet) -> tuple[np.ndarray, np.ndarray]:
    """Which rows each fold trains on and which it holds out, (m, F) each."""
    if isinstance(cv, Integral):
        allowed = "an integer >= 2, a splitter or an iterable of splits"
        n_folds = check_integer("cv", cv, at_least=2, allowed=allowed)
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=as_random_state(random_state))
        counts = np.bincount(data.codes)
        if counts.min() < n_folds:
            label = data.classes[counts.argmin()].item()
            raise ValueError(
                f"cv={n_folds} needs at least {n_folds} rows of every class, class {label!r} has "
                f"{counts.min()}; lower cv or add rows"
            )
    splits = list(check_cv(cv, data.codes, classifier=True).split(data.X, data.codes))
    training, held = (np.zeros((len(data.codes), len(splits)), dtype=bool) for _ in range(2))
    for fold, parts in enumerate(splits):
        training[parts[0], fold] = held[parts[1], fold] = True
        missing = np.setdiff1d(np.arange(len(data.classes)), data.codes[training[:, fold]])
        if len(missing):
            raise ValueError(
                f"fold {fold} of cv leaves no row of the classes {data.classes[missing].tolist()!r} "
                "to train on; add rows of these classes, or choose another cv"
            )
    if not held.any():
        raise ValueError(f"cv={cv!r} holds no rows out")
    return training, held
