"""Targets that grow by factors rather than by steps, such as prices and counts, as logarithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from adatron.auto.least_squares import FoldKernels, distances
from adatron.auto.rows import SearchRows
from adatron.auto.search import PENALTIES
from adatron.kernels import Laplacian

_SKEW = 1.0  # third standardised moment from which on logarithms are tried
_ENOUGH = 100  # rows
_BETTER = 0.95  # part of the mean error that logarithms must not exceed,
_SURE = 2.0  # and by so many standard errors
_WIDTH = 3.0  # of the kernel that is tried, in mean distances
_TRIED = PENALTIES[2:10:2]


@dataclass(frozen=True, eq=False)
class LogTarget:
    """Between targets y and what machines are trained on, ``log(y + offset)``."""

    offset: float  # 1 where some targets are 0, else 0
    highest: float  # the largest of all, plus a deviation: no output is taken for more
    ratio: float = 1.0  # of the sum of targets to that of exponentials: a mean is above the median

    def __post_init__(self) -> None:
        if self.offset not in (0.0, 1.0) or not 0.0 < self.ratio < np.inf or not np.isfinite(self.highest):
            raise ValueError("the parts of a logarithm of targets do not belong together")

    @classmethod
    def of(cls, targets: np.ndarray) -> Self | None:
        """For positive, clearly skewed targets, or such counts; None for others."""
        low, centred, deviation = targets.min(), targets - targets.mean(), targets.std()
        if len(targets) < _ENOUGH or low < 0.0 or not deviation > 0.0:
            return None
        if np.mean((centred / deviation) ** 3) < _SKEW or (low == 0.0 and np.any(targets % 1.0)):
            return None
        logs = np.log(targets + (low == 0.0))
        return cls(float(low == 0.0), float(logs.max() + logs.std()))

    def inward(self, targets: np.ndarray) -> np.ndarray:
        return np.log(targets + self.offset)

    def quantiles(self, outputs: np.ndarray) -> np.ndarray:
        """Targets of given logarithms, which may be infinite."""
        with np.errstate(over="ignore"):
            return np.exp(outputs) - self.offset

    def means(self, outputs: np.ndarray) -> np.ndarray:
        """Targets whose logarithms are predicted."""
        return self.ratio * np.exp(np.minimum(outputs, self.highest)) - self.offset

    def adjusted(self, outputs: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> Self:
        """A copy with the ratio that gives predictions the mean of the targets."""
        found = np.sum(weights @ np.exp(np.minimum(outputs, self.highest)))
        return replace(self, ratio=float(np.sum(weights @ (targets + self.offset)) / found))

    def is_better(self, rows: SearchRows, targets: np.ndarray) -> bool:
        """Whether a city-block machine of logarithms predicts held-out targets clearly better.

        It must do so by absolute errors: squared ones depend on a few large targets.
        """
        both = np.column_stack([targets, self.inward(targets)])
        mean, unit = both.mean(axis=0), both.std(axis=0)
        trial = replace(rows, Y=(both - mean) / unit, mean=np.zeros(2))
        D = distances(Laplacian, rows.X, rows.X)
        kernels = FoldKernels(trial, Laplacian, 1.0 / (_WIDTH * float(D.mean()) or 1.0), D)
        held, weights = targets[rows.held], rows.held_weights
        plain, logs = [], []
        for penalty in _TRIED:
            outputs = kernels.solved(float(penalty))[0] * unit + mean
            of_logs = self.adjusted(outputs[:, 1], held, weights).means(outputs[:, 1])
            plain.append(np.abs(outputs[:, 0] - held))
            logs.append(np.abs(of_logs - held))
        before, after = (min(errors, key=lambda own: float(weights @ own)) for errors in (plain, logs))
        gain = weights * (before - after)
        is_sure = gain.sum() > _SURE * gain.std() * len(gain) ** 0.5
        is_large = weights @ after < _BETTER * (weights @ before) and weights @ after**2 < weights @ before**2
        return bool(is_sure and is_large)
