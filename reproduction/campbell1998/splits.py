"""Draws of the mirror symmetry problem, random splits, and errors on them."""

from typing import Any

import numpy as np

from adatron.datasets import make_mirror_symmetry
from adatron.selection import c_path
from reproduction.experiment import Effort
from reproduction.shared import Split, hard_margin


def mirror_splits(effort: Effort, n_draws: int, n_test: int) -> list[Split]:
    """Mirror symmetry of 30 bits, 200 training strings.

    Test strings may repeat, but none of them is a training string; so a few less than `n_test` remain.
    """
    seeds = effort.generator().integers(2**31, size=(n_draws, 2)).tolist()
    splits = []
    for training_seed, test_seed in seeds:
        X, y = make_mirror_symmetry(200, random_state=training_seed)
        X_test, y_test = make_mirror_symmetry(n_test, random_state=test_seed)
        strings, test_strings = ((rows > 0) @ (1 << np.arange(30)) for rows in (X, X_test))
        unseen = ~np.isin(test_strings, strings)
        splits.append(Split(X, X_test[unseen], y, y_test[unseen]))
    return splits


def first_rows(X: Any, y: Any, n_train: int = 200, n_test: int = 150) -> Split:
    """The first rows train, the next ones test."""
    n = n_train + n_test
    return Split(X[:n_train], X[n_train:n], y[:n_train], y[n_train:n])


def random_splits(X: Any, y: Any, n_train: int, n_test: int, n: int, effort: Effort) -> list[Split]:
    """`n` random splits; rows beyond ``n_train + n_test`` are left out of each."""
    generator = effort.generator()
    orders = [generator.permutation(len(y)) for _ in range(n)]
    return [first_rows(X[order], y[order], n_train, n_test) for order in orders]


def hard_error(split: Split, sigma: float) -> float:
    """Test error of a hard margin with bias."""
    return float(1.0 - hard_margin(sigma).fit(split.X, split.y).score(split.X_test, split.y_test))


def soft_errors(split: Split, sigma: float, Cs: Any) -> np.ndarray:
    """Test and training errors of soft margins with bias for every C, shape (2, len(Cs))."""
    path = c_path(split.X, split.y, Cs, gamma=0.5 / sigma**2, criterion=(split.X_test, split.y_test))
    return np.stack([path["error"], path["training_error"]])


def correct(errors: Any) -> Any:
    """Correct answers in per cent, from shares of wrong ones."""
    return 100.0 * (1.0 - np.asarray(errors, dtype=float))
