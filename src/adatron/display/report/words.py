"""Sentences and rows of tables that explain the numbers of a fit."""

import math
from typing import Any

import numpy as np

from adatron.auto.base import AutoEstimator
from adatron.bounds import compression_bound, support_vector_loo_bound
from adatron.display.report.judge import FitStory
from adatron.estimators import EnsembleSVC
from adatron.explanation import Explanation
from adatron.io.printing import counted, quoted
from adatron.kernels import Exponential, Gaussian, Laplacian, Linear

_ROUNDING = 1e-9  # gaps below it are rounding errors
_LEAST_SHARE = 0.005  # of the importance; smaller ones would be shown as 0 %
_KERNELS = {
    Laplacian: "city-block Laplace", Exponential: "Euclidean Laplace", Gaussian: "Gaussian", Linear: "linear",
}  # fmt: skip


def amount_words(value: float) -> str:
    """A number of any size, formatted for reading.

    >>> amount_words(84240.4), amount_words(0.012349)
    ('84,240', '0.01235')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def score_words(found: dict[str, Any], target: str, *, is_training: bool = False) -> list[tuple[str, str]]:
    """What `judge` found: the error against the best constant guess, how sure that is, AUC or R².

    No interval for the error on the training rows, which says nothing certain about new rows.
    """
    rows = counted(found["n_judged"], "row")
    if "r2" in found:
        error = f"{amount_words(found['rmse'])} in units of {target} (root mean square, {rows})"
        guess = f"the mean: {amount_words(found['baseline_rmse'])}"
        low, high = (amount_words(end) for end in found["rmse_interval"])
    else:
        error = f"{found['error_percent']:.2f} % ({found['n_wrong']:,} of {rows} wrong)"
        guess = f"{quoted(found['baseline'])}: {found['baseline_error_percent']:.2f} %"
        low, high = (f"{end:.1f} %" for end in found["error_interval_percent"])
    pairs = [("training error" if is_training else "test error", f"{error}; always guessing {guess}")]
    if not is_training:
        against = "better than guessing" if found["is_better"] else "perhaps no better than guessing"
        interval = f"with 95 % confidence, between {low} and {high} on new rows"
        pairs.append(("how sure", f"{'one row is too few to say' if high == 'inf' else interval}; {against}"))
    if "auc" in found:
        what = f"chance that a row of class {quoted(found['positive_class'])} scores above one of the other"
        pairs.append(("AUC", f"{found['auc']:.3f} ({what})"))
    if "r2" in found and not math.isnan(found["r2"]):  # one row has none
        pairs.append(("R²", f"{found['r2']:.4f} (1: perfect; 0: no better than the mean of these rows)"))
    return pairs


def importance_words(shares: list[tuple[str, float]], most: int) -> str:
    """The most important columns with their shares; those that would show as 0 % are left out."""
    named = [f"{name} ({100 * share:.0f} %)" for name, share in shares[:most] if share >= _LEAST_SHARE]
    return ", ".join(named)


def contribution_rows(found: Explanation, most: int) -> list[list[str]]:
    """What each column adds to a decision value, the largest first: names, values and amounts."""
    assert found.contributions is not None
    order = np.argsort(-np.abs(found.contributions), kind="stable").tolist()
    amounts = [(found.columns[j], value_words(found.values[j]), found.contributions[j]) for j in order[:most]]
    if len(order) > most:
        amounts.append((f"{len(order) - most} other columns", "", found.contributions[order[most:]].sum()))
    return [
        [name, value, f"{'+' if amount >= 0.0 else '−'}{amount_words(abs(float(amount)))}"]
        for name, value, amount in amounts
    ]


def value_words(value: Any) -> str:
    """A prediction or the value of a cell."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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
    if str(machine.status_) == "indefinite_kernel":
        return "It says nothing here, because the kernel is not positive semi-definite."
    if isinstance(machine, AutoEstimator):
        estimate = "" if machine.gap_is_exact_ else "an estimate from kernel values in single precision, "
        return (
            f"It is {estimate}the largest among the least-squares machines that make up the model; each of "
            "them solves a system of linear equations."
        )
    if isinstance(machine, EnsembleSVC):
        return "It is that of the last machine of the ensemble, which is stopped early on purpose."
    most = "rounding" if gap < _ROUNDING else f"{100 * gap:.2g} %"
    if hasattr(machine, "kernel_error_"):
        return (
            "It holds for the approximated kernel: with it, no other multipliers can improve the training "
            f"objective by more than {most}."
        )
    if not machine.gap_is_exact_:
        return (
            f"By an estimate, no other multipliers can improve the training objective by more than {most}: "
            "kernel values are in single precision, and 1 % of the rows were compared with double precision."
        )
    return (
        f"No other multipliers can improve the training objective by more than {most}. The gap was "
        "recomputed in double precision, by code that no solver shares."
    )


def kernel_width(machine: Any) -> tuple[float | None, float | None]:
    """σ and γ of the kernel; None where it has none."""
    kernel = machine.kernels_[0] if isinstance(machine, AutoEstimator) else getattr(machine, "_kernel", None)
    gamma = getattr(machine, "gamma_", getattr(kernel, "gamma", None))
    if not isinstance(gamma, float) or gamma <= 0.0:
        return None, None
    is_gaussian = kernel is None or isinstance(kernel, Gaussian)
    return (math.sqrt(0.5 / gamma) if is_gaussian else None), gamma


def chosen_parameters(machine: Any) -> dict[str, Any]:
    """The parameters that are not the default ones."""
    default = type(machine)().get_params(deep=False)
    return {name: own for name, own in machine.get_params(deep=False).items() if own != default[name]}


def choice_words(machine: AutoEstimator) -> str:
    """What the search tried and chose."""
    path = machine.path_
    kernels = [_KERNELS[type(kernel)] for kernel in machine.kernels_]
    chosen = f"a machine with the {kernels[0]} kernel"
    if len(kernels) > 1:
        chosen = f"the mean of {len(kernels)} machines, with the kernels {', '.join(kernels)}"
    n_weighted = sum(getattr(kernel, "weights", None) is not None for kernel in machine.kernels_)
    if n_weighted == 0:
        learned = "without"
    elif n_weighted == len(kernels):
        learned = "with" if n_weighted == 1 else "all with"
    else:
        learned = f"{n_weighted} of them with"
    return (
        f"{len(path)} machines were compared by cross-validation on {path.best['n_rows']:,} rows. Among the "
        f"best of them, held-out rows preferred {chosen}, {learned} feature weights learned from the data."
    )


def bound_words(story: FitStory) -> list[str]:
    """Bounds on the error that follow from the fit itself; none where their assumptions do not hold."""
    machine = story.machine
    is_exact_svm = story.task == "classification" and hasattr(machine, "solver") and machine.converged_
    if not is_exact_svm:
        return []
    n_support, n_rows = len(machine.support_), story.X_train.shape[0]
    share = support_vector_loo_bound(n_support, n_rows)
    sentences = [
        f"Leaving out one training row at a time, at most {100 * share:.1f} % of them would be "
        f"misclassified: only the {n_support:,} support vectors of {n_rows:,} rows matter to the fit."
    ]
    is_separated = np.array_equal(story.model.predict(story.X_train), np.asarray(story.y_train))
    bound = compression_bound(n_support, n_rows) if is_separated and n_support else math.inf
    if bound < 1.0:
        sentences.append(
            f"With 95 % confidence the error on new rows is at most {100 * bound:.1f} % (compression bound: "
            "no training row is misclassified, and the support vectors alone rebuild the model)."
        )
    return sentences
