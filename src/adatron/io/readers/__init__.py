"""Readers of data files: CSV and its relatives, svmlight, Parquet.

Examples
--------
A table of numbers and text becomes a matrix of numbers in three steps.

>>> import io
>>> from adatron.io import encoder_for, read_table, split_target
>>> table = read_table(io.StringIO("size,colour,class\\n1,red,yes\\n3,blue,no\\n"))
>>> features, y = split_target(table)
>>> X = encoder_for(features).fit_transform(features.to_matrix())
>>> X.shape, y.tolist()
((2, 3), ['yes', 'no'])

A file that cannot be understood is an error that says where.

>>> read_table(io.StringIO("size,class\\n1,yes\\n3\\n"))
Traceback (most recent call last):
ValueError: <stream>:3:2: row with too few cells, found 1, expected 2 as in the other rows
"""

from adatron.io.readers.encoding import encoder_for
from adatron.io.readers.limits import Limits
from adatron.io.readers.matching import align, split_target
from adatron.io.readers.read import read_table
from adatron.io.readers.table import DenseTable, SparseTable

__all__ = ["DenseTable", "Limits", "SparseTable", "align", "encoder_for", "read_table", "split_target"]
