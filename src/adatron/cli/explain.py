"""``adatron explain``: why a model predicts what it does for one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from adatron.cli.options import data_options, reading
from adatron.cli.terminal import collected_warnings, print_json, print_table, say
from adatron.io.printing import printable_path, printable_source, quoted

if TYPE_CHECKING:
    from adatron.explanation import Explanation

_MOST = 20  # columns that are printed


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--row", type=click.IntRange(0), default=0, show_default=True, help="Row of DATA, from 0.")
@click.option("--class", "output", metavar="NAME", help="Class to explain. Default: the predicted one.")
@data_options
def explain(model: str, data: str, row: int, output: str | None, as_json: bool, **options: Any) -> None:
    """Explain what MODEL predicts for one row of DATA.

    MODEL is a model file. The decision value is what the model computes for the row before it predicts.
    You see what each column adds to it (Shapley values), and which training rows decided.
    """
    with collected_warnings() as warned:
        found, notes = _explained(model, data, row, output, reading(options))
    if as_json:
        facts = vars(found) | {"row": row, "notes": notes, "warnings": warned}
        facts["class"] = facts.pop("output")
        print_json(facts)
        return
    for note in notes:
        say(f"note: {note}")
    _print(found)


def _explained(
    file: str, data: str, row: int, output: str | None, options: dict[str, Any]
) -> tuple[Explanation, list[str]]:
    """The explanation, and notes about the columns of DATA."""
    from adatron.cli.predict import rows_for
    from adatron.display.figures import innermost
    from adatron.explanation import explain as explained
    from adatron.io import load_model

    fitted = load_model(file)
    machine = innermost(fitted)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{printable_path(file)}: {type(machine).__name__} predicts nothing to explain")
    rows = rows_for(fitted, file, data, options)
    X = rows.X
    if row >= X.shape[0]:
        raise ValueError(f"--row {row}: {printable_source(data)} has {X.shape[0]} rows; the first is 0")
    if output is not None:
        spelled = {str(name): name for name in getattr(machine, "classes_", [])}
        if output not in spelled:
            known = ", ".join(spelled) or "none"
            raise ValueError(f"--class {output}: the model has other classes: {known}")
        output = spelled[output]
    one = X.iloc[[row]] if hasattr(X, "iloc") else X[[row]]
    return explained(fitted, one, output=output), rows.notes


def _print(found: Explanation) -> None:
    from adatron.display.report.words import contribution_rows, value_words

    of = "" if found.output is None else f" for {quoted(str(found.output))} (the larger, the surer)"
    average = "" if found.contributions is None else f"; {found.base:.4g} on average over other rows"
    decision = f"{found.decision:.4g}{of}{average}"
    print_table(None, [("prediction", value_words(found.prediction)), ("decision value", decision)])
    click.echo()
    if found.contributions is None:
        click.echo("what each column adds is not known for this kernel\n")
    else:
        print_table(["column", "value", "adds"], contribution_rows(found, _MOST), right=[2])
        click.echo()
    rows = [
        [str(row) if row >= 0 else "unknown", f"{similarity:.3f}", f"{100 * share:+.1f} %"]
        for row, similarity, share in zip(found.rows, found.similarities, found.shares, strict=True)
    ]
    print_table(["training row", "similarity", "share"], rows, right=[0, 1, 2])
    if any(row >= 0 for row in found.rows):
        click.echo("\ntraining rows are numbered from 0, without test rows; negative shares lower the value")
