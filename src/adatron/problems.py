"""The quadratic programme behind every estimator, and its formulations.

Maximise ``pᵀα − ½ (y∘α)ᵀ K (y∘α)`` subject to ``0 ≤ α ≤ upper`` and perhaps ``yᵀα = r``.

In the formulations, `upper` of shape (m,) is C times the weight of each row, and `bias` says whether a bias
is fitted. Labels and targets have shape (m,), or (m, B) for B problems. The one-class problems, a hyperplane
or a ball in feature space that has most of the points on one side, have ``y = 1`` and ``Σα = 1``, with a
bound of ``w_i/(ν Σw)`` for a row of weight w_i: at most the part ν of the weight lies outside, and at least
that part belongs to support vectors.

In ν-formulations the sum of the multipliers is given too, ``Σα = total``, in the place of C or ε. That
constraint has a multiplier, the level λ: for the right one, α solves the problem with p + λ in the place of p
and without the constraint. In classification the level is the margin ρ, in regression it is −ε. Σα rises with
the level, piecewise linearly.

>>> import numpy as np
>>> from adatron.gram import DenseGram
>>> from adatron.problems import classification, enclosing_ball, one_class, regression
>>> gram, C = DenseGram(np.diag([1.0, 4.0, 4.0])), np.array([1.0, 2.0, np.inf])
>>> one_vs_rest = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # three problems as columns
>>> problem = classification(gram, one_vs_rest, C, bias=False)
>>> problem.n_columns, problem.upper[:, 0]
(3, array([ 1.,  2., inf]))
>>> problem = regression(gram, np.array([3.0, 4.0, 5.0]), C, epsilon=0.5, bias=True)
>>> problem.y.ravel(), problem.p.ravel()
(array([ 1.,  1.,  1., -1., -1., -1.]), array([ 2.5,  3.5,  4.5, -3.5, -4.5, -5.5]))
>>> one_class(gram, np.ones(3), nu=2 / 3).upper.ravel(), enclosing_ball(gram, np.ones(3)).p.ravel()
(array([0.5, 0.5, 0.5]), array([0.5, 2. , 2. ]))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from adatron.exceptions import InfeasibleError
from adatron.gram import Gram, TwinGram
from adatron.numerics.compiled import compiled, compiled_part

_HARD = 1e100  # a bound above this, in units of the kernel, equals infinity for float64
_FEW = 50  # rows that show where the origin is


@dataclass(frozen=True)
class Problem:
    """Base of all problems: the kernel matrix of m points."""

    gram: Gram

    @property
    def m(self) -> int:
        return self.gram.m

    @cached_property
    def diagonal(self) -> np.ndarray:
        """K_ii, with zeros (a point at the origin of feature space) raised to rounding level."""
        diagonal = self.gram.diagonal()
        return np.maximum(diagonal, np.finfo(float).eps * diagonal.max())


@dataclass(frozen=True)
class DualProblem(Problem):
    """B problems that share one kernel matrix, side by side as columns."""

    y: np.ndarray  # (m, B): signs −1 or +1
    p: np.ndarray  # (m, B): linear term; 1 for classification
    upper: np.ndarray  # (m, B): bounds; inf is a hard margin, 0 leaves a point out
    equality: float | None = None  # r: 0.0 fits a bias, 1.0 is one-class; None: yᵀα is free, without a bias

    def __post_init__(self) -> None:
        shape = self.y.shape
        if len(shape) != 2 or shape[0] != self.gram.m:
            raise ValueError(f"y must have shape ({self.gram.m}, B), got {shape}")
        for name in ("p", "upper"):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have the shape {shape} of y, got {getattr(self, name).shape}")
        if self.equality is not None:
            most = np.where(self.y > 0.0, self.upper, 0.0).sum(axis=0).min(initial=np.inf)
            if not 0.0 <= self.equality <= most * (1.0 + 1e-12):
                allowed = "None or from 0 to Σ upper over y = +1"
                raise ValueError(f"equality must be {allowed}, got {self.equality!r}")
        for name in ("y", "p", "upper"):  # columns contiguous, for the compiled sweeps
            object.__setattr__(self, name, np.asfortranarray(getattr(self, name), dtype=np.float64))

    @property
    def n_columns(self) -> int:
        return self.y.shape[1]

    @property
    def has_bias(self) -> bool:
        return self.equality is not None

    @property
    def has_margin(self) -> bool:
        """Whether the problem asks for a margin; one-class problems do not."""
        return bool(np.any(self.p))

    @cached_property
    def offset(self) -> float:
        """Return max K_ii over the variance in feature space: how far the points are from the origin.

        It is large for a linear or polynomial kernel on rows far from the origin, where many digits of the
        kernel values cancel. Measured on a few rows; 1 if these are all equal.
        """
        rows = np.unique(np.linspace(0, self.m - 1, min(self.m, _FEW)).astype(int))
        K = self.gram.block(rows, rows)
        variance = float(np.diagonal(K).mean() - K.mean())
        largest = float(self.diagonal.max())
        return largest / variance if variance > 4.0 * np.finfo(float).eps * largest else 1.0

    @cached_property
    def inverse_curvature(self) -> np.ndarray:
        """1/K_ii; a point near the origin of feature space counts as if it were a little away from it."""
        return 1.0 / np.maximum(self.diagonal, 0.01 * self.diagonal.mean())

    def start(self, alpha: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """α (zero, or a warm start clipped to the box) and the outputs f that belong to it."""
        if alpha is None:
            return np.zeros_like(self.y), np.zeros_like(self.y)
        alpha = np.asfortranarray(np.clip(alpha, 0.0, self.upper))
        return alpha, np.asfortranarray(self.outputs(alpha))

    def outputs(self, alpha: np.ndarray) -> np.ndarray:
        """``f = K (y∘α)`` of every column."""
        return self.gram.matmul(self.y * alpha)

    def measure(self, state: Any) -> np.ndarray:
        """Objective, margin and violation of every column, shape (B, 3)."""
        result = np.empty((self.n_columns, 3))
        lines = (array.T for array in (self.y, self.p, self.upper, state.alpha, state.f))
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is recognised later
            _measure_columns(*lines, state.bias, result)
        return result

    def imbalance(self, alpha: np.ndarray) -> np.ndarray:
        """``ω = yᵀα − r`` of every column."""
        return (self.y * alpha).sum(axis=0) - (self.equality or 0.0)

    def columns(self, which: np.ndarray | list[int]) -> DualProblem:
        """The problems in some of the columns."""
        return replace(self, y=self.y[:, which], p=self.p[:, which], upper=self.upper[:, which])


def classification(gram: Gram, signs: np.ndarray, upper: np.ndarray, *, bias: bool) -> DualProblem:
    """Soft- or hard-margin classification, for labels −1 and +1."""
    y = np.asarray(signs, dtype=np.float64).reshape(len(signs), -1)
    bounds = np.repeat(infinite_where_huge(gram, upper)[:, None], y.shape[1], axis=1)
    return DualProblem(gram, y, np.ones_like(y), bounds, 0.0 if bias else None)


def infinite_where_huge(gram: Gram, upper: np.ndarray) -> np.ndarray:
    """Return bounds with infinity in place of those that float64 cannot tell from it."""
    scale = float(np.max(gram.diagonal(), initial=0.0))
    return np.where(upper * scale >= _HARD, np.inf, upper)


def regression(
    gram: Gram, targets: np.ndarray, upper: np.ndarray, *, epsilon: float, bias: bool,
    quantile: float | None = None,
) -> DualProblem:  # fmt: skip
    """Regression with outputs within `epsilon` of the targets, or at a `quantile` of them.

    Minimises ``½‖w‖² + Σ u_i max(0, |t_i − f_i − b| − ε)``. In the dual every point occurs twice: with
    ``y = +1, p = t − ε`` for a target above the tube and ``y = −1, p = −t − ε`` for one below it. With a
    quantile q, targets above cost q times as much and those below 1 − q times: the pinball loss if ε = 0.
    """
    t = np.asarray(targets, dtype=np.float64).reshape(len(targets), -1)
    y = np.concatenate([np.ones_like(t), -np.ones_like(t)])
    p = np.concatenate([t - epsilon, -t - epsilon])
    above, below = (1.0, 1.0) if quantile is None else (quantile, 1.0 - quantile)
    bounds = np.repeat(np.concatenate([above * upper, below * upper])[:, None], t.shape[1], axis=1)
    return DualProblem(TwinGram(gram), y, p, bounds, 0.0 if bias else None)


def one_class(gram: Gram, weights: np.ndarray, nu: float, p: np.ndarray | None = None) -> DualProblem:
    """The hyperplane ``f(x) + b = 0`` farthest from the origin with f + b ≥ 0 for most points (p = 0)."""
    share = weights / weights.max()
    share = share / share.sum()
    with np.errstate(divide="ignore", over="ignore"):
        upper = np.minimum(np.where(share > 0.0, share / nu, 0.0), 1.0)  # Σα = 1 implies α ≤ 1
    ones = np.ones((gram.m, 1))
    return DualProblem(gram, ones, 0.0 * ones if p is None else p[:, None], upper[:, None], 1.0)


def enclosing_ball(gram: Gram, weights: np.ndarray, nu: float = 0.0) -> DualProblem:
    """The smallest ball that encloses the points, or all but the part `nu` of their weight."""
    return one_class(gram, weights, nu, p=0.5 * gram.diagonal())


@dataclass(frozen=True)
class LevelProblem(DualProblem):
    """A problem of one column whose multipliers have a given sum."""

    total: float = 0.0
    top: float = np.inf  # largest level: in regression it is 0, and the sum of multipliers may stay below

    @property
    def has_margin(self) -> bool:
        return True

    def at(self, level: float) -> DualProblem:
        """The problem for a given level, whose multipliers may have any sum."""
        return DualProblem(self.gram, self.y, self.p + level, self.upper, self.equality)

    def measure(self, state: Any) -> np.ndarray:
        level = float(state.level[0])
        result = self.at(level).measure(state)
        result[:, 0] -= level * self.total
        return result


def nu_classification(
    gram: Gram, signs: np.ndarray, weights: np.ndarray, nu: float, *, bias: bool
) -> LevelProblem:
    """Classification in which at most the part `nu` of the weight is within the margin.

    Minimises ``½‖w‖² − ρ νW + Σ w_i max(0, ρ − y_i (f_i + b))``, W the sum of the weights w_i. Its solution
    divided by ρ is that of C = 1/ρ.
    """
    plain = classification(gram, signs, weights, bias=bias)
    total, y = nu * float(weights.sum()), plain.y[:, 0]
    lighter = min(float(weights[y > 0.0].sum()), float(weights[y < 0.0].sum()))
    if bias and 0.5 * total > lighter * (1.0 + 1e-12):
        raise InfeasibleError(
            f"specified nu is infeasible: nu={nu!r} is more than {2.0 * lighter / float(weights.sum()):.4g}, "
            "twice the part of the weight in the smaller of two classes; lower nu, or balance class_weight"
        )
    total = min(total, 2.0 * lighter) if bias else total
    return LevelProblem(gram, plain.y, np.zeros_like(plain.p), plain.upper, plain.equality, total)


def nu_regression(
    gram: Gram, targets: np.ndarray, upper: np.ndarray, nu: float, *, bias: bool
) -> LevelProblem:
    """Regression in which at most the part `nu` of the weight is outside of the tube.

    Minimises ``½‖w‖² + ε ν Σu + Σ u_i max(0, |t_i − f_i − b| − ε)``, also over ε ≥ 0.
    """
    plain = regression(gram, targets, upper, epsilon=0.0, bias=bias)
    return LevelProblem(
        plain.gram, plain.y, plain.p, plain.upper, plain.equality, nu * float(upper.sum()), 0.0
    )


@compiled_part
def measure_columns(y, p, upper, alpha, f, bias, result):
    """Write objective, margin and violation of every problem, one to a line, into `result`, (B, 3)."""
    for b in range(y.shape[0]):
        objective, violation = 0.0, 0.0
        lowest = np.array([np.inf, np.inf])  # of y f over points below their bound: y = +1, y = −1
        lowest_of_all = np.array([np.inf, np.inf])
        for i in range(y.shape[1]):
            if upper[b, i] <= 0.0:
                continue
            a, output = alpha[b, i], y[b, i] * f[b, i]
            objective += a * (p[b, i] - 0.5 * output)
            gradient = p[b, i] - output - y[b, i] * bias[b]
            if a <= 0.0:
                gradient = max(gradient, 0.0)
            elif a >= upper[b, i]:
                gradient = max(-gradient, 0.0)
            violation = max(violation, abs(gradient))
            side = 0 if y[b, i] > 0.0 else 1
            lowest_of_all[side] = min(lowest_of_all[side], output)
            if a < upper[b, i]:
                lowest[side] = min(lowest[side], output)
        for side in range(2):
            if lowest[side] == np.inf:  # every point of the class is at its bound
                lowest[side] = lowest_of_all[side]
        for side in range(2):
            if lowest[side] == np.inf:  # there is only the other class
                lowest[side] = lowest[1 - side]
        result[b, 0], result[b, 1], result[b, 2] = objective, 0.5 * (lowest[0] + lowest[1]), violation


_measure_columns = compiled(measure_columns)
