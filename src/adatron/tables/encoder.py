"""The transformer: decides the kind of every column, learns its encoding, applies it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from adatron.tables import encodings
from adatron.tables.columns import Reading, Table, converted, distinct
from adatron.tables.kinds import KINDS
from adatron.tables.learned import learned
from adatron.tables.matching import places_by_name
from adatron.tables.summary import ColumnSummary, ColumnTable
from adatron.tables.targets import Target, TargetMeans

_DENSE_BYTES = 2**29  # beyond which sparse output pays where most of it is zero


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with numbers, categories, text, dates and missing values into numbers.

    Every column is looked at once, and its kind is decided: number, two-valued, boolean, category, ordered
    category, text, date, duration; constant and empty columns and identifiers are dropped. Numbers, money,
    percentages and dates that are written as text are read as such. Tables come from pandas, polars or
    pyarrow, or are arrays or lists of rows.

    The scales are made for kernels, so do not standardise the result. Numbers are centred, divided by a
    robust standard deviation and smoothly clipped at ±5; two-valued columns are −1 and 1; a category has a
    column of 0 and 1 for each level, so that two levels are as far apart (city-block) as −1 and 1. A missing
    number is the median, a missing category a level of its own; where at least five rows (fewer in small
    tables) lack a value, a further column says so. Levels of fewer than five rows are joined, and unseen
    levels belong to them. Categories of more than 40 levels get columns for the 40 most frequent ones and the
    target mean of each level.

    Parameters
    ----------
    kinds : dict or None, default=None
        Kinds of some columns by name (by position for arrays), where the decision should be another:
        ``{"zip": "category"}``. One of "number", "binary", "boolean", "category", "ordinal", "text", "date",
        "duration", and "identifier", which drops the column.
    target_type : {"auto", "continuous", "classes"}, default="auto"
        How target means treat the target. "auto" takes targets with fractions, and whole numbers of more
        than 20 values, for continuous.
    sparse_output : bool or "auto", default="auto"
        Whether the result is a CSR array. "auto" does so when the training rows would take more than 512 MB
        dense, and most of that would be zeros.
    random_state : int or None, default=None
        Seed of the folds for target means; None is 0.

    Attributes
    ----------
    columns_ : ColumnTable
        For each column its kind, how much is missing, and what was done; prints as a table.
    output_columns_ : ndarray of shape (n_features_out,)
        The position of the column that each output came from.
    output_kinds_ : list of str
        The kind of that column.
    is_sparse_ : bool
        Whether the output is sparse.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names, if all are strings.

    Notes
    -----
    With a target and a category of more than 40 levels, `fit_transform` is not ``fit`` followed by
    ``transform``: it gives training rows target means that were learned on other rows. Train on its result.

    Columns of a data frame are matched by name, those of equal names in their order. Columns of arrays, and
    of data frames whose names are no strings, are matched by position.

    References
    ----------
    D. Micci-Barreca, A preprocessing scheme for high-cardinality categorical attributes, SIGKDD
    Explorations 3 (2001). D. Holzmüller, L. Grinsztajn and I. Steinwart, Better by default (2024), for the
    smooth clip.

    See Also
    --------
    sklearn.compose.ColumnTransformer : applies transformers that you choose yourself.

    Examples
    --------
    >>> from adatron.tables import TableEncoder
    >>> rows = [[i % 7, "abc"[i % 3], f"{i % 5 + 2000}-06-01", "same"] for i in range(60)]
    >>> encoder = TableEncoder().fit(rows)
    >>> encoder.columns_
    column  kind      missing  levels  outputs  what was done
    x0      number    0                1        standardised
    x1      category  0        3       3        one column for each level
    x2      date      0                5        elapsed, year, weekday_sin, weekday_cos, weekend
    x3      constant  0        1       0        dropped: one value in all rows
    >>> encoder.transform([[3, "a", "2024-05-01", "same"]]).shape
    (1, 9)
    """

    def __init__(
        self,
        *,
        kinds: dict[Any, str] | None = None,
        target_type: str = "auto",
        sparse_output: Any = "auto",
        random_state: int | None = None,
    ) -> None:
        self.kinds = kinds
        self.target_type = target_type
        self.sparse_output = sparse_output
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Decide the kind of every column and learn its encoding.

        Parameters
        ----------
        X : data frame, array or list of rows
            The table.
        y : array-like of shape (n_samples,) or None, default=None
            Targets, for the target means of categories with many levels.

        Returns
        -------
        TableEncoder
            The fitted encoder itself.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Fit, and encode the training rows without letting any see its own target.

        Parameters
        ----------
        X : data frame, array or list of rows
            The table.
        y : array-like of shape (n_samples,) or None, default=None
            Targets, for the target means of categories with many levels; (n_samples, n_targets) if
            `target_type` is "continuous".
        groups : array-like of shape (n_samples,) or None, default=None
            Rows of one group get target means that were learned on other groups.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features_out)
            The encoded rows.
        """
        return self.fit_with_means(X, y, groups)[0]

    def fit_with_means(self, X: Any, y: Any, groups: Any = None) -> tuple[Any, TargetMeans | None]:
        """Fit, and also tell what target means are when some rows are held out.

        A cross-validation on the encoded rows would be too optimistic: those it trains on have target means
        in which targets of the rows it holds out take part.

        Parameters
        ----------
        X, y : as for `fit_transform`
        groups : as for `fit_transform`, optional

        Returns
        -------
        rows : ndarray or csr_array of shape (n_samples, n_features_out)
            The encoded rows.
        means : TargetMeans or None
            The positions of the outputs that are target means (``places``), and ``without(held)``: these
            outputs if the targets of the `held` rows are not known. None without such outputs.
        """
        blocks, means = self._fit(X, y, groups)
        return self._joined(blocks, blocks[0].shape[0]), means

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : data frame, array or list of rows
            A table with the columns of the training table.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_features_out)
            The encoded rows.
        """
        check_is_fitted(self)
        table = Table(X)
        places = self._places(table)
        blocks = []
        for j, parts in enumerate(self._encodings):
            if parts:
                column = converted(table.column(places[j]), self._readings[j])
                blocks += [part.transform(column) for part in parts]
        return self._joined(blocks, table.n_rows)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the outputs.

        Parameters
        ----------
        input_features : None, default=None
            Ignored; scikit-learn's pipelines pass it.

        Returns
        -------
        ndarray of str
            One name for each output, beginning with that of its column.
        """
        check_is_fitted(self)
        return np.array(self._names_out, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _fit(self, X: Any, y: Any, groups: Any = None) -> tuple[list[Any], TargetMeans | None]:
        """Learn all encodings; the encoded training rows in blocks, and those of target means."""
        self._check_parameters()
        table = X if isinstance(X, Table) else Table(X)
        if table.n_rows == 0:
            shape = f"shape=(0, {table.n_columns})"
            raise ValueError(f"Found array with 0 sample(s) ({shape}) while a minimum of 1 is required.")
        kinds = self._given_kinds(table)
        target = None if y is None else Target.of(y, table.n_rows, self.target_type)
        found = learned(table, kinds, target, self.random_state or 0, groups)
        parts_of, summaries = found.parts_of, found.summaries
        blocks = [block for own in found.blocks_of for block in own]
        if not blocks:
            few = "1 sample" if table.n_rows == 1 else f"{table.n_rows} samples"
            reasons = "; ".join(f"{s.name!r} {s.done}" for s in summaries[:3])
            raise ValueError(f"no column of X ({few}) is of use: {reasons}")
        self.n_features_in_ = table.n_columns
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_
        self._encodings, self._readings, self.columns_ = parts_of, found.readings, ColumnTable(summaries)
        self._names_out = distinct([name for parts in parts_of for part in parts for name in part.names])
        self.output_columns_ = np.repeat(np.arange(table.n_columns), [s.n_outputs for s in summaries])
        self.output_kinds_ = [summaries[j].kind for j in self.output_columns_]
        n_out = len(self._names_out)
        self.is_sparse_ = bool(self.sparse_output)
        if self.sparse_output == "auto":
            self.is_sparse_ = 8 * n_out * table.n_rows > _DENSE_BYTES and n_out > 4 * table.n_columns
        return blocks, found.target_means()

    def _check_parameters(self) -> None:
        if self.target_type not in ("auto", "continuous", "classes"):
            raise ValueError(
                f"target_type must be 'auto', 'continuous' or 'classes', got {self.target_type!r}"
            )
        if not isinstance(self.kinds, dict | None):
            raise ValueError(f"kinds must be None or a dict of kinds by column, got {self.kinds!r}")
        if self.sparse_output not in ("auto", True, False):
            raise ValueError(f"sparse_output must be 'auto', True or False, got {self.sparse_output!r}")

    def _given_kinds(self, table: Table) -> dict[int, str]:
        """`kinds` by position."""
        found = {}
        for name, kind in (self.kinds or {}).items():
            if kind not in KINDS:
                raise ValueError(f"kinds[{name!r}] must be one of {', '.join(KINDS)}; got {kind!r}")
            if name in table.labels:
                found[table.labels.index(name)] = kind
            elif isinstance(name, int | np.integer) and table.names is None and 0 <= name < table.n_columns:
                found[int(name)] = kind
            else:
                raise ValueError(f"kinds names the column {name!r}, which X does not have")
        return found

    def _trial_row(self) -> np.ndarray:
        """A row that `transform` takes; the check of a model file transforms it."""
        return np.full((1, self.n_features_in_), np.nan)

    def _check_fitted(self) -> None:
        """Raise a ValueError where fitted attributes contradict one another, as in a forged model file."""
        n, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        columns = zip(self._encodings, self._readings, self.columns_.rows, strict=True)
        counts = [sum(len(part.names) for part in parts) for parts in self._encodings]
        is_sound = type(n) is int and len(self._encodings) == n >= 1 and sum(counts) == len(self._names_out)
        is_sound &= type(self.is_sparse_) is bool and len(self.output_kinds_) == len(self._names_out) > 0
        is_sound &= all(type(name) is str for name in [*self._names_out, *self.output_kinds_])
        is_sound &= np.array_equal(self.output_columns_, np.repeat(np.arange(n), counts))
        if names is not None:
            is_sound &= names.shape == (n,) and all(type(name) is str for name in names.tolist())
        for parts, reading, summary in columns:
            forms = {form for part in parts for form in encodings.FORMS[type(part)]}
            is_sound &= not parts or reading.form in forms
            is_sound &= type(summary) is ColumnSummary and type(reading) is Reading
        if not is_sound:
            raise ValueError("encodings and names of columns do not belong together")
        row = self.transform(self._trial_row())
        if row.shape != (1, len(self._names_out)):
            raise ValueError("the encoded row has another shape than the names of its features")

    def _places(self, table: Table) -> list[int]:
        """Positions of the training columns in another table; −1 for those that were dropped."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or table.names is None:
            if table.n_columns != self.n_features_in_:
                raise ValueError(
                    f"X has {table.n_columns} features, but TableEncoder is expecting {self.n_features_in_} "
                    "features as input"
                )
            if (names is None) != (table.names is None):
                had, has = ("with", "does not have") if names is not None else ("without", "has")
                message = f"X {has} valid feature names, but TableEncoder was fitted {had} feature names"
                warnings.warn(message, UserWarning, stacklevel=3)
            return list(range(self.n_features_in_))
        return places_by_name(names, table.names, map(bool, self._encodings))

    def _joined(self, blocks: list[Any], n_rows: int) -> Any:
        if self.is_sparse_:
            return sparse.csr_array(
                sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
            )
        out = np.empty((n_rows, len(self._names_out)))
        end = 0
        for block in blocks:
            start, end = end, end + block.shape[1]
            out[:, start:end] = block.toarray() if sparse.issparse(block) else block
        return out
