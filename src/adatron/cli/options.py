"""What options accept, and what all commands have in common."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from adatron import __version__
from adatron.io.printing import printable_path

DEBUG = "adatron.debug"  # key of click's shared dictionary
_READING = ("missing", "ignore", "header", "delimiter", "decimal", "encoding", "zero_based", "format")
OUTPUT = click.Path(path_type=Path)  # checked by `may_write`
_FORMATS = ("csv", "tsv", "svmlight", "jsonl", "parquet", "arrow")
_Command = TypeVar("_Command", bound=Callable[..., Any])


def may_write(option: str, given: Path | None, default: Path | None, *, force: bool) -> Path | None:
    """The file to write, or an error before any work is done; default names are overwritten."""
    from adatron.files.atomic import check_target

    path = default if given is None else given
    if path is None:
        return None
    check_target(path)
    if given is not None and path.exists() and not force:
        raise FileExistsError(f"{option} {printable_path(path)}: already exists; use --force to overwrite it")
    return path


def _together(*options: Any) -> Callable[[_Command], _Command]:
    """One decorator that adds several options, in this order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _remember_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value or ctx.meta.get(DEBUG, False)


common_options = _together(
    click.version_option(__version__, prog_name="adatron", message="%(prog)s %(version)s"),
    click.option(
        "--debug", is_flag=True, expose_value=False, callback=_remember_debug,
        help="Show tracebacks of errors.",
    ),
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
target_option = _together(
    click.option(
        "--target", metavar="COL", help="Column to predict. Default: target, class, label, y or the last."
    ),
    click.option(
        "--task", type=click.Choice(["classification", "regression"]),
        help="Default: classification of text and of few different whole numbers.",
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
        help="Seed of all random choices.",
    ),
)  # fmt: skip
_MANY: Any = {"multiple": True, "metavar": "COL"}
data_options = _together(  # of commands that read a table
    click.option("--missing", multiple=True, metavar="TEXT", help="Another spelling of a missing value."),
    click.option("--ignore", **_MANY, help="Column to leave out; repeatable."),
    click.option("--categorical", **_MANY, help="Column of numbers to treat as a category; repeatable."),
    click.option("--header/--no-header", default=None, help="Whether the first row has names."),
    click.option("--delimiter", metavar="CHAR", help="Character between the cells of a CSV file."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of a CSV file."),
    click.option("--encoding", metavar="NAME", help="Of the text, such as latin-1. Default: UTF-8."),
    click.option("--zero-based", is_flag=True, help="Indices of the svmlight file begin with 0."),
    click.option("--format", type=click.Choice(_FORMATS), help="Of DATA. Default: by name, else by content."),
    click.option("--no-limits", is_flag=True, help="Read files of any size and number of columns."),
    json_option,
    common_options,
)


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """The `data_options` that were given, as arguments of `adatron.io.read_table`."""
    given = {name: options[name] for name in _READING if options[name] not in (None, False, ())}
    delimiter = given.get("delimiter", ",")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        takes = "one character of ASCII, neither a quotation mark nor a line break"
        raise click.UsageError(f"--delimiter must be {takes}; got {delimiter!r}.")
    if options["header"] is False:
        given["header"] = False
    if options["categorical"]:
        given["kinds"] = dict.fromkeys(options["categorical"], "text")
    if options["no_limits"]:
        given |= dict.fromkeys(["max_bytes", "max_line_bytes", "max_columns"], math.inf)
    return given
