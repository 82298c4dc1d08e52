"""What is said of a fit: as plain values, and as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.cli.data import Rows
from adatron.cli.terminal import print_pairs, say
from adatron.cli.training import Outcome, Parts
from adatron.display.report.words import expansion_of, kernel_width

__all__ = ["n_support", "print_summary", "summarise"]


def summarise(rows: Rows, parts: Parts, outcome: Outcome, task: str | None) -> dict[str, Any]:
    """All that is reported, in plain Python values."""
    machine = outcome.model[-1]
    status = getattr(machine, "status_", None)
    return {
        "data": rows.name,
        "target": rows.target_name,
        "task": task,
        "split": parts.description,
        "n_train": int(parts.X_train.shape[0]),
        "n_test": 0 if parts.X_test is None else int(parts.X_test.shape[0]),
        "n_features": int(rows.X.shape[1]),
        "model": type(machine).__name__,
        "parameters": _parameters(machine),
        "sigma": kernel_width(machine)[0],
        "gamma": kernel_width(machine)[1],
        **_score(parts, outcome, task),
        "duality_gap": getattr(machine, "duality_gap_", None),
        "status": None if status is None else str(status),
        "status_sentence": None if status is None else status.sentence,
        "converged": bool(getattr(machine, "converged_", True)),
        "n_support": n_support(machine),
        "epochs": float(np.max(machine.n_iter_)) if hasattr(machine, "n_iter_") else None,
        "seconds": outcome.seconds,
        "peak_memory_mb": outcome.memory / 1e6,
        "notes": list(parts.notes),
    }


def n_support(machine: Any) -> int | None:
    """Training rows that a model holds; None for one that tells of none."""
    support = getattr(expansion_of(machine), "support_", None)
    return None if support is None else len(support)


def _parameters(machine: Any) -> dict[str, Any]:
    """Those that differ from their defaults."""
    default = type(machine)().get_params(deep=False)
    given = machine.get_params(deep=False)
    return {name: _plain(value) for name, value in given.items() if value != default[name]}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _score(parts: Parts, outcome: Outcome, task: str | None) -> dict[str, Any]:
    """Error on rows that were not trained on."""
    model = outcome.model
    if task is None:
        return _without_target(parts, model)
    if parts.X_test is None:
        return {}
    score = float(model.score(parts.X_test, parts.y_test))
    return {"test_r2": score} if task == "regression" else {"test_error_percent": 100.0 * (1.0 - score)}


def _without_target(parts: Parts, model: Any) -> dict[str, Any]:
    labels = getattr(model[-1], "labels_", None)
    if labels is None:
        return {"outliers_percent": 100.0 * float(np.mean(model.predict(parts.X_train) < 0))}
    return {"n_clusters": int(labels.max()) + 1, "n_noise": int((labels < 0).sum())}


def print_summary(summary: dict[str, Any]) -> None:
    """The table at the end of a fit, with what was written and what to beware of."""
    print_pairs(_rows(summary))
    for note in summary["notes"]:
        say(f"note: {note}")


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    of = f", target {summary['target']}" if summary["target"] else ""
    parameters = ", ".join(f"{name}={value}" for name, value in summary["parameters"].items())
    found = [
        ("data", f"{summary['data']}, {summary['n_features']} features{of}"),
        ("split", f"{summary['n_train']} train, {summary['n_test']} test; {summary['split']}"),
        ("model", f"{summary['model']}({parameters})"),
    ]
    if summary["sigma"] is not None:
        found.append(("kernel width", f"sigma {summary['sigma']:.4g} (gamma {summary['gamma']:.4g})"))
    found += [(name, text) for key, (name, form) in _SCORES.items() if (text := _told(summary, key, form))]
    if summary["duality_gap"] is not None:
        of_what = _GAPS.get(summary["model"], "")
        found.append(("duality gap", f"{summary['duality_gap']:.3g}{of_what}; {summary['status_sentence']}"))
    if summary["n_support"] is not None:
        found.append(("support vectors", f"{summary['n_support']:,}"))
    found.append(("time, memory", f"{summary['seconds']:.3g} s, {summary['peak_memory_mb']:,.0f} MB"))
    written = (("model file", "model_file"), ("report", "report"))
    return [*found, *((name, summary[key]) for name, key in written if summary.get(key))]


# of models that are stopped early on purpose
_GAPS = {"AutoSVC": " to the nearest soft-margin machine", "EnsembleSVC": " of its last machine"}
_SCORES = {
    "test_error_percent": ("test error", "{:.2f} %"),
    "test_r2": ("test R²", "{:.4f}"),
    "outliers_percent": ("outliers", "{:.2f} %"),
    "n_clusters": ("clusters", "{}"),
    "n_noise": ("rows in none", "{}"),
}


def _told(summary: dict[str, Any], key: str, form: str) -> str:
    return form.format(summary[key]) if key in summary else ""
