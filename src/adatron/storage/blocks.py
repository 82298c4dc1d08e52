"""Arrays as blocks of bytes: little-endian, contiguous, each at the next multiple of 64."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["ALIGNMENT", "block_table", "blocks", "padding", "unpacked"]

ALIGNMENT = 64
_NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
_TEXT = re.compile(r"<U[1-9][0-9]{0,5}")
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_MAX_AXES = 8
_MAX_LENGTH = 2**40  # of one axis
_ENTRY = {"name", "dtype", "shape", "order", "offset"}


def padding(size: int) -> int:
    """Bytes from `size` to the next multiple of the alignment."""
    return -size % ALIGNMENT


def block_table(arrays: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """Entries for the header, and the arrays as they are to be written, in the same order."""
    table, stored, offset = [], [], 0
    for name, array in arrays.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"an array cannot be stored under the name {name!r}; use letters, digits and _")
        block, order = _contiguous(name, array)
        entry = {"name": name, "dtype": block.dtype.newbyteorder("<").str, "order": order, "offset": offset}
        table.append(entry | {"shape": list(block.shape)})
        stored.append(block)
        offset += block.nbytes + padding(block.nbytes)
    return table, stored


def blocks(stored: list[np.ndarray]) -> Iterator[Any]:
    """The bytes of the arrays, each filled up with zeros to the alignment."""
    for array in stored:
        flat = array.reshape(-1, order="A").view(np.uint8) if array.size else np.empty(0, np.uint8)
        yield flat.data
        yield bytes(padding(array.nbytes))


def unpacked(table: Any, payload: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a table, as views of the bytes; they must fill these exactly, in order."""
    if not isinstance(table, list):
        raise ValueError("its table of arrays is not a list")
    arrays: dict[str, np.ndarray] = {}
    position = 0
    for entry in table:
        name, dtype, shape, order, offset = _checked_entry(entry)
        size = dtype.itemsize * _product(shape)
        if name in arrays:
            raise ValueError(f"it has two arrays {name!r}")
        if offset != position:
            raise ValueError(f"array {name!r} begins at {offset}, expected {position}: a gap or an overlap")
        if size > len(payload) - position:
            raise ValueError(f"array {name!r} needs {size:,} bytes, the file has {len(payload) - position:,}")
        arrays[name] = _array(name, payload[position : position + size], dtype, shape, order)
        end = position + size
        position = end + padding(size)
        if payload[end:position].any() or position > len(payload):
            raise ValueError(f"array {name!r} is not followed by zeros up to a multiple of {ALIGNMENT}")
    if position != len(payload):
        raise ValueError(f"{len(payload) - position:,} bytes follow the last array")
    return arrays


def _contiguous(name: str, array: Any) -> tuple[np.ndarray, str]:
    array = np.asarray(array)
    if array.dtype.kind == "U":
        array = array.astype(f"<U{max(1, array.dtype.itemsize // 4)}", copy=False)
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _NUMBERS and not _TEXT.fullmatch(dtype.str):
        raise ValueError(f"array {name!r} of dtype {array.dtype} cannot be stored; convert it to numbers")
    if array.ndim > _MAX_AXES:
        raise ValueError(f"array {name!r} has {array.ndim} axes, at most {_MAX_AXES} can be stored")
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    stored = np.asarray(array, dtype=dtype, order="F" if is_fortran else "C")
    _check_values(name, stored)
    return stored, "F" if is_fortran else "C"


def _checked_entry(entry: Any) -> tuple[str, np.dtype, tuple[int, ...], str, int]:
    if not isinstance(entry, dict) or not entry.keys() >= _ENTRY:
        raise ValueError(f"an array must have {', '.join(sorted(_ENTRY))}")
    name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"an array has the name {str(name)[:50]!r}")
    if not isinstance(dtype, str) or (dtype not in _NUMBERS and not _TEXT.fullmatch(dtype)):
        raise ValueError(f"array {name!r} has the unknown dtype {str(dtype)[:50]!r}")
    if not isinstance(shape, list) or len(shape) > _MAX_AXES or not all(map(_is_length, shape)):
        raise ValueError(f"array {name!r} has the shape {str(shape)[:50]}")
    if entry["order"] not in ("C", "F") or not _is_length(entry["offset"]):
        raise ValueError(f"array {name!r} has a wrong order or offset")
    return name, np.dtype(dtype), tuple(shape), entry["order"], entry["offset"]


def _is_length(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MAX_LENGTH


def _product(shape: tuple[int, ...]) -> int:
    """Of Python's integers, which do not overflow."""
    result = 1
    for length in shape:
        result *= length
    return result


def _array(name: str, part: np.ndarray, dtype: np.dtype, shape: tuple[int, ...], order: Any) -> np.ndarray:
    if not len(part):
        return np.empty(shape, dtype.newbyteorder("="), order=order)
    array = part.view(dtype).reshape(shape, order=order)
    _check_values(name, array)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_values(name: str, array: np.ndarray) -> None:
    """Bytes that are neither true nor false, or no character, have no meaning to NumPy."""
    if array.size == 0 or array.dtype.kind not in "bU":
        return
    flat = array.reshape(-1, order="A")
    if array.dtype.kind == "b":
        if flat.view(np.uint8).max() > 1:
            raise ValueError(f"array {name!r} has truth values that are neither 0 nor 1")
        return
    codes = flat.view("<u4")
    if codes.max() > 0x10FFFF or ((codes >= 0xD800) & (codes <= 0xDFFF)).any():
        raise ValueError(f"array {name!r} has text with values that are no Unicode characters")
