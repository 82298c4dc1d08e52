"""The reproduction as Markdown, with its figures as files beside it."""

from __future__ import annotations

from collections.abc import Sequence

from adatron.papers.experiment import Check, Comparison
from adatron.papers.records import RULE, by_document, comparison_rows, counts, figure_name, verdict_text
from adatron.papers.run import Result

__all__ = ["markdown"]


def markdown(results: Sequence[Result], *, about: str, figures: str) -> str:
    """The text; `figures` is the directory of the figures, as seen from the text."""
    parts = ["# Five documents, reproduced by adatron", about, RULE, _overview(results)]
    for document, group in by_document(results):
        parts += [f"## {document.name}", document.citation, document.summary]
        for result in group:
            parts += _experiment_section(result, figures)
    return "\n\n".join(part for part in parts if part) + "\n"


def _overview(results: Sequence[Result]) -> str:
    rows = [
        [document.name, str(len(group)), _tally(group), f"{sum(r.seconds for r in group):.0f} s"]
        for document, group in by_document(results)
    ]
    return _table(["document", "experiments", "verdicts", "time"], rows)


def _tally(group: Sequence[Result]) -> str:
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts(group).items())


def _experiment_section(result: Result, figures: str) -> list[str]:
    experiment, findings = result.entry.experiment, result.findings
    parts = [
        f"### {experiment.title}",
        f"*Claim.* {experiment.claim}",
        f"*Settings.* {experiment.settings} ({result.seconds:.1f} s)",
        f"Cannot be run: {result.missing}" if result.missing else "",
        f"Ended in an error: {result.failure}" if result.failure else "",
        _checks_table(findings.checks),
        _comparison_table(findings.comparisons),
    ]
    if findings.figure is not None:
        parts.append(f"![{experiment.title}]({figures}/{figure_name(result.entry)})")
    return [*parts, "\n".join(f"- {note}" for note in findings.notes)]


def _checks_table(checks: Sequence[Check]) -> str:
    rows = [[c.statement, c.detail, verdict_text(c)] for c in checks]
    return _table(["statement", "measured", "verdict"], rows) if rows else ""


def _comparison_table(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    return _table(*comparison_rows(comparisons))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
