"""``adatron compare``: our models, scikit-learn's, a constant guess, a linear model and boosted trees."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from adatron.cli.options import OUTPUT, data_options, may_write, reading, target_option
from adatron.cli.terminal import Ended, collected_warnings, print_json, print_table, say

_REPORT = Path("comparison.html")
_ROWS = 2_000  # more would make a grid search take hours
_BAR = 24  # characters
_GRID = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": [1e-4, 1e-3, 0.01, 0.1, 1.0]}
_MEASURES = {"classification": "error %", "regression": "1 − R² (%)"}
_GUESS = "constant guess"


@click.command()
@click.argument("data", default="sonar")
@target_option
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Number of folds.")
@click.option(
    "--rows", type=click.IntRange(min=0), default=_ROWS, show_default=True,
    help="Use at most so many rows, drawn at random; 0: all.",
)  # fmt: skip
@click.option("--report", type=OUTPUT, help=f"HTML page with a bar plot. Default: {_REPORT}.")
@click.option("--force", is_flag=True, help="Overwrite the file named by --report.")
@data_options
def compare(data: str, as_json: bool, report: Path | None, force: bool, **options: Any) -> None:
    """Compare SVMs with other kinds of models on DATA.

    The last line says whether an SVM is worth it. The other models are a constant guess, logistic or
    ridge regression, gradient boosting, and scikit-learn's SVM with and without a grid search over 25
    pairs of C and gamma. Errors are the mean over the folds of a cross-validation, the same folds for all,
    ± its standard error; seconds are the median time of a fit.
    """
    path = may_write("--report", report, _REPORT, force=force)
    assert path is not None
    found = _compare_models(data, options)
    for note in [] if as_json else found["notes"]:
        say(f"note: {note}")
    found["report"] = _write_page(found, path)
    if as_json:
        print_json(found)
    else:
        worst = max(model["error"] for model in found["models"]) or 1.0
        bars = ["█" * round(_BAR * max(0.0, model["error"]) / worst) for model in found["models"]]
        cells = zip(_cells(found["models"]), bars, strict=True)
        rows = [(name, error, bar, seconds) for (name, error, seconds), bar in cells]
        print_table(["model", found["measure"], "", "seconds"], rows, right=[1, 3])
        click.echo(f"\nerror: mean ± standard error of {found['folds']} folds; seconds: median time of a fit")
        if found["verdict"]:
            click.echo(found["verdict"])
        say(f"page: {found['report'] or 'not written, as it needs matplotlib: pip install matplotlib'}")
    if found["interrupted"]:
        raise Ended("the other models were not measured")


def _cells(models: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [own["name"], f"{own['error']:.2f} ± {own['standard_error']:.2f}", f"{own['seconds']:.3g}"]
        for own in models
    ]


def _compare_models(data: str, options: dict[str, Any]) -> dict[str, Any]:
    """Errors and seconds of every model, over the same folds."""
    import numpy as np
    from scipy import sparse

    from adatron.cli.data import load_rows, rows_of

    with collected_warnings() as warned:
        rows = load_rows(data, has_target=True, target=options["target"], **reading(options))
        task, notes = rows.task(options["task"]), list(rows.notes)
        X, y = rows.X, rows.labels if task == "classification" else rows.target
        assert y is not None
        if 0 < options["rows"] < len(y):
            notes.append(f"{options['rows']:,} of {len(y):,} rows, drawn at random; --rows 0 takes all")
            drawn = np.sort(np.random.default_rng(options["seed"]).permutation(len(y))[: options["rows"]])
            X, y = rows_of(X, drawn), y[drawn]
        folds = _folds(y, options["folds"], task, options["seed"])
        models = _models(task)
        if sparse.issparse(X):
            del models["gradient boosting"]
            notes.append("gradient boosting takes no sparse rows")
        measured, was_interrupted = _measure_all(models, X, y, folds)
    return {
        "data": rows.name, "name": rows.short_name, "task": task,
        "measure": _MEASURES[task], "folds": options["folds"], "rows": len(y), "models": measured,
        "verdict": "" if was_interrupted else _verdict(measured), "notes": notes, "warnings": warned,
        "interrupted": was_interrupted,
    }  # fmt: skip


def _folds(y: Any, n_folds: int, task: str, seed: int) -> list[tuple[Any, Any]]:
    import numpy as np
    from sklearn.model_selection import KFold, StratifiedKFold

    is_class = task == "classification"
    most = int(np.unique(y, return_counts=True)[1].max()) if is_class else len(y)
    needed = n_folds if is_class else 2 * n_folds  # one row has no R²
    if needed > most:
        what = "the largest class has" if is_class else "there are"
        raise ValueError(f"--folds {n_folds} needs at least {needed} rows, {what} {most}; take fewer folds")
    kind = StratifiedKFold if is_class else KFold
    return list(kind(n_folds, shuffle=True, random_state=seed).split(y, y))


def _models(task: str) -> dict[str, Callable[[], Any]]:
    """Factories of estimators by name; ours first."""
    import sklearn.svm
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler

    import adatron

    def scaled(estimator: Any) -> Any:  # C and ε mean nothing unless the target's scale is known
        return TransformedTargetRegressor(estimator, transformer=StandardScaler())

    def searched(estimator: Any) -> Any:
        return GridSearchCV(estimator, _GRID, cv=5, n_jobs=-1)

    if task == "regression":
        return {
            "adatron AutoSVR": adatron.AutoSVR,
            "adatron SVR": lambda: scaled(adatron.SVR()),
            _GUESS: DummyRegressor,
            "ridge regression": lambda: RidgeCV([0.01, 0.1, 1.0, 10.0, 100.0]),
            "gradient boosting": lambda: HistGradientBoostingRegressor(random_state=0),
            "scikit-learn SVR": lambda: scaled(sklearn.svm.SVR()),
            "scikit-learn SVR + grid search": lambda: scaled(searched(sklearn.svm.SVR())),
        }
    return {
        "adatron AutoSVC": adatron.AutoSVC,
        "adatron EnsembleSVC": adatron.EnsembleSVC,
        "adatron SVC": adatron.SVC,
        _GUESS: DummyClassifier,
        "logistic regression": lambda: LogisticRegression(max_iter=1000),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "scikit-learn SVC": sklearn.svm.SVC,
        "scikit-learn SVC + grid search": lambda: searched(sklearn.svm.SVC()),
    }


def _measure_all(
    models: dict[str, Callable[[], Any]], X: Any, y: Any, folds: list[Any]
) -> tuple[list[dict[str, Any]], bool]:
    """The measurements, and whether Ctrl-C cut them short."""
    import numpy as np
    from joblib import parallel_config
    from scipy.stats import sem

    from adatron.cli.data import rows_of, with_encoder
    from adatron.cli.progress import progress_bar

    measured: list[dict[str, Any]] = []
    # Threads, as scikit-learn's SVMs release the lock: starting processes would take longer than a small
    # search, and be counted.
    with progress_bar(percentage=True) as bar, parallel_config("threading"):
        task = bar.add_task("comparing", total=len(models) * len(folds))
        try:
            for name, make in models.items():
                bar.update(task, description=name)
                errors, seconds = [], []
                for train, test in folds:
                    X_train = rows_of(X, train)
                    model, began = with_encoder(make(), X_train), perf_counter()
                    model.fit(X_train, y[train])
                    seconds.append(perf_counter() - began)
                    errors.append(100.0 * (1.0 - float(model.score(rows_of(X, test), y[test]))))
                    bar.advance(task)
                measured.append({
                    "name": name, "error": float(np.mean(errors)), "standard_error": float(sem(errors)),
                    # the median leaves out that the first fit loads compiled code
                    "seconds": float(np.median(seconds)), "fold_errors": errors,
                })  # fmt: skip
        except KeyboardInterrupt:
            if not measured:
                raise
            return measured, True
    return measured, False


def _verdict(measured: list[dict[str, Any]]) -> str:
    """One sentence: is an SVM worth it?"""
    from adatron.display.report.judge import is_clearly_less

    best_first = sorted(measured, key=lambda own: own["error"])
    ours = next(own for own in best_first if own["name"].startswith("adatron"))
    rival = next(own for own in best_first if own["name"].endswith(("regression", "boosting")))
    guess = next(own for own in best_first if own["name"] == _GUESS)
    one, two = f"{ours['name']} ({ours['error']:.2f})", f"{rival['name']} ({rival['error']:.2f})"

    def is_clear(better: dict[str, Any], worse: dict[str, Any]) -> bool:
        return is_clearly_less(better["fold_errors"], worse["fold_errors"])

    if not is_clear(min(ours, rival, key=best_first.index), guess):
        return f"Nothing is clearly better than a constant guess ({guess['error']:.2f})."
    if is_clear(ours, rival):
        return f"An SVM is worth it here: {one} is clearly better than {two}."
    if is_clear(rival, ours):
        return f"An SVM is not worth it here: {two} is clearly better than {one}."
    return f"An SVM is as good as the alternatives here: {one} and {two} do not differ clearly."


def _write_page(found: dict[str, Any], path: Path) -> str | None:
    """A table and bars; None without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    from adatron.display.figures import COLOURS, INK, new_figure
    from adatron.display.page import figure_html, items, page, paragraph, table
    from adatron.files.atomic import atomic_write

    models = found["models"]
    figure, (left, right) = new_figure(2, [(found["measure"], ""), ("seconds", "")])
    names = [model["name"].replace(" + ", " +\n") for model in models]
    colours = [COLOURS[0] if name.startswith("adatron") else COLOURS[1] for name in names]
    errors, spreads, seconds = ([m[key] for m in models] for key in ("error", "standard_error", "seconds"))
    left.barh(names, errors, xerr=spreads, color=colours, ecolor=INK)
    left.set_xlim(left=0.0)
    right.barh(names, seconds, color=colours)
    right.set_xscale("log")
    right.set_yticklabels([])
    for ax in (left, right):
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
    body = [
        paragraph(found["verdict"]) if found["verdict"] else "",
        paragraph(
            f"{found['folds']}-fold cross-validation on {found['rows']:,} rows, the same folds for all. "
            "Errors are means with their standard error; seconds are the median time of a fit, search "
            "included. The grid search tries 25 pairs of C and gamma by 5-fold cross-validation."
        ),
        items([*found["notes"], *(f"Warning: {text}" for text in found["warnings"])]),
        table(["model", found["measure"], "seconds"], _cells(models), numeric=[1, 2]),
        figure_html(figure, "Error with its standard error over the folds, and time of a fit"),
    ]
    atomic_write(path, [page(f"Models on {found['name']}", body).encode()])
    return str(path)
