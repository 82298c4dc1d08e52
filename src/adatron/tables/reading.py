"""Read columns of pandas, polars and pyarrow tables, arrays and lists of rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy import sparse
from sklearn.utils import check_array

from adatron.tables.columns import Column, distinct, text_of
from adatron.tables.kinds import is_identifier
from adatron.tables.parsing import parse_durations


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
    if sparse.issparse(X):
        return False
    return isinstance(_frame(X), nw.DataFrame)


def needs_encoding(X: Any) -> bool:
    """Tell whether a table has anything but complete columns of numbers that are no identifiers.

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
    if nw.dependencies.is_polars_lazyframe(X):
        return True  # only to hear what to do
    if not is_table(X):
        return False
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        return True  # columns of equal names, which only the encoder tells apart
    if not isinstance(frame, nw.DataFrame):
        return True
    return not all(_is_ready(str(name), frame[:, j]) for j, name in enumerate(frame.columns))


def _is_ready(name: str, series: Any) -> bool:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        return False
    values = _floats(series)
    return not (np.isnan(values).any() or is_identifier(name, values))


def _frame(X: Any) -> Any:
    """X as a narwhals data frame; X itself if it is none. Columns of equal names are numbered."""
    try:
        return nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        if nw.dependencies.is_pyarrow_table(X):
            return nw.from_native(X.rename_columns(distinct(X.column_names)), eager_only=True)
        return nw.from_native(X.set_axis(distinct(X.columns), axis=1), eager_only=True)


class Table:
    """The columns of X, each read when it is asked for; `names` is None where X names none."""

    def __init__(self, X: Any) -> None:
        self.names: list[str] | None = None
        frame = X if isinstance(X, np.ndarray | list | tuple) or sparse.issparse(X) else _frame(X)
        if nw.dependencies.is_polars_lazyframe(X):
            raise TypeError("X is a LazyFrame, which has no rows yet; pass X.collect()")
        if isinstance(frame, nw.DataFrame):
            self.n_rows, self.n_columns = frame.shape
            names = frame.columns
            if all(isinstance(name, str) for name in names):
                self.names = list(names)
            self.labels = distinct(names)
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
        raise _nested(name, type(dtype).__name__.lower(), 0)
    is_category = dtype in (nw.Categorical, nw.Enum)
    column = _from_objects(name, series.to_list(), is_category)
    if dtype == nw.Enum and not nw.dependencies.is_polars_series(series.to_native()):
        # pandas' ordered categories come as Enum, too; an Enum of polars just lists its levels
        return replace(column, order=[text_of(level) for level in dtype.categories])
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
        return Column(name, "duration", _seconds(values))
    return _from_objects(name, values.tolist(), False)


def _from_objects(name: str, cells: list[Any], is_category: bool) -> Column:
    """A column of Python's objects: each distinct one is looked at once."""
    index: dict[Any, int] = {}
    try:
        codes = np.fromiter((index.setdefault(cell, len(index)) for cell in cells), np.intp, len(cells))
    except TypeError:  # not hashable
        nested = list | dict | set | tuple | np.ndarray
        row = next((i for i, cell in enumerate(cells) if isinstance(cell, nested)), 0)
        raise _nested(name, type(cells[row]).__name__, row) from None
    distinct = list(index)
    for i, cell in enumerate(distinct):
        if isinstance(cell, tuple | frozenset | complex):
            raise _nested(name, type(cell).__name__, int((codes == i).argmax()))
    present = [cell for cell in distinct if not _is_missing(cell)]
    if present and not is_category:
        for types, form, convert in _PLAIN_TYPES:
            if all(isinstance(cell, types) for cell in present):
                found = [None if _is_missing(cell) else cell for cell in distinct]
                return Column(name, form, convert(found)[codes])
    texts = [None if _is_missing(cell) else text_of(cell) for cell in distinct]
    levels = sorted({text for text in texts if text})
    place = {text: i for i, text in enumerate(levels)}
    lookup = np.array([place.get(text, -1) if text else -1 for text in texts], dtype=np.intp)
    return Column(name, "label", lookup[codes] if len(lookup) else codes, levels, is_category=is_category)


def _number_array(cells: list[Any]) -> np.ndarray:
    values = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if cell is not None:
            try:
                values[i] = float(cell)
            except OverflowError:  # a whole number of hundreds of digits
                values[i] = np.inf
    return values


def _dates_array(cells: list[Any]) -> np.ndarray:
    plain = [cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell for cell in cells]
    return np.array(plain, dtype="datetime64[us]")


def _duration_array(cells: list[Any]) -> np.ndarray:
    return _seconds(np.array(cells, dtype="timedelta64[us]"))


def _seconds(durations: np.ndarray) -> np.ndarray:
    seconds = durations.astype("timedelta64[us]").astype(np.float64) / 1e6
    return np.where(np.isnat(durations), np.nan, seconds)


def _time_array(cells: list[Any]) -> np.ndarray:
    return parse_durations(["" if cell is None else cell.isoformat() for cell in cells])


_PLAIN_TYPES: list[tuple[Any, str, Any]] = [
    (bool | np.bool_, "boolean", _number_array),
    (timedelta | np.timedelta64, "duration", _duration_array),  # before numbers: NumPy takes it for one
    (time, "duration", _time_array),
    (date | np.datetime64, "date", _dates_array),
    (Real | Decimal, "number", _number_array),
]


def _is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA: what is not equal to itself."""
    if cell is None or isinstance(cell, str):
        return cell is None
    try:
        return bool(cell != cell)
    except TypeError:  # NA has no truth value
        return True


def _nested(name: str, what: str, row: int) -> ValueError:
    return ValueError(
        f"column {name!r} holds a {what} in row {row}; a cell must be a number, text or a date: spread the "
        "column over several, or drop it"
    )
