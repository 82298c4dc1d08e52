"""Columns as plain arrays, from whatever table they come: pandas, polars, pyarrow, arrays or lists of rows.

A `Column` has one of five forms. Everything behind sees only these, so tables of different libraries with
equal cells are equal from here on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from numbers import Number
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy import sparse
from sklearn.utils import check_array

from adatron.tables.parsing import MISSING_NUMBER, parse_dates, parse_durations, parse_numbers


@dataclass(frozen=True)
class Column:
    """The cells of one column.

    `values` are float64 with NaN (form "number", "boolean", and "duration" in seconds), datetime64 with NaT
    ("date"), or indices into `levels` with −1 for missing ("label"). `levels` are sorted, and all occur.
    """

    name: str
    form: str
    values: np.ndarray
    levels: list[str] = field(default_factory=list)
    order: list[str] | None = None  # of an ordered category, also of levels that do not occur
    is_category: bool = False  # by its dtype

    @property
    def missing(self) -> np.ndarray:
        return self.values < 0 if self.form == "label" else np.isnan(self.values)


@dataclass(frozen=True)
class Reading:
    """The form in which a column is encoded, and how text is read to bring it there."""

    form: str
    decimal: str = "."
    day_first: bool = False
    is_written: bool = False  # as text, so that a typo is nothing unusual


def is_table(X: Any) -> bool:
    """Tell whether X has columns that may be other than numbers.

    Parameters
    ----------
    X : object
        Anything given to ``fit``.

    Returns
    -------
    bool
        True for data frames of pandas, polars and pyarrow, for arrays of objects, text or dates, and for
        lists of rows that hold such. False for arrays of numbers, sparse matrices, Dask collections and
        everything else.

    See Also
    --------
    TableEncoder : turns a table into numbers.

    Examples
    --------
    >>> from adatron.tables import is_table
    >>> is_table([[1, "red"], [2, "blue"]]), is_table([[1, 2], [3, 4]])
    (True, False)
    """
    if isinstance(X, list | tuple):
        try:
            X = np.asarray(X)
        except (ValueError, TypeError):
            return False
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "OUSTMm"
    return not sparse.issparse(X) and isinstance(_frame(X), nw.DataFrame)


def needs_encoding(X: Any) -> bool:
    """Tell whether a table has anything but complete columns of numbers.

    Parameters
    ----------
    X : object
        Anything given to ``fit``.

    Returns
    -------
    bool
        False also for whatever is no table.

    See Also
    --------
    is_table : does not look at the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.tables import needs_encoding
    >>> needs_encoding([["red"], ["blue"]]), needs_encoding(np.ones((2, 3)))
    (True, False)
    """
    if not is_table(X):
        return False
    frame = _frame(X)
    if not isinstance(frame, nw.DataFrame):
        return True
    return not all(_is_complete(frame[:, j]) for j in range(frame.shape[1]))


def _is_complete(series: Any) -> bool:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        return False
    return not np.isnan(_floats(series)).any()


def _frame(X: Any) -> Any:
    """X as a narwhals data frame; X itself if it is none. Columns of equal names are numbered."""
    try:
        return nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        if nw.dependencies.is_pyarrow_table(X):
            return nw.from_native(X.rename_columns(_numbered(X.column_names)), eager_only=True)
        return nw.from_native(X.set_axis(_numbered(X.columns), axis=1), eager_only=True)


def _numbered(names: Sequence[Any]) -> list[str]:
    """Names with a suffix from the second time they occur: a, a.1, a.2, as pandas reads such files."""
    seen: dict[str, int] = {}
    found = []
    for name in map(str, names):
        seen[name] = seen.get(name, -1) + 1
        found.append(f"{name}.{seen[name]}" if seen[name] else name)
    return found


class Table:
    """The columns of X, each read when it is asked for; `names` is None where X names none."""

    def __init__(self, X: Any) -> None:
        self.names: list[str] | None = None
        frame = None if isinstance(X, np.ndarray | list | tuple) or sparse.issparse(X) else _frame(X)
        if isinstance(frame, nw.DataFrame):
            self.n_rows, self.n_columns = frame.shape
            names = frame.columns
            if all(isinstance(name, str) for name in names):
                self.names = list(names)
            self.labels = _numbered(names)
            self._cells: Any = frame
        else:
            # a list of rows of several types would become text if NumPy chose the type
            given = np.array(X, dtype=object) if isinstance(X, list | tuple) and is_table(X) else X
            self._cells = check_array(given, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
            if self._cells.dtype.kind == "c":
                raise ValueError("Complex data not supported: X has complex values")
            self.n_rows, self.n_columns = self._cells.shape
            self.labels = [f"x{j}" for j in range(self.n_columns)]
        if self.n_columns == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={self._cells.shape}), at least 1 is required."
            )

    def column(self, j: int) -> Column:
        name = self.labels[j]
        cells = self._cells[:, j]
        column = _from_series(name, cells) if isinstance(cells, nw.Series) else _from_array(name, cells)
        if column.form == "number" and np.isinf(column.values).any():
            row = int(np.isinf(column.values).argmax())
            raise ValueError(f"Input X contains infinity: row {row}, column {name!r}; replace or drop it")
        return column


def _floats(series: Any) -> np.ndarray:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _from_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if dtype == nw.Boolean:
        return Column(name, "boolean", _floats(series))
    if dtype.is_numeric():
        return Column(name, "number", _floats(series))
    if dtype in (nw.Datetime, nw.Date):
        if dtype == nw.Datetime:
            series = series.dt.replace_time_zone(None)
        return _from_array(name, series.cast(nw.Datetime("us")).to_numpy())
    if dtype == nw.Duration:
        return _from_array(name, series.cast(nw.Duration("us")).to_numpy())
    if dtype.is_nested():
        raise _nested(name, str(dtype).lower(), 0)
    is_category = dtype in (nw.Categorical, nw.Enum)
    column = _from_objects(name, series.to_list(), is_category)
    if dtype == nw.Enum and not nw.dependencies.is_polars_series(series.to_native()):
        # pandas' ordered categories come as Enum, too; an Enum of polars just lists its levels
        return replace(column, order=[_text(level) for level in dtype.categories])
    return column


def _from_array(name: str, values: np.ndarray) -> Column:
    kind = values.dtype.kind
    if kind == "b":
        return Column(name, "boolean", values.astype(np.float64))
    if kind in "iuf":
        return Column(name, "number", values.astype(np.float64))
    if kind == "M":
        return Column(name, "date", values.astype("datetime64[us]"))
    if kind == "m":
        seconds = values.astype("timedelta64[us]").astype(np.float64) / 1e6
        return Column(name, "duration", np.where(np.isnat(values), np.nan, seconds))
    return _from_objects(name, values.tolist(), False)


def _from_objects(name: str, cells: list[Any], is_category: bool) -> Column:
    """A column of Python's objects: each distinct one is looked at once."""
    index: dict[Any, int] = {}
    try:
        codes = np.fromiter((index.setdefault(cell, len(index)) for cell in cells), np.intp, len(cells))
    except TypeError:  # not hashable
        row = next(i for i, cell in enumerate(cells) if isinstance(cell, list | dict | set | np.ndarray))
        raise _nested(name, type(cells[row]).__name__, row) from None
    distinct = list(index)
    for i, cell in enumerate(distinct):
        if isinstance(cell, tuple | frozenset):
            raise _nested(name, type(cell).__name__, int((codes == i).argmax()))
    present = [cell for cell in distinct if not _is_missing(cell)]
    if present and not is_category:
        for types, form, convert in _PLAIN_TYPES:
            if all(isinstance(cell, types) for cell in present):
                found = [None if _is_missing(cell) else cell for cell in distinct]
                return Column(name, form, convert(found)[codes])
    texts = [None if _is_missing(cell) else _text(cell) for cell in distinct]
    levels = sorted({text for text in texts if text})
    place = {text: i for i, text in enumerate(levels)}
    lookup = np.array([place.get(text, -1) if text else -1 for text in texts], dtype=np.intp)
    return Column(name, "label", lookup[codes] if len(lookup) else codes, levels, is_category=is_category)


def _number_array(cells: list[Any]) -> np.ndarray:
    return np.array([np.nan if cell is None else float(cell) for cell in cells])


def _dates_array(cells: list[Any]) -> np.ndarray:
    plain = [cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell for cell in cells]
    return np.array(plain, dtype="datetime64[us]")


def _duration_array(cells: list[Any]) -> np.ndarray:
    return np.array([np.nan if cell is None else cell.total_seconds() for cell in cells])


def _time_array(cells: list[Any]) -> np.ndarray:
    return parse_durations(["" if cell is None else cell.isoformat() for cell in cells])


_PLAIN_TYPES: list[tuple[Any, str, Any]] = [
    (bool | np.bool_, "boolean", _number_array),
    (Number, "number", _number_array),  # Decimal and Fraction as well
    (date | np.datetime64, "date", _dates_array),
    (timedelta, "duration", _duration_array),
    (time, "duration", _time_array),
]


def _is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA: what is not equal to itself."""
    if cell is None or isinstance(cell, str):
        return cell is None
    try:
        return bool(cell != cell)
    except TypeError:  # NA has no truth value
        return True


def _text(cell: Any) -> str:
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)  # 3 and 3.0 are one level
    return str(cell).strip()


def _nested(name: str, what: str, row: int) -> ValueError:
    return ValueError(
        f"column {name!r} holds a {what} in row {row}; a cell must be a number, text or a date: spread the "
        "column over several, or drop it"
    )


def converted(column: Column, reading: Reading) -> Column:
    """The column in the form that an encoding works on; text that cannot be read as such is missing.

    A column that was no text at the fit, and of which nothing can be read now, is an error.
    """
    form = reading.form
    if column.form == form or {column.form, form} <= {"number", "boolean", "duration"}:
        return replace(column, form=form)
    if form == "label":
        values, codes = np.unique(column.values, return_inverse=True)
        texts = [_text(v.item()) if column.form != "date" else str(v) for v in values]
        return as_labels(column, texts, np.where(column.missing, -1, codes))
    if column.form != "label":
        raise ValueError(f"column {column.name!r} should hold {form}s, but holds {column.form}s")
    if form == "date":
        parsed = parse_dates(column.levels, reading.day_first)
    elif form == "duration":
        parsed = parse_durations(column.levels)
    else:
        parsed = parse_numbers(column.levels, reading.decimal)
    read = with_values(column, form, parsed)
    odd = [text for text in column.levels if text not in MISSING_NUMBER]
    if odd and read.missing.all() and not reading.is_written:
        raise ValueError(f"column {column.name!r} should hold {form}s, but holds {odd[0]!r}")
    return read


def with_values(column: Column, form: str, parsed: np.ndarray) -> Column:
    """A column of labels in another form, where `parsed` has the value of each level."""
    missing = np.array(["NaT" if form == "date" else np.nan], dtype=parsed.dtype)
    return replace(column, form=form, values=np.concatenate([parsed, missing])[column.values], levels=[])


def as_labels(column: Column, texts: list[str], codes: np.ndarray) -> Column:
    """A column of labels from texts that may be unsorted or not occur."""
    used = np.unique(codes[codes >= 0])
    order = sorted(used.tolist(), key=texts.__getitem__)
    place = np.full(len(texts) + 1, -1, dtype=np.intp)
    place[order] = np.arange(len(order))
    levels = [texts[i] for i in order]
    return replace(column, form="label", values=place[codes], levels=levels)
