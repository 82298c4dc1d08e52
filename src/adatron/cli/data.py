"""Rows and a target from a data set or a file: load and split them, and encode them in front of a model."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from scipy import sparse

from adatron import datasets
from adatron.datasets.bundled import ORIGINAL_SONAR, find_original
from adatron.estimators.parameters import closest_name
from adatron.io import read_table
from adatron.io.printing import listed, printable, printable_source, quoted
from adatron.io.table import find_target

BUNDLED = ("sonar", "breast_cancer_wisconsin", "ionosphere", "pima")
_TARGET = "class"  # name of the target in the bundled sets
_TEST_SIZE = 1.0 / 3.0
_CLASSES = 20  # up to so many different whole numbers are classes
_OTHER_SPLIT: dict[str, Any] = {
    "split_name": "half of each class, drawn at random; not the original split",
    "split_notes": (
        "the original split of sonar does not come with adatron, so half of each class was drawn at random; "
        f"for the original one set ADATRON_DATA to a directory with {ORIGINAL_SONAR}",
    ),
}


@dataclass(frozen=True)
class Rows:
    """A table, and apart from it the target: text, numbers, or None."""

    name: str
    X: Any  # a DataFrame, or sparse
    target: np.ndarray | None = None
    target_name: str | None = None
    spelling: dict[float, str] = field(default_factory=dict)  # of numeric labels
    notes: tuple[str, ...] = ()
    is_train: np.ndarray | None = None  # the data set's own split
    split_name: str = "the original split"
    split_notes: tuple[str, ...] = ()  # what to know of that split

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
    def short_name(self) -> str:
        """The name, without the folder of a file."""
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

    def task(self, wanted: str | None) -> str:
        """ "classification" or "regression": text and few different whole numbers are classes."""
        assert self.target is not None
        if self.target.dtype.kind != "f":
            if wanted == "regression":
                name = quoted(self.target_name or "")
                raise ValueError(
                    f"the target {name} is text, not a number; name another column with --target"
                )
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
        table = _bundled(name)
        return _without_gaps(table, _TARGET) if has_target else _without_gaps(table.drop(columns=_TARGET))
    given = options.pop("ignore", ())
    ignored = [*given, *([target] if target and not has_target else [])]
    table = read_table(name, target=target if has_target else None, ignore=ignored, **options)
    if isinstance(table, tuple):
        X, labels = table
        named = {"--target": target, "--ignore": ignored, "--categorical": options.get("kinds")}
        for option in (option for option, own in named.items() if own):
            raise ValueError(f"{option}: {printable_source(name)} is svmlight, which has no names of columns")
        spelling = dict(zip(labels.astype(float).tolist()[::-1], labels.tolist()[::-1], strict=True))
        return Rows(name, X, labels.astype(float) if has_target else None, None, spelling)
    check_names("--ignore", set(given) & set(table.attrs["not_there"]), table)
    categorical = list(options.get("kinds", {}))
    check_names("--categorical", categorical, table)
    table = table.astype(dict.fromkeys(categorical, "category"))  # so that no encoder takes them for numbers
    return _without_gaps(table, find_target(table.columns, target) if has_target else None)


def read_rows(name: str, **options: Any) -> Any:
    """The whole table, target included: a DataFrame, or a sparse matrix and labels."""
    if not is_bundled(name):
        return read_table(name, **options)
    _refuse_options(name, None, {key: own for key, own in options.items() if key not in ("kinds", "ignore")})
    return _bundled(name)


def check_names(option: str, names: Any, table: Any) -> None:
    for name in names:
        if name not in table.columns:
            hint = closest_name(name, list(table.columns))
            raise ValueError(f"{option} {quoted(name)}: {table.attrs.get('source')} has no such column{hint}")


def _without_gaps(table: Any, target: str | None = None) -> Rows:
    """Leave out rows without a target and empty columns; notes say so."""
    notes, source, spelling = [], table.attrs["source"], table.attrs.get("spelling", {})
    own_split, y = table.attrs.get("split", {}), None
    for name in table.columns:  # here, where rows have the numbers of the file
        if table[name].dtype.kind == "f" and (is_infinite := np.isinf(table[name].to_numpy())).any():
            row = 1 + int(is_infinite.argmax())
            raise ValueError(f"{source}: column {quoted(name)} is infinite in row {row}; replace or drop it")
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
    return Rows(source, table.drop(columns=empty), y, target, spelling, tuple(notes), **own_split)


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
    if name == "-" or (name and Path(name).exists()):  # "" is the directory here
        return False
    if name in BUNDLED:
        return True
    raise FileNotFoundError(
        f"there is no file {printable(name)!r}, and it is not one of the bundled data sets "
        f"{', '.join(BUNDLED)}{closest_name(name, list(BUNDLED))}"
    )


def _refuse_options(name: str, target: str | None, options: dict[str, Any]) -> None:
    if target not in (None, _TARGET):
        raise ValueError(f"--target {target!r}: the target of the bundled set {name} is called {_TARGET!r}")
    if options:
        flag = next(iter(options)).replace("_", "-")
        raise ValueError(f"--{flag} is for files; {name} is a bundled data set")


def _bundled(name: str) -> pd.DataFrame:
    """A table as `read_table` gives it, with the data set's own split."""
    data, split = getattr(datasets, f"load_{name}")(), {}
    X, y = data.data, data.target
    if name == "sonar":
        has_original = find_original(ORIGINAL_SONAR) is not None
        parts = datasets.load_sonar(split="aspect" if has_original else "half")
        X, y = np.vstack(parts[:2]), np.concatenate(parts[2:])
        split = {"is_train": np.arange(len(y)) < len(parts[0])}
        split |= {} if has_original else _OTHER_SPLIT
    table = pd.DataFrame(X, columns=data.feature_names)
    table[_TARGET] = np.asarray(data.target_names)[y]
    table.attrs = {"source": name, "split": split}
    return table


@dataclass(frozen=True)
class Parts:
    """Training rows, test rows if there are any, and how they were chosen."""

    description: str
    X_train: Any
    y_train: np.ndarray | None
    X_test: Any = None
    y_test: np.ndarray | None = None
    notes: tuple[str, ...] = ()


def split(rows: Rows, y: np.ndarray | None, test_size: float | None, *, is_class: bool, seed: int) -> Parts:
    """The data set's own split, or a seeded one, stratified for classes.

    A row that is alone in its class goes to the training part: as a test row it could only be wrong.
    """
    from sklearn.model_selection import train_test_split

    if y is None or test_size == 0.0:
        return Parts("all rows were used for training", rows.X, y)

    def cut(is_train: np.ndarray, description: str, notes: tuple[str, ...] = ()) -> Parts:
        train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
        return Parts(description, rows_of(rows.X, train), y[train], rows_of(rows.X, test), y[test], notes)

    if rows.is_train is not None and test_size is None:
        return cut(rows.is_train, rows.split_name, rows.split_notes)
    n_rows, size = len(y), _TEST_SIZE if test_size is None else test_size
    n_test = int(np.ceil(size * n_rows))
    if n_rows - n_test < 2:
        raise ValueError(
            f"--test-size {size:.3g} leaves {n_rows - n_test} of {n_rows} rows for training, which takes 2; "
            "make it smaller, or 0 for no test rows"
        )
    places, of, strata = np.arange(n_rows), "", None
    if is_class:
        _, classes, counts = np.unique(y, return_inverse=True, return_counts=True)
        places = np.flatnonzero(counts[classes] > 1)
    n_test = min(n_test, len(places) - 1)
    if n_test < 1:
        return Parts("no class has two rows; to predict numbers, take --task regression", rows.X, y)
    if is_class and (counts > 1).sum() <= min(n_test, len(places) - n_test):
        of, strata = " of each class", classes[places]
    test = train_test_split(places, test_size=n_test, stratify=strata, random_state=seed)[1]
    is_train = ~np.isin(np.arange(n_rows), test)
    return cut(is_train, f"{100 * size:.3g} %{of}, drawn at random with seed {seed}")


def rows_of(X: Any, places: np.ndarray) -> Any:
    return X[places] if sparse.issparse(X) else X.iloc[places]


def with_encoder(estimator: Any, X: Any, *, scale: bool = True) -> Any:
    """The estimator behind the steps it needs to train on X and to predict such rows.

    AutoSVC and AutoSVR encode and scale by themselves. Only for complete numbers, where they have no encoder,
    an imputer is in front: a number that is missing later is the median then, as in other tables.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler

    from adatron.auto import AutoSVC, AutoSVR
    from adatron.tables import TableEncoder, needs_encoding

    if isinstance(estimator, AutoSVC | AutoSVR):
        if sparse.issparse(X) or needs_encoding(X):
            return estimator
        return Pipeline([("impute", SimpleImputer(strategy="median")), ("model", estimator)])
    if not scale:
        if needs_encoding(X):
            raise click.UsageError("--no-scale takes columns as is, so they must be numbers without gaps.")
        return estimator
    first = ("scale", MaxAbsScaler()) if sparse.issparse(X) else ("encode", TableEncoder())
    return Pipeline([first, ("model", estimator)])
