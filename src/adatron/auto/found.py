"""What a search has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.auto.rows import Rows
from adatron.auto.width_search import Choice

__all__ = ["Found"]


@dataclass(frozen=True)
class Found:
    """A trained model: coefficients of some rows, and held-out decisions for calibration."""

    choice: Choice
    rows: np.ndarray  # places of the rows that carry coefficients
    coefficients: np.ndarray  # (len(rows), k)
    intercept: np.ndarray  # (k,)
    held_decisions: np.ndarray  # (n, k)
    penalty: tuple[float, float]  # C of the nearest SVM, and the relative gap there
    trained: Rows
    level: int = -1
    gram_of: Any = None  # the kernel matrix of the trained rows for a γ, if it was used as a whole
    is_exact: bool = False

    @property
    def plausible_error(self) -> float:
        """An error that the model may well have although its held-out error is smaller."""
        error, n = self.choice.error, len(self.held_decisions)
        return error + 2.0 * float(np.sqrt(abs(error * (1.0 - error)) / n))
