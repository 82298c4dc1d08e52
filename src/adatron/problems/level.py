"""ν-formulations: the sum of the multipliers is given, and a level λ is found that belongs to it.

Maximise ``pᵀα − ½ (y∘α)ᵀ K (y∘α)`` subject to ``0 ≤ α ≤ upper``, perhaps ``yᵀα = 0``, and ``Σα = total``.
The last constraint has a multiplier, the level λ: for the right one, α solves the problem with p + λ in the
place of p and without that constraint. In classification the level is the margin ρ, in regression it is −ε.
Σα rises with the level, piecewise linearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.exceptions import InfeasibleError
from adatron.gram import Gram
from adatron.problems.dual import DualProblem, classification, regression


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
