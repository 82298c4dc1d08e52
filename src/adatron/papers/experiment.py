"""What a reproduction consists of: experiments, what they found, and the verdict on each number.

Examples
--------
>>> from adatron.papers.experiment import Comparison
>>> sonar = Comparison({"data": "sonar"}, published=7.7, ours=7.69, n_test=104, unit="%")
>>> sonar.verdict.value
'reproduced'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Check", "Comparison", "Document", "Effort", "Experiment", "Findings", "Verdict", "decimals"]

_Item = TypeVar("_Item")


class Verdict(Enum):
    """How a number or a statement of a document fared."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    HOLDS = "holds"
    FAILS = "does not hold"
    MISSING = "cannot be run"
    UNPUBLISHED = "ours alone"


@dataclass(frozen=True)
class Comparison:
    """A published number beside ours.

    Parameters
    ----------
    labels : dict
        What the number belongs to: names of columns and what stands in them, e.g. ``{"data": "sonar"}``.
    published : float or None
        None where the document prints no number, or its text lost it.
    ours : float or None
        None when it could not be measured; `missing` then says for want of what.
    standard_error : float
        Of our mean over repetitions; 0 for a single run.
    n_test : int or None
        For rates of error: size of the test set behind the published number. Its binomial standard error
        counts as the published number's own.
    published_error : float
        A standard error that the document prints itself, instead of `n_test`.
    unit : str
        "%" for rates, which are given in per cent.
    why : str
        One sentence that a reader can check, for a number that differs.
    missing : str
        The data that would be needed.
    """

    labels: dict[str, str]
    published: float | None
    ours: float | None
    standard_error: float = 0.0
    n_test: int | None = None
    published_error: float = 0.0
    unit: str = ""
    why: str = ""
    missing: str = ""

    @property
    def tolerance(self) -> float:
        """Twice the standard error of the difference."""
        return 2.0 * math.hypot(self.standard_error, self._error_of_published())

    def _error_of_published(self) -> float:
        if self.n_test is None or self.published is None:
            return self.published_error
        full = 100.0 if self.unit == "%" else 1.0
        share = min(max(self.published / full, 0.0), 1.0)
        return full * math.sqrt(share * (1.0 - share) / self.n_test)

    @property
    def difference(self) -> float | None:
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def verdict(self) -> Verdict:
        if self.ours is None:
            return Verdict.MISSING
        if self.difference is None:
            return Verdict.UNPUBLISHED
        # half a unit of the last printed digit can never be told from rounding
        slack = 0.5 * 10.0 ** -decimals(self.published)
        within = abs(self.difference) <= max(self.tolerance, slack) * (1.0 + 1e-12)
        return Verdict.REPRODUCED if within else Verdict.DIFFERS


def decimals(number: float | None) -> int:
    """Digits after the point, as printed."""
    return len(repr(number).partition(".")[2])


@dataclass(frozen=True)
class Check:
    """A statement of a document that is true or not in our run."""

    statement: str
    holds: bool
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        return Verdict.HOLDS if self.holds else Verdict.FAILS


@dataclass(frozen=True)
class Findings:
    """What one experiment gave. `notes` are sentences for the reader; a figure may be an SVG file's text."""

    comparisons: list[Comparison] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    figure: Figure | str | None = None
    notes: list[str] = field(default_factory=list)


class Effort:
    """How much an experiment may do, its random numbers, and its way to tell how far it is.

    Examples
    --------
    >>> from adatron.papers.experiment import Effort
    >>> effort = Effort(quick=True, seed=0)
    >>> effort.count(full=200, quick=10)
    10
    >>> [draw * 2 for draw in effort.over([1, 2, 3])]
    [2, 4, 6]
    """

    def __init__(
        self, *, quick: bool = False, seed: int = 0, report: Callable[[float], None] | None = None
    ) -> None:
        self.quick = quick
        self.seed = seed
        self._report = report

    def count(self, *, full: int, quick: int) -> int:
        """A number of repetitions."""
        return quick if self.quick else full

    def generator(self) -> np.random.Generator:
        """Random numbers that depend on the seed alone, so that experiments do not disturb each other."""
        return np.random.default_rng(self.seed)

    def over(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Go through `items`, telling after each how many are done."""
        items = list(items)
        for done, item in enumerate(items):
            self._tell(done / len(items))
            yield item
        self._tell(1.0)

    def _tell(self, share: float) -> None:
        if self._report is not None:
            self._report(share)


@dataclass(frozen=True)
class Experiment:
    """One table, figure or claim of a document.

    Parameters
    ----------
    name : str
        Short, for ``--only``: ``"table-1"``.
    title : str
        As headline.
    claim : str
        What the document says, in our words.
    settings : str
        Data, kernel and parameters that are used.
    run : callable
        From an `Effort` to `Findings`. Missing data is an OSError, which is reported as such.
    """

    name: str
    title: str
    claim: str
    settings: str
    run: Callable[[Effort], Findings]


@dataclass(frozen=True)
class Document:
    """A document and its experiments."""

    name: str
    citation: str
    summary: str
    experiments: list[Experiment]
