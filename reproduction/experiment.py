"""Papers, their experiments, results and verdicts, and the code that runs them."""

import math
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adatron.exceptions import AdatronWarning
from reproduction.shared import binomial_error, mean_and_error

PAPERS = ("cisc889", "campbell1998", "cristianini1999", "potluru2009", "tsang2007")
_Item = TypeVar("_Item")


class Verdict(Enum):
    """The verdict on a number or a statement of a paper."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    HOLDS = "holds"
    FAILS = "does not hold"
    MISSING = "cannot be run"
    UNPUBLISHED = "ours alone"


@dataclass(frozen=True)
class Comparison:
    """A published number beside ours."""

    labels: dict[str, str]  # what it belongs to: names of columns and what stands in them
    published: float | None  # None where the paper prints no number, or its text lost it
    ours: float | None  # None when it could not be measured; `missing` then names the data that it needs
    standard_error: float = 0.0  # of our mean over repetitions; 0 for a single run
    n_test: int | None = None  # rows behind a published rate of error, which give it a binomial error
    published_error: float = 0.0  # a standard error that the paper prints, instead of `n_test`
    unit: str = ""  # "%" for rates in per cent
    why: str = ""  # one sentence that a reader can check, for a number that differs
    missing: str = ""

    @classmethod
    def of_mean(
        cls, labels: dict[str, str], values: Any, published: float | None = None, **more: Any
    ) -> "Comparison":
        """Ours is the mean of `values`, with its standard error."""
        mean, error = mean_and_error(values)
        return cls(labels, published, float(mean), float(error), **more)

    @property
    def tolerance(self) -> float:
        """Twice the standard error of the difference."""
        error = self.published_error
        if self.n_test is not None and self.published is not None:
            error = binomial_error(self.published, self.n_test, 100.0 if self.unit == "%" else 1.0)
        return 2.0 * math.hypot(self.standard_error, error)

    @property
    def difference(self) -> float | None:
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def verdict(self) -> Verdict:
        if self.ours is None:
            return Verdict.MISSING
        if self.difference is None:
            return Verdict.UNPUBLISHED
        # half a unit of the last printed digit cannot be told from rounding
        slack = 0.5 * 10.0 ** -len(repr(self.published).partition(".")[2])
        within = abs(self.difference) <= max(self.tolerance, slack) * (1.0 + 1e-12)
        return Verdict.REPRODUCED if within else Verdict.DIFFERS


@dataclass(frozen=True)
class Check:
    """A statement of a paper that is true or not in our run."""

    statement: str
    holds: bool | np.bool_
    detail: str = ""

    @property
    def verdict(self) -> Verdict:
        return Verdict.HOLDS if self.holds else Verdict.FAILS


@dataclass(frozen=True)
class Findings:
    """What one experiment gave."""

    comparisons: list[Comparison] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    figure: Any = None  # matplotlib's, or the text of an SVG file
    notes: list[str] = field(default_factory=list)  # sentences for the reader


class Effort:
    """How much an experiment may do, its random numbers, and its progress report."""

    def __init__(self, *, quick: bool = False, seed: int = 0, report: Any = lambda share: None) -> None:
        self.quick, self.seed, self._report = quick, seed, report

    def count(self, *, full: int, quick: int) -> int:
        """A number of repetitions."""
        return quick if self.quick else full

    def generator(self) -> np.random.Generator:
        """Random numbers that depend on the seed alone, so that experiments do not disturb each other."""
        return np.random.default_rng(self.seed)

    def over(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Go through `items`, reporting after each how many are done."""
        items = list(items)
        for done, item in enumerate(items):
            self._report(done / len(items))
            yield item
        self._report(1.0)


@dataclass(frozen=True)
class Experiment:
    """One table, figure or claim of a paper."""

    name: str  # short, for --only: "table-1"
    title: str
    claim: str  # what the paper says, in our words
    settings: str  # data, kernel and parameters that are used
    run: Callable[[Effort], Findings]  # missing data is an OSError, which is reported as such


def experiment(title: str, *, claim: str, settings: str) -> Callable[[Any], Experiment]:
    """Decorator of the function that runs an experiment, which has the function's name."""
    return lambda run: Experiment(run.__name__.replace("_", "-"), title, claim, settings, run)


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments."""

    name: str
    citation: str
    summary: str
    experiments: list[Experiment]


@dataclass(frozen=True)
class Entry:
    """An experiment of a paper."""

    paper: Paper
    experiment: Experiment

    @property
    def name(self) -> str:
        return f"{self.paper.name} {self.experiment.name}"


@dataclass(frozen=True)
class Result:
    """The result of an entry: findings, or the reason why there are none."""

    entry: Entry
    findings: Findings
    seconds: float
    missing: str = ""
    failure: str = ""


def entries(names: Sequence[str] = (), only: Sequence[str] = ()) -> list[Entry]:
    """The experiments of the papers `names`, by default all; of these those called `only`, if given."""
    for name in names:
        if name not in PAPERS:
            raise ValueError(f"{name!r} is not one of the papers {', '.join(PAPERS)}.")
    chosen = [name for name in PAPERS if not names or name in names]
    papers = [import_module(f"reproduction.{name}").PAPER for name in chosen]
    found = [Entry(paper, item) for paper in papers for item in paper.experiments]
    known = {entry.experiment.name for entry in found}
    for name in only:
        if name not in known:
            raise ValueError(f"{name!r} is not one of the experiments {', '.join(sorted(known))}.")
    return [entry for entry in found if not only or entry.experiment.name in only]


def run_entries(
    chosen: Sequence[Entry], *, quick: bool = False, seed: int = 0, report: Any = lambda entry, share: None
) -> Iterator[Result]:
    """Run each entry; ``report(entry, share)`` is called with the progress, from 0 to 1."""
    for entry in chosen:
        effort = Effort(quick=quick, seed=seed, report=lambda share, entry=entry: report(entry, share))
        began = perf_counter()
        findings, missing, failure = Findings(), "", ""
        try:
            with warnings.catch_warnings():
                # the papers are about partially trained SVMs
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", AdatronWarning)
                findings = entry.experiment.run(effort)
        except OSError as error:
            missing = " ".join(str(error).split())
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1].name
            failure = f"{type(error).__name__}: {error} ({place})"
        yield Result(entry, findings, perf_counter() - began, missing, failure)
