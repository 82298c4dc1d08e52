"""Splits, SVMs and statistics that several papers share."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from adatron import SVC
from adatron.datasets import load_breast_cancer_wisconsin, load_sonar
from adatron.kernels import Gaussian

HARD = float("inf")
_libraries = cache(ThreadpoolController)  # finding them takes milliseconds
BIAS = {True: "with bias", False: "without bias"}


def mean_and_error(values: Any) -> tuple[Any, Any]:
    """Mean over the first axis and its standard error, which is 0 for a single value."""
    values = np.asarray(values, dtype=float)
    if len(values) == 1:
        return values[0], np.zeros(values.shape[1:])[()]
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def binomial_error(rate: float, n: int, full: float = 100.0) -> float:
    """Standard error of a rate that was measured on n rows; `full` is the rate of all of them."""
    share = min(max(rate / full, 0.0), 1.0)
    return full * math.sqrt(share * (1.0 - share) / n)


def cpu_seconds(work: Callable[[], Any]) -> float:
    began = process_time()
    work()
    return process_time() - began


class Split(NamedTuple):
    """Rows to train on and to test with, and their labels."""

    X: Any
    X_test: Any
    y: Any
    y_test: Any

    def first(self, n_train: int, n_test: int) -> "Split":
        """A smaller part of it."""
        return Split(self.X[:n_train], self.X_test[:n_test], self.y[:n_train], self.y_test[:n_test])


def signed(y: Any) -> Any:
    """Targets 0 and 1 as −1 and +1."""
    return np.where(np.asarray(y) > 0, 1, -1)


def original_sonar() -> Split:
    """The original split of sonar, 104 rows each.

    An OSError when ADATRON_DATA has no such file: the split does not come with the package.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            X, X_test, y, y_test = load_sonar(split="aspect")
        except UserWarning as warning:
            raise FileNotFoundError(str(warning)) from None
    return Split(X, X_test, signed(y), signed(y_test))


def wisconsin_split() -> Split:
    """Wisconsin breast cancer: raw features of the complete rows, the first 550 train, the last 133 test."""
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    return Split(X[:550], X[550:], signed(y[:550]), signed(y[550:]))


def hard_margin(sigma: float, **parameters: Any) -> SVC:
    """An unfitted hard-margin SVM with the Gaussian of width `sigma`."""
    return SVC(C=HARD, kernel=Gaussian.of_width(sigma), **parameters)


def multipliers(model: Any, n_rows: int) -> np.ndarray:
    """α of all training rows of a fitted two-class SVM, zeros included."""
    alpha = np.zeros(n_rows)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS with one thread, also as a decorator.

    The order of sums, and with it the epoch at which training ends, must not depend on the machine.
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield
