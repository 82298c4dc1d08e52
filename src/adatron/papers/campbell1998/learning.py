"""Figures 4 to 11: margin, test error and bias by epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from adatron.display.figures import PUBLISHED, add_legend, new_figure
from adatron.estimators import SVC
from adatron.kernels import Gaussian
from adatron.papers.campbell1998.mirror import mirror_splits
from adatron.papers.campbell1998.watching import LearningCurve, learning_curve
from adatron.papers.data import original_sonar, wisconsin_split
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

__all__ = ["EXPERIMENTS"]

_MARGIN = 0.99
_STRAIGHT_FROM = 0.5  # margin from which the approach to 1 is looked at
_OTHER_MU = 0.1  # the document's example of a μ set at will
_PANELS = [("epoch", "margin"), ("epoch", "test error (%)"), ("epoch", "bias λ")]


@dataclass(frozen=True)
class Problem:
    """Data and parameters of one group of figures; `published` is the final test error in per cent."""

    name: str
    split: Callable[[Effort], tuple[Any, Any, Any, Any]]
    sigma: float
    mu: float
    published: float | None
    n_panels: int


def _run(problem: Problem, effort: Effort) -> Findings:
    split = problem.split(effort)
    mus = (problem.mu, _OTHER_MU)
    curve, other = (learning_curve(split, problem.sigma, mu) for mu in effort.over(mus))
    exact = SVC(float("inf"), Gaussian.of_width(problem.sigma), tol=1e-9).fit(split[0], split[2])
    checks = [_reaches_one(curve), _is_exponential(curve)]
    checks += _bias_checks(curve, other, float(exact.intercept_[0]))
    return Findings(_comparisons(problem, curve, len(split[1])), checks, _figure(problem, curve))


def _comparisons(problem: Problem, curve: LearningCurve, n_test: int) -> list[Comparison]:
    final = float(curve.error[-1])
    reached = _first(curve.epoch, curve.margin >= _MARGIN)
    settled = _first(curve.epoch, _stays(np.abs(curve.error - final) <= 1.0))
    rows = {
        f"epochs to a margin of {_MARGIN}": reached,
        "epochs until the error stays within 1 point of its end": settled,
    }
    error = Comparison(
        {"data": problem.name, "quantity": "test error after the last epoch"},
        problem.published, final, n_test=n_test, unit="%",
    )  # fmt: skip
    return [error] + [
        Comparison({"data": problem.name, "quantity": what}, None, value) for what, value in rows.items()
    ]


def _first(epochs: np.ndarray, holds: np.ndarray) -> int | None:
    return int(epochs[holds.argmax()]) if holds.any() else None


def _stays(holds: np.ndarray) -> np.ndarray:
    """Where something holds from there on."""
    return np.logical_and.accumulate(holds[::-1])[::-1]


def _reaches_one(curve: LearningCurve) -> Check:
    detail = f"{curve.margin[-1]:.5f} after {curve.epoch[-1]} epochs"
    return Check("The margin comes to 1 (within 0.001).", abs(curve.margin[-1] - 1.0) <= 1e-3, detail)


def _is_exponential(curve: LearningCurve) -> Check:
    """Whether log(1 − margin) is nearer to a line in the epochs than in their logarithm."""
    start = int((curve.margin >= _STRAIGHT_FROM).argmax())
    later = (np.arange(len(curve.epoch)) >= start) & (curve.margin < 1.0)
    log_distance, epochs = np.log(1.0 - curve.margin[later]), curve.epoch[later]
    exponential, power = (_explained(x, log_distance) for x in (epochs, np.log(epochs)))
    detail = f"a line explains {exponential:.3f} of log(1 − γ) in the epochs, {power:.3f} in their logarithm"
    return Check("The margin approaches 1 exponentially in the epochs.", exponential > power, detail)


def _explained(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def _bias_checks(curve: LearningCurve, other: LearningCurve, exact: float) -> list[Check]:
    last, last_other = float(curve.bias[-1]), float(other.bias[-1])
    detail = f"secant {last:.4f}, certified solution of the quadratic programme {exact:.4f}"
    others = (
        f"{last:.4f} with {curve.epoch[-1]} epochs, μ = {_OTHER_MU}: {last_other:.4f} with {other.epoch[-1]}"
    )
    return [
        Check("The bias settles at that of the quadratic programme.", abs(last - exact) <= 1e-3, detail),
        Check("The choice of μ does not matter for where it ends.", abs(last - last_other) <= 2e-3, others),
    ]


def _figure(problem: Problem, curve: LearningCurve) -> Any:
    axes: Any
    figure, axes = new_figure(problem.n_panels, _PANELS[: problem.n_panels], log_x=True)
    for ax, values in zip(axes, (curve.margin, curve.error, curve.bias), strict=False):
        ax.plot(curve.epoch, values)
    axes[0].axhline(1.0, **PUBLISHED, label="maximal margin")
    add_legend(axes[0], loc="lower right")
    if problem.published is not None:
        axes[1].axhline(problem.published, **PUBLISHED, label="published")
        add_legend(axes[1], loc="upper right")
    return figure


def _mirror(effort: Effort) -> tuple[Any, Any, Any, Any]:
    return mirror_splits(effort, 1, effort.count(full=20_000, quick=10_000))[0]


_MIRROR = Problem("mirror symmetry", _mirror, 5.0, 5.0, None, 2)
_SONAR = Problem("sonar", lambda effort: original_sonar(), 1.0, 5.0, 7.7, 3)
_WISCONSIN = Problem("breast cancer", lambda effort: wisconsin_split(), 3.0, 50.0, 1.5, 3)
_CURVES = (
    "Gaussian kernel, hard margin, Kernel-Adatron with the secant for the bias, η = 1; margin recomputed "
    "after each epoch, test error of α and λ as the epoch leaves them. "
)

EXPERIMENTS = [
    Experiment(
        "figures-4-5",
        "Margin and test error by epoch, mirror symmetry",
        "The margin grows to 1 and the test error falls with the epochs.",
        f"{_CURVES}σ = 5, μ = 5; 30 bits, 200 training strings, 20,000 unseen test strings (quick: 10,000).",
        partial(_run, _MIRROR),
    ),
    Experiment(
        "figures-6-8",
        "Margin, test error and bias by epoch, sonar",
        "The margin grows to 1, the bias settles, and 92.3 % of the test rows are right.",
        f"{_CURVES}σ = 1, μ = 5; sonar, original split, 104 rows each.",
        partial(_run, _SONAR),
    ),
    Experiment(
        "figures-9-11",
        "Margin, test error and bias by epoch, Wisconsin breast cancer",
        "The margin grows to 1, the bias settles, and 98.5 % of the test rows are right.",
        f"{_CURVES}σ = 3, μ = 50; 683 complete rows, raw features, the first 550 train, the last 133 test.",
        partial(_run, _WISCONSIN),
    ),
]
