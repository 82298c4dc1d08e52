"""Writes a reproduction: JSON, and from it a web page and Markdown with figures as files."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from numbers import Integral
from pathlib import Path
from typing import Any

from adatron.display.page import definitions, figure_html, items, page, paragraph, table
from reproduction.experiment import Comparison, Result, Verdict, entries
from reproduction.figures import on_paper, svg_of

PAGE, MARKDOWN, JSON = "reproduction.html", "reproduction.md", "reproduction.json"
FIGURES = "reproduction-figures"
TITLE = "Five papers, reproduced by adatron"
RULE = (
    "A number counts as reproduced when it lies within 2·√(a² + b²) of the published one, where a is the "
    "standard error of our mean over repetitions and b the binomial standard error of the published rate on "
    "its test set (or the error that the paper prints); half a unit of the last printed digit is granted for "
    "rounding. Everything else differs, and says why. No number was adjusted."
)
_KINDS = {
    "reproduced": "good",
    "holds": "good",
    "differs": "bad",
    "does not hold": "bad",
    "failed": "bad",
}  # of badges
_Plain = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    adatron: str  # version
    quick: bool
    seed: int

    @property
    def sentence(self) -> str:
        """For the reader of a page."""
        effort, option = ("quick", " --quick") if self.quick else ("full", "")
        return (
            f"adatron {self.adatron}, seed {self.seed}, {effort} run: python3 tools/run.py reproduce{option}"
        )


def write_reproduction(results: Sequence[Result], directory: Path, settings: Settings) -> _Plain:
    """Write all files into `directory`; return what is in the JSON file, keyed by the papers' short names.

    Results of other experiments from a run with the same settings are kept.
    """
    (directory / FIGURES).mkdir(parents=True, exist_ok=True)
    file = directory / JSON
    earlier = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found = {result.entry.name: plain_result(result) for result in results}
    for result in results:
        if result.findings.figure is not None:
            svg = on_paper(svg_of(result.findings.figure))
            (directory / FIGURES / found[result.entry.name]["figure"]).write_text(svg, encoding="utf-8")
    papers: _Plain = {}
    summaries = {}
    for entry in entries():
        name, before = entry.paper.name, earlier.get(entry.paper.name, {})
        if entry.name not in found and asdict(settings).items() <= before.items():
            found |= {entry.name: before["experiments"].get(entry.experiment.name)}
        if found.get(entry.name):
            summaries[name] = entry.paper.summary
            head = {"citation": entry.paper.citation, **asdict(settings), "experiments": {}}
            papers.setdefault(name, head)["experiments"][entry.experiment.name] = found[entry.name]
    text = json.dumps(papers, indent=1, ensure_ascii=False, allow_nan=False)
    file.write_text(text + "\n", encoding="utf-8")
    (directory / MARKDOWN).write_text(_markdown(papers, summaries, settings.sentence), encoding="utf-8")
    web_page = _web_page(papers, summaries, settings.sentence, directory / FIGURES)
    (directory / PAGE).write_text(web_page, encoding="utf-8")
    return papers


def plain_result(result: Result) -> _Plain:
    experiment, findings = result.entry.experiment, result.findings
    return {
        "title": experiment.title,
        "claim": experiment.claim,
        "settings": experiment.settings,
        "seconds": round(result.seconds, 3),
        "missing": result.missing,
        "failure": result.failure,
        "figure": None if findings.figure is None else f"{result.entry.paper.name}-{experiment.name}.svg",
        "comparisons": [plain_comparison(item) for item in findings.comparisons],
        "checks": [
            {"statement": c.statement, "verdict": c.verdict.value, "detail": c.detail}
            for c in findings.checks
        ],
        "notes": list(findings.notes),
    }


def plain_comparison(item: Comparison) -> _Plain:
    """JSON has no infinity; whole numbers stay whole, as their digits count."""
    plain = asdict(item) | {"tolerance": item.tolerance, "verdict": item.verdict.value}
    for name in ("published", "ours", "difference"):
        value = getattr(item, name)
        is_known = value is not None and math.isfinite(value)
        plain[name] = (int(value) if isinstance(value, Integral) else float(value)) if is_known else None
    return plain


def counts(experiments: Sequence[_Plain]) -> dict[str, int]:
    """How often each verdict was given; an experiment without its data counts once as missing."""
    given: list[str] = []
    for one in experiments:
        both = [*one["comparisons"], *one["checks"]]
        given += [Verdict.MISSING.value] if one["missing"] else [item["verdict"] for item in both]
    return {verdict.value: given.count(verdict.value) for verdict in Verdict if verdict.value in given}


def summary_rows(papers: _Plain) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the overview: how many of which verdict for each paper, and how long it took."""
    rows = []
    for name, paper in papers.items():
        group = list(paper["experiments"].values())
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts(group).items())
        rows.append([name, str(len(group)), verdicts, f"{sum(one['seconds'] for one in group):.0f} s"])
    return ["paper", "experiments", "verdicts", "time"], rows


def number_texts(item: _Plain) -> tuple[str, str, str]:
    """Published value, ours and the difference, as text."""
    unit, published, ours = f" {item['unit']}" if item["unit"] else "", item["published"], item["ours"]
    printed = "not printed" if published is None else f"{published:,}{unit}"
    if ours is None:
        return printed, "—", "—"
    digits, error = None if published is None else len(repr(published).partition(".")[2]), ""
    if item["standard_error"] > 0.0:  # two of its digits
        digits = max(0, 1 - math.floor(math.log10(item["standard_error"])))
        error = f" ± {item['standard_error']:.{digits}f}"
    short = f"{ours:,}" if isinstance(ours, int) else f"{float(f'{ours:.3g}'):,g}"
    text = short if digits is None or isinstance(ours, int) else f"{ours:,.{digits}f}"
    difference = "—" if published is None else f"{item['difference']:+,.{digits or 0}f}"
    return printed, f"{text}{error}{unit}", difference


def comparison_rows(comparisons: Sequence[_Plain]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table; the labels first, then "published", "ours", "difference", "why", "verdict".

    Columns that would be empty are left out; "verdict" is the last.
    """
    labels = list(dict.fromkeys(name for item in comparisons for name in item["labels"]))
    columns: _Plain = {name: [item["labels"].get(name, "") for item in comparisons] for name in labels}
    published, ours, differences = zip(*map(number_texts, comparisons), strict=True)
    columns |= {"published": published, "ours": ours, "difference": differences}
    columns["why"] = [item["why"] for item in comparisons]
    if all(item["published"] is None for item in comparisons):
        del columns["published"], columns["difference"]
    if not any(columns["why"]):
        del columns["why"]
    columns["verdict"] = [
        item["verdict"] + (f" without {item['missing']}" if item["missing"] else "") for item in comparisons
    ]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _markdown(papers: _Plain, summaries: dict[str, str], about: str) -> str:
    parts = [f"# {TITLE}", about, RULE, _markdown_table(*summary_rows(papers))]
    for name, paper in papers.items():
        parts += [f"## {name}", paper["citation"], summaries[name]]
        for one in paper["experiments"].values():
            checks = [[check["statement"], check["detail"], check["verdict"]] for check in one["checks"]]
            parts += [
                f"### {one['title']}",
                f"*Claim.* {one['claim']}",
                f"*Settings.* {one['settings']} ({one['seconds']:.1f} s)",
                f"Cannot be run: {one['missing']}" if one["missing"] else "",
                f"Ended in an error: {one['failure']}" if one["failure"] else "",
                _markdown_table(["statement", "measured", "verdict"], checks) if checks else "",
                _markdown_table(*comparison_rows(one["comparisons"])) if one["comparisons"] else "",
                f"![{one['title']}]({FIGURES}/{one['figure']})" if one["figure"] else "",
                "\n".join(f"- {note}" for note in one["notes"]),
            ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _web_page(papers: _Plain, summaries: dict[str, str], about: str, figures: Path) -> str:
    header, rows = summary_rows(papers)
    body = []
    for row, (name, paper) in zip(rows, papers.items(), strict=True):
        group = paper["experiments"]
        tally = [_badge(verdict, f"{n} {verdict}") for verdict, n in counts(list(group.values())).items()]
        n_failed = sum(bool(one["failure"]) for one in group.values())
        tally += [_badge("failed", f"{n_failed} ended in an error")] if n_failed else []
        row[0], row[2] = f'<a href="#{name}">{escape(name)}</a>', " ".join(tally)
        body.append(f'<section id="{name}"><h2>{escape(name)}</h2>')
        body += [paragraph(paper["citation"]), paragraph(summaries[name])]
        for short, one in group.items():
            body.append(f'<section class="experiment" id="{name}-{short}"><h3>{escape(one["title"])}</h3>')
            body += [*_web_section(one, figures), "</section>"]
        body.append("</section>")
    overview = table(header, rows, numeric=[1, 3], raw=[0, 2])
    return page(TITLE, [paragraph(about, kind="soft"), paragraph(RULE), overview, *body])


def _web_section(one: _Plain, figures: Path) -> list[str]:
    facts = [("claim", one["claim"]), ("settings", one["settings"]), ("time", f"{one['seconds']:.1f} s")]
    parts = [definitions(facts)]
    if one["missing"]:
        parts.append(paragraph(f"Cannot be run: {one['missing']}", kind="soft"))
    if one["failure"]:
        parts.append(paragraph(f"Ended in an error: {one['failure']}"))
    if one["checks"]:
        rows = [[c["statement"], c["detail"], _badge(c["verdict"])] for c in one["checks"]]
        parts.append(table(["statement", "measured", "verdict"], rows, raw=[2], wide=[0, 1]))
    if one["comparisons"]:
        header, rows = comparison_rows(one["comparisons"])
        for row, item in zip(rows, one["comparisons"], strict=True):
            row[-1] = _badge(item["verdict"], row[-1])
        numeric = [i for i, name in enumerate(header) if name in ("published", "ours", "difference")]
        wide = [i for i, name in enumerate(header) if name == "why"]
        parts.append(table(header, rows, numeric=numeric, raw=[len(header) - 1], wide=wide))
    if one["figure"]:
        svg = on_paper((figures / one["figure"]).read_text(encoding="utf-8"), back=True)
        parts.append(figure_html(svg, one["title"]))
    return [*parts, items(one["notes"])]


def _badge(verdict: str, text: str = "") -> str:
    return f'<span class="badge {_KINDS.get(verdict, "neutral")}">{escape(text or verdict)}</span>'
