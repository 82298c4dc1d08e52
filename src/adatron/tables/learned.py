"""What an encoder learns from a table: an encoding of every column, and with them the encoded rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adatron.tables import encodings
from adatron.tables.columns import Reading, Table
from adatron.tables.kinds import DROPPED, MANY_LEVELS, Decision, decide
from adatron.tables.summary import ColumnSummary, summary_of
from adatron.tables.targets import Dealt, LevelMeans, Target, TargetMeans


@dataclass
class Learned:
    """For every column its encodings, how its text is read, a summary, and the encoded training rows."""

    parts_of: list[list[Any]] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    summaries: list[ColumnSummary] = field(default_factory=list)
    blocks_of: list[list[Any]] = field(default_factory=list)
    means: dict[int, LevelMeans] = field(default_factory=dict)  # of columns with many levels

    def target_means(self) -> TargetMeans | None:
        """The outputs that are target means: the last ones of their columns."""
        ends = np.cumsum([one.n_outputs for one in self.summaries])
        places = [np.arange(ends[j] - len(own.numbers), ends[j]) for j, own in self.means.items()]
        return TargetMeans(np.concatenate(places), list(self.means.values())) if places else None


def learned(table: Table, kinds: dict[int, str], target: Target | None, seed: Any, groups: Any) -> Learned:
    """Look at every column once; then at the targets of those with many levels."""
    found, many = Learned(), {}
    for j in range(table.n_columns):
        decision = decide(table.column(j), kinds.get(j))
        has_many = decision.kind == "category" and len(decision.column.levels) > MANY_LEVELS
        parts = _encodings(decision)
        if has_many and target is None:
            parts += encodings.fit_frequency(decision.column)
        found.parts_of.append(parts)
        found.readings.append(decision.reading)
        found.summaries.append(summary_of(decision, parts))
        found.blocks_of.append([part.transform(decision.column) for part in parts])
        if has_many and target is not None:
            many[j] = decision
    if target is not None and many:
        others = [block for own in found.blocks_of for block in own]
        dealt = Dealt.of(target, [one.column for one in many.values()], others, seed, groups)
        for j, decision in many.items():
            found.means[j] = own = LevelMeans(decision.column, target, dealt)
            found.parts_of[j] += own.encodings
            found.blocks_of[j] += [own.of_training_rows] * len(own.encodings)
            found.summaries[j] = summary_of(decision, found.parts_of[j])
    return found


def _encodings(decision: Decision) -> list[Any]:
    kind, column = decision.kind, decision.column
    if kind in DROPPED:
        return []
    parts: list[Any]
    if kind in _FITS:
        parts = _FITS[kind](column)
    elif column.form == "label":
        parts = encodings.fit_binary(column)
    else:
        parts = [encodings.Numbers.fit(column.name, column.values, kind in ("binary", "boolean"))]
    return [part for part in parts if part.names]


_FITS: dict[str, Any] = {
    "date": encodings.Dates.fit, "text": encodings.Texts.fit, "ordinal": encodings.fit_ordinal,
    "category": encodings.fit_one_hot,
}  # fmt: skip
