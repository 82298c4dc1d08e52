"""The summary of a fit: as plain values, and in words that need no textbook."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from adatron.cli.data import Parts, Rows
from adatron.cli.terminal import print_pairs, say
from adatron.display.report.judge import judge, what_mattered
from adatron.display.report.words import amount_words, kernel_width
from adatron.display.style import encoder_of, innermost
from adatron.numerics.memory import peak_memory

_MOST_NAMED = 5  # columns
_ADJECTIVES = {"number": "numeric", "binary": "two-valued", "category": "categorical", "ordinal": "ordered"}
_FEW_ROWS = 100  # fewer test rows leave a wide interval


def summarise(rows: Rows, parts: Parts, model: Any, task: str | None, seconds: float) -> dict[str, Any]:
    """All that is reported, in plain Python values."""
    machine = innermost(model)
    default, status = type(machine)().get_params(deep=False), getattr(machine, "status_", None)
    given = {name: own for name, own in machine.get_params(deep=False).items() if own != default[name]}
    sigma, gamma = kernel_width(machine)
    notes = rows.notes if rows.train is None or parts.description.startswith(_OWN) else ()
    return {
        "data": rows.name, "target": rows.target_name, "task": task, "split": parts.description,
        "n_train": int(parts.X_train.shape[0]),
        "n_test": 0 if parts.X_test is None else int(parts.X_test.shape[0]),
        "n_features": int(rows.X.shape[1]),
        "model": type(machine).__name__,
        "parameters": {n: v if isinstance(v, bool | int | float | str | None) else str(v)
                       for n, v in given.items()},
        "sigma": sigma, "gamma": gamma,
        **_scores(parts, model, task),
        "columns": _columns(encoder_of(model), int(rows.X.shape[1])),
        "importances": dict(what_mattered(model, rows.columns)),
        "duality_gap": getattr(machine, "duality_gap_", None),
        "gap_is_exact": getattr(machine, "gap_is_exact_", None),
        "status": None if status is None else str(status),
        "status_sentence": None if status is None else status.sentence,
        "converged": bool(getattr(machine, "converged_", True)),
        "n_support": n_support(machine),
        "epochs": float(np.max(machine.n_iter_)) if hasattr(machine, "n_iter_") else None,
        "seconds": seconds, "peak_memory_mb": peak_memory() / 1e6, "notes": list(notes),
    }  # fmt: skip


_OWN = ("stratified half", "the original")  # split of a data set, which notes are about


def n_support(machine: Any) -> int | None:
    """Number of training rows that a model holds; None if it does not say."""
    support = getattr(machine, "support_", None)
    return None if support is None else len(support)


def _columns(encoder: Any, n_columns: int) -> str:
    """What became of the columns, in one line."""
    if encoder is None:
        return f"{n_columns:,} numeric"
    decided = list(encoder.columns_)
    counts = Counter(own.kind for own in decided if own.n_outputs)
    words = [", ".join(f"{count:,} {_ADJECTIVES.get(kind, kind)}" for kind, count in counts.most_common())]
    dropped = [f"{own.name} ({own.kind})" for own in decided if not own.n_outputs]
    if dropped:
        more = f" and {len(dropped) - _MOST_NAMED:,} more" if len(dropped) > _MOST_NAMED else ""
        words.append(f"dropped: {', '.join(dropped[:_MOST_NAMED])}{more}")
    n_missing = sum(own.n_missing for own in decided if own.n_outputs)
    if n_missing:
        words.append(f"{n_missing:,} missing values filled in")
    return "; ".join(words)


def _scores(parts: Parts, model: Any, task: str | None) -> dict[str, Any]:
    machine = innermost(model)
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
    if "r2" in found:
        return {"test": found, "test_r2": found["r2"], "test_rmse": found["rmse"]}
    return {"test": found, "test_error_percent": found["error_percent"]}


def print_summary(summary: dict[str, Any]) -> None:
    """The table at the end of a fit, and what to beware of."""
    print_pairs(_rows(summary))
    for note in summary["notes"]:
        say(f"note: {note}")


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    rows, test = summary["n_train"] + summary["n_test"], summary.get("test")
    of = f", to predict {summary['target']}" if summary["target"] else ""
    found = [("data", f"{summary['data']}: {rows:,} rows, {summary['n_features']:,} columns{of}")]
    found.append(("columns", summary["columns"]))
    if summary["task"]:
        found.append(("held out", f"{summary['n_test']:,} rows for testing ({summary['split']})"))
    found += score_rows(test, summary["target"] or "the target") if test else _other_scores(summary)
    named = [(name, share) for name, share in summary["importances"].items() if share >= 0.005][:_MOST_NAMED]
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
        error = f"{test['error_percent']:.2f} % ({test['n_wrong']:,} of {n:,} rows wrong)"
        guess = f"{test['baseline']}: {test['baseline_error_percent']:.2f} %"
        low, high = (f"{end:.1f} %" for end in test["error_interval_percent"])
    against = "better than guessing" if test["is_better"] else "perhaps no better than guessing"
    found = [
        ("test error", f"{error}; always guessing {guess}"),
        ("how sure", f"between {low} and {high} on new rows, with 95 % confidence; {against}"),
    ]
    if "auc" in test:
        what = f"chance that a row of class {test['positive_class']} scores above one of the other class"
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
    return [("test error", f"not measured: {summary['split']}")]


def _advice(summary: dict[str, Any]) -> str:
    """The most useful next step."""
    test, use = summary.get("test"), f"adatron predict {summary.get('model_file', 'MODEL')} NEW_ROWS"
    if summary["status"] in ("time_limit", "stopped"):
        return "the fit was cut short: give it more time, or resume it from a --checkpoint with --resume"
    if not summary["converged"]:
        return 'see what did not converge above, and "When a fit does not converge" in the docs'
    if summary["task"] is None:
        return (
            "see the report" if summary["model"] == "SupportVectorClustering" else f"{use} to find outliers"
        )
    if test and not test["is_better"]:
        return "do not rely on it yet: more rows, or columns that say more about the target, may help"
    more = "; more rows would narrow the interval" if test and test["n_judged"] < _FEW_ROWS else ""
    return f"{use} to predict, adatron compare to try other kinds of models{more}"
