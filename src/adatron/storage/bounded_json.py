"""JSON from strangers: bounded in size, depth and number of parts; no duplicate keys, no NaN."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import isfinite
from typing import Any

import numpy as np

__all__ = ["MAX_BYTES", "dump_json", "parse_json"]

MAX_BYTES = 2**20
_MAX_DEPTH = 200
# Each list or object takes up to 200 bytes of memory, each entry up to 60: together some 20 MB at most.
_MAX_COUNTS = {b"[": 50_000, b"{": 50_000, b",": 150_000, b'"': 250_000}
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)  # also one that does not end: linear time
_LONG_NUMBER = re.compile(rb"(?<![.0-9])[0-9]{20}|[0-9]{40}")  # a float64 may need 20 digits after its point
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def dump_json(value: Any) -> bytes:
    """ASCII bytes of a value of plain types, always the same for the same value.

    Examples
    --------
    >>> from adatron.storage.bounded_json import dump_json
    >>> dump_json({"b": [1, None], "a": 0.5})
    b'{"a":0.5,"b":[1,null]}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
    _check_bounds(text)
    return text


def parse_json(text: bytes) -> Any:
    """The value that ASCII bytes spell; a ValueError says what is wrong with them.

    Examples
    --------
    >>> from adatron.storage.bounded_json import parse_json
    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the header names 'a' twice
    """
    _check_bounds(text)
    try:
        decoded = text.decode("ascii")
        hooks: dict[str, Any] = {"parse_constant": _refused, "parse_float": _finite}
        return json.loads(decoded, object_pairs_hook=_without_duplicates, **hooks)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"the header is not JSON: {error}") from error


def _check_bounds(text: bytes) -> None:
    """Refuse what would cost much, before it is parsed."""
    if len(text) > MAX_BYTES:
        raise ValueError(f"the header has {len(text):,} bytes, at most {MAX_BYTES:,} are allowed")
    for mark, most in _MAX_COUNTS.items():
        if text.count(mark) > most:
            raise ValueError(f"the header has {text.count(mark):,} times {mark.decode()}, at most {most:,}")
    bare = _STRING.sub(b"", text)
    if _LONG_NUMBER.search(bare):
        raise ValueError("the header has a number of too many digits: whole numbers have at most 19")
    brackets = np.frombuffer(bare.translate(None, _NO_BRACKETS), dtype=np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    depth = np.cumsum(steps).max(initial=0)
    if depth > _MAX_DEPTH:
        raise ValueError(f"the header is nested {depth} deep, at most {_MAX_DEPTH} are allowed")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"the header names {counts.most_common(1)[0][0][:50]!r} twice")
    return result


def _refused(constant: str) -> Any:
    raise ValueError(f"the header has {constant}, which is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise ValueError(f"the header has the number {digits[:50]}, which overflows float64")
    return value
