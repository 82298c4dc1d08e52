"""What a reader returns: a table of named columns, or a sparse matrix with its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adatron.io.readers.messages import check_names

__all__ = ["DenseTable", "SparseTable", "Table", "generated_names"]


@dataclass(frozen=True)
class DenseTable:
    """Named columns of equal length.

    Parameters
    ----------
    columns : list of str
        Their names; ``column_1``, ``column_2``, … where the file has none.
    values : list of ndarray
        One array for each column: float64 with NaN for a missing value, or object with strings and None.
    source : str
        Name of the file, as it is printed.
    target : str or None, default=None
        The column to predict, where that was said.
    missing : dict, optional
        The place of the first missing value of each column that has one.
    spelling : dict, optional
        How the distinct values of a column of numeric labels are written, by column: ``{1.0: "+1"}``.

    Attributes
    ----------
    n_rows : int
    kinds : list of str
        ``"number"`` or ``"text"`` for each column.

    See Also
    --------
    read_table : reads a table from a file.
    SparseTable : is what an svmlight file becomes.

    Examples
    --------
    >>> import io
    >>> from adatron.io import read_table
    >>> table = read_table(io.StringIO("size,colour,class\\n1,red,yes\\n2.5,blue,no\\n"))
    >>> type(table).__name__, table.columns, table.kinds, table.n_rows
    ('DenseTable', ['size', 'colour', 'class'], ['number', 'text', 'text'], 2)
    >>> table.select(["size"]).to_matrix()
    array([[1. ],
           [2.5]])
    """

    columns: list[str]
    values: list[NDArray[Any]]
    source: str
    target: str | None = None
    missing: dict[str, str] = field(default_factory=dict)
    spelling: dict[str, dict[float, str]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(self.values[0]) if self.values else 0

    @property
    def kinds(self) -> list[str]:
        """``"number"`` or ``"text"`` for each column."""
        return ["text" if column.dtype == object else "number" for column in self.values]

    def column(self, name: str) -> NDArray[Any]:
        """The values of one column.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.values[_position(self, name)]

    def select(self, names: Sequence[str]) -> DenseTable:
        """The table with only the columns `names`, in that order.

        Parameters
        ----------
        names : sequence of str

        Returns
        -------
        DenseTable
        """
        positions = [_position(self, name) for name in names]
        return replace(self, columns=list(names), values=[self.values[i] for i in positions])

    def to_matrix(self) -> NDArray[Any]:
        """All columns in one array: float64 when all are numbers, object when some are text.

        What is missing is NaN, in text as well: pandas and scikit-learn's imputers have it so.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
        """
        dtype: Any = object if "text" in self.kinds else np.float64
        matrix = np.empty((self.n_rows, len(self.columns)), dtype=dtype)
        for i, column in enumerate(self.values):
            matrix[:, i] = column
            if column.dtype == object:
                matrix[[cell is None for cell in column], i] = np.nan
        return matrix


@dataclass(frozen=True)
class SparseTable:
    """A sparse matrix with the labels that stand in front of its rows.

    Parameters
    ----------
    X : csr_array of float64, shape (n_rows, n_features)
    y : ndarray of float64, shape (n_rows,)
    source : str
        Name of the file, as it is printed.
    spelling : dict, optional
        How the distinct labels are written: ``{1.0: "+1"}``.

    Attributes
    ----------
    n_rows : int

    See Also
    --------
    read_table : reads a table from a file.
    DenseTable : is what other files become.

    Examples
    --------
    >>> import io
    >>> from adatron.io import read_table
    >>> table = read_table(io.StringIO("+1 1:0.5 3:2\\n-1 2:1\\n"))
    >>> type(table).__name__, table.X.shape, table.y, table.spelling
    ('SparseTable', (2, 3), array([ 1., -1.]), {1.0: '+1', -1.0: '-1'})
    """

    X: sparse.csr_array
    y: NDArray[np.float64]
    source: str
    spelling: dict[float, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]


Table = DenseTable | SparseTable


def generated_names(n_columns: int) -> list[str]:
    """Names for columns that have none.

    Examples
    --------
    >>> from adatron.io.readers.table import generated_names
    >>> generated_names(2)
    ['column_1', 'column_2']
    """
    return [f"column_{i}" for i in range(1, n_columns + 1)]


def _position(table: DenseTable, name: str) -> int:
    check_names("name", [name], table.columns, table.source)
    return table.columns.index(name)
