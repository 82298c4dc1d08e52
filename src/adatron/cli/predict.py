"""``adatron predict``: apply a model file to the rows of a table."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import click

from adatron.cli.options import OUTPUT, data_options, may_write, reading
from adatron.cli.terminal import collected_warnings, print_json, say
from adatron.io.printing import listed, printable_path, printable_source, quoted


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", type=OUTPUT, help="CSV file to write. Default: standard output.")
@click.option("--proba", is_flag=True, help="Also write class probabilities.")
@click.option("--keep", multiple=True, metavar="COL", help="Column of DATA to copy; repeatable.")
@click.option("--force", is_flag=True, help="Overwrite the file named by -o.")
@data_options
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
    import pandas as pd

    from adatron.files.atomic import atomic_write

    with collected_warnings() as warned:
        columns, score, notes = _predictions(model, data, proba, keep, reading(options))
    for note in notes:
        say(f"note: {note}")
    if as_json:
        print_json(columns | {"score": score, "notes": notes, "warnings": warned})
    text = pd.DataFrame(columns, dtype=object).to_csv(index=False, lineterminator="\n").encode()
    if path is not None:
        atomic_write(path, [text])
    elif not as_json:
        click.echo(text, nl=False)  # UTF-8 in any locale
    if score and not as_json:
        from adatron.display.report.words import score_words

        (_, error), (_, sure), *_ = score_words(score, "the target")
        say(f"error on these rows, whose target is known: {error}")
        say(f"how sure, if the model was not trained on these rows: {sure}")


def _predictions(
    file: str, data: str, proba: bool, keep: tuple[str, ...], options: dict[str, Any]
) -> tuple[dict[str, list[Any]], dict[str, Any] | None, list[str]]:
    """Columns to write by name, the score if the target is known, and notes."""
    from adatron.display.figures import innermost
    from adatron.io import load_model

    model = load_model(file)
    machine, name = innermost(model), printable_path(file)
    if not hasattr(model, "predict"):
        kind = type(machine).__name__
        raise ValueError(f"{name}: {kind} only groups the rows it was fitted on; it cannot predict")
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(
            f"--proba: {name} holds {type(machine).__name__}, which has no probabilities; fit with --model "
            "auto, or with --model svc --probability"
        )
    rows = rows_for(model, file, data, options, keep)
    columns = {"prediction": model.predict(rows.X).tolist()}
    if proba:
        values = model.predict_proba(rows.X)
        columns |= {f"probability of {own}": values[:, i].tolist() for i, own in enumerate(machine.classes_)}
    for name in rows.kept.keys() & columns.keys():
        raise ValueError(
            f"--keep {quoted(name)}: a column of this name is written already; rename it in DATA"
        )
    columns = rows.kept | columns
    return columns, _score(model, rows), rows.notes


class ModelRows(NamedTuple):
    """Rows as a model expects them, and what else their file says."""

    X: Any
    target: Any  # None where it is not known
    task: str | None  # of the model
    kept: dict[str, list[Any]]  # columns to copy
    notes: list[str]


def rows_for(
    model: Any, file: str, data: str, options: dict[str, Any], keep: tuple[str, ...] = ()
) -> ModelRows:
    from adatron.cli.data import check_names, read_rows

    about, source = _about(file), printable_source(data)
    kinds = dict(zip(about["columns"], about["kinds"], strict=True))
    known = {column: kind for column, kind in kinds.items() if kind in ("number", "text")}
    if about["target"] and about["task"] == "classification":
        known[about["target"]] = "text"
    table = read_rows(data, **options | {"kinds": known | options.get("kinds", {})})
    if isinstance(table, tuple):
        if keep:
            raise ValueError(f"--keep {quoted(keep[0])}: svmlight has no names of columns")
        (X, labels), n_features = table, int(model.n_features_in_)
        if about["columns"]:
            raise ValueError(f"{source}: is svmlight, but the model was fitted on named columns")
        if X.shape[1] > n_features:
            raise ValueError(f"{source}: has {X.shape[1]} features, the model was fitted on {n_features}")
        X.resize(X.shape[0], n_features)
        target = labels if about["task"] == "classification" else labels.astype(float)
        return ModelRows(X, target, about["task"], {}, [])
    check_names("--keep", keep, table)
    kept = {name: ["" if cell != cell else cell for cell in table[name].tolist()] for name in keep}
    X, target, unused = _matched_columns(model, about, table, source)
    unused = [name for name in unused if name not in keep]
    notes = [f"columns that the model was not fitted on are ignored: {listed(unused)}"] if unused else []
    return ModelRows(X, target, about["task"], kept, notes)


def _about(file: str) -> dict[str, Any]:
    """What the file says about its columns, checked: it may be forged."""
    from adatron.io import describe_file

    about = {"columns": [], "kinds": [], "target": None, "task": None} | describe_file(file)["about"]
    lists, texts = (about["columns"], about["kinds"]), (about["target"], about["task"])
    is_text = all(isinstance(own, list) and all(isinstance(item, str) for item in own) for own in lists)
    if not is_text or len(lists[0]) != len(lists[1]) or not all(isinstance(own, str | None) for own in texts):
        raise ValueError(f"{printable_path(file)}: what it says about its columns does not fit the model")
    return about


def _matched_columns(
    model: Any, about: dict[str, Any], table: Any, source: str
) -> tuple[Any, Any, list[str]]:
    """The columns that the model was fitted on, the target if it is there, and names of other columns."""
    from adatron.display.figures import encoder_of
    from adatron.estimators.parameters import closest_name

    n_features, columns, target = int(model.n_features_in_), about["columns"], about["target"]
    if len(columns) not in (0, n_features):
        raise ValueError(f"{source}: what the model file says about its columns does not fit the model")
    given = list(table.columns)
    is_unnamed = all(re.fullmatch(r"column_\d+", name) for name in [*columns, *given])
    is_shifted = is_unnamed and len(given) == n_features and not set(columns) <= set(given)
    if not columns or is_shifted:  # no names: their order counts
        if len(given) != n_features or any(dtype.kind not in "iufb" for dtype in table.dtypes if not columns):
            raise ValueError(
                f"{source}: the model was fitted on {n_features} columns of numbers without names; expected "
                f"as many, or svmlight, found {len(given)} columns"
            )
        return table.set_axis(columns, axis=1) if columns else table.to_numpy(float), None, []
    unused = [name for name in given if name not in {*columns, target}]
    encoder = encoder_of(model)
    dropped = {column.name for column in encoder.columns_ if not column.n_outputs} if encoder else set()
    absent = [name for name in columns if name not in given and name not in dropped]
    if absent:
        hint = closest_name(absent[0], unused)
        raise ValueError(f"{source}: lacks {listed(absent, 20)} that the model was fitted on{hint}")
    known = [name for name in columns if name in given]
    return table[known], table[target] if target in given else None, unused


def _score(model: Any, rows: ModelRows) -> dict[str, Any] | None:
    """How good the predictions are on rows whose target is known, against the best constant guess there."""
    import numpy as np
    import pandas as pd

    from adatron.cli.data import rows_of
    from adatron.display.report.judge import judge

    if rows.target is None or rows.task is None:
        return None
    known = np.flatnonzero(~pd.isna(rows.target))
    values = np.asarray(rows.target)[known]
    if rows.task == "classification":
        spelled = {str(name): name for name in np.asarray(model.classes_).tolist()}
        values = np.array([spelled.get(str(value), str(value)) for value in values.tolist()], dtype=object)
    elif values.dtype.kind not in "iuf":
        return None
    return judge(model, rows_of(rows.X, known), values, values) if len(known) else None
