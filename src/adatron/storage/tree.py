"""Nested plain values with arrays among them, as a JSON value and a table of arrays, and back.

Examples
--------
>>> import numpy as np
>>> from adatron.storage.tree import flatten, unflatten
>>> plain, arrays = flatten({"rates": [0.5, float("inf")], "alpha": np.ones(2)})
>>> sorted(arrays)
['a0']
>>> back = unflatten(plain, arrays)
>>> back["rates"], back["alpha"].tolist()
([0.5, inf], [1.0, 1.0])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["flatten", "unflatten"]

_LONG = 16  # numbers in a list from which it is stored as an array


def flatten(tree: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """A JSON value, and the arrays that it refers to by name.

    Parameters
    ----------
    tree : None, bool, int, float, str, list, tuple, dict with str or int keys, ndarray, or NumPy number

    Returns
    -------
    plain : JSON value
    arrays : dict of str to ndarray
    """
    arrays: dict[str, np.ndarray] = {}
    return _plain(tree, arrays), arrays


def _plain(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return {"array": _added(value, arrays)}
    if isinstance(value, list | tuple):
        return _sequence(value, arrays)
    if isinstance(value, dict):
        return {"dict": [[key, _plain(item, arrays)] for key, item in value.items()]}
    raise ValueError(f"a value of type {type(value).__name__} cannot be stored")


def _sequence(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, list) and len(value) >= _LONG and all(type(item) is float for item in value):
        return {"floats": _added(np.array(value), arrays)}
    items = [_plain(item, arrays) for item in value]
    return items if isinstance(value, list) else {"tuple": items}


def _added(array: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    name = f"a{len(arrays)}"
    arrays[name] = array
    return name


def unflatten(plain: Any, arrays: dict[str, np.ndarray]) -> Any:
    """What `flatten` was given; a ValueError for anything else.

    Arrays are copies, so that one of them does not keep all others in memory.
    """
    if isinstance(plain, list):
        return [unflatten(item, arrays) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if len(plain) != 1:
        raise ValueError("a stored value must have exactly one kind")
    [(kind, content)] = plain.items()
    if kind == "float" and content in ("inf", "-inf", "nan"):
        return float(content)
    if kind in ("array", "floats") and content in arrays:
        array = arrays[content]
        return array.copy(order="K") if kind == "array" else array.tolist()
    if kind in ("tuple", "dict") and isinstance(content, list):
        items = [unflatten(item, arrays) for item in content]
        return tuple(items) if kind == "tuple" else _pairs(items)
    raise ValueError(f"a stored value has the unknown kind {str(kind)[:50]!r}")


def _pairs(items: list[Any]) -> dict[Any, Any]:
    if not all(
        isinstance(item, list) and len(item) == 2 and isinstance(item[0], str | int) for item in items
    ):
        raise ValueError("a stored dictionary must be a list of keys and values")
    return dict(items)
