"""What the tables share: splits, machines by their width, errors, means over repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adatron.display.figures import PUBLISHED
from adatron.estimators import SVC
from adatron.kernels import Gaussian
from adatron.papers.experiment import Effort
from adatron.selection import c_path

__all__ = [
    "Split",
    "correct",
    "hard_error",
    "hard_margin",
    "mean_and_error",
    "plain_ticks",
    "published_line",
    "random_splits",
    "soft_errors",
    "split_rows",
]


class Split(NamedTuple):
    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any


def split_rows(X: Any, y: Any, train: Any, test: Any) -> Split:
    """The rows `train` and `test` of a table."""
    return Split(X[train], X[test], y[train], y[test])


def random_splits(X: Any, y: Any, n_train: int, n_test: int, n: int, effort: Effort) -> list[Split]:
    """`n` random splits; rows beyond ``n_train + n_test`` are left out of each."""
    generator = effort.generator()
    orders = [generator.permutation(len(y)) for _ in range(n)]
    return [split_rows(X, y, order[:n_train], order[n_train : n_train + n_test]) for order in orders]


def hard_margin(sigma: float, **parameters: Any) -> SVC:
    """A hard-margin SVM with the Gaussian of width `sigma`.

    Examples
    --------
    >>> from adatron.papers.campbell1998.repeated import hard_margin
    >>> hard_margin(2.0, fit_intercept=False).kernel
    Gaussian(gamma=0.125)
    """
    return SVC(C=float("inf"), kernel=Gaussian.of_width(sigma), **parameters)


def hard_error(split: Split, sigma: float) -> float:
    """Test error of a hard margin with bias."""
    machine = hard_margin(sigma).fit(split.X_train, split.y_train)
    return float(1.0 - machine.score(split.X_test, split.y_test))


def soft_errors(split: Split, sigma: float, Cs: Any) -> np.ndarray:
    """Test and training errors of soft margins with bias for every C, shape (2, len(Cs))."""
    held_out = (split.X_test, split.y_test)
    path = c_path(split.X_train, split.y_train, Cs, gamma=0.5 / sigma**2, criterion=held_out)
    return np.stack([path["error"], path["training_error"]])


def correct(errors: Any) -> Any:
    """Correct answers in per cent, from shares of wrong ones."""
    return 100.0 * (1.0 - np.asarray(errors, dtype=float))


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean and its standard error; 0 for a single value.

    Examples
    --------
    >>> from adatron.papers.campbell1998.repeated import mean_and_error
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    values = np.asarray(values, dtype=float)
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(values.mean()), float(spread)


def published_line(ax: Any, level: float, name: str, *, end: float = 1.0, below: bool = False) -> None:
    """A dashed line at a published value; its name ends at a fraction of the width."""
    ax.axhline(level, **PUBLISHED)
    place: dict[str, Any] = {"xytext": (0, -2 if below else 2), "textcoords": "offset points", "ha": "right"}
    place |= {"va": "top" if below else "bottom", "xycoords": ("axes fraction", "data")}
    ax.annotate(name, (end, level), fontsize=8, color=PUBLISHED["color"], **place)


def plain_ticks(ax: Any, ticks: Sequence[float]) -> None:
    """Plain numbers on a logarithmic x axis that spans a few powers of ten only."""
    low, high = ax.get_xlim()
    inside = [tick for tick in ticks if low <= tick <= high]
    ax.minorticks_off()
    ax.set_xticks(inside, [f"{tick:g}" for tick in inside])
