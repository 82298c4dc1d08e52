"""The group of all commands, and how they end: one line for an error, and the exit code.

Commands have a file each, but for those that only print something about the command line itself.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from click.shell_completion import get_completion_class

from adatron.cli.compare import compare
from adatron.cli.datasets import list_datasets
from adatron.cli.explain import explain
from adatron.cli.fit import fit
from adatron.cli.inspect import inspect
from adatron.cli.options import DEBUG, common_options
from adatron.cli.play import play
from adatron.cli.predict import predict
from adatron.cli.terminal import Ended, Signals, ending_signals
from adatron.io.printing import printable, printable_path

_EXPECTED = (ValueError, OSError, ImportError, MemoryError)  # others are our bugs
_BROKEN_PIPE = 141


class _Commands(click.Group):
    """A group whose commands end in one line instead of a traceback."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **options: Any
    ) -> NoReturn:
        with ending_signals() as signals:
            options |= {"standalone_mode": False, "obj": signals}
            try:
                code = super().main(args, prog_name or "adatron", **options) or 0
            except click.ClickException as error:
                code = _tell_usage(error)
            except (KeyboardInterrupt, click.Abort):
                code = _tell_interrupted(signals)
        sys.exit(code)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        try:
            return super().make_context(*args, **options)
        except BrokenPipeError:  # of --help
            raise click.exceptions.Exit(_leave_quietly()) from None

    def invoke(self, ctx: click.Context) -> int:
        try:
            super().invoke(ctx)
            if sys.stdout is not None:  # the reader may be gone: notice it here, not at exit
                sys.stdout.flush()
            return 0
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            return _leave_quietly()
        except (KeyboardInterrupt, click.Abort) as error:
            return _tell_interrupted(ctx.obj, error)
        except Exception as error:
            if ctx.obj.received is not None:  # a library turned the signal into an error of its own
                return _tell_interrupted(ctx.obj)
            return _tell_error(error, with_traceback=ctx.meta.get(DEBUG, False))


def _leave_quietly() -> int:
    """Keep the interpreter from complaining when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())
    return _BROKEN_PIPE


def _tell_usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    if context is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    click.echo(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n", err=True)
    message = error.format_message().replace("\n\t", " ")  # click lists choices one below the other
    click.echo(f"Error: {printable(message)}", err=True)
    return error.exit_code


def _tell_interrupted(signals: Signals, error: BaseException | None = None) -> int:
    if sys.stderr is not None and sys.stderr.isatty():
        click.echo(err=True)  # the terminal has written ^C
    what = str(error) if isinstance(error, Ended) else ""
    click.echo(f"adatron: interrupted{printable(what and f'; {what}')}", err=True)
    return signals.exit_code


def _tell_error(error: Exception, *, with_traceback: bool) -> int:
    if with_traceback:
        traceback.print_exception(error)
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # without the number of the error
        has_name = isinstance(error.filename, str | bytes | os.PathLike)  # else a file descriptor
        text = (f"{printable_path(error.filename)}: " if has_name else "") + error.strerror
    elif isinstance(error, MemoryError):
        text = f"not enough memory; {text or 'use fewer rows'}"
    message = printable(" ".join(text.split()) or type(error).__name__)
    if not isinstance(error, _EXPECTED):
        message = f"internal error: {type(error).__name__}: {message} (--debug shows where; please report it)"
    click.echo(f"adatron: error: {message}", err=True)
    return 1


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group("adatron", cls=_Commands, context_settings=_SETTINGS)
@common_options
def app() -> None:
    """Kernel machines for tables and support vector machines, each fit with a certificate."""


for _command in (fit, predict, compare, inspect, explain, play, list_datasets):
    app.add_command(_command)


@app.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@common_options
def completion(shell: str) -> None:
    """Print the completion script for SHELL.

    For example: adatron completion bash > ~/.local/share/bash-completion/completions/adatron
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "adatron", "_ADATRON_COMPLETE").source())


@app.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PAPER]...")
def reproduce(arguments: tuple[str, ...]) -> None:
    """Say how to reproduce the papers' tables and figures."""
    raise click.UsageError(
        "The papers' experiments are not part of the installed package. In a checkout of the repository run: "
        + " ".join(["python3 tools/run.py reproduce", *(arguments or ["[PAPER ...]", "[--quick]"])])
    )
