"""Tables, picture and page of the comparison on raw tables."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

__all__ = ["draw", "show", "summaries", "write_page"]

OURS, HAND, BASELINE = "AutoSVC", "AutoSVC hand-encoded", "CatBoost"
LOST = 1.0  # points behind the best other model, from which on a table is named
BEGIN, END = "<!-- written by benchmarks/tables.py -->", "<!-- end -->"
TITLES = {"tables": "mixed tables", "uci": "numeric sets"}


def frame_of(record: dict) -> pd.DataFrame:
    """A row for each fit; seconds only if they are of the machine on which we were measured."""
    rows, machines = [], [run["machine"] for run in record["runs"]]
    ours = {machines[own["run"]] for key, own in record["results"].items() if key.endswith(f"|{OURS}")}
    for key, found in record["results"].items():
        table, split, model = key.split("|")
        rows.append({"table": table, "split": int(split), "model": model, "failed": None} | found)
        if ours - {machines[found["run"]]}:
            rows[-1]["seconds"] = np.nan
    return pd.DataFrame(rows)


class Group:
    """The fits of one collection, half and task: means over the splits that every model has."""

    def __init__(self, title: str, task: str, fits: pd.DataFrame) -> None:
        self.title, self.task, self.fits = title, task, fits
        done = fits[fits["failed"].isna()]
        by_split = done.pivot(index=["table", "split"], columns="model", values="error")
        self.models = [name for name in dict.fromkeys(fits["model"]) if name in by_split]
        by_split = by_split[self.models].dropna()
        self.errors = by_split.groupby(level="table").mean()
        self.rivals = [name for name in self.models if name != HAND]  # our second entry would distort ranks
        self.done = done[done.set_index(["table", "split"]).index.isin(by_split.index)]
        self.left_out = sorted(set(fits["table"]) - set(self.errors.index))

    def named(self, model: str) -> str:
        """The model's name; regressions are done by AutoSVR and SVR."""
        return model.replace("SVC", "SVR") if self.task == "regression" else model

    @property
    def heading(self) -> str:
        n = len(self.errors)
        return f"{self.title}: {n} table{'s' if n != 1 else ''}"

    def mean(self, column: str, model: str) -> pd.Series:
        """Means over splits, by table."""
        return self.done[self.done["model"] == model].groupby("table")[column].mean()

    def row(self, model: str) -> dict:
        """What the summary says about a model."""
        errors, rivals = self.errors, self.rivals
        ranks = np.apply_along_axis(rankdata, 1, errors[rivals].round(6)).mean(axis=0)
        others = [name for name in rivals if name != model and not (model == HAND and name == OURS)]
        behind = errors[model] - errors[others].min(axis=1) if others else errors[model] * np.nan
        own = self.done[self.done["model"] == model]
        test_score = (
            1 - own["error"] / 100 if self.task == "classification" else 1 - (own["error"] / 100) ** 2
        )
        bias = 100.0 * (own["best_score"].astype(float) - test_score)
        return {
            "model": self.named(model),
            "error": errors[model].mean(),
            "rank": ranks[rivals.index(model)] if model in rivals else np.nan,
            "wins": self._wins(model),
            "log_loss": self.mean("log_loss", model).astype(float).mean(),
            "seconds": float(np.exp(np.log(self.mean("seconds", model)).mean())),
            "deficit": behind.max(),
            "deficit_table": behind.idxmax() if others else "",
            "bias": bias.mean(),
        }

    def _wins(self, model: str) -> str:
        if BASELINE not in self.errors or model == BASELINE:
            return "–"
        difference = (self.errors[model] - self.errors[BASELINE]).round(6)
        return f"{(difference < 0).sum()} : {(difference > 0).sum()}"

    def table(self) -> list[list[str]]:
        """Header and a line for each model, the lowest mean error first."""
        unit = "error %" if self.task == "classification" else "RMSE, % of deviation"
        header = ["model", unit, "mean rank", f"won : lost against {BASELINE}", "log loss"]
        header += ["seconds", "farthest behind the best other", "own estimate − test"]
        if self.task == "regression":
            header.remove("log loss")
        lines = [header]
        for row in sorted(map(self.row, self.models), key=lambda row: row["error"]):
            cells = [row["model"], f"{row['error']:.2f}", _number(row["rank"], ".2f"), row["wins"]]
            cells += [_number(row["log_loss"], ".3f")] if self.task == "classification" else []
            far = f"{row['deficit']:+.1f} ({row['deficit_table']})" if row["deficit_table"] else "–"
            cells += [_number(row["seconds"], ".2g"), far, _number(row["bias"], "+.2f")]
            lines.append(cells)
        return lines

    def remarks(self) -> list[str]:
        """Where we lose, what the encoder changes, and what failed."""
        said = []
        rivals = [name for name in self.rivals if name != OURS]
        if OURS in self.models and rivals:
            behind = self.errors[OURS] - self.errors[rivals].min(axis=1)
            lost = behind[behind > LOST].sort_values(ascending=False)
            where = "; ".join(
                f"{table} {self.errors.loc[table, OURS]:.1f} against {self.errors.loc[table, best]:.1f} "
                f"({self.named(best)})"
                for table, best in self.errors.loc[lost.index, rivals].idxmin(axis=1).items()
            )
            said.append(
                f"{self.named(OURS)} is more than {LOST:g} point behind the best other model on {len(lost)} "
                f"of {len(behind)} tables{': ' + where if where else ''}."
            )
        if OURS in self.models and HAND in self.models:
            difference = self.errors[OURS] - self.errors[HAND]
            said.append(
                f"Raw tables against the hand-written encoding, both by {self.named(OURS)}: "
                f"{self.errors[OURS].mean():.2f} against {self.errors[HAND].mean():.2f}; better on "
                f"{(difference < 0).sum()}, worse on {(difference > 0).sum()} tables, at worst by "
                f"{difference.max():+.1f} ({difference.idxmax()})."
            )
        failed = self.fits[self.fits["failed"].notna()]
        said += [
            f"{self.named(row.model)} failed on {row.table}: {row.failed}" for row in failed.itertuples()
        ]
        if self.left_out:
            said.append(f"Left out, as some model has no result: {', '.join(self.left_out)}.")
        return said


def _number(value, form: str) -> str:
    return format(value, form) if value is not None and np.isfinite(value) else "–"


def summaries(record: dict, half: str = "all", models=None) -> list[Group]:
    """A group for each collection, task and half (the numeric sets are one group)."""
    fits = frame_of(record)
    if half != "all":
        fits = fits[fits["half"] == half]
    if models is not None:
        fits = fits[fits["model"].isin(models)]
    groups = []
    for collection in dict.fromkeys(fits["collection"]):
        own = fits[fits["collection"] == collection]
        halves = sorted(set(own["half"])) if collection == "tables" else [None]
        for task in sorted(set(own["task"])):
            for part in halves:
                chosen = own[(own["task"] == task) & ((own["half"] == part) | (part is None))]
                title = f"{task.capitalize()}, {TITLES.get(collection, collection)}"
                group = Group(title + (f", half {part}" if part else ""), task, chosen)
                if len(group.errors):
                    groups.append(group)
    return groups


def show(record: dict, half: str = "all", models=None) -> None:
    """Print the summary of every group."""
    for group in summaries(record, half, models):
        lines = group.table()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        print(f"\n{group.heading}")
        for line in lines:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
        print(*group.remarks(), sep="\n")


def write_page(record: dict, page: Path, picture: Path) -> None:
    """Put the summaries between two marks of a Markdown page, or at its end."""
    text = page.read_text() if page.exists() else "# Comparison on raw tables\n\n"
    if BEGIN not in text:
        text += f"{BEGIN}\n{END}\n"
    parts = [f"![Difference to {BASELINE}]({picture.relative_to(page.parent).as_posix()})"]
    for group in summaries(record):
        header, *lines = group.table()
        rows = [header, ["---"] * len(header), *lines]
        table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        remarks = "\n".join(f"- {remark}" for remark in group.remarks())
        parts.append(f"### {group.heading}\n\n{table}\n\n{remarks}")
    parts.append("\n".join(_provenance(record)))
    body = "\n\n".join(parts)
    pattern = re.escape(BEGIN) + r".*?" + re.escape(END)
    page.write_text(re.sub(pattern, lambda _: f"{BEGIN}\n\n{body}\n\n{END}", text, flags=re.DOTALL))


def _provenance(record: dict) -> list[str]:
    lines = [f"At most {record['rows']:,} training rows. Runs:\n"]
    for run in record["runs"]:
        versions = ", ".join(f"{name} {number}" for name, number in run["versions"].items())
        lines.append(
            f"- `{run['command']}`, {run['date']}, commit {run['commit']}; {run['machine']}; {versions}"
        )
    return lines


def draw(record: dict, path: Path) -> None:
    """For each table our error minus CatBoost's, sorted, with the best other model beside it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    groups = [group for group in summaries(record) if OURS in group.models and len(group.rivals) > 1]
    if not groups:
        return
    heights = [0.7 + 0.2 * len(group.errors) for group in groups]
    figure, axes = plt.subplots(
        len(groups), figsize=(8.0, sum(heights) + 0.6 * len(groups)), layout="constrained", squeeze=False,
        height_ratios=heights,
    )  # fmt: skip
    for ax, group in zip(axes[:, 0], groups, strict=True):
        others = [name for name in group.rivals if name != OURS]
        baseline = BASELINE if BASELINE in others else others[0]
        difference = group.errors[OURS] - group.errors[baseline]
        order = difference.sort_values(ascending=False).index
        best = (group.errors[others].min(axis=1) - group.errors[baseline])[order]
        places = np.arange(len(order))
        colours = np.where(difference[order] <= 0, "#2a7f62", "#b5542b")
        ax.barh(places, difference[order], color=colours, height=0.65, label=group.named(OURS))
        ax.plot(best, places, "o", color="#444444", markersize=3.5, label="best of the others")
        ax.axvline(0.0, color="#888888", lw=0.8)
        ax.set_yticks(places, labels=order, fontsize=7)
        ax.set_ylim(-0.6, len(order) - 0.4)
        unit = "error in points" if group.task == "classification" else "RMSE in % of the deviation"
        ax.set_xlabel(f"{unit}, minus that of {baseline} (left is better)", fontsize=8)
        ax.set_title(group.title, fontsize=9, loc="left")
        ax.grid(axis="x", color="#e6e6e6", lw=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.margins(x=0.05)
        ax.legend(frameon=False, fontsize=7, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_headline(record: dict, path: Path) -> None:
    """Mean error against seconds of every model on the tables that served for no choice."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tables = {key: own for key, own in record["results"].items() if own["collection"] == "tables"}
    groups = summaries(record | {"results": tables}, "b")
    groups = [group for group in groups if {OURS, BASELINE} <= set(group.models)]
    if not groups:
        return
    figure, axes = plt.subplots(
        1, len(groups), figsize=(5.6 * len(groups), 3.4), layout="constrained", squeeze=False
    )
    for ax, group in zip(axes[0], groups, strict=True):
        rows = [(group.row(name), name) for name in group.rivals]
        rows = [(row, name) for row, name in rows if np.isfinite(row["seconds"])]
        errors = [row["error"] for row, _ in rows]
        near = 0.08 * (max(errors) - min(errors))
        for row, name in rows:
            colour = "#2a7f62" if name == OURS else "#555555"
            # a name stands on the left where it would run into the point of another model
            is_left = any(
                1.0 < other["seconds"] / row["seconds"] < 6.0 and abs(other["error"] - row["error"]) < near
                for other, _ in rows
            )
            ax.plot(row["seconds"], row["error"], "o", color=colour, ms=9 if name == OURS else 6)
            ax.annotate(
                row["model"], (row["seconds"], row["error"]), (-8 if is_left else 8, 0),
                textcoords="offset points", ha="right" if is_left else "left", va="center", color=colour,
                fontsize=9, fontweight="bold" if name == OURS else "normal",
            )  # fmt: skip
        ax.set_xscale("log")
        ax.margins(y=0.2)
        seconds = [row["seconds"] for row, _ in rows]
        ax.set_xlim(min(seconds) / 8.0, max(seconds) * 16.0)  # room for the outermost names
        unit = "error, %" if group.task == "classification" else "RMSE, % of the deviation"
        ax.set_ylabel(f"{unit} (lower is better)", fontsize=9)
        ax.set_xlabel("seconds to train", fontsize=9)
        ax.set_title(f"{len(group.errors)} raw tables, {group.task}", fontsize=10, loc="left")
        ax.grid(color="#e6e6e6", lw=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
