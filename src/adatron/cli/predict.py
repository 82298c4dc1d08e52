"""``adatron predict``: apply a model file to the rows of a table."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import click

from adatron.cli.options import OutputPath, common_options, json_option, may_write, reading, reading_options

__all__ = ["predict"]


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", type=OutputPath(), help="CSV file to write. Default: standard output.")
@click.option("--proba", is_flag=True, help="Probabilities of the classes, too.")
@click.option("--force", is_flag=True, help="Overwrite the file named by -o.")
@reading_options
@json_option
@common_options
def predict(
    model: str, data: str, output: Path | None, proba: bool, force: bool, as_json: bool, **options: Any
) -> None:
    """Predict the target of every row of DATA with the model file MODEL.

    Columns are matched by name, and the target may be among them. Classes are written as they were spelled
    in the training data.
    """
    path = may_write("-o", output, None, force=force)
    from adatron.cli.predicting import predictions
    from adatron.cli.terminal import print_json
    from adatron.cli.warned import told_warnings
    from adatron.files.atomic import atomic_write

    with told_warnings() as warned:
        columns = predictions(model, data, proba=proba, **reading(options))
    if as_json:
        print_json(columns | {"warnings": warned})
    if path is not None:
        atomic_write(path, [_csv(columns).encode()])
    elif not as_json:
        click.echo(_csv(columns).encode(), nl=False)  # UTF-8 in any locale


def _csv(columns: dict[str, list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
