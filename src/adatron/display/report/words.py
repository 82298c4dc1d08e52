"""Sentences that explain the numbers of a fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adatron.bounds import compression_bound, support_vector_loo_bound
from adatron.display.report.judge import wilson
from adatron.display.report.story import FitStory
from adatron.kernels import Exponential, Gaussian, Laplacian, Linear

_ROUNDING = 1e-9  # gaps below it are rounding errors


def rate_words(wrong: int, n: int) -> str:
    """An error rate with its confidence interval (Wilson's).

    Examples
    --------
    >>> from adatron.display.report.words import rate_words
    >>> rate_words(8, 104)
    '7.69 % (8 of 104 rows; between 3.9 % and 14.4 % with 95 % confidence)'
    """
    low, high = wilson(wrong, n)
    return (
        f"{100 * wrong / n:.2f} % ({wrong:,} of {n:,} rows; between {100 * low:.1f} % and {100 * high:.1f} % "
        "with 95 % confidence)"
    )


def amount_words(value: float) -> str:
    """A number of any size, formatted for reading.

    Examples
    --------
    >>> from adatron.display.report.words import amount_words
    >>> amount_words(84240.4), amount_words(0.012349)
    ('84,240', '0.01235')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


_KERNELS = {
    Laplacian: "city-block Laplace",
    Exponential: "Euclidean Laplace",
    Gaussian: "Gaussian",
    Linear: "linear",
}


def certificate_words(machine: Any) -> list[str]:
    """What the duality gap says of this fit."""
    gap = getattr(machine, "duality_gap_", None)
    if gap is None:
        return ["This kind of model solves no optimisation problem, so there is nothing to certify."]
    sentences = [f"The relative duality gap is {gap:.3g}. {_gap_words(machine, gap)}"]
    why = machine.status_.sentence.rstrip(".")
    sentences.append(f"The fit ended because {why[:1].lower()}{why[1:]}.")
    if getattr(machine, "finished_exactly_", False):
        sentences.append(
            "The last step solved the optimality conditions as linear equations, so the multipliers are "
            "exact up to rounding."
        )
    return sentences


def _gap_words(machine: Any, gap: float) -> str:
    if hasattr(machine, "kernels_"):
        estimate = "" if machine.gap_is_exact_ else "an estimate from kernel values in single precision, "
        return (
            f"It is {estimate}the largest among the least-squares machines that make up the model; each of "
            "them solves a system of linear equations."
        )
    if hasattr(machine, "stage_weights_"):
        return "It is that of the last machine of the ensemble, which is stopped early on purpose."
    most = "rounding" if gap < _ROUNDING else f"{100 * gap:.2g} %"
    if hasattr(machine, "kernel_error_"):
        return (
            "It is that of the approximated kernel: with it, no other multipliers can improve the objective "
            f"of the training by more than {most}."
        )
    if not machine.gap_is_exact_:
        return (
            "This is an estimate: that no other multipliers can improve the objective of the training by "
            f"more than {most} rests on kernel values in single precision, of which 1 % of the rows were "
            "compared with double precision, by code that no solver shares."
        )
    return (
        f"No other multipliers can improve the objective of the training by more than {most}; the "
        "number was recomputed from scratch in double precision, by code that no solver shares."
    )


def kernel_width(machine: Any) -> tuple[float | None, float | None]:
    """σ and γ of the kernel; None where it has none."""
    gamma = getattr(machine, "gamma_", getattr(getattr(machine, "_kernel", None), "gamma", None))
    if not isinstance(gamma, float) or gamma <= 0.0:
        return None, None
    kernel = machine.kernels_[0] if hasattr(machine, "kernels_") else getattr(machine, "_kernel", None)
    is_gaussian = kernel is None or isinstance(kernel, Gaussian)
    return (math.sqrt(0.5 / gamma) if is_gaussian else None), gamma


def choice_words(machine: Any) -> str:
    """What a search tried and chose."""
    tried, best = machine.path_, machine.path_.best
    if not hasattr(machine, "kernels_"):
        plural = "widths were" if len(tried) > 1 else "width was"
        lowest = f"σ = {tried.best_sigma:.4g} had the lowest {tried.criterion}, {best['criterion']:.4g}"
        return f"{len(tried)} {plural} tried; {lowest}."
    kernels = [_KERNELS[type(kernel)] for kernel in machine.kernels_]
    chosen = f"a machine with the {kernels[0]} kernel"
    if len(kernels) > 1:
        chosen = f"the mean of {len(kernels)} machines, with the kernels {', '.join(kernels)}"
    weights = [getattr(kernel, "weights", None) is not None for kernel in machine.kernels_]
    with_weights = "all" if all(weights) else f"{sum(weights)} of them" if any(weights) else "none"
    learned = "with" if weights == [True] else "without" if weights == [False] else f"{with_weights} with"
    return (
        f"{len(tried)} machines were compared on {best['n_rows']:,} rows by cross-validation. Held-out rows "
        f"of all data preferred {chosen}, {learned} feature weights learned from the data."
    )


def bound_words(story: FitStory) -> list[str]:
    """Bounds on the error that follow from the fit itself; none where their assumptions do not hold."""
    machine = story.machine
    is_exact_svm = story.task == "classification" and hasattr(machine, "solver") and machine.converged_
    if not is_exact_svm:
        return []
    n_support, n = len(machine.support_), story.n_train
    share = support_vector_loo_bound(n_support, n)
    sentences = [
        f"Leaving out one training row at a time, at most {100 * share:.1f} % of them would be "
        f"misclassified: only the {n_support:,} support vectors of {n:,} rows matter to the fit."
    ]
    wrong = int(np.sum(story.model.predict(story.X_train) != np.asarray(story.y_train)))
    bound = compression_bound(n_support, n) if wrong == 0 and n_support else math.inf
    if bound < 1.0:
        sentences.append(
            f"With 95 % confidence the error on new rows is at most {100 * bound:.1f} % (compression bound: "
            "no training row is misclassified, and the support vectors alone rebuild the model)."
        )
    return sentences
