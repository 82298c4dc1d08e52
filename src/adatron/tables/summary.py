"""What a fitted encoder tells about its columns."""

from __future__ import annotations

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
            return next(row for row in self.rows if row.name == key)
        return self.rows[key]

    def __repr__(self) -> str:
        head = ("column", "kind", "missing", "levels", "outputs", "what was done")
        lines = [head] + [
            (
                r.name,
                r.kind,
                str(r.n_missing),
                "" if r.n_levels is None else str(r.n_levels),
                str(r.n_outputs),
                r.done,
            )
            for r in self.rows
        ]
        widths = [max(len(line[j]) for line in lines) for j in range(5)] + [0]
        return "\n".join(
            "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
        )


def summary_of(decision: Decision, parts: list[Any]) -> ColumnSummary:
    """Say what became of a column."""
    column, kind = decision.column, decision.kind
    n_outputs = sum(len(part.names) for part in parts)
    names = [name for part in parts for name in part.names]
    n_levels = len(column.levels) if column.form == "label" else None
    done = {
        "number": "standardised", "duration": "seconds, standardised", "binary": "−1 and 1",
        "boolean": "−1 and 1", "ordinal": "rank, standardised", "text": "tf-idf of words and pairs of words",
        "date": ", ".join(name[len(column.name) + 1 :] for name in names if not name.endswith("_missing")),
        "category": "one column for each level",
    }.get(kind, "")  # fmt: skip
    if n_levels and kind == "category" and any(name == f"{column.name}_other" for name in names):
        done = "one column for each frequent level, one for the others"
    if n_levels and n_levels > MANY_LEVELS and kind == "category":
        done += ", " + ("target means" if any("_target" in name for name in names) else "log frequency")
    if not parts:
        done = "dropped: " + (decision.reason or "no level or word occurs often enough")
    elif any(name == f"{column.name}_missing" or name == f"{column.name}_elapsed_missing" for name in names):
        done += ", missing indicated"
    elif column.missing.any() and kind != "text":
        done += ", missing imputed"
    return ColumnSummary(column.name, kind, int(column.missing.sum()), n_levels, done, n_outputs)


def distinct(names: list[str]) -> list[str]:
    """Names with a number at the end where they occur twice."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        candidate, n = name, 1
        while candidate in seen:
            n += 1
            candidate = f"{name}_{n}"
        names[i] = candidate
        seen.add(candidate)
    return names
