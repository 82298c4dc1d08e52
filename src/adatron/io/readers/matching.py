"""Which columns of a table are meant: the one to predict, and those that a model was fitted on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from adatron.io.printing import quoted
from adatron.io.readers.messages import check_names, closest_name, listed
from adatron.io.readers.table import DenseTable

__all__ = ["GENERATED_NAME", "align", "resolve_target", "split_target"]

_TARGET_NAMES = frozenset({"target", "class", "label", "y"})
GENERATED_NAME = re.compile(r"column_[0-9]+")


def resolve_target(columns: Sequence[str], target: str | None, source: str) -> str:
    """The column to predict: `target`, else the only one that is called so, else the last.

    Examples
    --------
    >>> from adatron.io.readers.matching import resolve_target
    >>> resolve_target(["Class", "a", "b"], None, "f.csv"), resolve_target(["a", "b"], None, "f.csv")
    ('Class', 'b')
    """
    if target is not None:
        check_names("target", [target], columns, source)
        return target
    named = [name for name in columns if name.casefold() in _TARGET_NAMES]
    return named[0] if len(named) == 1 else columns[-1]


def split_target(table: DenseTable, target: str | None = None) -> tuple[DenseTable, NDArray[Any]]:
    """Features and the column to predict.

    Parameters
    ----------
    table : DenseTable
    target : str or None, default=None
        Its name. Without one it is the ``target`` of the table; else the column that is called target, class,
        label or y, if there is exactly one; else the last column.

    Returns
    -------
    features : DenseTable
        The other columns; its ``target`` is the name of the column that was taken.
    y : ndarray
        float64, or strings.

    See Also
    --------
    read_table : reads the table.
    encoder_for : turns the features into numbers.

    Examples
    --------
    >>> import io
    >>> from adatron.io import read_table, split_target
    >>> features, y = split_target(read_table(io.StringIO("class,size\\nyes,1\\nno,2.5\\n")))
    >>> features.columns, features.target, y.tolist()
    (['size'], 'class', ['yes', 'no'])
    """
    name = resolve_target(table.columns, target if target is not None else table.target, table.source)
    if len(table.columns) < 2:
        raise ValueError(f"{table.source}: only one column, {quoted(name)}; expected features and a target")
    if name in table.missing:
        raise ValueError(
            f"{table.missing[name]}: missing value in the target column {quoted(name)}, which is never "
            "imputed; delete the row or give it a value"
        )
    y = table.column(name)
    features = table.select([column for column in table.columns if column != name])
    return replace(features, target=name), y.astype(str) if y.dtype == object else y


def align(table: DenseTable, names: Sequence[str], *, target: str | None = None) -> DenseTable:
    """The columns `names` of a table, in that order, as a fitted model wants them.

    Columns are matched by name. Those of a file without header have no names but their positions, which is
    all that counts when neither file has a header and the number of columns agrees.

    Parameters
    ----------
    table : DenseTable
    names : sequence of str
        The columns that the model was fitted on.
    target : str or None, default=None
        A column that may be there, and is ignored.

    Returns
    -------
    DenseTable

    See Also
    --------
    read_table : reads the table.
    split_target : separates features and target of a table to fit on.

    Examples
    --------
    >>> import io
    >>> from adatron.io import align, read_table
    >>> table = read_table(io.StringIO("b,class,a\\n1,yes,2\\n3,no,4\\n"))
    >>> align(table, ["a", "b"], target="class").to_matrix()
    array([[2., 1.],
           [4., 3.]])
    """
    names = list(names)
    has_no_names = all(GENERATED_NAME.fullmatch(name) for name in [*names, *table.columns])
    if has_no_names and len(names) == len(table.columns):
        return replace(table, columns=names)
    absent = [name for name in names if name not in set(table.columns)]
    extra = [name for name in table.columns if name not in {*names, target}]
    if absent or extra:
        raise ValueError(f"{table.source}: {_differences(absent, extra)}")
    return table.select(names)


def _differences(absent: list[str], extra: list[str]) -> str:
    parts = []
    if absent:
        hint = closest_name(absent[0], extra)
        parts.append(f"lacks {listed(absent)} that the model was fitted on{hint}")
    if extra:
        parts.append(f"has {listed(extra)} that it was not fitted on")
    return "columns differ: the table " + " and ".join(parts)
