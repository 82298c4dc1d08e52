"""Damaged and forged model files: bytes changed at random, or values of the header, with a valid checksum."""

from __future__ import annotations

import hashlib
import json
import random
from copy import deepcopy
from typing import Any

__all__ = ["forged", "mutated", "mutated_values", "parts_of", "sealed"]

DIGEST = 32
STRANGE: list[Any] = [
    None, True, 0, 1, -1, 2, 3, 10**18, -(10**18), 0.5, -0.0, 1e308, "", "rbf", "os.system", "a0", "a1",
    "nan", [], [0], [[]], {}, {"float": "nan"}, {"float": "inf"}, {"array": "a0"}, {"array": "a1"},
    {"tuple": []}, {"dict": []}, {"estimator": ["SVC", {}]}, {"object": ["kernel.Linear", {}]},
    {"type": "object"}, {"scalar": "a0"}, {"floats": "a1"}, {"strings": ["a0", "a1"]},
    {"ragged": ["a0", "a1"]}, {"csr": ["a0", "a1", "a2", [3, 3]]}, {"status": "converged"},
    {"objects": [[2], ["x", None]]}, {"slice": [0, 3, None]}, {"dtype": "<f4"},
]  # fmt: skip


def sealed(body: bytes) -> bytes:
    """The bytes with their SHA-256 behind them."""
    return body + hashlib.sha256(body).digest()


def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and array blocks of a whole file."""
    length = int.from_bytes(data[8:16], "little")
    begin = 16 + length + -(16 + length) % 64
    return json.loads(data[16 : 16 + length]), data[begin:-DIGEST]


def forged(header: Any, payload: bytes) -> bytes:
    """A file with this header (text is taken as it is) and a valid checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = b"ADATRON\x01" + len(text).to_bytes(8, "little") + text
    return sealed(start + bytes(-len(start) % 64) + payload)


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
    """One or two values of the header replaced, removed, repeated or exchanged; the checksum is right."""
    header, payload = parts_of(data)
    for _ in range(chance.randint(1, 2)):
        _change(chance.choice(list(_places(header))), chance)
    return forged(header, payload)


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
    elif kind == 3 and type(container[key]) in (int, float):
        container[key] = chance.choice([-1, 2]) * container[key] + chance.choice([0, 1])
    else:
        container[key] = deepcopy(chance.choice(STRANGE))
