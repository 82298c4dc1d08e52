"""``adatron fit``: train on a data set, say how it went, draw the convergence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from adatron.cli.options import GammaType, PlotPath, PositiveFloat, SolverType, common_options, width_to_gamma

__all__ = ["fit"]

_DEFAULT_PLOT = Path("adatron-convergence.png")
_KERNELS = ("rbf", "linear", "poly", "laplacian", "sigmoid")
_NOT_CONVERGED, _INTERRUPTED = 3, 130


@click.command()
@click.argument("data", default="sonar")
@click.option("--kernel", type=click.Choice(_KERNELS), help="Default: rbf, the Gaussian.")
@click.option("--sigma", type=PositiveFloat(), help="Width of the Gaussian: gamma = 1/(2 sigma^2).")
@click.option("--gamma", type=GammaType(), help="Coefficient of the kernel, instead of --sigma.")
@click.option(
    "-C", "C", type=PositiveFloat(allow_inf=True), help="Bound on the multipliers; inf: hard margin."
)
@click.option("--no-intercept", is_flag=True, help="Train without a bias.")
@click.option("--solver", type=SolverType(), help="Algorithm: adatron, adatron-secant, auto, ...")
@click.option("--tol", type=PositiveFloat(), help="Relative duality gap at which to stop. Default: 0.001.")
@click.option("--time-limit", type=PositiveFloat(), help="Seconds after which to stop with the best so far.")
@click.option(
    "--test-size",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="FLOAT",
    help="Share of the rows held out, stratified and seeded. Default: 1/3; sonar: its original split.",
)
@click.option("--plot", type=PlotPath(), help=f"Picture of the convergence. Default: {_DEFAULT_PLOT}.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--strict", is_flag=True, help=f"Exit with {_NOT_CONVERGED} if the fit did not converge.")
@common_options
@click.pass_context
def fit(
    ctx: click.Context,
    data: str,
    test_size: float | None,
    plot: Path | None,
    as_json: bool,
    strict: bool,
    no_intercept: bool,
    **options: Any,
) -> None:
    """Train a support vector machine on DATA and test it.

    DATA is a bundled data set: sonar (the default), breast_cancer_wisconsin, ionosphere or pima.

    Sonar is trained as in the documents: Kernel-Adatron, a Gaussian of width 1, a hard margin, features as
    they are. The others: C = 1, gamma = "scale", standardised features. Options override.
    """
    _check_width(options)
    from adatron.cli import reporting, training

    split = training.load_split(data, test_size)
    problem = reporting.plot_problem(plot or _DEFAULT_PLOT)
    if plot is not None and problem:
        raise OSError(f"--plot: {problem}")
    settings = training.settings_for(data, options) | {"fit_intercept": not no_intercept}
    outcome = training.train(split, settings)
    target = None if problem else plot or _DEFAULT_PLOT
    if problem:
        outcome.warnings.append(f"no plot was written: {problem}")
    failure = reporting.report(data, split, outcome, target, as_json=as_json)
    if failure is not None:
        raise failure
    _exit(ctx, outcome, strict=strict)


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


def _exit(ctx: click.Context, outcome: Any, *, strict: bool) -> None:
    if outcome.was_interrupted:
        click.echo("adatron: interrupted; what is reported is the best model so far", err=True)
        ctx.exit(_INTERRUPTED)
    if strict and not outcome.model.converged_:
        ctx.exit(_NOT_CONVERGED)
