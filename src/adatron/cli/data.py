"""From the name of a data set or a file to rows, a target and how to split them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adatron import datasets
from adatron.estimators.parameters import closest_name
from adatron.io import SparseTable, read_table, split_target
from adatron.io.printing import printable

__all__ = ["BUNDLED", "Rows", "is_bundled", "load_rows"]

BUNDLED = ("sonar", "breast_cancer_wisconsin", "ionosphere", "pima")
_TARGET = "class"  # of the bundled sets


@dataclass(frozen=True)
class Rows:
    """Rows of a data set; the target is text for classes, numbers otherwise, None without one."""

    name: str
    X: Any  # float or object matrix, or sparse
    target: np.ndarray | None
    columns: list[str] = field(default_factory=list)  # names of the features; none for svmlight
    kinds: list[str] = field(default_factory=list)  # "number" or "text"
    target_name: str | None = None
    spelling: dict[float, str] = field(default_factory=dict)  # of numeric labels
    ignored: list[str] = field(default_factory=list)  # columns that were left out
    train: np.ndarray | None = None  # the data set's own split
    notes: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """Without directories."""
        return self.name.rpartition("/")[2] or self.name

    @property
    def labels(self) -> np.ndarray:
        """The target as classes: text, or whole numbers where these print as they were spelled."""
        assert self.target is not None
        if self.target.dtype.kind != "f":
            return self.target.astype(str)
        spelled = np.array([self.spelling.get(value) or f"{value:g}" for value in self.target.tolist()])
        whole = self.target.astype(np.int64)
        return whole if np.array_equal(whole.astype(str), spelled) else spelled


def load_rows(name: str, *, has_target: bool, target: str | None = None, **options: Any) -> Rows:
    """The rows of a bundled set, of a file, or of standard input ("-").

    Parameters
    ----------
    name : str
        A file wins over a bundled set of the same name.
    has_target : bool
        Whether one column is to be predicted; if not, `target` is left out of the features.
    target : str, optional
        Name of the column.
    **options
        Of `adatron.io.read_table`.
    """
    if is_bundled(name):
        _refuse_options(name, target, options)
        return _bundled(name, has_target)
    ignored = [*options.pop("ignore", []), *([target] if target and not has_target else [])]
    options |= {"ignore": ignored} if ignored else {}
    table = read_table(name, target=target if has_target else None, **options)
    if isinstance(table, SparseTable):
        return Rows(table.source, table.X, table.y if has_target else None, spelling=table.spelling)
    if not has_target:
        return Rows(table.source, table.to_matrix(), None, table.columns, table.kinds, ignored=ignored)
    features, y = split_target(table, target)
    name_of = features.target or ""
    return Rows(
        table.source, features.to_matrix(), y, features.columns, features.kinds, name_of,
        table.spelling.get(name_of, {}), ignored,
    )  # fmt: skip


def is_bundled(name: str) -> bool:
    """Whether a bundled set is meant and not a file; an error if there is neither."""
    if name == "-" or Path(name).exists():
        return False
    if name in BUNDLED:
        return True
    raise FileNotFoundError(
        f"there is no file {printable(name)!r}, and it is not one of the bundled data sets "
        f"{', '.join(BUNDLED)}{closest_name(name, list(BUNDLED))}"
    )


def _refuse_options(name: str, target: str | None, options: dict[str, Any]) -> None:
    if target not in (None, _TARGET):
        raise ValueError(f"--target {target!r}: that of the bundled data set {name} is called {_TARGET!r}")
    if options:
        flag = next(iter(options)).replace("_", "-")
        raise ValueError(f"--{flag} is for files; {name} is a bundled data set, which needs no such help")


def _bundled(name: str, has_target: bool) -> Rows:
    data = getattr(datasets, f"load_{name}")()
    columns = [str(column) for column in data.feature_names]
    kinds = ["number"] * len(columns)
    if not has_target:
        return Rows(name, data.data, None, columns, kinds)
    if name == "sonar":
        return _sonar(columns, kinds, data.target_names)
    labels = np.asarray(data.target_names, dtype=str)[data.target]
    return Rows(name, data.data, labels, columns, kinds, _TARGET)


def _sonar(columns: list[str], kinds: list[str], names: list[str]) -> Rows:
    """With its original split, if that can be had."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X_train, X_test, y_train, y_test = datasets.load_sonar(split="aspect")
    note = (
        "the original split of sonar does not come with adatron, so this is a seeded stratified half split; "
        "for the original one set ADATRON_DATA to a directory with sonar/sonar.csv.gz"
    )
    is_original = not any(issubclass(warning.category, UserWarning) for warning in caught)
    labels = np.asarray(names, dtype=str)[np.concatenate([y_train, y_test])]
    train = np.arange(len(labels)) < len(y_train)
    notes = () if is_original else (note,)
    return Rows(
        "sonar", np.vstack([X_train, X_test]), labels, columns, kinds, _TARGET, train=train, notes=notes
    )
