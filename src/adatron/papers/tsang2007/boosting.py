"""Section 3: training the ρ-SVM is boosting of weighted Parzen windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.display.figures import add_legend, new_figure
from adatron.estimators import EnsembleSVC
from adatron.numerics.threads import one_blas_thread
from adatron.papers.experiment import Check, Effort, Experiment, Findings
from adatron.papers.tsang2007.booster import Boosting, boost
from adatron.papers.tsang2007.classifiers import error
from adatron.papers.tsang2007.sets import Split, set_called

__all__ = ["SECTION_3"]

_AGREEMENT = 1e-6  # of decision values, relative to the largest; rounding grows with the rounds
_FIRST_EPSILON = 0.1


def _run(effort: Effort) -> Findings:
    checks, errors = [], {}
    for name in effort.over(["waveform"] if effort.quick else ["waveform", "german"]):
        split = set_called(name).split(0, effort.seed)
        with one_blas_thread():
            model = EnsembleSVC().fit(split.X, split.y)
            checks += _checks(name, split, model, boost(split, model))
            stages = [error(predicted, split.y_test) for predicted in model.staged_predict(split.X_test)]
        errors[name] = stages, error(model.final_svm_.predict(split.X_test), split.y_test)
    return Findings([], checks, _figure(errors), _NOTES)


def _checks(name: str, split: Split, model: EnsembleSVC, boosted: Boosting) -> list[Check]:
    apart = _apart(boosted.decisions, model.decision_function(split.X_test))
    last = _apart(boosted.last_hypothesis, model.final_svm_.decision_function(split.X_test))
    halvings = np.log2(_FIRST_EPSILON / boosted.epsilons)
    off = float(np.abs(halvings - np.round(halvings)).max())
    rises = float(np.diff(boosted.edges).max(initial=-np.inf))
    return [
        Check(
            f"On {name} boosting weighted Parzen windows, with the rates as coefficients, gives the "
            "ensemble.",
            apart <= _AGREEMENT,
            f"decision values differ by {apart:.0e} of the largest after {len(boosted.edges)} rounds",
        ),
        Check(
            f"On {name} the last base hypothesis is the ρ-SVM.",
            last <= _AGREEMENT,
            f"decision values, each scaled to 1, differ by {last:.0e}",
        ),
        Check(
            f"On {name} every rate is a booster's exact line search, for the target edge ρ̄/(1 + ε).",
            off <= _AGREEMENT and bool((np.diff(halvings) > -_AGREEMENT).all()),
            f"each ε that follows from a rate is 0.1 halved a whole number of times, up to {off:.0e}; from "
            f"{boosted.epsilons[0]:.3g} to {boosted.epsilons[-1]:.3g}",
        ),
        Check(
            f"On {name} no edge is larger than the one before.",
            rises <= 1e-12,
            f"from {boosted.edges[0]:.4f} to {boosted.edges[-1]:.4f} in {len(boosted.edges)} rounds",
        ),
    ]


def _apart(first: np.ndarray, second: np.ndarray) -> float:
    """Largest difference of decision values, each scaled to 1 at most."""
    return float(np.abs(first / np.abs(first).max() - second / np.abs(second).max()).max())


def _figure(errors: dict[str, tuple[list[float], float]]) -> Any:
    figure, axes = new_figure(len(errors), [("stages", "test error (%)")], titles=list(errors))
    for ax, (stages, last) in zip(axes, errors.values(), strict=True):
        ax.plot(np.arange(1, len(stages) + 1), stages, linewidth=1.4, label="ensemble")
        ax.plot([1], stages[:1], "o", label="Parzen window")
        ax.plot([len(stages)], [last], "s", label="ρ-SVM")
    add_legend(axes[-1])
    return figure


_NOTES = [
    "The booster knows the margins of its hypotheses and the coefficients only: from equal weights it "
    "reweights the rows by exp(−c y h(x)), and its next hypothesis is the Parzen window of the new weights.",
    "It is AdaBoost with a target edge, the least so far divided by 1 + ε; in AdaBoost_ν* a fixed ν is "
    "subtracted instead.",
]

SECTION_3 = Experiment(
    name="section-3",
    title="Section 3: the ρ-SVM as a booster",
    claim="Training the ρ-SVM is boosting: the multipliers are the distribution, the rates the "
    "coefficients, weighted Parzen windows the base hypotheses, and the last of these is the SVM.",
    settings="Realization 1 of waveform and german; Gaussian kernel exp(−|x − z|²/β).",
    run=_run,
)
