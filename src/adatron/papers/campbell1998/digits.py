"""One digit against the rest: the document's table, machines for several digits at once, widths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from adatron.papers.campbell1998.repeated import Split, hard_margin

__all__ = ["PRINTED", "Machine", "Trained", "best_widths", "margin_machine", "train_at", "wrong"]


class Printed(NamedTuple):
    """A row of the document's table: errors on 2,007 test rows, and σ."""

    rbf: int
    svm: int
    ka: int
    sigma: float


PRINTED = {
    0: Printed(20, 16, 13, 1.8),
    1: Printed(16, 8, 10, 1.6),
    2: Printed(43, 25, 21, 2.4),
    3: Printed(38, 19, 24, 2.0),
    4: Printed(46, 29, 26, 4.0),
    5: Printed(31, 23, 19, 1.8),
    6: Printed(15, 14, 15, 2.4),
    7: Printed(18, 12, 11, 2.8),
    8: Printed(37, 25, 26, 3.2),
    9: Printed(26, 16, 14, 1.6),
}


class Trained(NamedTuple):
    """What a machine for some digits says of the test rows."""

    outputs: np.ndarray  # (n_test, n_digits): positive for the digit
    n_support: list[int]  # of each digit


Machine = Callable[[Split, Sequence[int], float], Trained]


def margin_machine(split: Split, digits: Sequence[int], sigma: float, bias: bool = False) -> Trained:
    """Maximal margins of several digits, each against the rest, on one kernel matrix."""
    rest = -1
    y = np.where(np.isin(split.y_train, digits), split.y_train, rest)
    machine = hard_margin(sigma, multi_class="ovr", fit_intercept=bias).fit(split.X_train, y)
    outputs = machine.decision_function(split.X_test).reshape(len(split.X_test), -1)
    counts = np.count_nonzero(machine.dual_coef_, axis=1)
    # columns are sorted by class, the rest first unless there is none, or a single column for the digit
    return Trained(outputs[:, -len(digits) :], counts[-len(digits) :].tolist())


def wrong(outputs: np.ndarray, y: np.ndarray, digits: Sequence[int]) -> np.ndarray:
    """Number of rows on the wrong side, for each digit.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.papers.campbell1998.digits import wrong
    >>> wrong(np.array([[1.0, -1.0], [1.0, 2.0]]), np.array([3, 8]), [3, 8])
    array([1, 0])
    """
    return ((outputs > 0.0) != (y[:, None] == np.asarray(digits))).sum(axis=0)


def best_widths(sigmas: Sequence[float], errors: np.ndarray) -> dict[int, float]:
    """The σ with the fewest errors for each digit, of equally good ones the largest: fewest support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.papers.campbell1998.digits import best_widths
    >>> best_widths([1.0, 2.0, 4.0], np.array([[5, 1], [3, 1], [3, 2]]))
    {0: 4.0, 1: 2.0}
    """
    order = np.argsort(sigmas)[::-1]
    return {digit: float(sigmas[order[column[order].argmin()]]) for digit, column in enumerate(errors.T)}


def train_at(widths: dict[int, float], split: Split, machine: Machine) -> dict[int, tuple[int, int]]:
    """Test errors and support vectors of each digit at its width; equal widths are trained together."""
    found: dict[int, tuple[int, int]] = {}
    for sigma in sorted(set(widths.values())):
        digits = [digit for digit, own in widths.items() if own == sigma]
        trained = machine(split, digits, sigma)
        errors = wrong(trained.outputs, split.y_test, digits).tolist()
        found |= dict(zip(digits, zip(errors, trained.n_support, strict=True), strict=True))
    return dict(sorted(found.items()))
