"""The reproduction as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from adatron.display.page import badge, definitions, figure_html, items, page, paragraph, table
from adatron.papers.experiment import Check, Comparison, Document
from adatron.papers.records import GOOD, RULE, by_document, comparison_rows, counts, verdict_text
from adatron.papers.run import Result

__all__ = ["web_page"]


def web_page(results: Sequence[Result], *, about: str) -> str:
    """The page; `about` is a sentence on version, seed and effort."""
    body = [paragraph(about, kind="soft"), paragraph(RULE), _overview(results)]
    for document, group in by_document(results):
        body += _document_section(document, group)
    return page("Five documents, reproduced by adatron", body)


def _overview(results: Sequence[Result]) -> str:
    rows = [
        [
            f'<a href="#{document.name}">{escape(document.name)}</a>',
            str(len(group)),
            _tally(group),
            f"{sum(r.seconds for r in group):.0f} s",
        ]
        for document, group in by_document(results)
    ]
    return table(["document", "experiments", "verdicts", "time"], rows, numeric=[1, 3], raw=[0, 2])


def _tally(group: Sequence[Result]) -> str:
    found = [
        badge(f"{count} {verdict.value}", GOOD.get(verdict, "neutral"))
        for verdict, count in counts(group).items()
    ]
    broken = sum(bool(result.failure) for result in group)
    return " ".join(found + [badge(f"{broken} ended in an error", "bad")] * bool(broken))


def _document_section(document: Document, group: Sequence[Result]) -> list[str]:
    parts = [
        f'<section id="{document.name}"><h2>{escape(document.name)}</h2>',
        paragraph(document.citation),
        paragraph(document.summary),
    ]
    for result in group:
        parts += _experiment_section(document, result)
    return [*parts, "</section>"]


def _experiment_section(document: Document, result: Result) -> list[str]:
    experiment, findings = result.entry.experiment, result.findings
    anchor = f"{document.name}-{experiment.name}"
    parts = [
        f'<section class="experiment" id="{anchor}"><h3>{escape(experiment.title)}</h3>',
        definitions(
            [
                ("claim", experiment.claim),
                ("settings", experiment.settings),
                ("time", f"{result.seconds:.1f} s"),
            ]
        ),
    ]
    if result.missing:
        parts.append(paragraph(f"Cannot be run: {result.missing}", kind="soft"))
    if result.failure:
        parts.append(paragraph(f"Ended in an error: {result.failure}"))
    parts += [_checks_table(findings.checks), _comparison_table(findings.comparisons)]
    if findings.figure is not None:
        parts.append(figure_html(findings.figure, experiment.title))
    return [*parts, items(findings.notes), "</section>"]


def _checks_table(checks: Sequence[Check]) -> str:
    if not checks:
        return ""
    rows = [[c.statement, c.detail, _verdict_badge(c)] for c in checks]
    return table(["statement", "measured", "verdict"], rows, raw=[2], wide=[0, 1])


def _comparison_table(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    header, rows = comparison_rows(comparisons)
    for row, item in zip(rows, comparisons, strict=True):
        row[-1] = _verdict_badge(item)
    numeric = [i for i, name in enumerate(header) if name in ("published", "ours", "difference")]
    wide = [i for i, name in enumerate(header) if name == "why"]
    return table(header, rows, numeric=numeric, raw=[len(header) - 1], wide=wide)


def _verdict_badge(item: Comparison | Check) -> str:
    return badge(verdict_text(item), GOOD.get(item.verdict, "neutral"))
