"""What an encoder did with each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from adatron.tables.kinds import MANY_LEVELS, Decision


@dataclass(frozen=True)
class ColumnSummary:
    """What was decided about one column, and done with it."""

    name: str
    kind: str
    n_missing: int
    n_levels: int | None
    done: str
    n_outputs: int


@dataclass(frozen=True)
class ColumnTable:
    """A `ColumnSummary` for each column, by position or name; prints as a table."""

    rows: list[ColumnSummary] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ColumnSummary]:
        return iter(self.rows)

    def __getitem__(self, key: int | str) -> ColumnSummary:
        if isinstance(key, str):
            return {row.name: row for row in self.rows}[key]
        return self.rows[key]

    def in_one_line(self) -> str:
        """How many columns of each kind there are, missing values, and features."""
        kinds = Counter(row.kind for row in self.rows)
        found = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        missing = [row.n_missing for row in self.rows if row.n_missing]
        holes = f"{sum(missing)} missing values in {len(missing)} of them" if missing else "no missing values"
        return f"columns: {found}; {holes}; {sum(row.n_outputs for row in self.rows)} features"

    def __repr__(self) -> str:
        lines = [("column", "kind", "missing", "levels", "outputs", "what was done")]
        for row in self.rows:
            levels = "" if row.n_levels is None else str(row.n_levels)
            lines.append((row.name, row.kind, str(row.n_missing), levels, str(row.n_outputs), row.done))
        widths = [max(len(line[j]) for line in lines) for j in range(5)] + [0]
        return "\n".join(
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
        )


_DONE = {
    "number": "standardised", "duration": "seconds, standardised", "binary": "−1 and 1",
    "boolean": "−1 and 1", "ordinal": "rank, standardised", "text": "tf-idf of words and pairs of words",
}  # fmt: skip


def summary_of(decision: Decision, parts: list[Any]) -> ColumnSummary:
    """Say what became of a column."""
    column, kind = decision.column, decision.kind
    names = [name for part in parts for name in part.names]
    n_levels = len(column.levels) if column.form == "label" else None
    done = _DONE.get(kind, "")
    if kind == "date":
        done = ", ".join(name[len(column.name) + 1 :] for name in names if not name.endswith("_missing"))
    elif kind == "category":
        done = "one column for each level"
        if len(names) == 1:
            done = "−1 and 1"
        elif f"{column.name}_other" in names:
            done = "one column for each frequent level, one for the others"
        if n_levels and n_levels > MANY_LEVELS:
            done += ", " + ("target means" if any("_target" in name for name in names) else "log frequency")
    if not parts:
        done = "dropped: " + (decision.reason or "no level or word occurs often enough")
    elif {f"{column.name}_missing", f"{column.name}_elapsed_missing"} & set(names):
        done += ", missing indicated"
    elif column.missing.any() and kind != "text":
        done += ", missing imputed"
    return ColumnSummary(column.name, kind, int(column.missing.sum()), n_levels, done, len(names))
