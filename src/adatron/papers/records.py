"""Results as plain values (for JSON), and as the words that pages and tables share.

Examples
--------
>>> from adatron.papers.experiment import Comparison
>>> from adatron.papers.records import told
>>> told(Comparison({}, published=7.7, ours=7.69, standard_error=0.2, n_test=104, unit="%"))
('7.7 %', '7.69 ± 0.20 %', '-0.01')
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from adatron.papers.experiment import Check, Comparison, Document, Verdict, decimals
from adatron.papers.run import Entry, Result

__all__ = [
    "GOOD",
    "RULE",
    "Settings",
    "by_document",
    "comparison_rows",
    "counts",
    "figure_name",
    "number",
    "record",
    "told",
    "verdict_text",
]

GOOD = {Verdict.REPRODUCED: "good", Verdict.HOLDS: "good", Verdict.DIFFERS: "bad", Verdict.FAILS: "bad"}
RULE = (
    "A number counts as reproduced when it lies within 2·√(a² + b²) of the published one, where a is the "
    "standard error of our mean over repetitions and b the binomial standard error of the published rate on "
    "its test set (or the error that the document prints); half a unit of the last printed digit is granted "
    "for rounding. Everything else differs, and says why. No number was adjusted."
)


def by_document(results: Sequence[Result]) -> list[tuple[Document, list[Result]]]:
    """Results in groups, one for each document."""
    groups: dict[str, tuple[Document, list[Result]]] = {}
    for result in results:
        document = result.entry.document
        groups.setdefault(document.name, (document, []))[1].append(result)
    return list(groups.values())


def counts(results: Sequence[Result]) -> dict[Verdict, int]:
    """How often each verdict was given; an experiment without its data counts once as missing."""
    found: dict[Verdict, int] = {}
    for result in results:
        given: list[Comparison | Check] = [*result.findings.comparisons, *result.findings.checks]
        verdicts = [Verdict.MISSING] if result.missing else [item.verdict for item in given]
        for verdict in verdicts:
            found[verdict] = found.get(verdict, 0) + 1
    return {verdict: found[verdict] for verdict in Verdict if verdict in found}


def verdict_text(item: Comparison | Check) -> str:
    """The verdict, with what is missing where that is the reason."""
    missing = getattr(item, "missing", "")
    return f"{item.verdict.value} without {missing}" if missing else item.verdict.value


def told(item: Comparison) -> tuple[str, str, str]:
    """Published value, ours and the difference, as text."""
    unit = f" {item.unit}" if item.unit else ""
    published = "not printed" if item.published is None else f"{item.published:,}{unit}"
    if item.ours is None:
        return published, "—", "—"
    digits = _digits(item)
    error = f" ± {item.standard_error:.{digits}f}" if item.standard_error else ""
    ours = f"{number(item.ours, digits)}{error}{unit}"
    return published, ours, "—" if item.difference is None else f"{item.difference:+,.{digits or 0}f}"


def _digits(item: Comparison) -> int | None:
    """Digits after the point: two of the standard error, or as many as were printed."""
    if item.standard_error > 0.0:
        return max(0, 1 - math.floor(math.log10(item.standard_error)))
    return None if item.published is None else decimals(item.published)


def number(value: float, digits: int | None = None) -> str:
    """`digits` after the point; without them three that tell."""
    if digits is None or isinstance(value, int):
        return f"{value:,}" if isinstance(value, int) else f"{float(f'{value:.3g}'):,g}"
    return f"{value:,.{digits}f}"


def comparison_rows(comparisons: Sequence[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table; the labels first, then "published", "ours", "difference", "why", "verdict".

    Columns that would be empty are left out; "verdict" is the last.
    """
    labels = list(dict.fromkeys(name for item in comparisons for name in item.labels))
    columns = {name: [item.labels.get(name, "") for item in comparisons] for name in labels}
    texts = [told(item) for item in comparisons]
    columns |= {
        name: [text[i] for text in texts] for i, name in enumerate(("published", "ours", "difference"))
    }
    columns["why"] = [item.why for item in comparisons]
    if all(item.published is None for item in comparisons):
        del columns["published"], columns["difference"]
    if not any(columns["why"]):
        del columns["why"]
    columns["verdict"] = [verdict_text(item) for item in comparisons]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


@dataclass(frozen=True)
class Settings:
    """What a run was done with."""

    version: str
    quick: bool
    seed: int

    @property
    def sentence(self) -> str:
        """For the reader of a page."""
        effort, option = ("quick", " --quick") if self.quick else ("full", "")
        return f"adatron {self.version}, seed {self.seed}, {effort} run: adatron reproduce{option}"

    def plain(self) -> dict[str, Any]:
        return {"adatron": self.version, "quick": self.quick, "seed": self.seed}

    def are_those_of(self, document: dict[str, Any]) -> bool:
        """Whether a document's record was made with them."""
        return {name: document.get(name) for name in self.plain()} == self.plain()


def figure_name(entry: Entry) -> str:
    """Name of the file of an experiment's figure."""
    return f"{entry.document.name}-{entry.experiment.name}.svg"


def record(results: Sequence[Result], settings: Settings) -> dict[str, Any]:
    """Everything as plain values, keyed by the documents' short names."""
    return {
        document.name: {
            "citation": document.citation,
            **settings.plain(),
            "experiments": {result.entry.experiment.name: _plain(result) for result in group},
        }
        for document, group in by_document(results)
    }


def _plain(result: Result) -> dict[str, Any]:
    experiment, findings = result.entry.experiment, result.findings
    return {
        "title": experiment.title,
        "claim": experiment.claim,
        "settings": experiment.settings,
        "seconds": round(result.seconds, 3),
        "missing": result.missing,
        "failure": result.failure,
        "figure": None if findings.figure is None else figure_name(result.entry),
        "comparisons": [_plain_comparison(item) for item in findings.comparisons],
        "checks": [
            {"statement": c.statement, "verdict": c.verdict.value, "detail": c.detail}
            for c in findings.checks
        ],
        "notes": list(findings.notes),
    }


def _plain_comparison(item: Comparison) -> dict[str, Any]:
    return {
        "labels": dict(item.labels),
        "published": _finite(item.published),
        "ours": _finite(item.ours),
        "standard_error": float(item.standard_error),
        "published_error": float(item.published_error),
        "difference": _finite(item.difference),
        "tolerance": item.tolerance,
        "n_test": item.n_test,
        "unit": item.unit,
        "verdict": item.verdict.value,
        "why": item.why,
        "missing": item.missing,
    }


def _finite(value: float | None) -> float | None:
    """JSON has no infinity; whole numbers stay whole, as their digits count."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, Integral) else float(value)
