"""Columns of a new table, matched by name with those of the training table.

>>> import pandas as pd
>>> from adatron.tables.matching import in_order
>>> in_order(pd.DataFrame({"b": [2], "a": [1]}), ["a", "b"])
   a  b
0  1  2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from adatron.exceptions import AdatronWarning, warn_user
from adatron.tables.columns import as_frame


def places_by_name(names: Sequence[str], given: Sequence[str], is_used: Iterable[bool]) -> list[int]:
    """Where the columns `names` are among the `given` ones; −1 for those that are not there nor used."""
    place = {name: j for j, name in enumerate(given)}
    missing = [name for name, used in zip(names, is_used, strict=True) if used and name not in place]
    if missing:
        raise ValueError(f"X lacks columns that were there at fit: {', '.join(map(repr, missing))}")
    known = set(names)
    extra = [name for name in given if name not in known]
    if extra:
        message = f"columns that were not there at fit are ignored: {', '.join(map(repr, extra))}"
        warn_user(message, AdatronWarning)
    return [place.get(name, -1) for name in names]


def in_order(X: Any, names: Sequence[str]) -> Any:
    """The columns `names` of a data frame; X itself if it has just these, or names none."""
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame) or not all(isinstance(name, str) for name in frame.columns):
        return X
    if frame.columns == list(names):
        return X
    places = places_by_name(names, frame.columns, [True] * len(names))
    return frame[:, places].to_native()
