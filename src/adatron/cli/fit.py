"""``adatron fit``: train on a table, say how it went, write the model and a report."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from adatron.cli.options import (
    GammaType,
    OutputPath,
    PositiveFloat,
    SolverType,
    common_options,
    json_option,
    may_write,
    reading_options,
    width_to_gamma,
)
from adatron.cli.signals import Signals

__all__ = ["fit"]

_MODEL, _REPORT = Path("model.skops"), Path("report.html")
_MODELS = ("auto", "svc", "ensemble", "svr", "oneclass", "cluster")
_KERNELS = ("rbf", "linear", "poly", "laplacian", "sigmoid")
_NOT_CONVERGED = 3


@click.command()
@click.argument("data", default="sonar")
@click.option(
    "--target", metavar="COL", help="Column to predict. Default: target, class, label, y or the last."
)
@click.option("--model", type=click.Choice(_MODELS), help="Default: auto, which leaves nothing to choose.")
@click.option("--kernel", type=click.Choice(_KERNELS), help="Default: rbf, the Gaussian.")
@click.option("--sigma", type=PositiveFloat(), help="Width of the Gaussian: gamma = 1/(2 sigma^2).")
@click.option("--gamma", type=GammaType(), help="Coefficient of the kernel, instead of --sigma.")
@click.option("-C", "C", type=PositiveFloat(allow_inf=True), help="Bound on multipliers; inf: hard margin.")
@click.option("--epsilon", type=click.FloatRange(min=0.0), help="Width of the tube of --model svr.")
@click.option("--nu", type=click.FloatRange(0.0, 1.0, min_open=True), help="Outliers, for --model oneclass.")
@click.option("--no-scale", is_flag=True, help="Take the features as they are; else they are standardised.")
@click.option("--no-intercept", is_flag=True, help="Train without a bias.")
@click.option("--probability", is_flag=True, help="Let --model svc predict probabilities, too.")
@click.option("--solver", type=SolverType(), help="Algorithm: adatron, adatron-secant, auto, ...")
@click.option("--tol", type=PositiveFloat(), help="Relative duality gap at which to stop. Default: 0.001.")
@click.option("--time-limit", type=PositiveFloat(), help="Seconds after which to stop with the best so far.")
@click.option(
    "--test-size",
    type=click.FloatRange(0.0, 1.0, max_open=True),
    help="Share of the rows held out, seeded. Default: 1/3; sonar: its original split. 0: none.",
)
@reading_options
@click.option("-o", "--output", type=OutputPath(), help=f"Model file. Default: {_MODEL}, overwritten.")
@click.option("--report", type=OutputPath(), help=f"HTML page. Default: {_REPORT}, overwritten.")
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("--force", is_flag=True, help="Overwrite files named by -o and --report.")
@click.option("--checkpoint", type=OutputPath(), help="Save the fit there every 30 seconds, and on Ctrl-C.")
@click.option("--every", type=click.FloatRange(min=0.0), default=30.0, help="Seconds between checkpoints.")
@click.option("--resume", is_flag=True, help="Go on from --checkpoint, if it is there.")
@click.option("--strict", is_flag=True, help=f"Exit with {_NOT_CONVERGED} if the fit did not converge.")
@json_option
@common_options
@click.pass_context
def fit(ctx: click.Context, data: str, **options: Any) -> None:
    """Train a support vector machine on DATA and test it.

    DATA is a file (CSV, TSV, svmlight, each also .gz, .bz2 or .xz; Parquet), - for standard input, or a
    bundled data set: sonar (the default), breast_cancer_wisconsin, ionosphere, pima.

    Without further options the kernel's width and everything else are chosen by cross-validation. Options
    such as --kernel, -C or --solver choose --model svc (svr for a numeric target).
    """
    _check_width(options)
    if options["resume"] and options["checkpoint"] is None:
        raise click.UsageError("--resume needs --checkpoint, the file to go on from.")
    paths = _checked_paths(options)
    from adatron.cli import fitting

    signals = ctx.find_object(Signals) or Signals()
    outcome, summary = fitting.fit_and_tell(data, options, paths, signals)
    if outcome.was_interrupted:
        ctx.exit(signals.exit_code)
    if options["strict"] and not summary["converged"]:
        ctx.exit(_NOT_CONVERGED)


def _checked_paths(options: dict[str, Any]) -> dict[str, Path | None]:
    """Where to write; what cannot be written is an error before any work is done."""
    force = options["force"]
    if find_spec("skops") is None:
        raise ImportError("model files need skops: pip install adatron[cli]")
    if options["report"] is not None and find_spec("matplotlib") is None:
        raise ImportError("--report needs matplotlib: pip install adatron[plot]")
    default = None if options["no_report"] else _REPORT
    return {
        "model_file": may_write("-o", options["output"], _MODEL, force=force),
        "report": may_write("--report", options["report"], default, force=force),
        "checkpoint": may_write("--checkpoint", options["checkpoint"], None, force=True),
    }


def _check_width(options: dict[str, Any]) -> None:
    if options["sigma"] is None:
        return
    if options["gamma"] is not None:
        raise click.UsageError("give --sigma or --gamma, not both.")
    if options["kernel"] not in (None, "rbf"):
        raise click.UsageError(
            f"--sigma is the width of the Gaussian kernel; with --kernel {options['kernel']} give --gamma."
        )
    if not 0.0 < width_to_gamma(options["sigma"]) < float("inf"):
        raise click.UsageError(f"--sigma {options['sigma']:g} leaves no finite gamma = 1/(2 sigma^2) > 0.")
