"""From a fitted estimator to plain values and arrays.

None, bool, int, finite float and str stand for themselves, a list is a list, and everything else is an
object with one key that says what it is: ``{"array": "a3"}``, ``{"tuple": [...]}``,
``{"estimator": ["SVC", {...}]}``. ``docs/model_files.md`` lists them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from adatron.io.registry import (
    DROPPED,
    FIT_ONLY,
    NUMBER_TYPES,
    classes_by_tag,
    estimators_by_tag,
    is_fitted_name,
    parameter_names,
    tag_of,
)
from adatron.kernels import CallableKernel
from adatron.training import Status

__all__ = ["Encoder"]

_LONG = 16  # from which a list of like values is an array
_DEEPEST = 100
_LARGEST_INT = 2**63


class Encoder:
    """Encodes values and collects the arrays they hold, equal ones once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[tuple[Any, ...], str] = {}

    def estimator(self, estimator: BaseEstimator, where: str = "", depth: int = 0) -> dict[str, Any]:
        """Parameters and fitted attributes of a known estimator."""
        tag = tag_of(estimator, estimators_by_tag())
        where = where or type(estimator).__name__
        if tag is None:
            raise ValueError(
                f"{where}: {type(estimator).__name__} cannot be stored in a model file, only "
                f"{', '.join(estimators_by_tag())}; pickle it"
            )
        encoded, parameters = {}, parameter_names(type(estimator))
        for name, value in sorted(estimator.__getstate__().items()):  # the same bytes for the same model
            if name in DROPPED:
                continue
            if name not in parameters and not is_fitted_name(type(estimator), name):
                raise ValueError(
                    f"{where}.{name} is neither a parameter nor set by fit, so it cannot be stored; delete it"
                )
            kept = None if (tag, name) in FIT_ONLY else value
            encoded[name] = self.value(kept, f"{where}.{name}", depth + 1)
        return {"estimator": [tag, encoded]}

    def value(self, value: Any, where: str, depth: int = 0) -> Any:
        """Any value that a model file can hold."""
        if depth > _DEEPEST:
            raise ValueError(f"{where} is nested too deep to be stored in a model file")
        if value is None or type(value) in (bool, str):
            return _checked_text(value, where) if type(value) is str else value
        if type(value) is int:
            if abs(value) >= _LARGEST_INT:
                raise ValueError(f"{where}={value} cannot be stored: it needs more than 64 bits")
            return value
        if type(value) is float:
            return value if isfinite(value) else {"float": repr(value)}
        for kinds, encode in self._ENCODERS:
            if isinstance(value, kinds):
                return encode(self, value, where, depth)
        return self._other(value, where, depth)

    def _list(self, value: list[Any], where: str, depth: int) -> Any:
        kinds = {type(item) for item in value}
        if len(kinds) == 1 and value:
            for kind, least, encode in self._LISTS:
                if len(value) >= least and (kinds == {kind} or (kind is object and is_dataclass(value[0]))):
                    short = encode(self, value, where, depth)
                    if short is not None:
                        return short
        return [self.value(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]

    def _floats(self, value: list[float], where: str, depth: int) -> Any:
        return {"floats": self._stored(np.array(value, dtype=np.float64))}

    def _ints(self, value: list[int], where: str, depth: int) -> Any:
        if max(map(abs, value)) >= _LARGEST_INT:
            return None
        return {"ints": self._stored(np.array(value, dtype=np.int64))}

    def _strings(self, value: list[str], where: str, depth: int) -> Any:
        """One array of UTF-8 bytes, one of how many belong to each string."""
        encoded = [_checked_text(item, where).encode() for item in value]
        lengths = np.array([len(item) for item in encoded], dtype=np.int64)
        together = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return {"strings": [self._stored(together), self._stored(lengths)]}

    def _ragged(self, value: list[np.ndarray], where: str, depth: int) -> Any:
        """Many small arrays of one kind: one array of all entries, one of the shapes."""
        kinds = {(array.dtype.str, array.ndim) for array in value}
        if len(kinds) > 1 or value[0].dtype.kind not in "biuf" or value[0].ndim == 0:
            return None
        if any(array.flags.f_contiguous and not array.flags.c_contiguous for array in value):
            return None  # keep the order: products depend on it in their last digits
        shapes = np.array([array.shape for array in value], dtype=np.int64)
        return {"ragged": [self._stored(np.concatenate([a.ravel() for a in value])), self._stored(shapes)]}

    def _records(self, value: list[Any], where: str, depth: int) -> Any:
        """Many small objects of one class: a list for each field."""
        tag = tag_of(value[0], classes_by_tag())
        if tag is None:
            return None
        columns = {
            field.name: self.value([getattr(item, field.name) for item in value], where, depth + 1)
            for field in fields(value[0])
        }
        return {"records": [tag, columns]}

    def _dict(self, value: dict[Any, Any], where: str, depth: int) -> Any:
        pairs = [
            [self.value(key, where, depth + 2), self.value(item, f"{where}[{key!r}]", depth + 2)]
            for key, item in value.items()
        ]
        return {"dict": pairs}

    def _array(self, value: np.ndarray, where: str, depth: int) -> Any:
        if value.dtype.kind != "O":
            return {"array": self._stored(np.asarray(value), where)}
        return {"objects": [list(value.shape), self._list(value.ravel().tolist(), where, depth + 1)]}

    def _csr(self, value: Any, where: str, depth: int) -> Any:
        parts = [self._stored(part, where) for part in (value.data, value.indices, value.indptr)]
        return {"csr": [*parts, list(value.shape)]}

    def _other(self, value: Any, where: str, depth: int) -> Any:
        """Objects of known classes, else an error with the way out."""
        tag = tag_of(value, classes_by_tag())
        if tag is not None:
            parts = {
                field.name: self.value(getattr(value, field.name), f"{where}.{field.name}", depth + 2)
                for field in fields(value)
            }
            return {"object": [tag, parts]}
        if type(value).__module__.split(".")[0] == "pandas" and type(value).__name__.endswith("Index"):
            return self.value(value.tolist(), where, depth)
        name = next((name for name, kind in NUMBER_TYPES.items() if value is kind), None)
        if name is not None:
            return {"type": name}
        raise ValueError(_refusal(value, where))

    def _stored(self, array: np.ndarray, where: str = "") -> str:
        if array.dtype.kind not in "biufU" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
            raise ValueError(f"{where} has the dtype {array.dtype}, which a model file cannot hold")
        is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        content = np.ascontiguousarray(array.T if is_fortran else array)
        digest = hashlib.sha256(content.reshape(-1).view(np.uint8).data).digest() if array.size else b""
        key = array.dtype.str, array.shape, is_fortran, digest
        if key not in self._names:
            self._names[key] = f"a{len(self.arrays)}"
            self.arrays[self._names[key]] = array
        return self._names[key]

    _ENCODERS: tuple[tuple[Any, Callable[..., Any]], ...] = (
        (Status, lambda self, value, where, depth: {"status": value.value}),
        (np.random.RandomState, lambda self, value, where, depth: None),
        (np.random.Generator, lambda self, value, where, depth: None),
        (np.generic, lambda self, value, where, depth: {"scalar": self._stored(np.asarray(value), where)}),
        (np.dtype, lambda self, value, where, depth: {"dtype": _dtype_name(value, where)}),
        (np.ndarray, _array),
        (list, _list),
        (tuple, lambda self, value, where, depth: {"tuple": self._list(list(value), where, depth + 1)}),
        (dict, _dict),
        (slice, lambda self, value, where, depth: {"slice": [value.start, value.stop, value.step]}),
        (sparse.csr_array, _csr),
        (BaseEstimator, lambda self, value, where, depth: self.estimator(value, where, depth + 2)),
    )
    _LISTS: tuple[tuple[type, int, Callable[..., Any]], ...] = (
        (float, _LONG, _floats),
        (int, _LONG, _ints),
        (str, _LONG, _strings),
        (np.ndarray, _LONG, _ragged),
        (object, _LONG, _records),
    )


def _checked_text(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{where}: the text {text!r} cannot be stored: {error.reason}") from error
    return text


def _dtype_name(dtype: np.dtype, where: str) -> str:
    if dtype.kind not in "biufUO":
        raise ValueError(f"{where}={dtype!r} cannot be stored in a model file")
    return dtype.newbyteorder("<").str


def _refusal(value: Any, where: str) -> str:
    if isinstance(value, CallableKernel) or (callable(value) and where.endswith("kernel")):
        return (
            f"{where} is a function, and a model file holds no code; use a kernel of adatron.kernels (their "
            "sums, products and powers, too) or kernel='precomputed', or pickle the model"
        )
    return (
        f"{where}={str(value)[:80]} cannot be stored in a model file, which holds numbers, text and arrays "
        "only; set it to its default, or pickle the model"
    )
