"""Runs experiments one after the other; one that cannot be run does not stop the rest."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter

from sklearn.exceptions import ConvergenceWarning

from adatron.exceptions import AdatronWarning
from adatron.papers.experiment import Document, Effort, Experiment, Findings

__all__ = ["PAPERS", "Entry", "Result", "documents", "entries", "run_entries"]

PAPERS = ("cisc889", "campbell1998", "cristianini1999", "potluru2009", "tsang2007")


@dataclass(frozen=True)
class Entry:
    """An experiment of a document that is to be run."""

    document: Document
    experiment: Experiment


@dataclass(frozen=True)
class Result:
    """What became of an entry: findings, or the reason why there are none."""

    entry: Entry
    findings: Findings
    seconds: float
    missing: str = ""
    failure: str = ""


def documents(names: Sequence[str] = ()) -> list[Document]:
    """The documents called `names`, all five when there are none.

    Examples
    --------
    >>> from adatron.papers.run import documents
    >>> [document.name for document in documents(["potluru2009"])]
    ['potluru2009']
    """
    for name in names:
        if name not in PAPERS:
            raise ValueError(f"{name!r} is not one of the documents {', '.join(PAPERS)}.")
    chosen = [name for name in PAPERS if not names or name in names]
    return [import_module(f"adatron.papers.{name}").DOCUMENT for name in chosen]


def entries(names: Sequence[str] = (), only: Sequence[str] = ()) -> list[Entry]:
    """The experiments of the documents `names`; of these only those called `only`, if given."""
    found = [Entry(document, item) for document in documents(names) for item in document.experiments]
    known = {entry.experiment.name for entry in found}
    for name in only:
        if name not in known:
            raise ValueError(f"{name!r} is not one of the experiments {', '.join(sorted(known))}.")
    return [entry for entry in found if not only or entry.experiment.name in only]


def run_entries(
    chosen: Sequence[Entry],
    *,
    quick: bool = False,
    seed: int = 0,
    report: Callable[[Entry, float], None] | None = None,
) -> Iterator[Result]:
    """Run each entry; `report` is told how far it is, from 0 to 1."""
    for entry in chosen:
        tell = None if report is None else lambda share, entry=entry: report(entry, share)
        yield _run(entry, Effort(quick=quick, seed=seed, report=tell))


def _run(entry: Entry, effort: Effort) -> Result:
    began = perf_counter()
    findings, missing, failure = Findings(), "", ""
    try:
        with warnings.catch_warnings():
            # partly trained machines are what the documents are about
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", AdatronWarning)
            findings = entry.experiment.run(effort)
    except OSError as error:
        missing = " ".join(str(error).split())
    except Exception as error:
        failure = f"{type(error).__name__}: {error} ({traceback.extract_tb(error.__traceback__)[-1].name})"
    return Result(entry, findings, perf_counter() - began, missing, failure)
