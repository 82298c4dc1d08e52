"""Writes a reproduction: a web page, Markdown with figures, and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adatron.display.figures import (
    GRID_ON_PAPER,
    GRID_STAND_IN,
    INK_ON_PAPER,
    INK_STAND_IN,
    WHITE,
    figure_svg,
)
from adatron.papers.earlier import completed
from adatron.papers.markdown import markdown
from adatron.papers.records import Settings, figure_name, record
from adatron.papers.run import Result, entries
from adatron.papers.web_page import web_page

__all__ = ["JSON_NAME", "MARKDOWN_NAME", "PAGE_NAME", "write_reproduction"]

PAGE_NAME, MARKDOWN_NAME, JSON_NAME = "reproduction.html", "reproduction.md", "reproduction.json"
_FIGURES = "reproduction-figures"


def write_reproduction(results: Sequence[Result], directory: Path, settings: Settings) -> dict[str, Any]:
    """Write all files into `directory`; return what is in the JSON file.

    What a run with the same settings has left there for other experiments is kept.
    """
    figures = directory / _FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    results = [_drawn(result) for result in results]
    results = completed(results, entries(), directory / JSON_NAME, figures, settings)
    for result in results:
        if result.findings.figure is not None:
            _write(figures / figure_name(result.entry), str(result.findings.figure))
    plain = record(results, settings)
    _write(directory / PAGE_NAME, web_page(results, about=settings.sentence))
    _write(directory / MARKDOWN_NAME, markdown(results, about=settings.sentence, figures=_FIGURES))
    _write(directory / JSON_NAME, json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return plain


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _drawn(result: Result) -> Result:
    """With the figure as it is written: dark ink on white, as Markdown does not know the reader's theme."""
    if result.findings.figure is None:
        return result
    svg = figure_svg(result.findings.figure)
    svg = svg.replace(INK_STAND_IN, INK_ON_PAPER).replace(GRID_STAND_IN, GRID_ON_PAPER)
    svg = svg.replace("<svg ", f"<svg {WHITE} ", 1)
    return replace(result, findings=replace(result.findings, figure=svg))
