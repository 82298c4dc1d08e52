"""Load rows and a target from a data set or a file, and split them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from adatron import datasets
from adatron.estimators.parameters import closest_name
from adatron.io import read_table
from adatron.io.printing import listed, printable, quoted
from adatron.io.table import find_target

BUNDLED = ("sonar", "breast_cancer_wisconsin", "ionosphere", "pima")
_TARGET = "class"  # name of the target in the bundled sets
_TEST_SIZE = 1.0 / 3.0
_CLASSES = 20  # up to so many different whole numbers are classes


@dataclass(frozen=True)
class Rows:
    """A table, and apart from it the target: text, numbers, or None."""

    name: str
    X: Any  # a DataFrame, or sparse
    target: np.ndarray | None = None
    target_name: str | None = None
    spelling: dict[float, str] = field(default_factory=dict)  # of numeric labels
    train: np.ndarray | None = None  # the data set's own split
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns; none of sparse rows."""
        return [] if sparse.issparse(self.X) else [str(name) for name in self.X.columns]

    @property
    def kinds(self) -> list[str]:
        """ "number", "text" or "other" for each column; `predict` reads its file accordingly."""
        kinds = {"i": "number", "u": "number", "f": "number", "O": "text", "T": "text"}
        return [kinds.get(self.X[name].dtype.kind, "other") for name in self.columns]

    @property
    def labels(self) -> np.ndarray:
        """The target as classes: text, or whole numbers where these print as they were spelled."""
        assert self.target is not None
        if self.target.dtype.kind != "f":
            return self.target.astype(str)
        spelled = np.array([self.spelling.get(value) or f"{value:g}" for value in self.target.tolist()])
        whole = self.target.astype(np.int64)
        return whole if np.array_equal(whole.astype(str), spelled) else spelled

    def task(self, wanted: str | None) -> str:
        """ "classification" or "regression": text and few different whole numbers are classes."""
        assert self.target is not None
        if self.target.dtype.kind != "f":
            if wanted == "regression":
                raise ValueError(f"the target {quoted(self.target_name or '')} is text, not a number")
            return "classification"
        values = np.unique(self.target)
        few = len(values) <= min(_CLASSES, len(self.target) // 2 + 1)
        is_class = few and bool((values == np.round(values)).all())
        return wanted or ("classification" if is_class else "regression")


def load_rows(name: str, *, has_target: bool, target: str | None = None, **options: Any) -> Rows:
    """The rows of a bundled set, of a file, or of standard input ("-"); a file wins over a bundled set.

    Without `has_target` the column `target` is left out. `options` are those of `adatron.io.read_table`.
    """
    if is_bundled(name):
        _refuse_options(name, target, options)
        rows = _bundled(name)
        return rows if has_target else replace(rows, target=None, target_name=None, train=None)
    ignored = [*options.pop("ignore", []), *([target] if target and not has_target else [])]
    table = read_table(name, target=target if has_target else None, ignore=ignored, **options)
    if isinstance(table, tuple):
        X, labels = table
        spelling = dict(zip(labels.astype(float).tolist()[::-1], labels.tolist()[::-1], strict=True))
        return Rows(name, X, labels.astype(float) if has_target else None, None, spelling)
    categorical = list(options.get("kinds", {}))
    check_names("--categorical", categorical, table)
    table = table.astype(dict.fromkeys(categorical, "category"))  # so that no encoder takes them for numbers
    return _without_gaps(table, find_target(table.columns, target) if has_target else None)


def read_rows(name: str, **options: Any) -> Any:
    """The whole table, target included: a DataFrame, or a sparse matrix and labels."""
    if not is_bundled(name):
        return read_table(name, **options)
    _refuse_options(name, None, {key: own for key, own in options.items() if key not in ("kinds", "ignore")})
    rows = _bundled(name)
    return rows.X.assign(**{_TARGET: rows.target})


def check_names(option: str, names: Any, table: Any) -> None:
    for name in names:
        if name not in table.columns:
            hint = closest_name(name, list(table.columns))
            raise ValueError(f"{option} {quoted(name)}: {table.attrs.get('source')} has no such column{hint}")


def _without_gaps(table: Any, target: str | None) -> Rows:
    """Leave out rows without a target and empty columns; notes say so."""
    notes, source, spelling = [], table.attrs["source"], table.attrs.get("spelling", {})
    y = None
    if target is not None:
        present = table[target].notna().to_numpy()
        if table.shape[1] < 2 or not present.any():
            what = f"only one column, {quoted(target)}" if present.any() else f"no value of {quoted(target)}"
            raise ValueError(f"{source}: {what}; expected features and a target")
        n_lost = int((~present).sum())
        if n_lost:
            notes.append(f"{n_lost:,} of {len(present):,} rows have no {quoted(target)} and were left out")
        column = table.loc[present, target]
        y = column.to_numpy(float) if column.dtype.kind in "iuf" else column.astype(str).to_numpy(str)
        amounts = _amounts(y)
        if amounts is not None:
            notes.append(f"{quoted(target)} is read as numbers: {quoted(str(y[0]))} is {amounts[0]:g}")
            y = amounts
        table = table.loc[present].drop(columns=target).reset_index(drop=True)
    empty = [name for name in table.columns if table[name].isna().all()]
    if empty:
        notes.append(f"empty columns were left out: {listed(empty)}")
    return Rows(source, table.drop(columns=empty), y, target, spelling, notes=tuple(notes))


def _amounts(y: np.ndarray) -> np.ndarray | None:
    """Money and percentages that are written as text, as numbers; None if there is anything else."""
    from adatron.tables.parsing import parse_numbers

    texts, place = np.unique(y, return_inverse=True)
    if texts.dtype.kind != "U" or not all(re.search("[$€£¥%]", text) for text in texts):
        return None
    values = parse_numbers(texts.tolist())
    return values[place] if np.isfinite(values).all() else None


def is_bundled(name: str) -> bool:
    """Whether `name` is a bundled set and not a file; an error if it is neither."""
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
        raise ValueError(f"--{flag} is for files; {name} is a bundled data set")


def _bundled(name: str) -> Rows:
    data = getattr(datasets, f"load_{name}")()
    X, y, train = data.data, data.target, None
    notes: tuple[str, ...] = ()
    if name == "sonar":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            X_train, X_test, y_train, y_test = datasets.load_sonar(split="aspect")
        X, y = np.vstack([X_train, X_test]), np.concatenate([y_train, y_test])
        train = np.arange(len(y)) < len(y_train)
        if any(issubclass(warning.category, UserWarning) for warning in caught):
            notes = (
                "the original split of sonar does not come with adatron, so this is a seeded stratified half "
                "split; for the original one set ADATRON_DATA to a directory with sonar/sonar.csv.gz",
            )
    frame = pd.DataFrame(X, columns=[str(column) for column in data.feature_names])
    return Rows(name, frame, np.asarray(data.target_names, dtype=str)[y], _TARGET, train=train, notes=notes)


@dataclass(frozen=True)
class Parts:
    """Training rows, and test rows if there are any."""

    X_train: Any
    y_train: np.ndarray | None
    X_test: Any
    y_test: np.ndarray | None
    description: str


def split(rows: Rows, y: np.ndarray | None, test_size: float | None, *, is_class: bool, seed: int) -> Parts:
    """The data set's own split, or a seeded one, stratified for classes.

    A row that is alone in its class goes to the training part: as a test row it could only be wrong.
    """
    from sklearn.model_selection import train_test_split

    if y is None or test_size == 0.0:
        return Parts(rows.X, y, None, None, "all rows are for training")
    places = np.arange(len(y))
    if rows.train is not None and test_size is None:
        kind = "stratified half, seeded (not the original split)" if rows.notes else "the original split"
        return _parts(rows.X, y, places[rows.train], kind)
    size = _TEST_SIZE if test_size is None else test_size
    n_test = int(np.ceil(size * len(y)))
    if len(y) - n_test < 2:
        raise ValueError(
            f"--test-size {size:.3g} leaves {len(y) - n_test} of {len(y)} rows for training, which takes 2; "
            "make it smaller, or 0 for no test rows"
        )
    groups, counts = np.unique(y, return_inverse=True, return_counts=True)[1:] if is_class else (places, None)
    pool = places if counts is None else places[counts[groups] > 1]
    n_test = min(n_test, len(pool) - 1)
    if n_test < 1:
        return Parts(
            rows.X,
            y,
            None,
            None,
            "no class has two rows; to predict numbers, take --task regression",
        )
    n_groups = 0 if counts is None else int((counts > 1).sum())
    stratum = groups[pool] if 0 < n_groups <= min(n_test, len(pool) - n_test) else None
    test = train_test_split(pool, test_size=n_test, stratify=stratum, random_state=seed)[1]
    kind = "random" if stratum is None else "stratified"
    return _parts(rows.X, y, np.setdiff1d(places, test), f"{kind} share of {size:.3g}, seed {seed}")


def _parts(X: Any, y: np.ndarray, train: np.ndarray, description: str) -> Parts:
    test = np.setdiff1d(np.arange(len(y)), train)
    return Parts(rows_of(X, train), y[train], rows_of(X, test), y[test], description)


def rows_of(X: Any, places: np.ndarray) -> Any:
    """Some rows of a DataFrame or a sparse matrix."""
    return X[places] if sparse.issparse(X) else X.iloc[places]
