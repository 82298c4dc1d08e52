"""Nested plain values with arrays among them, as checkpoints hold them: one JSON member, and the arrays.

>>> import numpy as np
>>> from adatron.files.tree import flatten, unflatten
>>> plain, arrays = flatten({"rates": (0.5, float("inf")), "alpha": np.ones(2)})
>>> plain
{'dict': [['rates', {'tuple': [0.5, inf]}], ['alpha', {'array': 'a0'}]]}
>>> unflatten(plain, arrays)
{'rates': (0.5, inf), 'alpha': array([1., 1.])}
"""

from __future__ import annotations

import json
import os
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np

from adatron.files.archive import bounded, read_archive, read_json, refusing, write_archive

_LONG = 16  # numbers in a list from which it is stored as an array


def write_tree(path: str | os.PathLike[str], kind: str, plain: Any, arrays: dict[str, np.ndarray]) -> None:
    """Write what `flatten` gave to a sealed archive, whole or not at all."""
    members: dict[str, Any] = {"tree.json": bounded(json.dumps(plain).encode())}
    for name, array in arrays.items():
        buffer = BytesIO()
        np.save(buffer, array, allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()  # not getbuffer(), see `write_archive`
    write_archive(path, kind, members)


def read_tree(path: str | os.PathLike[str], kind: str) -> Any:
    """The tree in an archive of `write_tree`; a ValueError says what is wrong with the file."""
    data, _ = read_archive(path, kind)
    with refusing(path), ZipFile(BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name.endswith(".npy")}
        arrays = {name[:-4]: np.load(BytesIO(content)) for name, content in members.items()}
        return unflatten(read_json(data, "tree.json"), arrays)


def flatten(tree: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """A JSON value, and the arrays that it refers to by name.

    The tree is made of None, bool, int, float, str, list, tuple, dict with str or int keys, and NumPy's
    arrays and numbers.
    """
    arrays: dict[str, np.ndarray] = {}
    return _plain(tree, arrays), arrays


def _plain(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    is_long = isinstance(value, list) and len(value) >= _LONG and all(type(item) is float for item in value)
    if isinstance(value, np.ndarray) or is_long:
        name = f"a{len(arrays)}"
        arrays[name] = np.asarray(value)
        return {"floats" if is_long else "array": name}
    if isinstance(value, list | tuple):
        items = [_plain(item, arrays) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, dict):
        return {"dict": [[key, _plain(item, arrays)] for key, item in value.items()]}
    raise ValueError(f"a value of type {type(value).__name__} cannot be stored")


def unflatten(plain: Any, arrays: dict[str, np.ndarray]) -> Any:
    """What `flatten` was given; a ValueError for anything else."""
    if isinstance(plain, list):
        return [unflatten(item, arrays) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if len(plain) == 1:
        [(kind, content)] = plain.items()
        if kind in ("array", "floats"):
            return arrays[content] if kind == "array" else arrays[content].tolist()
        if kind in ("tuple", "dict"):
            items = [unflatten(item, arrays) for item in content]
            return tuple(items) if kind == "tuple" else dict(items)
    raise ValueError(f"a stored value has the unknown kind {list(plain)[:1]}")
