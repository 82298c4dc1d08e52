"""The work of ``adatron compare``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from adatron.cli.data import Rows, load_rows
from adatron.cli.models import task_of, with_encoders
from adatron.cli.options import reading
from adatron.cli.progress import progress_bar
from adatron.cli.warned import told_warnings

__all__ = ["compare_models"]

_SEED = 0
_GRID = {"C": 10.0 ** np.arange(-1, 4), "gamma": 10.0 ** np.arange(-4, 1)}
_MEASURES = {"classification": "error %", "regression": "1 − R² (%)"}


def compare_models(data: str, options: dict[str, Any]) -> dict[str, Any]:
    """Errors and seconds of every model, over the same folds."""
    with told_warnings() as warned:
        rows = load_rows(data, has_target=True, target=options["target"], **reading(options))
        task = task_of(None, rows)
        y: Any = rows.labels if task == "classification" else rows.target
        places = _drawn(len(y), options["rows"])
        folds = [(places[a], places[b]) for a, b in _folds(y[places], options["folds"], task)]
        measured, was_interrupted = _measure_all(_models(task), rows, y, folds, options["impute"])
    return {
        "data": rows.name,
        "name": rows.short_name,
        "task": task,
        "measure": _MEASURES[task],
        "folds": options["folds"],
        "rows": len(places),
        "models": measured,
        "notes": _notes(len(places), len(y)),
        "warnings": warned,
        "interrupted": was_interrupted,
    }


def _drawn(n: int, wanted: int) -> np.ndarray:
    order = np.random.default_rng(_SEED).permutation(n)
    return np.sort(order[: wanted or n])


def _notes(n_taken: int, n: int) -> list[str]:
    return [] if n_taken == n else [f"{n_taken:,} of {n:,} rows, drawn at random; --rows 0 takes all"]


def _folds(y: np.ndarray, n_folds: int, task: str) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    is_class = task == "classification"
    most = int(np.unique(y, return_counts=True)[1].max()) if is_class else len(y)
    if n_folds > most:
        what = "the largest class has" if is_class else "there are"
        raise ValueError(f"--folds {n_folds} needs as many rows, {what} {most}; take fewer folds")
    kind = StratifiedKFold if is_class else KFold
    return list(kind(n_folds, shuffle=True, random_state=_SEED).split(y, y))


def _models(task: str) -> dict[str, Callable[[], Any]]:
    """Factories of estimators by name; ours first."""
    import sklearn.svm

    import adatron

    if task == "regression":
        ours = {
            "adatron AutoSVR": adatron.AutoSVR,
            "adatron SVR": lambda: _of_scaled_target(adatron.SVR()),
        }
        name, plain = "scikit-learn SVR", sklearn.svm.SVR
        theirs = {
            name: lambda: _of_scaled_target(plain()),
            f"{name} + grid search": lambda: _of_scaled_target(_searched(plain())),
        }
        return ours | theirs
    classes = (adatron.AutoSVC, adatron.EnsembleSVC, adatron.SVC)
    name, plain = "scikit-learn SVC", sklearn.svm.SVC
    theirs = {name: plain, f"{name} + grid search": lambda: _searched(plain())}
    return {f"adatron {own.__name__}": own for own in classes} | theirs


def _of_scaled_target(estimator: Any) -> Any:
    """C and ε of a regression mean nothing unless the target's scale is known."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(estimator, transformer=StandardScaler())


def _searched(estimator: Any) -> Any:
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(estimator, _GRID, cv=5, n_jobs=-1)


def _measure_all(
    models: dict[str, Callable[[], Any]], rows: Rows, y: np.ndarray, folds: list[Any], impute: bool
) -> tuple[list[dict[str, Any]], bool]:
    """What was measured, and whether Ctrl-C ended it early."""
    from joblib import parallel_config

    measured = []
    # Threads, as scikit-learn's machines train without the interpreter: starting processes would take
    # longer than a small search, and be counted.
    with progress_bar(percentage=True) as bar, parallel_config("threading"):
        task = bar.add_task("comparing", total=len(models) * len(folds))
        try:
            for name, make in models.items():
                bar.update(task, description=name)
                results = []
                for result in _over_folds(make, rows, y, folds, impute):
                    results.append(result)
                    bar.advance(task)
                measured.append(_summary(name, results))
        except KeyboardInterrupt:
            if not measured:
                raise
            return measured, True
    return measured, False


def _over_folds(
    make: Callable[[], Any], rows: Rows, y: np.ndarray, folds: list[Any], impute: bool
) -> Iterator[tuple[float, float]]:
    """Error in per cent and seconds of the fit."""
    for train, test in folds:
        model = with_encoders(make(), rows, impute=impute)
        began = perf_counter()
        model.fit(rows.X[train], y[train])
        seconds = perf_counter() - began
        yield 100.0 * (1.0 - float(model.score(rows.X[test], y[test]))), seconds


def _summary(name: str, results: list[tuple[float, float]]) -> dict[str, Any]:
    """The median time does not count that compiled code was loaded by the first fit."""
    errors, seconds = np.array(results).T
    return {
        "name": name,
        "error": float(errors.mean()),
        "standard_error": float(errors.std(ddof=1) / np.sqrt(len(errors))),
        "seconds": float(np.median(seconds)),
    }
