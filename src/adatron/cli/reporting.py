"""How a fit is told: as a table, as JSON, as a picture."""

from __future__ import annotations

import io
import json
import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from rich.box import ROUNDED
from rich.console import Console
from rich.table import Table

from adatron.cli.options import printable
from adatron.cli.training import Outcome, Split

__all__ = ["plot_problem", "report"]


def report(name: str, split: Split, outcome: Outcome, plot: Path | None, *, as_json: bool) -> OSError | None:
    """Write the plot and print the result; a plot that could not be written is returned as its error."""
    failure = None
    if plot is not None:
        try:
            _write_plot(outcome.model, plot)
        except OSError as error:
            failure, plot = error, None
    summary = _summarise(name, split, outcome)
    summary["plot"] = None if plot is None else str(plot)
    summary |= {"notes": split.notes, "warnings": outcome.warnings}
    _print_json(summary) if as_json else _print_table(summary)
    return failure


def _summarise(name: str, split: Split, outcome: Outcome) -> dict[str, Any]:
    """All that is reported, in plain Python values."""
    model = outcome.model
    gamma = float(getattr(model._kernel, "gamma", math.nan))
    return {
        "data": name,
        "split": split.description,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "n_features": split.X_train.shape[1],
        "kernel": model.kernel,
        "gamma": None if math.isnan(gamma) else gamma,
        "sigma": math.sqrt(0.5 / gamma) if model.kernel == "rbf" else None,
        "C": model.C,
        "fit_intercept": model.fit_intercept,
        "solver": model.solver,
        "test_error_percent": 100.0 * (1.0 - float(model.score(split.X_test, split.y_test))),
        "duality_gap": model.duality_gap_,
        "tol": model.tol,
        "status": str(model.status_),
        "status_sentence": model.status_.sentence,
        "converged": model.converged_,
        "n_support": int(model.n_support_.sum()),
        "epochs": int(model.n_iter_.max()),
        "seconds": outcome.seconds,
    }


def _print_json(summary: dict[str, Any]) -> None:
    """Infinite numbers, which JSON lacks, become strings."""
    plain = {
        key: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in summary.items()
    }
    click.echo(json.dumps(plain, indent=2, allow_nan=False))


def _print_table(summary: dict[str, Any]) -> None:
    console = Console(markup=False, highlight=False, emoji=False)
    table = Table(show_header=False, box=ROUNDED if console.is_terminal else None)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in _rows(summary):
        table.add_row(key, value)
    with console.capture() as printed:
        console.print(table)
        for line in _remarks(summary):
            console.print(printable(line, console.encoding), soft_wrap=True)
    click.echo(printed.get(), nl=False)


def _remarks(summary: dict[str, Any]) -> list[str]:
    lines = [f"note: {note}" for note in summary["notes"]]
    lines += [f"warning: {warning}" for warning in summary["warnings"]]
    return lines if summary["plot"] is None else [*lines, f"convergence plot: {summary['plot']}"]


def _rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("data", f"{summary['data']}, {summary['n_features']} features"),
        ("split", f"{summary['n_train']} train, {summary['n_test']} test; {summary['split']}"),
        ("kernel", _describe_kernel(summary)),
        ("C", "inf (hard margin)" if math.isinf(summary["C"]) else f"{summary['C']:g}"),
        ("bias", "yes" if summary["fit_intercept"] else "no"),
        ("solver", summary["solver"]),
        ("test error", f"{summary['test_error_percent']:.2f} %"),
        ("duality gap", f"{summary['duality_gap']:.2e} (relative; tol {summary['tol']:g})"),
        ("status", f"{summary['status']}: {summary['status_sentence']}"),
        ("support vectors", f"{summary['n_support']} of {summary['n_train']}"),
        ("epochs", f"{summary['epochs']}"),
        ("seconds", f"{summary['seconds']:.3f}"),
    ]


def _describe_kernel(summary: dict[str, Any]) -> str:
    if summary["sigma"] is not None:
        return f"Gaussian (rbf), sigma {summary['sigma']:.4g}, gamma {summary['gamma']:.4g}"
    gamma = "" if summary["gamma"] is None else f", gamma {summary['gamma']:.4g}"
    return f"{summary['kernel']}{gamma}"


def plot_problem(path: Path) -> str | None:
    """Why no plot can be written to `path`, if that is so: better told before than after training."""
    if find_spec("matplotlib") is None:
        return "matplotlib is missing: pip install adatron[plot]"
    if path.exists() and not path.is_file():
        return f"{str(path)!r} is not a file"
    if not path.parent.is_dir():
        return f"there is no directory {str(path.parent)!r}"
    if not os.access(path.parent, os.W_OK):
        return f"the directory {str(path.parent)!r} cannot be written to"
    return None


def _write_plot(model: Any, path: Path) -> None:
    """All of the picture or nothing: it is written beside `path` and then takes its place."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.pyplot import close

    from adatron.display import ConvergenceDisplay

    figure, buffer = ConvergenceDisplay.from_estimator(model).figure_, io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower(), dpi=150)
    close(figure)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(buffer.getvalue())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
