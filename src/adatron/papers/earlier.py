"""Results of an earlier run in the same directory, so that one run can complete another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adatron.papers.experiment import Check, Comparison, Findings, Verdict
from adatron.papers.records import Settings
from adatron.papers.run import Entry, Result

__all__ = ["completed"]

_FIELDS = (
    "labels",
    "published",
    "ours",
    "standard_error",
    "n_test",
    "published_error",
    "unit",
    "why",
    "missing",
)


def completed(
    results: Sequence[Result], known: Sequence[Entry], record: Path, figures: Path, settings: Settings
) -> list[Result]:
    """`results`, and what an earlier run with the same settings found for other entries.

    Parameters
    ----------
    results : sequence of Result
    known : sequence of Entry
        All there are.
    record : Path
        The JSON file of the earlier run.
    figures : Path
        The directory of its figures.
    settings : Settings
        A run with others is left alone.
    """
    found = {_key(result.entry): result for result in results}
    earlier = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for entry in known:
        document = earlier.get(entry.document.name, {})
        plain = document.get("experiments", {}).get(entry.experiment.name)
        if plain is not None and settings.are_those_of(document):
            found.setdefault(_key(entry), _result(entry, plain, figures))
    return [found[_key(entry)] for entry in known if _key(entry) in found]


def _key(entry: Entry) -> tuple[str, str]:
    return entry.document.name, entry.experiment.name


def _result(entry: Entry, plain: dict[str, Any], figures: Path) -> Result:
    comparisons = [Comparison(**{name: item[name] for name in _FIELDS}) for item in plain["comparisons"]]
    checks = [
        Check(item["statement"], item["verdict"] == Verdict.HOLDS.value, item["detail"])
        for item in plain["checks"]
    ]
    figure = (figures / plain["figure"]).read_text(encoding="utf-8") if plain["figure"] else None
    findings = Findings(comparisons, checks, figure, plain["notes"])
    return Result(entry, findings, plain["seconds"], plain["missing"], plain["failure"])
