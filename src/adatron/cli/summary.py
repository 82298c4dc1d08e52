"""What is said of a fit: as plain values, and in words that need no textbook."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.cli.data import Parts, Rows
from adatron.cli.terminal import print_pairs, say
from adatron.display.report.judge import judge, what_mattered
from adatron.display.report.words import amount_words, kernel_width
from adatron.numerics.memory import peak_memory

__all__ = ["n_support", "print_summary", "score_rows", "summarise"]

_MOST_NAMED = 5  # columns
_FEW_ROWS = 100  # to test with, which leave a wide interval


def summarise(rows: Rows, parts: Parts, model: Any, task: str | None, seconds: float) -> dict[str, Any]:
    """All that is reported, in plain Python values."""
    machine = model[-1]
    default, status = type(machine)().get_params(deep=False), getattr(machine, "status_", None)
    parameters = {
        name: value for name, value in machine.get_params(deep=False).items() if value != default[name]
    }
    sigma, gamma = kernel_width(machine)
    return {
        "data": rows.name,
        "target": rows.target_name,
        "task": task,
        "split": parts.description,
        "n_train": int(parts.X_train.shape[0]),
        "n_test": 0 if parts.X_test is None else int(parts.X_test.shape[0]),
        "n_features": int(rows.X.shape[1]),
        "model": type(machine).__name__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "sigma": sigma,
        "gamma": gamma,
        **_scores(parts, model, task),
        "importances": dict(what_mattered(model, rows.columns)),
        "duality_gap": getattr(machine, "duality_gap_", None),
        "status": None if status is None else str(status),
        "status_sentence": None if status is None else status.sentence,
        "converged": bool(getattr(machine, "converged_", True)),
        "n_support": n_support(machine),
        "epochs": float(np.max(machine.n_iter_)) if hasattr(machine, "n_iter_") else None,
        "seconds": seconds,
        "peak_memory_mb": peak_memory() / 1e6,
        "notes": list(rows.notes if rows.train is None or parts.description.startswith(_OWN) else ()),
    }


_OWN = ("stratified half", "the original")  # split of a data set, which notes are about


def n_support(machine: Any) -> int | None:
    """Training rows that a model holds; None for one that tells of none."""
    support = getattr(machine, "support_", None)
    return None if support is None else len(support)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _scores(parts: Parts, model: Any, task: str | None) -> dict[str, Any]:
    machine = model[-1]
    if task is None:
        labels = getattr(machine, "labels_", None)
        if labels is None:
            return {"outliers_percent": 100.0 * float(np.mean(model.predict(parts.X_train) < 0))}
        return {"n_clusters": int(labels.max()) + 1, "n_noise": int((labels < 0).sum())}
    if parts.X_test is None:
        return {}
    found = judge(model, parts.X_test, parts.y_test, parts.y_train, is_class=task == "classification")
    scoring = getattr(machine, "scoring", None)
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer

        found["scoring"] = [scoring, float(get_scorer(scoring)(model, parts.X_test, parts.y_test))]
    return {"test": found, **_short(found)}


def _short(found: dict[str, Any]) -> dict[str, Any]:
    if "r2" in found:
        return {"test_r2": found["r2"], "test_rmse": found["rmse"]}
    return {"test_error_percent": found["error_percent"]}


def print_summary(summary: dict[str, Any]) -> None:
    """The table at the end of a fit, and what to beware of."""
    print_pairs(_rows(summary))
    for note in summary["notes"]:
        say(f"note: {note}")


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    rows, test = summary["n_train"] + summary["n_test"], summary.get("test")
    of = f", to predict {summary['target']}" if summary["target"] else ""
    found = [("data", f"{summary['data']}: {rows:,} rows, {summary['n_features']:,} columns{of}")]
    if summary["task"]:
        found.append(("held out", f"{summary['n_test']:,} rows to test with; {summary['split']}"))
    found += score_rows(test, summary["target"] or "the target") if test else _other_scores(summary)
    named = list(summary["importances"].items())[:_MOST_NAMED]
    if named:
        found.append(("what mattered", ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in named)))
    parameters = ", ".join(f"{name}={value}" for name, value in summary["parameters"].items())
    status = "converged" if summary["converged"] else f"not converged: {summary['status_sentence']}"
    found += [
        ("model", f"{summary['model']}({parameters}); {status}"),
        ("time, memory", f"{summary['seconds']:.3g} s, {summary['peak_memory_mb']:,.0f} MB"),
    ]
    written = (("model file", "model_file"), ("report", "report"))
    found += [(name, summary[key]) for name, key in written if summary.get(key)]
    return [*found, ("what next", _advice(summary))]


def score_rows(test: dict[str, Any], target: str) -> list[tuple[str, str]]:
    """How good, against the best constant guess, and how sure that is."""
    n = test["n_judged"]
    if "r2" in test:
        error, guess = amount_words(test["rmse"]), f"the mean: {amount_words(test['baseline_rmse'])}"
        error = f"{error} in units of {target} (root mean square, {n:,} rows)"
        low, high = (amount_words(end) for end in test["rmse_interval"])
    else:
        error, guess = (
            f"{test['error_percent']:.2f} % ({test['n_wrong']:,} of {n:,} rows wrong)",
            test["baseline"],
        )
        guess += f": {test['baseline_error_percent']:.2f} %"
        low, high = (f"{end:.1f} %" for end in test["error_interval_percent"])
    against = "better than guessing" if test["is_better"] else "perhaps no better than guessing"
    found = [
        ("test error", f"{error}; always guessing {guess}"),
        ("how sure", f"between {low} and {high} on new rows, with 95 % confidence; {against}"),
    ]
    if "auc" in test:
        what = f"how well {test['positive_class']} is ranked first; 1: always, 0.5: by chance"
        found.append(("AUC", f"{test['auc']:.3f} ({what})"))
    if "r2" in test:
        found.append(("R²", f"{test['r2']:.4f} (1: all differences between rows explained, 0: none)"))
    if "scoring" in test:
        found.append((test["scoring"][0], f"{test['scoring'][1]:.4f}"))
    return found


def _other_scores(summary: dict[str, Any]) -> list[tuple[str, str]]:
    if "outliers_percent" in summary:
        return [("outliers", f"{summary['outliers_percent']:.2f} % of the rows")]
    if "n_clusters" in summary:
        return [("clusters", f"{summary['n_clusters']}"), ("noise points", f"{summary['n_noise']}")]
    return [("test error", "not measured, as no rows were held out; --test-size holds some out")]


def _advice(summary: dict[str, Any]) -> str:
    """The most useful next step."""
    test, use = summary.get("test"), f"adatron predict {summary.get('model_file', 'MODEL')} NEW_ROWS"
    if not summary["converged"]:
        return "the fit was cut short: give it more time, or go on from a --checkpoint with --resume"
    if summary["task"] is None:
        return "see the report" if summary["model"] == "SupportVectorClustering" else f"{use} finds outliers"
    if test and not test["is_better"]:
        return "do not rely on it yet: more rows, or columns that tell more about the target, may help"
    more = "; more rows would make this surer" if test and test["n_judged"] < _FEW_ROWS else ""
    return f"{use} predicts, adatron compare tries other kinds of models{more}"
