"""Figure 3: test error against the width of the kernel, mirror symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.estimators import SVC
from adatron.kernels import Gaussian
from adatron.papers.campbell1998.mirror import mirror_splits
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

__all__ = ["EXPERIMENTS"]

_WIDTHS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0)
_FLAT_FROM = 6  # place of the width from which the error changes little


def _errors(split: tuple[Any, Any, Any, Any], sigma: float, bias: bool) -> tuple[float, float]:
    """Test and training error in per cent."""
    X_train, X_test, y_train, y_test = split
    model = SVC(float("inf"), Gaussian.of_width(sigma), fit_intercept=bias).fit(X_train, y_train)
    return 100.0 - 100.0 * model.score(X_test, y_test), 100.0 - 100.0 * model.score(X_train, y_train)


def _run(effort: Effort) -> Findings:
    n_draws, n_test = effort.count(full=10, quick=3), effort.count(full=100_000, quick=10_000)
    splits = mirror_splits(effort, n_draws, n_test)
    runs = [(split, sigma, bias) for split in splits for bias in (True, False) for sigma in _WIDTHS]
    errors = np.array([_errors(*run) for run in effort.over(runs)]).reshape(n_draws, 2, len(_WIDTHS), 2)
    return _findings(errors)


def _findings(errors: np.ndarray) -> Findings:
    test, training = errors[..., 0], errors[..., 1]
    labels = [("width σ", "test error (%)"), ("width σ", "points above the best σ")]
    figure, axes = new_figure(2, labels, log_x=True)
    comparisons, checks = [], []
    for place, label in enumerate(["with bias", "without bias"]):
        _draw(axes, test[:, place], label, COLOURS[place])
        comparisons.append(_best(test[:, place], label))
        checks += _valley(test[:, place], label)
    for ax, ticks in zip(axes, ([1, 2, 5, 10, 20], [5, 10, 20]), strict=True):
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_xticks([], minor=True)
    add_legend(axes[0])
    detail = f"{training.size} machines, largest training error {training.max():g} %"
    checks.append(Check("Every width separates the training strings.", training.max() == 0.0, detail))
    return Findings(comparisons, checks, figure)


def _mean_and_error(values: np.ndarray) -> tuple[Any, Any]:
    """Over draws, and the standard error of the mean."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / len(values) ** 0.5


def _draw(axes: Any, test: np.ndarray, label: str, colour: str) -> None:
    """The curve, and its flat part draw by draw, since some draws are easier than others at any width."""
    best = int(test.mean(axis=0).argmin())
    for ax, values, first in ((axes[0], test, 0), (axes[1], test - test[:, [best]], _FLAT_FROM)):
        widths, (mean, error) = _WIDTHS[first:], _mean_and_error(values[:, first:])
        ax.plot(widths, mean, marker=".", color=colour, label=label)
        ax.fill_between(widths, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)


def _best(test: np.ndarray, label: str) -> Comparison:
    mean, error = _mean_and_error(test)
    best = int(mean.argmin())
    labels = {"bias": label, "quantity": f"lowest mean test error, at σ = {_WIDTHS[best]:g}"}
    return Comparison(labels, None, float(mean[best]), float(error[best]), unit="%")


def _valley(test: np.ndarray, label: str) -> list[Check]:
    """Whether the error rises on both sides of the best width by more than twice its standard error."""
    best = int(test.mean(axis=0).argmin())
    statements = ("Too small a width overfits", "Too large a width is worse than the best again")
    return [
        _rise(f"{statement} ({label}).", test[:, end] - test[:, best], _WIDTHS[end], _WIDTHS[best])
        for statement, end in zip(statements, (0, -1), strict=True)
    ]


def _rise(statement: str, difference: np.ndarray, end: float, best: float) -> Check:
    mean, error = _mean_and_error(difference)
    detail = f"σ = {end:g} against σ = {best:g}: {mean:+.2f} ± {error:.2f} points, draw by draw"
    return Check(statement, bool(mean > 2.0 * error), detail)


EXPERIMENTS = [
    Experiment(
        "figure-3",
        "Test error against the width of the kernel, mirror symmetry",
        "At maximal margin the width decides: too narrow a kernel overfits, too wide a one is too poor.",
        "30 bits, 200 training strings, Gaussian kernel, hard margin; test: 100,000 strings with repeats, "
        "none of them in training; mean and standard error of 10 draws (quick: 3 draws, 10,000 strings). "
        'solver="auto", which reaches the same maximal margin as Kernel-Adatron\'s sweeps. '
        "The range of σ in the figure and its errors are not printed.",
        _run,
    )
]
