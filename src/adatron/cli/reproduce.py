"""``adatron reproduce``: every table and figure of the documents, published beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from adatron import __version__
from adatron.cli.options import common_options
from adatron.io.printing import printable

__all__ = ["reproduce"]

_DEFAULT_OUT = Path("adatron-reproduction")


@click.command()
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--only", multiple=True, metavar="NAME", help="Only the experiments of this name; repeatable.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: minutes instead of an hour.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all random draws.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=_DEFAULT_OUT, show_default=True, metavar="DIR"
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON too.")
@common_options
@click.pass_context
def reproduce(
    ctx: click.Context,
    papers: tuple[str, ...],
    only: tuple[str, ...],
    quick: bool,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Run the experiments of the five documents and write one page.

    PAPER is one or more of cisc889, campbell1998, cristianini1999, potluru2009, tsang2007; default: all.
    Data that does not come with the package is looked for in the directory that ADATRON_DATA names; what is
    missing is said, the rest runs. DIR gets reproduction.html, .md and .json; what an earlier run has left
    there for other experiments is kept.
    """
    from adatron.papers import entries
    from adatron.papers.output import PAGE_NAME, write_reproduction
    from adatron.papers.records import Settings

    chosen = entries(papers, only)
    out.mkdir(parents=True, exist_ok=True)  # before an hour of work, not after
    results, was_interrupted = _run_all(chosen, quick=quick, seed=seed)
    plain = write_reproduction(results, out, Settings(__version__, quick, seed))
    if as_json:
        click.echo(json.dumps(plain))
    else:
        _print_summary(results)
        click.echo(f"page: {printable(str(out / PAGE_NAME))}")
    if was_interrupted:
        raise KeyboardInterrupt
    ctx.exit(1 if any(result.failure for result in results) else 0)


def _run_all(chosen: list[Any], *, quick: bool, seed: int) -> tuple[list[Any], bool]:
    """Results, and whether Ctrl-C ended them early."""
    from adatron.cli.progress import progress_bar
    from adatron.papers import run_entries

    results = []
    with progress_bar(percentage=True) as progress:
        told = _Told(progress, chosen)
        try:
            for result in run_entries(chosen, quick=quick, seed=seed, report=told.report):
                results.append(result)
                told.finish(result)
        except KeyboardInterrupt:
            return results, True
    return results, False


class _Told:
    """Tells a progress bar, or the error stream, which experiment is running."""

    def __init__(self, progress: Any, chosen: list[Any]) -> None:
        self.progress, self.n_entries, self.n_done = progress, len(chosen), 0
        self.task = progress.add_task("starting", total=max(len(chosen), 1))

    def report(self, entry: Any, share: float) -> None:
        name = f"{entry.document.name} {entry.experiment.name}"
        self.progress.update(self.task, description=f"{name:<34}", completed=self.n_done + share)

    def finish(self, result: Any) -> None:
        self.n_done += 1
        self.progress.update(self.task, completed=self.n_done)
        if self.progress.disable:
            name = f"{result.entry.document.name} {result.entry.experiment.name}"
            end = result.failure or (result.missing and f"cannot be run: {result.missing}") or "done"
            line = f"[{self.n_done}/{self.n_entries}] {name}: {end} ({result.seconds:.1f} s)"
            click.echo(printable(line), err=True)


def _print_summary(results: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from adatron.papers.records import by_document, counts

    console = Console(highlight=False, markup=False)
    table = Table("document", "experiments", "verdicts", "time", box=None)
    for document, group in by_document(results):
        verdicts = ", ".join(f"{count} {verdict.value}" for verdict, count in counts(group).items())
        seconds = sum(result.seconds for result in group)
        table.add_row(document.name, str(len(group)), verdicts, f"{seconds:.0f} s")
    with console.capture() as printed:
        console.print(table)
    click.echo(printable_lines(printed.get(), console.encoding), nl=False)


def printable_lines(text: str, encoding: str) -> str:
    return "".join(printable(line, encoding) + "\n" for line in text.splitlines())
