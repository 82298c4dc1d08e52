"""``adatron completion``: the script that teaches a shell to complete our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from adatron.cli.options import common_options


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@common_options
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    For example: adatron completion bash > ~/.local/share/bash-completion/completions/adatron
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "adatron", "_ADATRON_COMPLETE").source())
