"""Figures 1 and 2: epochs to a margin of 0.99 against the learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.display.figures import PUBLISHED, add_legend, new_figure
from adatron.estimators import SVC
from adatron.kernels import Gaussian
from adatron.papers.campbell1998.mirror import mirror_splits
from adatron.papers.data import original_sonar
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings

__all__ = ["EXPERIMENTS"]

_MARGIN = 0.99
_WIDTH, _NARROW = 7.0, 7.0**0.5
_AXES = [("learning rate η", f"epochs to a margin of {_MARGIN}")]
_NOT_TRIED = "Oscillations from η = 2 on are not shown: the library refuses such a rate with an error."


def _rates(effort: Effort) -> np.ndarray:
    step = 0.1 if effort.quick else 0.05
    return np.round(np.arange(step, 2.0 - step / 2.0, step), 2)


def _train(X: Any, y: Any, sigma: float, rate: float, max_iter: int, **options: Any) -> SVC:
    model = SVC(float("inf"), Gaussian.of_width(sigma), learning_rate=rate, max_iter=max_iter, tol=1e-9)
    return model.set_params(solver="adatron", fit_intercept=False).set_params(**options).fit(X, y)


def _epochs_to_margin(model: SVC) -> float:
    """NaN if the margin was not reached."""
    reached = np.flatnonzero(np.array(model.history_["margin"]) >= _MARGIN)
    return float(model.history_["epoch"][reached[0]]) if len(reached) else np.nan


def _never_falls(model: SVC) -> bool:
    objective = np.array(model.history_["objective"])
    return bool((np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all())


def _best_rate(rates: np.ndarray, epochs: np.ndarray) -> float:
    """The rate with the fewest epochs, the mean of equally good ones."""
    return float(rates[epochs == np.nanmin(epochs)].mean())


def _rise_check(models: list[SVC]) -> Check:
    """What the document derives for all rates below 2."""
    rising = sum(_never_falls(model) for model in models)
    detail = f"in {rising} of {len(models)} runs without a bias the objective falls in no epoch"
    return Check("Each step raises the objective at any rate 0 < η < 2.", rising == len(models), detail)


def _ends_check(rates: np.ndarray, epochs: np.ndarray) -> Check:
    ends = np.nan_to_num(epochs[[0, -1]], nan=np.inf)
    shown = ["not reached" if np.isinf(end) else f"{end:.0f}" for end in ends]
    detail = f"η = {rates[0]:g}: {shown[0]}, η = {rates[-1]:g}: {shown[1]}, fewest {np.nanmin(epochs):.0f}"
    return Check(
        "Towards η = 0 and η = 2 training takes ever longer.", ends.min() > np.nanmin(epochs), detail
    )


def _mirror(effort: Effort) -> Findings:
    rates, max_iter = _rates(effort), effort.count(full=10_000, quick=2_000)
    splits = mirror_splits(effort, effort.count(full=5, quick=2), n_test=1)
    runs = [(X, y, sigma, rate) for X, _, y, _ in splits for sigma in (_WIDTH, _NARROW) for rate in rates]
    models = [_train(*run, max_iter) for run in effort.over(runs)]
    shape = (len(splits), 2, len(rates))
    epochs = np.array([_epochs_to_margin(model) for model in models]).reshape(shape)
    support = [np.mean([_n_support(X, y, sigma) for X, _, y, _ in splits]) for sigma in (_WIDTH, _NARROW)]
    checks = [_rise_check(models), _ends_check(rates, epochs[0, 0])]
    figure = _mirror_figure(rates, epochs.mean(axis=0))
    return Findings(_mirror_comparisons(rates, epochs, support), checks, figure, [_NOT_TRIED])


def _mirror_figure(rates: np.ndarray, epochs: np.ndarray) -> Any:
    ax: Any
    figure, (ax,) = new_figure(1, _AXES, log_y=True)
    for curve, label in zip(epochs, ["σ = 7, as printed", "σ² = 7"], strict=True):
        ax.plot(rates, curve, marker=".", label=label)
    ax.axvline(1.0, **PUBLISHED, label="published best rate")
    add_legend(ax, loc="center right", bbox_to_anchor=(1.0, 0.7))
    return figure


def _n_support(X: Any, y: Any, sigma: float) -> int:
    """Of the maximal margin itself, without a bias."""
    model = SVC(float("inf"), Gaussian.of_width(sigma), fit_intercept=False).fit(X, y)
    return int(model.n_support_.sum())


def _mirror_comparisons(rates: np.ndarray, epochs: np.ndarray, support: list[Any]) -> list[Comparison]:
    best = np.array([[_best_rate(rates, curve) for curve in draw] for draw in epochs])
    mean, error = best.mean(axis=0), best.std(axis=0, ddof=1) / len(best) ** 0.5
    why = (
        f"The best rate comes near 1 only where nearly all points support the plane, as at σ² = 7 "
        f"({support[1]:.0f} of 200, best rate {mean[1]:.2f}); at σ = 7 only {support[0]:.0f} of 200 do."
    )
    return [
        Comparison({"σ": "7", "quantity": "best η"}, 1.0, mean[0], float(error[0]), why=why),
        Comparison({"σ": "√7", "quantity": "best η"}, None, mean[1], float(error[1])),
    ]


def _sonar(effort: Effort) -> Findings:
    X, _, y, _ = original_sonar()
    rates, max_iter = _rates(effort), effort.count(full=20_000, quick=5_000)
    models = [_train(X, y, 1.0, rate, max_iter) for rate in effort.over(rates)]
    secant = {"solver": "adatron-secant", "fit_intercept": True}
    with_bias = [_train(X, y, 1.0, rate, max_iter, **secant) for rate in rates]
    figure, (ax,) = new_figure(1, _AXES, log_y=True)
    checks = [_rise_check(models)]
    for label, group in (("without bias", models), ("with bias", with_bias)):
        epochs = np.array([_epochs_to_margin(model) for model in group])
        best = _best_rate(rates, epochs)
        ax.plot(rates, epochs, marker=".", label=label)
        detail = (
            f"best η = {best:g} with {np.nanmin(epochs):.0f} epochs, at η = 1 {epochs[rates == 1.0][0]:.0f}"
        )
        checks.append(Check(f"The best rate is less than 1 ({label}).", best < 1.0, detail))
        checks += [_ends_check(rates, epochs)] if group is models else []
    add_legend(ax)
    notes = [f"{models[0].n_support_.sum()} of {len(y)} points are support vectors (without bias)."]
    return Findings(checks=checks, figure=figure, notes=[*notes, _NOT_TRIED])


_COMMON = "hard margin, outputs recomputed after each epoch; beyond 1,000 epochs counts are good to 1 %"

EXPERIMENTS = [
    Experiment(
        "figure-1",
        "Epochs to a margin of 0.99 against the rate, mirror symmetry",
        "Training converges for 0 < η < 2 only, and fastest with η = 1, since most points support the plane.",
        "30 bits, 200 training strings, Gaussian kernel, σ = 7, Kernel-Adatron without a bias (the document "
        f"does not say which), 5 draws, at most 10,000 epochs (quick: 2 draws, 2,000 epochs); {_COMMON}. "
        "Also with σ² = 7, to see what the best rate depends on.",
        _mirror,
    ),
    Experiment(
        "figure-2",
        "Epochs to a margin of 0.99 against the rate, sonar",
        "Where many multipliers are set to zero, the best rate is less than 1.",
        "Sonar, the 104 training rows of the original split, Gaussian kernel, σ = 1, Kernel-Adatron without "
        f"a bias, and with a bias by the secant (μ = 0.1), at most 20,000 epochs (quick: 5,000); {_COMMON}.",
        _sonar,
    ),
]
