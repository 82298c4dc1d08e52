"""What held-out decision values are worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adatron.numerics.compiled import compiled, compiled_part

__all__ = ["HeldOut", "held_out_errors"]

_SOFTNESS = 0.35  # width of the soft step, in mean sizes of the margins
_ROWS = 1_000.0  # held-out rows above which it shrinks, so that no more of them are within the step


class HeldOut(NamedTuple):
    """The held-out parts of all folds, one entry each."""

    folds: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    codes: np.ndarray  # classes

    @classmethod
    def of(cls, held: np.ndarray, codes: np.ndarray) -> HeldOut:
        """From the held-out weights of every row in every fold, shape (m, F)."""
        folds, rows = np.nonzero(held.T)
        return cls(folds, rows, held[rows, folds], codes[rows])


def held_out_errors(
    before: np.ndarray, after: np.ndarray, share: float, held: HeldOut, k: int, n_losses: int
) -> np.ndarray:
    """Share of the held-out weight that is misclassified, and the same with a soft step; for each loss.

    The soft error counts a row whose margin z is small for a part, ``1/(1 + e^{z/τ})``, with τ in
    proportion to the mean size of the margins: it does not jump when single rows change sides, so
    neighbouring models can be told apart on few rows. With many rows the step becomes a hard one. With
    more than two classes the margin is the decision for the row's class minus the best of the others.

    Parameters
    ----------
    before, after : arrays of shape (m, n_losses F k)
        Decisions at two stages: for each loss and fold, those of k problems (1 for two classes).
    share : float
        The stage between them that is meant; 1 is `after`.
    held : HeldOut
    k, n_losses : int

    Returns
    -------
    array of shape (n_losses, 2)
    """
    result = np.empty((n_losses, 2))
    margins = np.empty(len(held.rows))
    _errors(before.T, after.T, share, *held, k, after.shape[1] // (n_losses * k), margins, result)
    return result


@compiled_part
def margin_of(before, after, share, code, k, first, i):
    """The margin of one row, and whether its prediction is wrong."""
    if k == 1:  # a tie goes to the first class
        z = (1.0 - share) * before[first, i] + share * after[first, i]
        return (z, z <= 0.0) if code == 1 else (-z, z > 0.0)
    own = (1.0 - share) * before[first + code, i] + share * after[first + code, i]
    best, is_wrong = -np.inf, False
    for c in range(k):
        if c != code:
            value = (1.0 - share) * before[first + c, i] + share * after[first + c, i]
            best = max(best, value)
            is_wrong = is_wrong or value > own or (value == own and c < code)
    return own - best, is_wrong


@compiled
def _errors(before, after, share, folds, rows, weights, codes, k, n_folds, margins, result):
    for loss in range(len(result)):
        wrong, total, size = 0.0, 0.0, 0.0
        for j in range(len(rows)):
            first = (loss * n_folds + folds[j]) * k
            margins[j], is_wrong = margin_of(before, after, share, codes[j], k, first, rows[j])
            wrong += weights[j] if is_wrong else 0.0
            total += weights[j]
            size += weights[j] * abs(margins[j])
        width = _SOFTNESS * min(1.0, _ROWS / total) * size / total
        soft = 0.0
        for j in range(len(rows)):
            odds = np.exp(min(margins[j] / width, 700.0)) if width > 0.0 else 1.0
            soft += weights[j] / (1.0 + odds)
        result[loss, 0], result[loss, 1] = wrong / total, soft / total
