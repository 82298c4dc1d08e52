"""``adatron fit``: train on a table, say how good the model is, write it and a report."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from adatron.cli.options import OUTPUT, data_options, may_write, reading, target_option
from adatron.cli.terminal import Ended, Signals, collected_warnings, print_json, say
from adatron.io.printing import printable, printable_path

if TYPE_CHECKING:
    from adatron.cli.data import Parts, Rows
    from adatron.display.report.judge import FitStory

_MODEL, _REPORT = Path("model.skops"), Path("report.html")
_TASKS = {"svc": "classification", "ensemble": "classification", "svr": "regression"}
_CLASSES = {
    "svc": "SVC", "svr": "SVR", "oneclass": "OneClassSVM", "ensemble": "EnsembleSVC",
    "cluster": "SupportVectorClustering",
}  # fmt: skip
_KERNEL_OPTIONS = ("kernel", "sigma", "gamma", "solver", "tol", "no_scale")
_OPTIONS = {  # that each model takes
    "auto": ("scoring",),
    "svc": (*_KERNEL_OPTIONS, "C", "no_intercept", "probability"),
    "ensemble": ("kernel", "sigma", "gamma", "no_scale"),
    "svr": (*_KERNEL_OPTIONS, "C", "no_intercept", "epsilon"),
    "oneclass": (*_KERNEL_OPTIONS, "nu"),
    "cluster": ("sigma", "gamma", "no_scale"),
}
_KERNELS = ("rbf", "linear", "poly", "laplacian", "sigmoid")
_NOT_CONVERGED = 3


class Number(click.FloatRange):
    """Click's range of numbers, without nan, and without infinity unless it is allowed."""

    name = "number"

    def __init__(
        self, low: float, high: float | None = None, *, min_open: bool = False, max_open: bool = False,
        allow_inf: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(low, high, min_open=min_open, max_open=max_open)
        self.allow_inf = allow_inf

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number) or (math.isinf(number) and not self.allow_inf):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class GammaType(Number):
    """A number above zero, "scale" or "auto"."""

    name = "number|scale|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value in ("scale", "auto") else super().convert(value, param, ctx)


POSITIVE, GAMMA = Number(0.0, min_open=True), GammaType(0.0, min_open=True)
PENALTY = Number(0.0, min_open=True, allow_inf=True)


class SolverType(click.ParamType):
    """A name of `adatron.solvers.SOLVERS`, which is imported only when a name is there to check."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from adatron.solvers import SOLVERS

        return click.Choice(list(SOLVERS)).convert(value, param, ctx)


@click.command()
@click.argument("data", default="sonar")
@target_option
@click.option(
    "--model", type=click.Choice(list(_OPTIONS)), help="Default: auto, which chooses everything itself."
)
@click.option("--scoring", metavar="NAME", help="What --model auto optimises: roc_auc, f1, r2, ...")
@click.option("--kernel", type=click.Choice(_KERNELS), help="Default: rbf, the Gaussian.")
@click.option("--sigma", type=POSITIVE, help="Width of the Gaussian: gamma = 1/(2 sigma^2).")
@click.option("--gamma", type=GAMMA, help="Kernel coefficient gamma, instead of --sigma.")
@click.option("-C", "C", type=PENALTY, help="Penalty of a training error; inf allows none.")
@click.option("--epsilon", type=Number(0.0), help="Errors up to this size cost nothing (--model svr).")
@click.option("--nu", type=Number(0.0, 1.0, min_open=True), help="Largest share of outliers (oneclass).")
@click.option("--no-scale", is_flag=True, help="Take columns of numbers as they are, without scaling.")
@click.option("--no-intercept", is_flag=True, help="Train without a bias.")
@click.option("--probability", is_flag=True, help="Make --model svc predict probabilities, too.")
@click.option("--solver", type=SolverType(), help="Algorithm: adatron, adatron-secant, auto, ...")
@click.option("--tol", type=POSITIVE, help="Relative duality gap at which to stop. Default: 0.001.")
@click.option("--time-limit", type=POSITIVE, help="Seconds after which to stop with the best so far.")
@click.option(
    "--test-size", type=Number(0.0, 1.0, max_open=True),
    help="Share of the rows to test on; 0: none. Default: 1/3; sonar: its original split.",
)  # fmt: skip
@click.option("-o", "--output", type=OUTPUT, help=f"Model file. Default: {_MODEL}, overwritten.")
@click.option("--report", type=OUTPUT, help=f"HTML page. Default: {_REPORT}, overwritten.")
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("--force", is_flag=True, help="Overwrite files named by -o and --report.")
@click.option("--checkpoint", type=OUTPUT, help="File to save the fit to as it goes on, and on Ctrl-C.")
@click.option("--every", type=Number(0.0), default=30.0, show_default=True, help="Seconds between them.")
@click.option("--resume", is_flag=True, help="Resume from --checkpoint, if it exists.")
@click.option("--strict", is_flag=True, help=f"Exit with {_NOT_CONVERGED} if the fit did not converge.")
@data_options
@click.pass_context
def fit(ctx: click.Context, data: str, **options: Any) -> None:
    """Train a support vector machine on DATA and test it.

    DATA is a file (CSV, TSV, JSON lines, Parquet, Arrow, svmlight; also .gz, .bz2, .xz, .zst), - for standard
    input, or a bundled data set: sonar (the default), breast_cancer_wisconsin, ionosphere, pima.

    Text, dates and missing values are taken care of. Without further options everything is chosen by
    cross-validation; options such as --kernel, -C or --solver choose --model svc (svr for numbers).
    """
    _check_usage(options)
    signals = ctx.find_object(Signals) or Signals()
    summary = _fit(data, options, _checked_paths(options), signals)
    if summary["interrupted"]:
        ctx.exit(signals.exit_code)
    if options["strict"] and not summary["converged"]:
        ctx.exit(_NOT_CONVERGED)


def _check_usage(options: dict[str, Any]) -> None:
    model, sigma, kernel = options["model"], options["sigma"], options["kernel"]
    if options["resume"] and options["checkpoint"] is None:
        raise click.UsageError("--resume needs --checkpoint, the file to resume from.")
    if options["task"] and _TASKS.get(model, options["task"]) != options["task"]:
        raise click.UsageError(f"--model {model} is for {_TASKS[model]}.")
    if sigma is None:
        return
    if options["gamma"] is not None:
        raise click.UsageError("give --sigma or --gamma, not both.")
    if kernel not in (None, "rbf"):
        raise click.UsageError(f"--sigma is the width of the Gaussian kernel; for {kernel} give --gamma.")
    if not 0.0 < 0.5 / sigma / sigma < math.inf:
        raise click.UsageError(f"--sigma {sigma:g} leaves no finite gamma = 1/(2 sigma^2) > 0.")


def _checked_paths(options: dict[str, Any]) -> dict[str, Path | None]:
    """The files to write; one that cannot be written is an error before any work is done."""
    if find_spec("skops") is None:
        raise ImportError("model files need skops: pip install skops")
    if options["report"] is not None and find_spec("matplotlib") is None:
        raise ImportError("--report needs matplotlib: pip install matplotlib")
    default, force = None if options["no_report"] else _REPORT, options["force"]
    paths = {
        "-o": may_write("-o", options["output"], _MODEL, force=force),
        "--report": may_write("--report", options["report"], default, force=force),
        "--checkpoint": may_write("--checkpoint", options["checkpoint"], None, force=True),
    }
    names: dict[Path, str] = {}
    for option, path in paths.items():
        if path is not None and names.setdefault(path.absolute(), option) != option:
            both = f"{names[path.absolute()]} and {option}"
            raise ValueError(f"{both}: both would be written to {printable_path(path)}; name two files")
    return dict(zip(("model_file", "report", "checkpoint"), paths.values(), strict=True))


def _fit(
    data: str, options: dict[str, Any], paths: dict[str, Path | None], signals: Signals
) -> dict[str, Any]:
    """Train, test, write the model and the report, print the summary."""
    from adatron.cli.data import load_rows, split
    from adatron.cli.summary import print_summary, summarise
    from adatron.display.report.judge import FitStory
    from adatron.numerics.memory import peak_memory

    with collected_warnings() as warned:
        has_target = options["model"] not in ("oneclass", "cluster")
        rows = load_rows(data, has_target=has_target, target=options["target"], **reading(options))
        task = rows.task(options["task"] or _TASKS.get(options["model"] or "")) if has_target else None
        is_class = task == "classification"
        y = rows.labels if is_class else rows.target
        parts = split(rows, y, options["test_size"], is_class=is_class, seed=options["seed"])
        model = _model_for(task, parts.X_train, options)
        began = perf_counter()
        was_interrupted = _train(model, parts, options, paths["checkpoint"], signals)
        about = {
            "file": rows.name if rows.short_name != rows.name else "", "split": parts.description,
            "columns": f"{rows.X.shape[1]:,}", "target": rows.target_name or "",
        }  # fmt: skip
        story = FitStory(
            rows.short_name, model, parts.X_train, parts.y_train, parts.X_test, parts.y_test,
            seconds=perf_counter() - began, memory=peak_memory(), notes=[*rows.notes, *parts.notes],
            data={name: value for name, value in about.items() if value}, warnings=warned,
            model_file=printable(str(paths["model_file"])),
        )  # fmt: skip
        summary = summarise(rows, story, task) | {"interrupted": was_interrupted, "warnings": warned}
        failure = _write(rows, story, summary, paths)
    print_json(summary) if options["as_json"] else print_summary(summary)
    if failure is not None:
        raise failure
    return summary


def _model_for(task: str | None, X: Any, options: dict[str, Any]) -> Any:
    """The unfitted model that the options ask for.

    Without --model it is the one that needs no options; options that belong to another choose that one.
    """
    import adatron
    from adatron.cli.data import with_encoder

    names = {name for known in _OPTIONS.values() for name in known}
    given = {name: own for name, own in options.items() if name in names}
    given = {name: own for name, own in given.items() if own is not None and own is not False}
    model = options["model"]
    if model is None:
        by_task = "svr" if task == "regression" else "svc"
        model = by_task if set(given) - set(_OPTIONS["auto"]) else "auto"
    for name in given:
        if name not in _OPTIONS[model]:
            flag = "-C" if name == "C" else f"--{name.replace('_', '-')}"
            owners = ", ".join(other for other, known in _OPTIONS.items() if name in known)
            raise click.UsageError(f"{flag} does not apply to --model {model}; it belongs to {owners}.")
    scale = not given.pop("no_scale", False)
    if "sigma" in given:
        sigma = given.pop("sigma")
        given["gamma"] = 0.5 / sigma / sigma
    if given.pop("no_intercept", False):
        given["fit_intercept"] = False
    auto = "AutoSVR" if task == "regression" else "AutoSVC"
    estimator = getattr(adatron, _CLASSES.get(model, auto))(**given)
    known = estimator.get_params(deep=False)
    general = {"time_limit": options["time_limit"], "random_state": options["seed"]}  # 0 by default
    estimator.set_params(**{name: value for name, value in general.items() if name in known and value})
    return with_encoder(estimator, X, scale=scale)


def _train(
    model: Any, parts: Parts, options: dict[str, Any], checkpoint: Path | None, signals: Signals
) -> bool:
    """Fit, and return whether Ctrl-C or SIGTERM ended it; the best model so far is kept, if there is one."""
    from adatron.callbacks import Checkpoint
    from adatron.cli.progress import FitProgress, progress_bar
    from adatron.display.figures import innermost
    from adatron.estimators.callback_bridge import HAS_CALLBACKS

    machine, callbacks = innermost(model), []
    if checkpoint is not None:
        if checkpoint.exists() and not options["resume"]:
            say(f"note: {printable_path(checkpoint)} will be replaced; --resume would continue from it")
        callbacks = [Checkpoint(checkpoint, options["every"], resume=options["resume"])]
    with progress_bar() as bar:
        progress = FitProgress(bar, type(machine).__name__, getattr(machine, "time_limit", None), signals)
        if HAS_CALLBACKS or callbacks:  # without them there is no progress to show
            machine.set_callbacks(progress, *callbacks)
        try:
            model.fit(parts.X_train, parts.y_train)
        except KeyboardInterrupt as error:
            if not hasattr(machine, "status_"):
                is_saved = checkpoint is not None and checkpoint.exists()
                way_on = f"; --resume continues from {checkpoint}" if is_saved else ""
                raise Ended(f"no model yet{way_on}") from error
            say("adatron: interrupted; keeping the best model so far")
            return True
        finally:
            machine.set_callbacks()
    return False


def _write(
    rows: Rows, story: FitStory, summary: dict[str, Any], paths: dict[str, Path | None]
) -> Exception | None:
    """Write the model and the report. An error is returned, so that it does not hide how the fit went."""
    from adatron.files.atomic import atomic_write
    from adatron.io import save_model

    about: dict[str, Any] = {"columns": rows.columns, "kinds": rows.kinds, "target": rows.target_name}
    about |= {"n_features": int(rows.X.shape[1]), "task": summary["task"]}
    model_file, report = paths["model_file"], paths["report"]
    assert model_file is not None
    try:
        save_model(story.model, model_file, about=about)
        summary["model_file"], summary["report"] = str(model_file), None
        if report is not None and find_spec("matplotlib") is None:
            summary["notes"].append("no report was written: it needs matplotlib, pip install matplotlib")
        elif report is not None:
            from adatron.display.report import fit_report

            atomic_write(report, [fit_report(story).encode()])
            summary["report"] = str(report)
    except Exception as error:
        return error
    return None
