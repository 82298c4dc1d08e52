"""The splits that several documents use."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adatron.datasets import load_breast_cancer_wisconsin, load_sonar

__all__ = ["original_sonar", "signed", "wisconsin_split"]


def signed(y: Any) -> Any:
    """Targets 0 and 1 as −1 and +1."""
    return np.where(np.asarray(y) > 0, 1, -1)


def original_sonar() -> tuple[Any, Any, Any, Any]:
    """The original split of sonar: X_train, X_test, y_train, y_test, 104 rows each.

    An OSError when ADATRON_DATA has no such file: the split does not come with the package.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            X_train, X_test, y_train, y_test = load_sonar(split="aspect")
        except UserWarning as warning:
            raise FileNotFoundError(str(warning)) from None
    return X_train, X_test, signed(y_train), signed(y_test)


def wisconsin_split() -> tuple[Any, Any, Any, Any]:
    """Wisconsin breast cancer: raw features of the complete rows, the first 550 train, the last 133 test."""
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    return X[:550], X[550:], signed(y[:550]), signed(y[550:])
