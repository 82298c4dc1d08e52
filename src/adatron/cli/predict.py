"""``adatron predict``: apply a model file to the rows of a table."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import click

from adatron.cli.options import OUTPUT, common_options, json_option, may_write, reading, reading_options
from adatron.cli.terminal import collected_warnings, print_json, say
from adatron.io.printing import listed, printable_path


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", type=OUTPUT, help="CSV file to write. Default: standard output.")
@click.option("--proba", is_flag=True, help="Also write class probabilities.")
@click.option(
    "--keep", multiple=True, metavar="COL", help="Column of DATA to copy to the output; repeatable."
)
@click.option("--force", is_flag=True, help="Overwrite the file named by -o.")
@reading_options
@json_option
@common_options
def predict(
    model: str, data: str, output: Path | None, proba: bool, keep: tuple[str, ...], force: bool,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Predict the target of every row of DATA with MODEL.

    MODEL is a model file, as fit writes it. Columns are matched by name; others are ignored. If the
    target is among them, the error of the predictions is printed as well. Classes are written as they
    were spelled in the training data.
    """
    path = may_write("-o", output, None, force=force)
    from adatron.files.atomic import atomic_write

    with collected_warnings() as warned:
        columns, score, notes = _predictions(model, data, proba, keep, reading(options))
    for note in notes:
        say(f"note: {note}")
    if as_json:
        print_json(columns | {"score": score, "notes": notes, "warnings": warned})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    if path is not None:
        atomic_write(path, [text.getvalue().encode()])
    elif not as_json:
        click.echo(text.getvalue().encode(), nl=False)  # UTF-8 in any locale
    if score and not as_json:
        from adatron.display.report.words import score_words

        (_, error), (_, sure), *_ = score_words(score, "the target")
        say(f"the target is known: error {error}")
        say(f"if the model was not trained on these rows, the error is {sure}")


def _predictions(
    file: str, data: str, proba: bool, keep: tuple[str, ...], options: dict[str, Any]
) -> tuple[dict[str, list[Any]], dict[str, Any] | None, list[str]]:
    """Columns to write by name, the score if the target is known, and notes."""
    from adatron.cli.data import check_names
    from adatron.display.figures import innermost
    from adatron.io import load_model

    fitted = load_model(file)
    machine, name = innermost(fitted), printable_path(file)
    if not hasattr(fitted, "predict"):
        kind = type(machine).__name__
        raise ValueError(f"{name}: {kind} only groups the rows it was fitted on; it cannot predict")
    if proba and not hasattr(fitted, "predict_proba"):
        raise ValueError(
            f"--proba: {name} holds {type(machine).__name__}, which has no probabilities; fit with --model "
            "auto, or with --model svc --probability"
        )
    about, table, X, y, notes = rows_for(fitted, file, data, options, keep)
    columns = {}
    if keep:
        check_names("--keep", keep, table)
        columns = {own: ["" if cell != cell else cell for cell in table[own].tolist()] for own in keep}
    columns["prediction"] = fitted.predict(X).tolist()
    if proba:
        values = fitted.predict_proba(X)
        columns |= {f"probability of {own}": values[:, i].tolist() for i, own in enumerate(machine.classes_)}
    return columns, _score(fitted, X, y, about["task"]), notes


def rows_for(
    fitted: Any, file: str, data: str, options: dict[str, Any], keep: tuple[str, ...] = ()
) -> tuple[dict[str, Any], Any, Any, Any, list[str]]:
    """What the model file says of its data, the table, its rows as the model wants them, target and notes."""
    from adatron.cli.data import read_rows

    about = _about(file)
    kinds = dict(zip(about["columns"], about["kinds"], strict=True))
    known = {column: kind for column, kind in kinds.items() if kind in ("number", "text")}
    target = about["target"]
    known |= {target: "text"} if target and about["task"] == "classification" else {}
    table = read_rows(data, **options | {"kinds": known | options.get("kinds", {})})
    return about, table, *_matched(fitted, about, table, keep, data)


def _about(file: str) -> dict[str, Any]:
    """What the file says about its columns, checked: it may be forged."""
    from adatron.io import describe_file

    about = {"columns": [], "kinds": [], "target": None, "task": None} | describe_file(file)["about"]
    lists, texts = (about["columns"], about["kinds"]), (about["target"], about["task"])
    is_text = all(isinstance(own, list) and all(isinstance(item, str) for item in own) for own in lists)
    if not is_text or len(lists[0]) != len(lists[1]) or not all(isinstance(own, str | None) for own in texts):
        raise ValueError(f"{printable_path(file)}: what it says about its columns does not fit the model")
    return about


def _matched(
    fitted: Any, about: dict[str, Any], table: Any, keep: tuple[str, ...], data: str
) -> tuple[Any, Any, list[str]]:
    """Rows as the model expects them, the target if it is there, and notes."""
    from scipy.sparse import csr_array

    from adatron.estimators.parameters import closest_name

    n_features, source, columns = int(fitted.n_features_in_), printable_path(data), about["columns"]
    if isinstance(table, tuple):
        X, labels = table
        if columns:
            raise ValueError(f"{source}: is svmlight, but the model was fitted on named columns")
        if X.shape[1] > n_features:
            raise ValueError(f"{source}: has {X.shape[1]} features, the model was fitted on {n_features}")
        y = labels if about["task"] == "classification" else labels.astype(float)
        return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features)), y, []
    if len(columns) not in (0, n_features):
        raise ValueError(f"{source}: what the model file says about its columns does not fit the model")
    given, target = list(table.columns), about["target"]
    is_unnamed = all(re.fullmatch(r"column_\d+", name) for name in [*columns, *given])
    is_shifted = is_unnamed and len(given) == n_features and not set(columns) <= set(given)
    if not columns or is_shifted:  # no names: their order counts
        if len(given) != n_features or any(dtype.kind not in "iufb" for dtype in table.dtypes if not columns):
            raise ValueError(
                f"{source}: the model was fitted on {n_features} columns of numbers without names; expected "
                f"as many, or svmlight, found {len(given)} columns"
            )
        return table.set_axis(columns, axis=1) if columns else table.to_numpy(float), None, []
    extra = [name for name in given if name not in {*columns, target, *keep}]
    absent = [name for name in columns if name not in given]
    if absent:
        hint = closest_name(absent[0], extra)
        raise ValueError(f"{source}: lacks {listed(absent, 20)} that the model was fitted on{hint}")
    notes = [f"columns that the model was not fitted on are ignored: {listed(extra)}"] if extra else []
    return table[columns], table[target] if target in given else None, notes


def _score(fitted: Any, X: Any, y: Any, task: str | None) -> dict[str, Any] | None:
    """How good the predictions are on rows whose target is known, against the best constant guess there."""
    import numpy as np
    import pandas as pd

    from adatron.cli.data import rows_of
    from adatron.display.report.judge import judge

    known = np.flatnonzero(~pd.isna(y)) if y is not None and task is not None else np.array([], dtype=int)
    if len(known) == 0:
        return None
    values = np.asarray(y)[known]
    if task == "classification":
        spelled = {str(name): name for name in np.asarray(fitted.classes_).tolist()}
        values = np.array([spelled.get(str(value), str(value)) for value in values.tolist()], dtype=object)
    elif values.dtype.kind not in "iuf":
        return None
    return judge(fitted, rows_of(X, known), values, values)
