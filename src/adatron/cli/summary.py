"""The summary of a fit: as plain values, and in words that need no textbook."""

import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from adatron.cli.data import Rows
from adatron.cli.terminal import print_table, say
from adatron.display.figures import encoder_of
from adatron.display.report.judge import FitStory, what_mattered
from adatron.display.report.words import chosen_parameters, importance_words, kernel_width, score_words
from adatron.exceptions import AdatronWarning
from adatron.io.printing import counted

_MOST_NAMED = 5  # columns
_ADJECTIVES = {"number": "numeric", "binary": "two-valued", "category": "categorical", "ordinal": "ordered"}
_FEW_ROWS = 100  # fewer test rows leave a wide interval


def summarise(rows: Rows, story: FitStory, task: str | None) -> dict[str, Any]:
    """All that is reported, in plain Python values."""
    machine = story.machine
    status = getattr(machine, "status_", None)
    sigma, gamma = kernel_width(machine)
    return {
        "data": rows.name, "target": rows.target_name, "task": task, "split": story.data["split"],
        "n_train": int(story.X_train.shape[0]),
        "n_test": int(story.X_test.shape[0]) if story.has_test_rows else 0,
        "n_features": int(rows.X.shape[1]),
        "model": type(machine).__name__,
        "parameters": chosen_parameters(machine),
        "sigma": sigma, "gamma": gamma,
        **_scores(story),
        "columns": _columns(encoder_of(story.model), int(rows.X.shape[1])),
        "importances": dict(what_mattered(story.model, rows.columns)),
        "duality_gap": getattr(machine, "duality_gap_", None),
        "gap_is_exact": getattr(machine, "gap_is_exact_", None),
        "status": None if status is None else str(status),
        "status_sentence": None if status is None else status.sentence,
        "converged": bool(getattr(machine, "converged_", True)),
        "n_support": len(machine.support_) if hasattr(machine, "support_") else None,
        "epochs": float(np.max(machine.n_iter_)) if hasattr(machine, "n_iter_") else None,
        "seconds": story.seconds, "peak_memory_mb": (story.memory or math.nan) / 1e6,
        "notes": list(story.notes),
    }  # fmt: skip


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


def _scores(story: FitStory) -> dict[str, Any]:
    if story.task == "outliers":
        return {"outliers_percent": 100.0 * float(np.mean(story.predictions < 0))}
    if story.task == "clusters":
        labels = story.machine.labels_
        return {"n_clusters": int(labels.max()) + 1, "n_noise": int((labels < 0).sum())}
    if not story.has_test_rows:
        return {}
    found = dict(story.judgement)
    scoring = getattr(story.machine, "scoring", None)
    if scoring is not None:
        try:
            found["scoring"] = [scoring, _score(scoring, story)]
        except ValueError as error:  # no reason to lose the model
            warnings.warn(f"{scoring} of the test rows is not known: {error}", AdatronWarning, stacklevel=2)
    if story.task == "regression":
        return {"test": found, "test_r2": found["r2"], "test_rmse": found["rmse"]}
    return {"test": found, "test_error_percent": found["error_percent"]}


def _score(scoring: str, story: FitStory) -> float:
    (X, y), model, classes = story.judged, story.model, getattr(story.machine, "classes_", np.empty(0))
    if len(classes) == 2 and 1 not in classes.tolist():
        model, y = _SecondClassIsOne(model), (y == classes[1]).astype(int)
    return float(get_scorer(scoring)(model, X, y))


class _SecondClassIsOne(ClassifierMixin, BaseEstimator):
    """A classifier of two classes as one of 0 and 1, where scikit-learn's scorers would look for a 1."""

    def __init__(self, model: Any = None) -> None:
        self.model, self.classes_ = model, np.arange(2)

    def predict(self, X: Any) -> np.ndarray:
        return (np.asarray(self.model.predict(X)) == self.model.classes_[1]).astype(int)

    def decision_function(self, X: Any) -> Any:
        return self.model.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X)


def print_summary(summary: dict[str, Any]) -> None:
    """The table at the end of a fit, and what to beware of."""
    n_rows, test = counted(summary["n_train"] + summary["n_test"], "row"), summary.get("test")
    of = f", to predict {summary['target']}" if summary["target"] else ""
    data = f"{summary['data']}: {n_rows}, {counted(summary['n_features'], 'column')}{of}"
    rows = [("data", data), ("columns", summary["columns"])]
    if summary["task"]:
        kept = f"{counted(summary['n_test'], 'row')} kept for testing ({summary['split']})"
        rows.append(("held out", kept))
    if test:
        rows += score_words(test, summary["target"] or "the target")
        if "scoring" in test:
            rows.append((test["scoring"][0], f"{test['scoring'][1]:.4f}"))
    elif "outliers_percent" in summary:
        rows.append(("outliers", f"{summary['outliers_percent']:.2f} % of the rows"))
    elif "n_clusters" in summary:
        rows += [("clusters", f"{summary['n_clusters']}"), ("noise points", f"{summary['n_noise']}")]
    else:
        rows.append(("test error", f"not measured: {summary['split']}"))
    mattered = importance_words(list(summary["importances"].items()), _MOST_NAMED)
    if mattered:
        rows.append(("what mattered", mattered))
    parameters = ", ".join(f"{name}={value}" for name, value in summary["parameters"].items())
    status = "converged" if summary["converged"] else f"not converged: {summary['status_sentence']}"
    rows += [
        ("model", f"{summary['model']}({parameters}); {status}"),
        ("time, memory", f"{summary['seconds']:.3g} s, {summary['peak_memory_mb']:,.0f} MB"),
    ]
    written = (("model file", "model_file"), ("report", "report"))
    rows += [(name, summary[key]) for name, key in written if summary.get(key)]
    print_table(None, [*rows, ("what next", _advice(summary))])
    for note in summary["notes"]:
        say(f"note: {note}")


def _advice(summary: dict[str, Any]) -> str:
    """The most useful next step."""
    test, use = summary.get("test"), f"adatron predict {summary.get('model_file', 'MODEL')} NEW_ROWS"
    if summary["status"] in ("time_limit", "stopped"):
        return "the fit was cut short: give it more time, or resume it from a --checkpoint with --resume"
    if not summary["converged"]:
        return 'see above why it did not converge, and "When a fit does not converge" in the docs'
    if "n_clusters" in summary:
        return "look at the report, which shows the clusters"
    if "outliers_percent" in summary:
        return f"to find outliers (prediction -1): {use}"
    if test and not test["is_better"]:
        return "do not rely on this model yet: more rows, or columns that say more about the target, may help"
    more = "; more rows would make the error more certain" if test and test["n_judged"] < _FEW_ROWS else ""
    return f"to predict: {use}; to try other kinds of models: adatron compare DATA{more}"
