"""``adatron compare``: our models and scikit-learn's on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from adatron.cli.options import OutputPath, common_options, json_option, may_write, reading_options
from adatron.cli.signals import Ended

__all__ = ["compare"]

_REPORT = Path("comparison.html")
_ROWS = 2_000  # more would make a grid search take hours
_BAR = 24  # characters


@click.command()
@click.argument("data", default="sonar")
@click.option(
    "--target", metavar="COL", help="Column to predict. Default: target, class, label, y or the last."
)
@click.option(
    "--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Of cross-validation."
)
@click.option(
    "--rows",
    type=click.IntRange(min=0),
    default=_ROWS,
    show_default=True,
    help="Take at most so many, drawn at random; 0: all.",
)
@click.option("--report", type=OutputPath(), help=f"HTML page with a bar plot. Default: {_REPORT}.")
@click.option("--force", is_flag=True, help="Overwrite the file named by --report.")
@reading_options
@json_option
@common_options
def compare(data: str, as_json: bool, report: Path | None, force: bool, **options: Any) -> None:
    """Compare our models with scikit-learn's on DATA: error and time, by cross-validation.

    The grid search of scikit-learn tries 25 pairs of C and gamma, on all processors; ours choose by
    themselves. Seconds are the median time of a fit.
    """
    path = may_write("--report", report, _REPORT, force=force)
    assert path is not None
    from adatron.cli import comparing
    from adatron.cli.comparison_page import write_page
    from adatron.cli.terminal import print_json, print_table, say

    found = comparing.compare_models(data, options)
    if found["notes"] and not as_json:
        say("\n".join(f"note: {note}" for note in found["notes"]))
    found["report"] = write_page(found, path)
    if as_json:
        print_json(found)
    else:
        print_table(["model", found["measure"], "", "seconds"], _rows(found), right=[1, 3])
        page = found["report"] or "none was written, as it needs matplotlib: pip install adatron[plot]"
        say(f"page: {page}")
    if found["interrupted"]:
        raise Ended("the other models were not measured")


def _rows(found: dict[str, Any]) -> list[list[str]]:
    worst = max(model["error"] for model in found["models"]) or 1.0
    return [
        [
            model["name"],
            f"{model['error']:.2f} ± {model['standard_error']:.2f}",
            "█" * round(_BAR * max(0.0, model["error"]) / worst),
            f"{model['seconds']:.3g}",
        ]
        for model in found["models"]
    ]
