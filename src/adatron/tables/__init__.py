"""Tables in, numbers out: kinds of columns, their encodings, missing values and scales.

`TableEncoder` reads a table (`columns`), decides the kind of each column (`kinds`; text that stands for
numbers or dates is read by `parsing`), and learns an encoding for it (`encodings`, `targets`).

>>> from adatron.tables import TableEncoder
>>> rows = [["$1,200", "yes"], ["$950", "no"], ["$2,000", None], ["$1,000", "no"]]
>>> encoder = TableEncoder().fit(rows)
>>> [column.kind for column in encoder.columns_]
['number', 'binary']
>>> encoder.transform(rows).round(2)[:, :2]
array([[-0.21,  1.  ],
       [-0.79, -1.  ],
       [ 1.6 ,  0.  ],
       [-0.68, -1.  ]])

Target means of categories with many levels follow Micci-Barreca (2001).
"""

from adatron.tables.columns import is_table
from adatron.tables.encoder import TableEncoder
from adatron.tables.kinds import needs_encoding

__all__ = ["TableEncoder", "is_table", "needs_encoding"]
