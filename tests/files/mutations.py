"""Damaged and forged model files: bytes changed at random, or values of the schema, with a valid checksum."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from copy import deepcopy
from typing import Any

import numpy as np

from adatron import __version__

__all__ = ["forged", "json_node", "mutated", "mutated_values", "npy", "parts_of", "sealed", "state_of"]

DIGEST = 64


def json_node(value: Any) -> dict[str, Any]:
    """A plain value, as skops has it."""
    node = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
    return node | {"content": json.dumps(value), "is_json": True}


def sequence(kind: str, *items: Any) -> dict[str, Any]:
    node = {"__class__": kind, "__module__": "builtins", "__loader__": f"{kind.capitalize()}Node"}
    return node | {"content": list(items)}


EMPTY: dict[str, Any] = {
    "__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "content": {},
    "key_types": sequence("list"),
}  # fmt: skip


def object_node(name: str, content: Any = EMPTY) -> dict[str, Any]:
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": "ObjectNode", "content": content}


STRANGE: list[Any] = [
    *(None, True, 0, 1, -1, 3, 10**18, 0.5, 1e308, "", "rbf", "os.system", "\"nan\"", "[]", [], [0], {}),
    *map(json_node, (None, True, 0, -1, 10**18, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "rbf")),
    *map(json_node, ([1.0, 2.0], "os.system", "no")),
    EMPTY, sequence("list"), sequence("tuple"), sequence("list", json_node(1)), object_node("adatron.SVC"),
    object_node("adatron.kernels.Linear"), object_node("os.system"), object_node("adatron.SVR", None),
    {"__class__": "float64", "__module__": "numpy", "__loader__": "TypeNode"},
]  # fmt: skip


def sealed(body: bytes) -> bytes:
    """The bytes with their SHA-256 behind them."""
    return body + hashlib.sha256(body).hexdigest().encode()


def parts_of(data: bytes) -> tuple[Any, dict[str, bytes]]:
    """The schema and the other members of a whole file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("schema.json")), members


def forged(
    schema: Any, members: dict[str, bytes], *, version: str = __version__, kind: str = "model", **options: Any
) -> bytes:
    """A file with this schema (text is taken as it is) and a valid checksum."""
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:
        for name, content in [*members.items(), ("schema.json", text)]:
            archive.writestr(name, content)
        archive.comment = f"adatron {version} {kind} sha256:{DIGEST * '0'}".encode()
    return sealed(buffer.getvalue()[:-DIGEST])


def state_of(schema: Any) -> dict[str, Any]:
    """The attributes of the estimator, node by node."""
    return schema["content"]["content"]


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array))
    return buffer.getvalue()


def mutated(data: bytes, chance: random.Random) -> bytes:
    """One to four bytes changed, inserted, deleted or repeated, or the end cut off."""
    result = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(result)) if result else 0
        kind = chance.randrange(5)
        if kind == 0 and result:
            result[place] ^= 1 << chance.randrange(8)
        elif kind == 1 and result:
            result[place] = chance.randrange(256)
        elif kind == 2:
            result[place:place] = chance.randbytes(chance.randint(1, 70))
        elif kind == 3:
            del result[place : place + chance.randint(1, 70)]
        else:
            result[place:place] = result[place : place + chance.randint(1, 200)]
    return bytes(result)


def mutated_values(data: bytes, chance: random.Random) -> bytes:
    """One or two values of the schema, or bytes of an array, changed; sizes and checksum are right."""
    schema, members = parts_of(data)
    for _ in range(chance.randint(1, 2)):
        if chance.random() < 0.3:
            name = chance.choice([name for name in members if name.endswith(".npy")])
            content = bytearray(members[name])
            content[chance.randrange(min(60, len(content)), len(content))] ^= 1 << chance.randrange(8)
            members[name] = bytes(content)
        else:
            _change(chance.choice(list(_places(schema))), chance)
    return forged(schema, members)


def _places(value: Any) -> Any:
    """Every (container, key) below a value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def _change(place: tuple[Any, Any], chance: random.Random) -> None:
    container, key = place
    kind = chance.randrange(6)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, list):
        container.insert(key, deepcopy(container[key]))
    elif kind == 2:
        other = chance.choice(list(container) if isinstance(container, dict) else range(len(container)))
        container[key], container[other] = container[other], container[key]
    elif kind == 3 and type(container[key]) is str and container[key].replace(".", "").isdigit():
        container[key] = chance.choice(["-", "1", "0.", ""]) + container[key]
    else:
        container[key] = deepcopy(chance.choice(STRANGE))
