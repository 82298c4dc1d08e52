"""Columns as plain arrays: read from pandas, polars and pyarrow tables, arrays and lists of rows.

A `Column` has one of five forms. All later code sees only these, so tables of different libraries with
equal cells are equal from here on.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy import sparse
from sklearn.utils import check_array

from adatron.exceptions import AdatronWarning, warn_user
from adatron.tables.parsing import (
    MISSING_NUMBER,
    MISSING_TEXT,
    PLAIN_TYPES,
    parse_dates,
    parse_durations,
    parse_numbers,
    seconds_of,
)

FORMS = ("number", "boolean", "duration", "date", "label")
NEARLY_ALL = 0.9  # share of the cells that must be numbers (dates) for the others to count as missing


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

    def __post_init__(self) -> None:
        flags = type(self.day_first) is type(self.is_written) is bool
        if self.form not in FORMS or self.decimal not in (".", ",") or not flags:
            raise ValueError(f"no column is read as {self}")


def converted(column: Column, reading: Reading) -> Column:
    """The column in the form that an encoding works on; text that cannot be read as such is missing.

    A warning says so, unless the fit saw text and would accept as much, or it is a single cell. A column that
    was no text at the fit, and of which nothing can be read now, is an error.
    """
    form = reading.form
    if form == "label":
        return _as_labels(column)
    if column.form == form or {column.form, form} <= {"number", "boolean", "duration"}:
        return replace(column, form=form)
    if column.missing.all():  # of whatever form
        column = replace(column, form="label", values=np.full(len(column.values), -1), levels=[])
    if column.form != "label":
        raise ValueError(f"column {column.name!r} should hold {form}s, but holds {column.form}s")
    if form == "date":
        parsed = parse_dates(column.levels, reading.day_first)
    elif form == "duration":
        parsed = parse_durations(column.levels)
    else:
        parsed = parse_numbers(column.levels, reading.decimal)
    read = with_values(column, form, parsed)
    is_odd = np.isnan(parsed) & np.array([text not in MISSING_NUMBER for text in column.levels], dtype=bool)
    odd, cells = np.array(column.levels, dtype=object)[is_odd], column.values[~column.missing]
    if len(odd) and read.missing.all() and not reading.is_written:
        raise ValueError(f"column {column.name!r} should hold {form}s, but holds {odd[0]!r}")
    usual = max(1.0, (1.0 - NEARLY_ALL) * len(cells)) if reading.is_written else 0.0
    if is_odd[cells].sum() > usual:
        texts = ", ".join(map(repr, odd[:3])) + ", …" * (len(odd) > 3)
        warn_user(f"column {column.name!r} should hold {form}s; taken as missing: {texts}", AdatronWarning)
    return read


def with_values(column: Column, form: str, parsed: np.ndarray) -> Column:
    """A column of labels in another form, where `parsed` has the value of each level."""
    missing = np.array(["NaT" if form == "date" else np.nan], dtype=parsed.dtype)
    return replace(column, form=form, values=np.concatenate([parsed, missing])[column.values], levels=[])


def _as_labels(column: Column) -> Column:
    """The column as labels; those that stand for a missing value are missing."""
    texts, codes = column.levels, column.values
    if column.form != "label":
        values, codes = np.unique(column.values, return_inverse=True)
        texts = [str(value) if column.form == "date" else text_of(value.item()) for value in values]
        codes = np.where(column.missing, -1, codes)
    elif MISSING_TEXT.isdisjoint(texts):
        return column
    codes, levels = _sorted_levels(texts, codes, MISSING_TEXT)
    return replace(column, form="label", values=codes, levels=levels)


def _sorted_levels(texts: list[str], codes: np.ndarray, missing: Set[str]) -> tuple[np.ndarray, list[str]]:
    """The texts that are not missing, sorted, and codes that point to them; −1 stays −1."""
    levels = sorted(set(texts) - missing)
    place = {text: i for i, text in enumerate(levels)}
    return np.array([*(place.get(text, -1) for text in texts), -1])[codes], levels


def text_of(cell: Any) -> str:
    """The level that a cell belongs to."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, bool | np.bool_) or (isinstance(cell, float) and cell.is_integer()):
        cell = int(cell)  # 1, 1.0 and True are equal, so they are one level
    return str(cell).strip()


def distinct(names: Iterable[Any]) -> list[str]:
    """Names as text, with a number at the end of those that came before: a, b, a_2."""
    seen: dict[str, None] = {}  # keeps their order
    for name in map(str, names):
        candidate, n = name, 1
        while candidate in seen:
            n += 1
            candidate = f"{name}_{n}"
        seen[candidate] = None
    return list(seen)


def is_table(X: Any) -> bool:
    """Tell whether X may have columns other than numbers.

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
    if sparse.issparse(X) or nw.dependencies.is_polars_lazyframe(X):
        return False
    return isinstance(as_frame(X), nw.DataFrame)


def as_frame(X: Any) -> Any:
    """X as a narwhals data frame; X itself if it is none. Columns of equal names are numbered."""
    if nw.dependencies.is_polars_lazyframe(X):
        raise TypeError("X is a LazyFrame, which has no rows yet; pass X.collect()")
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
        is_array = isinstance(X, np.ndarray | list | tuple) or sparse.issparse(X)
        cells: Any = X if is_array else as_frame(X)
        self._keys = cells.columns if isinstance(cells, nw.DataFrame) else None  # takes time in wide frames
        if self._keys is not None:
            self.names = list(self._keys) if all(isinstance(name, str) for name in self._keys) else None
            self.labels = distinct(self._keys)
        else:
            if isinstance(cells, list | tuple) and is_table(cells):
                cells = np.array(cells, dtype=object)  # else NumPy would make all of them text
            elif isinstance(cells, np.ma.MaskedArray):
                cells = np.ma.filled(cells.astype(object), None)
            cells = check_array(cells, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
            if cells.dtype.kind == "c":
                raise ValueError("Complex data not supported: X has complex values")
            self.labels = [f"x{j}" for j in range(cells.shape[1])]
        self.n_rows, self.n_columns = cells.shape
        self._cells = cells
        if self.n_columns == 0:
            raise ValueError(f"Found array with 0 feature(s) (shape={cells.shape}), at least 1 is required.")

    def some(self, rows: np.ndarray) -> Table:
        """Some of the rows."""
        found = copy(self)
        found._cells, found.n_rows = self._cells[rows], len(rows)
        return found

    def column(self, j: int) -> Column:
        name = self.labels[j]
        cells = self._cells[:, j] if self._keys is None else self._cells.get_column(self._keys[j])
        column = _from_series(name, cells) if isinstance(cells, nw.Series) else _from_array(name, cells)
        if column.form == "number" and np.isinf(column.values).any():
            row = int(np.isinf(column.values).argmax())
            raise ValueError(f"Input X contains infinity: row {row}, column {name!r}; replace or drop it")
        return column


def floats_of(series: Any) -> np.ndarray:
    """A series of numbers as float64, NaN where a value is missing."""
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _from_series(name: str, series: Any) -> Column:
    native, dtype = series.to_native(), series.dtype
    if dtype == nw.Boolean or dtype.is_numeric():
        return Column(name, "boolean" if dtype == nw.Boolean else "number", floats_of(series))
    if dtype.is_nested():
        raise _nested(name, type(dtype).__name__.lower(), 0)
    is_period = nw.dependencies.is_pandas_series(native) and str(native.dtype).startswith("period")
    if is_period or dtype in (nw.Datetime, nw.Date, nw.Duration):
        try:
            if is_period:
                series = nw.from_native(native.dt.to_timestamp(), series_only=True)
            elif dtype == nw.Datetime:
                series = series.dt.replace_time_zone(None)
            plain = nw.Duration("us") if dtype == nw.Duration else nw.Datetime("us")
            return _from_array(name, series.cast(plain).to_numpy())
        except (ValueError, OverflowError) as error:
            raise ValueError(f"column {name!r} has dates or times that are too far away: {error}") from error
    column = _from_objects(name, series.to_list(), dtype in (nw.Categorical, nw.Enum))
    if dtype == nw.Enum and not nw.dependencies.is_polars_series(native):
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
        return Column(name, "duration", seconds_of(values))
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
    unique_cells = list(index)
    for i, cell in enumerate(unique_cells):
        has_no_text = type(cell).__str__ is object.__str__ and type(cell).__repr__ is object.__repr__
        if has_no_text or isinstance(cell, tuple | frozenset | complex):
            raise _nested(name, type(cell).__name__, int((codes == i).argmax()))
    present = [cell for cell in unique_cells if not is_missing(cell)]
    if present and not is_category:
        for types, form, convert in PLAIN_TYPES:
            if all(isinstance(cell, types) for cell in present):
                found = [None if is_missing(cell) else cell for cell in unique_cells]
                return Column(name, form, convert(found)[codes])
    texts = ["" if is_missing(cell) else text_of(cell) for cell in unique_cells]
    codes, levels = _sorted_levels(texts, codes, {""})
    return Column(name, "label", codes, levels, is_category=is_category)


def is_missing(cell: Any) -> bool:
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
