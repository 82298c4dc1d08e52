"""`KernelPath`: what was tried along a path of kernel widths, and which was best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

__all__ = ["KernelPath"]


@dataclass(frozen=True, repr=False)
class KernelPath:
    """Steps along a path, one record each.

    A path is a sequence of records; ``path["margin"]`` is a whole column.

    Parameters
    ----------
    records : sequence of dict
        One for each step, with at least the key `x` and, where the step succeeded, ``criterion``.
    criterion : str
        What ``criterion`` measures; less is better.
    best_index : int
        Which step to take.
    x : str, default="sigma"
        The key that changes along the path.

    Attributes
    ----------
    best : dict
        The record of the best step.
    best_sigma, best_gamma : float
        Its width σ, and the γ = 1/(2σ²) that `SVC` calls ``gamma``.
    columns : list of str
        Keys of the records, in order of appearance.

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998,
    section 3.4: a path of widths and the criterion by which one is chosen.

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
        return self[self.best_index]

    @property
    def best_sigma(self) -> float:
        return float(self.best["sigma"])

    @property
    def best_gamma(self) -> float:
        record = self.best
        return float(record["gamma"] if "gamma" in record else 0.5 / record["sigma"] ** 2)

    @property
    def columns(self) -> list[str]:
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
