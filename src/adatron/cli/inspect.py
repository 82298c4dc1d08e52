"""``adatron inspect``: what a model file holds."""

from collections import Counter
from typing import Any

import click

from adatron.cli.options import common_options, json_option
from adatron.cli.terminal import print_json, print_table

_MOST = 8  # names of columns or classes that are printed


@click.command()
@click.argument("model")
@json_option
@common_options
def inspect(model: str, as_json: bool) -> None:
    """Show what the model file MODEL holds.

    That is the estimator, the columns of its data, and every array.
    """
    from adatron.io import describe_file, load_model

    found = describe_file(model)
    found = found.pop("about") | found | _estimator(load_model(model))
    if as_json:
        print_json(found)
        return
    found["kinds"] = [f"{kind} ({count})" for kind, count in Counter(found.get("kinds", [])).items()]
    arrays = found.pop("arrays")
    shown = {name: value for name, value in found.items() if value not in (None, [])}
    names = [name.removeprefix("n_").replace("_", " ") for name in shown]
    print_table(None, list(zip(names, map(_text, shown.values()), strict=True)))
    arrays = [(a["name"], a["dtype"], " x ".join(map(str, a["shape"])), f"{a['bytes']:,}") for a in arrays]
    click.echo()
    print_table(["array", "dtype", "shape", "bytes"], arrays, right=[3])


def _estimator(fitted: Any) -> dict[str, Any]:
    from adatron.display.figures import innermost

    machine = innermost(fitted)
    kernel, support = getattr(machine, "_kernel", None), getattr(machine, "support_", None)
    return {
        "steps": [type(step).__name__ for _, step in getattr(fitted, "steps", [("", fitted)])],
        "parameters": {name: str(value) for name, value in machine.get_params(deep=False).items()},
        "kernel": None if kernel is None else repr(kernel),
        "classes": [str(name) for name in getattr(machine, "classes_", [])],
        "support_vectors": None if support is None else len(support),
        "duality_gap": getattr(machine, "duality_gap_", None),
        "gap_is_exact": getattr(machine, "gap_is_exact_", None),
        "status": str(machine.status_) if hasattr(machine, "status_") else None,
        "holds_training_rows": support is not None,
    }


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if not isinstance(value, list):
        return f"{value:.3g}" if isinstance(value, float) else str(value)
    rest = f", … ({len(value)} in all)" if len(value) > _MOST else ""
    return ", ".join(map(str, value[:_MOST])) + rest
