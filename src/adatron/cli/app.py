"""The group of all commands: how every one of them fails, and with which exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import click

from adatron.cli.fit import fit
from adatron.cli.options import DEBUG, common_options, printable

__all__ = ["app"]

_EXPECTED = (ValueError, OSError, ImportError)  # their message is enough; anything else is a bug of ours
_INTERRUPTED, _BROKEN_PIPE = 130, 141


class _Commands(click.Group):
    """A group whose commands end in one line instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("adatron: interrupted", err=True)
            ctx.exit(_INTERRUPTED)
        except BrokenPipeError:
            _silence_stdout()
            ctx.exit(_BROKEN_PIPE)
        except Exception as error:
            _report(error, with_traceback=ctx.meta.get(DEBUG, False))
            ctx.exit(1)


def _silence_stdout() -> None:
    """Whoever read our output is gone; the interpreter must not complain when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: Exception, *, with_traceback: bool) -> None:
    if with_traceback:
        traceback.print_exception(error)
    message = printable(" ".join(str(error).split()) or type(error).__name__)
    if not isinstance(error, _EXPECTED):
        message = f"internal error: {type(error).__name__}: {message} (--debug shows where; please report it)"
    click.echo(f"adatron: error: {message}", err=True)


@click.group(
    "adatron",
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@common_options
def app() -> None:
    """Support vector machines trained by simple iterative algorithms, each fit with a certificate."""


app.add_command(fit)
