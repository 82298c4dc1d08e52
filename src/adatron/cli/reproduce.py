"""``adatron reproduce``: says where the papers' experiments are run."""

from __future__ import annotations

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PAPER]...")
def reproduce(arguments: tuple[str, ...]) -> None:
    """Say how to reproduce the papers' tables and figures."""
    raise click.UsageError(
        "The papers' experiments are not part of the installed package. In a checkout of the repository run: "
        + " ".join(["python3 tools/run.py reproduce", *(arguments or ["[PAPER ...]", "[--quick]"])])
    )
