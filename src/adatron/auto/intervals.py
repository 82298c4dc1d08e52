"""How far off predictions may be, from held-out rows: intervals of targets and sets of classes.

Each held-out row has a score that says how badly its prediction missed, by machines that never saw the row.
A new row is drawn like them, so its score is below their quantile as often as theirs are (V. Vovk,
A. Gammerman, G. Shafer, *Algorithmic Learning in a Random World*, 2005).

Scores of a regression are residuals in units of the size that residuals have nearby. That size is a weighted
mean of their absolute values, by a city-block kernel of scaled features and the prediction itself: where
prices are high, errors are large. Scores of classes are the probability of all classes that seem likelier
than the true one (Y. Romano, M. Sesia, E. Candès, *Classification with Valid and Adaptive Coverage*, 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from adatron.auto.least_squares import distances
from adatron.estimators.expansion import Expansion
from adatron.estimators.parameters import check_number
from adatron.kernels import Laplacian

_NEIGHBOURS = 2, 5, 20  # numbers of rows within the width of the kernel that are tried
_PRIOR = 1.0  # rows of average residual that each local mean has besides
_MOST = 1_000  # rows that local means are taken over
_USUAL = 0.9  # coverage at which local sizes have to pay
_EQUAL = 1e-9  # difference of probabilities that may be rounding


def check_level(name: str, value: Any) -> float:
    """A share strictly between 0 and 1."""
    allowed = "a number > 0 and < 1"
    if check_number(name, value, allowed=allowed) >= 1.0:
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return float(value)


def conformal_quantile(scores: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The score that a further row stays below with probability `level`: the ⌈level (n + 1)⌉-th smallest.

    Infinite if n rows are too few to say. A row of weight 2 counts as the row twice.
    """
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order])
    needed = level * (reached[-1] + weights.mean())
    place = int(np.searchsorted(reached, needed * (1.0 - 1e-12)))
    return float(scores[order[place]]) if place < len(order) else np.inf


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of held-out rows, in units of the size that residuals have nearby."""

    scores: np.ndarray  # (h,)
    weights: np.ndarray  # (h,)
    local: Expansion | None  # sums of sizes and of weights near rows followed by their output; None: one size

    def __post_init__(self) -> None:
        scores, weights, local = self.scores, self.weights, self.local
        is_sound = scores.shape == weights.shape == (len(scores),) and len(scores) > 0
        is_sound &= bool(np.isfinite(scores).all() and (weights > 0.0).all())
        if local is not None:
            is_sound &= isinstance(local.kernel, Laplacian) and local.vectors.dtype == np.float64
            is_sound &= local.coefficients.shape[1] == 2 and bool((local.coefficients >= 0.0).all())
            is_sound &= bool((local.bias > 0.0).all())
            is_sound &= local.vectors.shape[1:] == (len(vars(local.kernel).get("weights") or ()),)
        if not is_sound:
            raise ValueError("the parts of residuals do not belong together")

    @classmethod
    def from_held_out(
        cls, X: Any, outputs: np.ndarray, targets: np.ndarray, weights: np.ndarray, of_features: Any
    ) -> Self:
        """Residuals of rows in scaled features; local sizes are kept if they make intervals narrower."""
        residuals = targets - outputs
        plain, own, total = cls(residuals, weights, None), np.abs(residuals), float(weights.sum())
        mean, deviation = float(weights @ own) / total, float(outputs.std()) or 1.0
        if not mean > 0.0 or len(own) <= 2 * max(_NEIGHBOURS):
            return plain
        places = np.arange(0, len(own), -(-len(own) // _MOST))
        levels, units = outputs[places] / deviation, np.array([1.0 / deviation])
        apart = np.abs(levels[:, None] - levels)
        if not sparse.issparse(X):
            of_features = np.ones(X.shape[1]) if of_features is None else np.asarray(of_features)
            rows = np.ascontiguousarray(X[places] * of_features)
            across = distances(Laplacian, rows, rows)
            unit = float(across.mean()) or 1.0
            apart += across / unit
            units = np.append(of_features / unit, units)
        share = weights[places] * len(places) / total
        sums, prior = np.column_stack([share * own[places], share]), np.array([_PRIOR * mean, _PRIOR])
        Z, found = _with_outputs(X, outputs), (plain, conformal_quantile(own, weights, _USUAL) * total)
        for n in _NEIGHBOURS:
            width = float(np.median(np.partition(apart, n, axis=1)[:, n])) or 1.0
            local = Expansion(Z[places], sums, prior, Laplacian(1.0 / width, units))
            near = local(Z)
            near[places] -= sums  # no row tells its own size
            sizes = near[:, 0] / near[:, 1]
            half = conformal_quantile(own / sizes, weights, _USUAL) * float(weights @ sizes)
            if half < found[1]:
                found = cls(residuals / sizes, weights, local), half
        return found[0]

    def sizes(self, X: Any, outputs: np.ndarray) -> np.ndarray:
        """How large residuals are near each row; 1 if this is one size for all."""
        if self.local is None:
            return np.ones(len(outputs))
        sums = self.local(_with_outputs(X, outputs))
        return sums[:, 0] / sums[:, 1]

    def interval(self, X: Any, outputs: np.ndarray, coverage: float) -> np.ndarray:
        """Lower and upper ends, (n, 2), at the same distance from the outputs."""
        half = conformal_quantile(np.abs(self.scores), self.weights, coverage) * self.sizes(X, outputs)
        return np.column_stack([outputs - half, outputs + half])

    def quantiles(self, X: Any, outputs: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """Shape (n, n_levels); those below one half are the upper ones of the negated residuals, negated."""
        signs = np.where(levels < 0.5, -1.0, 1.0)
        pairs = zip(signs, np.maximum(levels, 1.0 - levels), strict=True)
        found = [s * conformal_quantile(s * self.scores, self.weights, float(level)) for s, level in pairs]
        return outputs[:, None] + self.sizes(X, outputs)[:, None] * np.array(found)


def _with_outputs(X: Any, outputs: np.ndarray) -> np.ndarray:
    """Rows followed by their outputs, which stand alone for sparse rows."""
    return outputs[:, None] if sparse.issparse(X) else np.column_stack([X, outputs])


def likelier(probabilities: np.ndarray) -> np.ndarray:
    """The sum of the probabilities of all classes that are likelier, for each class: 0 for the likeliest."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    falling = np.take_along_axis(probabilities, order, axis=1)
    sums = np.zeros_like(probabilities)
    np.put_along_axis(sums, order[:, 1:], np.cumsum(falling[:, :-1], axis=1), axis=1)
    return sums


@dataclass(frozen=True, eq=False)
class SetScores:
    """Scores of held-out rows: the probability of all classes that seemed likelier than the true one."""

    scores: np.ndarray  # (h,)
    weights: np.ndarray  # (h,)

    def __post_init__(self) -> None:
        is_sound = self.scores.shape == self.weights.shape == (len(self.scores),) and len(self.scores) > 0
        is_sound &= bool((self.scores >= 0.0).all() and (self.weights > 0.0).all())
        if not is_sound:
            raise ValueError("scores of prediction sets do not belong to their weights")

    def sets(self, probabilities: np.ndarray, coverage: float) -> np.ndarray:
        """Whether each class is in the set of each row; the likeliest always is."""
        limit = conformal_quantile(self.scores, self.weights, coverage)
        return likelier(probabilities) <= limit + _EQUAL
