"""The work of ``adatron fit``: read, train, test, save, report."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adatron.cli.data import Rows, load_rows
from adatron.cli.models import pipeline_for, task_of, wants_target
from adatron.cli.options import reading
from adatron.cli.signals import Signals
from adatron.cli.summary import print_summary, summarise
from adatron.cli.terminal import print_json, say
from adatron.cli.training import Outcome, Parts, split, train
from adatron.cli.warned import told_warnings
from adatron.io.printing import printable, printable_path

__all__ = ["fit_and_tell"]

_OF_PIPELINE = (
    "kernel", "sigma", "gamma", "C", "epsilon", "nu", "no_intercept", "probability", "solver", "tol",
    "time_limit", "no_scale", "impute",
)  # fmt: skip


def fit_and_tell(
    data: str, options: dict[str, Any], paths: dict[str, Path | None], signals: Signals
) -> tuple[Outcome, dict[str, Any]]:
    """Train, write the model and the report, print the summary."""
    with told_warnings() as warned:
        rows, task = _rows_and_task(data, options)
        y = None if task is None else rows.labels if task == "classification" else rows.target
        parts = split(rows, y, options["test_size"], is_class=task == "classification")
        model = pipeline_for(options["model"], task, rows, {name: options[name] for name in _OF_PIPELINE})
        outcome = train(model, parts, _checkpoints(options, paths["checkpoint"]), signals)
        summary = summarise(rows, parts, outcome, task) | {"warnings": warned}
        failure = _write(rows, parts, outcome, summary, paths, impute=options["impute"])
    print_json(summary) if options["as_json"] else print_summary(summary)
    if failure is not None:
        raise failure
    return outcome, summary


def _rows_and_task(data: str, options: dict[str, Any]) -> tuple[Rows, str | None]:
    has_target = wants_target(options["model"])
    rows = load_rows(data, has_target=has_target, target=options["target"], **reading(options))
    return rows, task_of(options["model"], rows) if has_target else None


def _checkpoints(options: dict[str, Any], path: Path | None) -> list[Any]:
    from adatron.callbacks import Checkpoint

    if path is None:
        return []
    if path.exists() and not options["resume"]:
        say(f"note: {printable_path(path)} will be replaced; --resume would go on from it")
    return [Checkpoint(path, options["every"], resume=options["resume"])]


def _write(
    rows: Rows, parts: Parts, outcome: Outcome, summary: dict[str, Any], paths: dict[str, Path | None],
    *, impute: bool,
) -> Exception | None:  # fmt: skip
    """Write the files; the error that this ended in, which must not hide how the fit went."""
    from adatron.io import save_model
    from adatron.io.readers.encoding import with_column_names

    about = {
        "columns": rows.columns,
        "kinds": rows.kinds,
        "target": rows.target_name,
        "ignored": rows.ignored,
        "n_features": int(rows.X.shape[1]),
        "task": summary["task"],
        "impute": impute,
    }
    model_file = paths["model_file"]
    assert model_file is not None
    try:
        save_model(with_column_names(outcome.model, rows.columns), model_file, about=about)
        summary["model_file"] = str(model_file)
        summary["report"] = _report(rows, parts, outcome, summary, paths["report"])
    except Exception as error:
        return error
    return None


def _report(
    rows: Rows, parts: Parts, outcome: Outcome, summary: dict[str, Any], path: Path | None
) -> str | None:
    """Write the page; without matplotlib there is none, and a note says so."""
    if path is None:
        return None
    if find_spec("matplotlib") is None:
        summary["notes"].append("no report was written: it needs matplotlib, pip install adatron[plot]")
        return None
    from adatron.display.report import FitStory, fit_report
    from adatron.files.atomic import atomic_write

    story = FitStory(
        rows.short_name, outcome.model, parts.X_train, parts.y_train, parts.X_test, parts.y_test,
        outcome.seconds, outcome.memory, _facts(rows, parts), parts.notes, summary["warnings"],
        printable(summary["model_file"]),
    )  # fmt: skip
    atomic_write(path, [fit_report(story).encode()])
    return str(path)


def _facts(rows: Rows, parts: Parts) -> dict[str, str]:
    """What a reader of the report wants to know of the data."""
    facts = {} if rows.short_name == rows.name else {"file": rows.name}
    facts |= {"split": parts.description, "features": f"{rows.X.shape[1]:,}"}
    if rows.target_name:
        facts["target"] = rows.target_name
    text = [name for name, kind in zip(rows.columns, rows.kinds, strict=True) if kind == "text"]
    return facts | ({"one-hot encoded": ", ".join(text)} if text else {})
