"""The certificate: how far a solution is from optimal, computed by code that no solver shares.

Weak duality: any feasible α bounds the optimum from below by ``D = pᵀα − ½ αᵀQα``, any bias b with
``w = Σ α_i y_i φ(x_i)`` bounds it from above by ``P = ½ αᵀQα + Σ u_i max(0, p_i − y_i (f_i + b)) + r b``.
The relative gap is ``(P − D)/max(|P|, |D|)``. With ``yᵀα = r`` the difference is a sum of
non-negative terms, one for each point, so it is computed without cancellation::

    P − D = Σ (u_i − α_i) g_i  over g_i > 0   −   Σ α_i g_i  over g_i < 0,    g_i = p_i − y_i (f_i + b)

For a hard margin both sides are scaled to their best, and the true margin lies in
``[lo, hi] = [min y_i (f_i + b)/‖w‖, ‖w‖/Σα]``; the gap is ``1 − (lo/hi)²``. That gap holds for finite
bounds too where the classes are separated, and is used when the bounds are huge.

For Crammer & Singer, ``P − D = Σ_ic β_ic (ξ_i − s_ic)`` with the losses ``s_ic = 1 − δ_{c,y_i} + f_ic −
f_{i,y_i}``, ``ξ_i = max_c s_ic`` and the distances ``β_ic = C_i δ_{c,y_i} − A_ic ≥ 0`` of A from its bounds.
A hard margin, the least ``f_{i,y_i} − f_ic``, is certified like any other.

One-class problems (r = 1) may have an optimum of 0: the origin within the hull of the points, or a ball
around equal points. There the denominator of
the gap, ‖w‖² or the squared radius, is taken to be at least 1e-8 of the largest K_ii.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from adatron.gram import REGIME, Regime
from adatron.numerics.compiled import compiled
from adatron.problems import DualProblem
from adatron.solvers import CrammerSingerProblem

Point = tuple[np.ndarray, np.ndarray, float, tuple[float, float]]  # α, f, bias and its interval

_DIGITS = 8.0 * float(np.finfo(float).eps)  # error of a float64 kernel value, relative to √(K_ii K_jj)
_NO_MATTER = 1e-9  # part of a gap that rounding may change without notice
_DOUBTFUL = 1e-6  # bound of that part from which on a gap is measured again; the error itself is far smaller
FAR = 1e6  # offset of the kernel from which on lost digits are added to the gap
AS_GOOD_AS_HARD = 1e20  # a bound, in units of the kernel, beyond which rounding alone makes a gap
_BALANCED = 1e-14
VANISHING = 1e-8  # part of r² max K_ii below which the objective of a one-class problem counts as 0
NEGLIGIBLE = 1e-8  # multipliers below this part of the largest are dropped before certifying


@dataclass(frozen=True)
class Certificate:
    """A feasible α of one problem, with its gap, bias and the numbers behind them."""

    alpha: np.ndarray
    f: np.ndarray
    bias: float
    bias_interval: tuple[float, float]
    gap: float
    primal: float
    dual: float
    margin_interval: tuple[float, float]
    rounding: float = 0.0  # part of the gap that is due to possible rounding
    is_exact: bool = True  # from float64 values of the kernel itself; else the gap is an estimate
    level: float = 0.0  # λ of a ν-formulation

    @property
    def plain_gap(self) -> float:
        """The gap relative to the larger objective, however small; other than `gap` for one class only."""
        size = max(abs(self.primal), abs(self.dual))
        is_scaled = np.isfinite(size) and size > 0.0
        return max(self.gap, (self.primal - self.dual) / size) if is_scaled else self.gap


@singledispatch
def certify(
    problem: Any, column: int, alpha: np.ndarray, outputs: np.ndarray | None = None,
    regime: Regime = REGIME, negligible: float = NEGLIGIBLE,
) -> Certificate:  # fmt: skip
    """Make α feasible, recompute its outputs from the kernel and measure the gap.

    Float32 kernel values of up to 5,000 points are evaluated again in float64. For more points the given
    `outputs` of α are used: a sample of them is recomputed in float64, and the error found there is added
    to the gap, which is then an estimate (`is_exact` is False). Problems other than a `DualProblem` register
    their own certificate.
    """
    gram, y = problem.gram, problem.y[:, column]
    alpha = np.asarray(alpha, dtype=np.float64)
    feasible = make_feasible(
        gram.cancel_twins(alpha), y, problem.upper[:, column], problem.equality, negligible
    )
    if gram.is_single and gram.points.m <= regime.all_in_double:
        return measure_gap(problem, column, feasible, gram.exact_outputs(np.arange(gram.m), y * feasible))
    if gram.is_single and outputs is not None:
        f = outputs + gram.matmul((y * (feasible - alpha))[:, None])[:, 0]
    else:
        f = gram.matmul((y * feasible)[:, None])[:, 0]
    certificate = replace(measure_gap(problem, column, feasible, f), is_exact=gram.is_exact)
    if not gram.is_single:
        return _allow_for_lost_digits(problem, column, certificate, FAR if negligible else 0.0)
    sample = np.unique(np.linspace(0, problem.m - 1, max(100, problem.m // 100)).astype(int))
    errors = np.abs(gram.exact_outputs(sample, y * feasible) - f[sample])
    rounding = _cost_of_errors(problem, column, certificate, float(errors.mean()), float(errors.max()))
    return replace(certificate, gap=certificate.gap + rounding, rounding=rounding)


@certify.register(CrammerSingerProblem)
def _(problem: Any, column: int, alpha: np.ndarray, outputs: Any = None, regime: Any = None) -> Certificate:
    alpha = problem.feasible(np.asarray(alpha, dtype=np.float64))
    f = problem.gram.matmul(alpha)
    slack, margins = problem.slack_and_margins(f)
    quadratic, linear = max(precise_sum(alpha * f), 0.0), precise_sum(alpha[problem.own])
    known = (alpha, f, 0.0, (0.0, 0.0)), quadratic, linear
    hard = replace(hard_margin(*known, margins), is_exact=problem.gram.is_exact)
    if np.isinf(problem.upper).any():
        return hard
    soft = soft_margin(*known, float(margins.min()), precise_sum((problem.bounds - alpha) * slack))
    gap = min(soft.gap, hard.gap) if _is_as_good_as_hard(problem, 0) else soft.gap
    return replace(soft, gap=gap, is_exact=problem.gram.is_exact)


def _allow_for_lost_digits(
    problem: DualProblem, column: int, certificate: Certificate, far: float
) -> Certificate:
    """Enlarge a gap where the rounding of float64 kernel values may be larger than the gap.

    Each value is wrong by some ε √(K_ii K_jj), which matters where that is large and the outputs are not:
    rows far from the origin under a linear or polynomial kernel, or solutions of which nothing is negligible
    (`far` is the offset of the kernel from which on it is added). A hard margin that is smaller than the
    error of the outputs has no gap below 1.
    """
    size, upper = max(abs(certificate.primal), abs(certificate.dual), 1e-300), problem.upper[:, column]
    total = float(upper.sum())
    is_soft = not (np.isinf(total) or np.isinf(size))
    most = _DIGITS * float(problem.diagonal.max()) * float(certificate.alpha.sum()) * total / size
    if is_soft and most <= _NO_MATTER:
        return certificate
    roots = np.sqrt(problem.diagonal)
    errors = _DIGITS * roots * float(certificate.alpha @ roots)
    if not is_soft:
        outputs = problem.y[:, column] * (certificate.f + certificate.bias)
        if certificate.gap >= 1.0 or (errors < outputs)[upper > 0.0].all():
            return certificate
        interval = 0.0, certificate.margin_interval[1]
        return replace(certificate, gap=1.0, primal=np.inf, margin_interval=interval)
    rounding = _cost_of_errors(problem, column, certificate, errors, float(errors.max()))
    if rounding <= _NO_MATTER:
        return certificate
    if problem.offset >= far:
        return replace(certificate, gap=certificate.gap + rounding, rounding=rounding)
    return certificate if rounding <= _DOUBTFUL else _measured_again(problem, column, certificate)


def _measured_again(problem: DualProblem, column: int, certificate: Certificate) -> Certificate:
    """The gap of the same multipliers, balanced to the last digit, in extended precision if that is quick."""
    y = problem.y[:, column]
    alpha = certificate.alpha.astype(np.longdouble)
    alpha = make_feasible(alpha, y, problem.upper[:, column], problem.equality, 0.0, 0.0)
    f = problem.gram.long_outputs(y * alpha)
    if f is None:
        return certificate
    measured = measure_gap(problem, column, alpha, f)
    return replace(measured, alpha=certificate.alpha, f=f.astype(np.float64), is_exact=certificate.is_exact)


def _cost_of_errors(
    problem: DualProblem, column: int, certificate: Certificate, errors: Any, largest: float
) -> float:
    """Return by how much errors of the outputs may change the gap.

    The gap is a sum of terms ``w_i |g_i|``; errors enter it with the same weights, and with the bound of a
    point whose g_i may have the wrong sign.
    """
    y, p, upper = problem.y[:, column], problem.p[:, column], problem.upper[:, column]
    slack = p - y * (certificate.f + certificate.bias)
    weights = np.where(slack > 0.0, upper - certificate.alpha, certificate.alpha)
    weights = np.where(np.abs(slack) <= 3.0 * largest, upper, weights)
    size = max(abs(certificate.primal), abs(certificate.dual), _least_size(problem), 1e-300)
    return float(np.sum(weights * errors)) / size


def make_feasible(
    alpha: np.ndarray, y: np.ndarray, upper: np.ndarray, equality: float | None,
    negligible: float = NEGLIGIBLE, balanced: float = _BALANCED,
) -> np.ndarray:  # fmt: skip
    """Clip α to its box, drop what is negligible and shrink the heavier class until ``yᵀα = r``.

    Where that is not enough, as in one-class problems, positive multipliers move towards their bounds.
    """
    alpha = np.clip(alpha, 0.0, upper)
    alpha[alpha < negligible * alpha.max(initial=0.0)] = 0.0
    if equality is None:
        return alpha
    positive, r = y > 0.0, equality
    above, below = alpha[positive].sum(), alpha[~positive].sum()
    if abs(above - below - r) <= balanced * (above + below):
        return alpha  # scaling would only move multipliers off their bounds
    if above > below + r:
        alpha[positive] *= (below + r) / above
    elif below > 0.0:
        alpha[~positive] *= max(above - r, 0.0) / below
    missing = r - y @ alpha
    if r and missing > balanced * r:
        a, u = alpha[positive], upper[positive]
        room = np.where(a > 0.0, u - a, 0.0)
        room = room if room.sum() >= missing else u - a  # zeros stay zero if the others have enough room
        alpha[positive] = np.minimum(a + room * (missing / max(room.sum(), missing)), u)
    return alpha


def estimated_gap(problem: DualProblem, column: int, alpha: np.ndarray, f: np.ndarray) -> float:
    """Estimate the gap of a soft margin from a solver's own outputs, to decide when to certify."""
    y, p, upper = (array[:, column] for array in (problem.y, problem.p, problem.upper))
    r = float(problem.equality or 0.0)
    return float(_estimated_gap(y, p, upper, alpha, f, problem.has_bias, r, _least_size(problem)))


def _least_size(problem: DualProblem) -> float:
    """Return the smallest denominator of a gap."""
    r = float(problem.equality or 0.0)
    return VANISHING * r**2 * float(problem.diagonal.max()) if r else 0.0


@compiled
def _estimated_gap(y, p, upper, alpha, f, has_bias, r, least):
    low = high = 0.0
    if has_bias:
        for i in range(len(y)):
            turn = y[i] * p[i] - f[i]
            low, high = min(low, turn), max(high, turn)
    for _ in range(40 if has_bias else 0):  # the primal is convex in the bias
        middle, slope = 0.5 * (low + high), r
        for i in range(len(y)):
            slope -= y[i] * upper[i] if p[i] - y[i] * (f[i] + middle) > 0.0 else 0.0
        low, high = (middle, high) if slope < 0.0 else (low, middle)
    bias, difference, dual = 0.5 * (low + high), 0.0, 0.0
    for i in range(len(y)):
        slack = p[i] - y[i] * (f[i] + bias)
        difference += (upper[i] - alpha[i]) * slack if slack > 0.0 else -alpha[i] * slack
        dual += alpha[i] * (p[i] - 0.5 * y[i] * f[i])
    size = max(abs(dual + difference), abs(dual), least)
    return difference / size if size > 0.0 else 0.0


def measure_gap(problem: DualProblem, column: int, alpha: np.ndarray, f: np.ndarray) -> Certificate:
    """The gap of a feasible α whose outputs are f."""
    y, p, upper = problem.y[:, column], problem.p[:, column], problem.upper[:, column]
    present = _where_positive(upper)
    low, high = (0.0, 0.0) if problem.equality is None else best_bias(f, y, p, upper, problem.equality)
    bias = 0.5 * (low + high)
    interval = (min(low, high), max(low, high)) if low <= high else (bias, bias)
    quadratic = max(precise_sum(alpha * y * f), 0.0)
    linear = precise_sum(p * alpha)
    outputs = (y * (f + bias))[present]
    known = (alpha, f, bias, interval), quadratic, linear
    p, a, u = p[present], alpha[present], upper[present]
    if np.isinf(u).any():
        return hard_margin(*known, outputs / p)
    slack = p - outputs
    difference = precise_sum(np.where(slack > 0.0, (u - a) * slack, -a * slack))
    soft = soft_margin(*known, float(outputs.min()), difference, _least_size(problem))
    if (p > 0.0).all() and _is_as_good_as_hard(problem, column):
        return replace(soft, gap=min(soft.gap, hard_margin(*known, outputs / p).gap))
    return soft


def _is_as_good_as_hard(problem: Any, column: int) -> bool:
    """Whether the bounds are so large that rounding alone makes a gap; the hard-margin gap holds as well."""
    return float(problem.upper[:, column].max() * problem.diagonal.max()) >= AS_GOOD_AS_HARD


def soft_margin(
    point: Point, quadratic: float, linear: float, worst: float, difference: float, least_size: float = 0.0
) -> Certificate:
    """The certificate for finite bounds, from the `worst` output and ``difference = P − D``."""
    dual = linear - 0.5 * quadratic
    primal = dual + difference
    size = max(abs(primal), abs(dual), least_size)
    gap = difference / size if size > 0.0 else 0.0
    norm = float(np.sqrt(quadratic))
    margin = (worst / norm, norm / linear) if norm > 0.0 and linear > 0.0 else (0.0, 0.0)
    return Certificate(*point, float(gap), primal, dual, margin)


def hard_margin(point: Point, quadratic: float, linear: float, outputs: np.ndarray) -> Certificate:
    """The certificate for infinite bounds; `outputs` are to be at least 1, up to one common factor."""
    norm, worst = float(np.sqrt(quadratic)), float(outputs.min())
    if norm == 0.0 or linear <= 0.0:  # α = 0, or w = 0 with α > 0: the hulls of the classes touch
        margin = (min(worst, 0.0), 0.0 if linear else np.inf)
        return Certificate(*point, 1.0, np.inf, linear, margin)
    low, high = worst / norm, norm / linear
    dual = 0.5 / high**2
    if low <= 0.0:
        return Certificate(*point, 1.0, np.inf, dual, (low, high))
    gap = max((high - low) * (high + low) / high**2, 0.0)
    return Certificate(*point, gap, 0.5 / low**2, dual, (low, high))


def best_bias(
    f: np.ndarray, y: np.ndarray, p: np.ndarray, upper: np.ndarray, r: float = 0.0
) -> tuple[float, float]:
    """The ends of the interval of biases that minimise the primal.

    Soft margin: the slope of ``Σ u_i max(0, p_i − y_i (f_i + b)) + r b`` in b starts at ``r − Σ_{y=+1} u_i``
    and rises by u_i at each ``y_i p_i − f_i``. Hard margin: half-way between the classes.
    """
    present = _where_positive(upper)
    turns, weights, positive = (y * p - f)[present], upper[present], y[present] > 0.0
    if np.isinf(weights).any():
        return float(turns[positive].max()), float(turns[~positive].min())
    order = np.argsort(turns, kind="stable")
    turns, risen = turns[order], np.cumsum(weights[order])
    needed, slack = weights[positive].sum() - r, 1e-12 * risen[-1]
    first = np.searchsorted(risen, needed - slack)
    last = np.searchsorted(risen, needed + slack, side="right")
    return float(turns[min(first, len(turns) - 1)]), float(turns[min(last, len(turns) - 1)])


def precise_sum(values: np.ndarray) -> float:
    """A sum in extended precision."""
    return float(values.sum(dtype=np.longdouble))


def _where_positive(upper: np.ndarray) -> Any:
    """An index of the points that take part; of all of them one that copies nothing."""
    present = upper > 0.0
    return slice(None) if present.all() else present
