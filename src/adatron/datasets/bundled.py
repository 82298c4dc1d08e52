"""Four real two-class sets that come with the package, read by one loader."""

import csv
import gzip
import os
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch

ORIGINAL_SONAR = "sonar/sonar.csv.gz"  # in ADATRON_DATA
_SONAR_CLASSES = ["R", "M"]


def load_sonar(*, split: str | None = None, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the sonar returns of mines and rocks: 208 rows, 60 features.

    Parameters
    ----------
    split : {None, "half", "aspect"}, default=None
        ``"half"`` is a stratified half split with a fixed seed. ``"aspect"`` is the original split,
        balanced over the aspect angle. It is not bundled: it is read from ``sonar/sonar.csv.gz`` (header
        ``id,split,f1,...,f60,class``) in the directory that the environment variable ``ADATRON_DATA``
        names. Without that file, ``"aspect"`` warns and gives the ``"half"`` split instead.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch. A split has arrays in any case.
    as_frame : bool, default=False
        Return pandas objects instead of arrays; not together with ``split``.

    Returns
    -------
    Bunch, (X, y), or (X_train, X_test, y_train, y_test) with 104 rows each
        The Bunch has data, target (0 rock, 1 mine), feature_names, target_names, DESCR, filename and frame.

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> X_train.shape, int(y_train.sum()), int(y_test.sum())
    ((104, 60), 56, 55)
    """
    if split is None:
        return _load("sonar", _SONAR_CLASSES, return_X_y=return_X_y, as_frame=as_frame)
    if split not in ("aspect", "half"):
        raise ValueError(f"split={split!r} is not known: use 'aspect', 'half' or None.")
    if as_frame:
        raise ValueError(f"as_frame=True does not go with split={split!r}: leave out one of the two.")
    if split == "aspect" and (original := find_original(ORIGINAL_SONAR)) is not None:
        with gzip.open(original, "rt", encoding="ascii") as stream:
            _, *rows = csv.reader(stream)
        in_train = np.array([row[1] == "train" for row in rows])
        X, y = _to_arrays([row[2:] for row in rows], _SONAR_CLASSES)
        return X[in_train], X[~in_train], y[in_train], y[~in_train]
    if split == "aspect":
        warnings.warn(
            f"split='aspect': {ORIGINAL_SONAR} was not found, so this is the seeded half split instead. "
            "Set the environment variable ADATRON_DATA to the directory that has it, or use split='half'.",
            stacklevel=2,
        )
    X, y = load_sonar(return_X_y=True)
    return tuple(train_test_split(X, y, test_size=0.5, stratify=y, random_state=0))


def load_breast_cancer_wisconsin(
    *, complete: bool = True, return_X_y: bool = False, as_frame: bool = False
) -> Any:
    """Load the original Wisconsin breast cancer data: 699 rows, 9 features, 16 rows incomplete.

    Parameters
    ----------
    complete : bool, default=True
        Drop the 16 rows with a missing value, leaving 683; otherwise missing values are NaN.
    return_X_y, as_frame : as in `load_sonar`, default=False, False

    Returns
    -------
    Bunch or (X, y)
        As `load_sonar`; the target is 0 for benign, 1 for malignant.

    Examples
    --------
    >>> from adatron.datasets import load_breast_cancer_wisconsin
    >>> load_breast_cancer_wisconsin().data.shape
    (683, 9)
    >>> load_breast_cancer_wisconsin(complete=False).data.shape
    (699, 9)
    """
    name, classes = "breast_cancer_wisconsin", ["benign", "malignant"]
    return _load(name, classes, complete=complete, return_X_y=return_X_y, as_frame=as_frame)


def load_ionosphere(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the radar returns from the ionosphere: 351 rows, 34 features.

    Parameters
    ----------
    return_X_y, as_frame : as in `load_sonar`, default=False, False

    Returns
    -------
    Bunch or (X, y)
        As `load_sonar`; the target is 0 for bad, 1 for good.

    Examples
    --------
    The customary split: the first 200 rows train.

    >>> from adatron.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> X.shape, int(y[:200].sum()), int(y[200:].sum())
    ((351, 34), 101, 124)
    """
    return _load("ionosphere", ["bad", "good"], return_X_y=return_X_y, as_frame=as_frame)


def load_pima(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the Pima Indians diabetes data: 768 rows, 8 features.

    Parameters
    ----------
    return_X_y, as_frame : as in `load_sonar`, default=False, False

    Returns
    -------
    Bunch or (X, y)
        As `load_sonar`; the target is 0 for neg, 1 for pos.

    Examples
    --------
    >>> from adatron.datasets import load_pima
    >>> X, y = load_pima(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((768, 8), 268)
    """
    return _load("pima", ["neg", "pos"], return_X_y=return_X_y, as_frame=as_frame)


def _load(
    name: str, target_names: list[str], *, complete: bool = False, return_X_y: bool, as_frame: bool
) -> Any:
    path = files("adatron.datasets") / "data" / f"{name}.csv"
    header, *rows = csv.reader(path.read_text(encoding="ascii").splitlines())
    X, y = _to_arrays([row for row in rows if not (complete and "" in row)], target_names)
    names, frame = header[:-1], None
    if as_frame:
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("as_frame=True needs pandas: install it (pip install pandas)") from error
        X, y = pd.DataFrame(X, columns=names), pd.Series(y, name="target")
        frame = pd.concat([X, y], axis=1)
    if return_X_y:
        return X, y
    return Bunch(
        data=X, target=y, frame=frame, feature_names=names, target_names=list(target_names),
        DESCR=describe("README.md", f"{name}.csv"), filename=str(path),
    )  # fmt: skip


def _to_arrays(rows: list[list[str]], target_names: list[str]) -> tuple[Any, Any]:
    data = np.array([[float(field or "nan") for field in row[:-1]] for row in rows])
    return data, np.array([target_names.index(row[-1]) for row in rows], dtype=np.int64)


def find_original(relative_path: str) -> Path | None:
    """Return the path of a file in the directory that ADATRON_DATA names, or None if it is not there."""
    directory = os.environ.get("ADATRON_DATA")
    path = Path(directory) / relative_path if directory else None
    return path if path is not None and path.is_file() else None


def describe(file: str, heading: str) -> str:
    """Return the section of ``data/file`` whose heading is ``heading``."""
    text = (files("adatron.datasets") / "data" / file).read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    return next(section for section in sections if section.splitlines()[0] == heading)
