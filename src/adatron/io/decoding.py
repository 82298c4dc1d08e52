"""From the plain values and arrays of a model file back to the estimator.

Only the classes of `adatron.io.registry` are built. A file of a newer minor format may have attributes that
this version does not know; those are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from adatron.io.checks import check_model
from adatron.io.registry import (
    FIT_ONLY,
    NUMBER_TYPES,
    classes_by_tag,
    estimators_by_tag,
    is_fitted_name,
    parameter_names,
)
from adatron.kernels import Kernel
from adatron.training import Status

__all__ = ["Decoder"]

_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_STATUSES = {status.value: status for status in Status}
_PLAIN = (type(None), bool, int, float, str)


class Decoder:
    """Decodes values whose arrays are given."""

    def __init__(self, arrays: dict[str, np.ndarray], is_newer: bool) -> None:
        self._arrays = arrays
        self._is_newer = is_newer
        self._used: set[str] = set()

    def model(self, value: Any) -> BaseEstimator:
        """The estimator of a file, which has to use all of its arrays."""
        if not isinstance(value, dict) or value.keys() != {"estimator"}:
            raise ValueError("it holds no estimator")
        model = self.value(value)
        unused = self._arrays.keys() - self._used
        if unused and not self._is_newer:
            raise ValueError(f"array {min(unused)!r} is not used")
        return model

    def value(self, value: Any) -> Any:
        """Whatever `Encoder.value` made this of."""
        if type(value) in _PLAIN:
            return value
        if type(value) is list:
            return [self.value(item) for item in value]
        if len(value) != 1:
            raise ValueError(f"an object has the {len(value)} keys {str(list(value))[:80]}, expected one")
        ((tag, content),) = value.items()
        if tag not in self._DECODERS:
            raise ValueError(f"a value has the unknown type {tag[:50]!r}")
        return self._DECODERS[tag](self, content)

    def _estimator(self, content: Any) -> BaseEstimator:
        tag, state = content
        kind = self._named(tag, estimators_by_tag())
        parameters: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for name, value in state.items():
            if (tag, name) in FIT_ONLY and value is not None:
                raise ValueError(f"{tag}.{name} must be null in a file")
            if name in parameter_names(kind):
                parameters[name] = self.value(value)
            elif is_fitted_name(kind, name):
                attributes[name] = self.value(value)
            elif not self._is_newer:
                raise ValueError(f"{tag} has no attribute {name[:50]!r}")
        if not isinstance(attributes.get("_sklearn_version", ""), str):
            raise ValueError(f"{tag} has a version that is no text")
        estimator = kind(**parameters)
        estimator.__setstate__(attributes)  # scikit-learn's own say there when their version is another
        check_model(estimator)
        return estimator

    def _object(self, content: Any) -> Any:
        tag, parts = content
        kind = self._named(tag, classes_by_tag())
        return self._built(tag, kind, {name: self.value(part) for name, part in parts.items()})

    def _records(self, content: Any) -> list[Any]:
        tag, columns = content
        kind = self._named(tag, classes_by_tag())
        decoded = {name: self.value(column) for name, column in columns.items()}
        names = list(decoded)
        return [
            self._built(tag, kind, dict(zip(names, row, strict=True)))
            for row in zip(*decoded.values(), strict=True)
        ]

    def _built(self, tag: str, kind: Any, parts: dict[str, Any]) -> Any:
        """A frozen object; kernels of kernels must be made of kernels."""
        known = {field.name for field in fields(kind)}
        if not parts.keys() <= known and not self._is_newer:
            raise ValueError(f"{tag} has no field {min(parts.keys() - known)[:50]!r}")
        if issubclass(kind, Kernel):
            for name in ("left", "right", "base"):
                if name in known and not isinstance(parts.get(name), Kernel):
                    raise ValueError(f"{tag}.{name} is no kernel")
        return kind(**{name: part for name, part in parts.items() if name in known})

    def _named(self, tag: Any, known: dict[str, type]) -> Any:
        if not isinstance(tag, str) or tag not in known:
            raise ValueError(f"it asks for {str(tag)[:50]!r}, which is not one of {', '.join(known)}")
        return known[tag]

    def _array(self, name: Any) -> np.ndarray:
        if not isinstance(name, str) or name not in self._arrays:
            raise ValueError(f"it refers to the array {str(name)[:50]!r}, which it does not have")
        self._used.add(name)
        return self._arrays[name]

    def _vector(self, name: Any, dtype: Any) -> np.ndarray:
        array = self._array(name)
        if array.ndim != 1 or array.dtype != np.dtype(dtype):
            raise ValueError(f"array {name!r} must be a vector of {np.dtype(dtype)}")
        return array

    def _scalar(self, name: Any) -> Any:
        array = self._array(name)
        if array.ndim:
            raise ValueError(f"array {name!r} must be a single number")
        return array[()]

    def _strings(self, content: Any) -> list[str]:
        together, lengths = self._vector(content[0], np.uint8), self._vector(content[1], np.int64)
        ends = _ends(lengths, len(together))
        data = together.tobytes()
        return [data[end - n : end].decode() for end, n in zip(ends, lengths.tolist(), strict=True)]

    def _ragged(self, content: Any) -> list[np.ndarray]:
        together, shapes = self._array(content[0]), self._array(content[1])
        if together.ndim != 1 or shapes.ndim != 2 or shapes.dtype != np.int64 or not shapes.shape[1]:
            raise ValueError("a list of arrays has no vector of entries or no table of shapes")
        if shapes.size and (shapes.min() < 0 or shapes.max() > max(len(together), 1)):
            raise ValueError("a list of arrays has impossible shapes")
        sizes = [int(np.prod([int(n) for n in shape], dtype=object)) for shape in shapes]
        ends = _ends(np.array(sizes, dtype=object), len(together))
        parts = zip(ends, sizes, shapes.tolist(), strict=True)
        return [together[end - size : end].reshape(shape) for end, size, shape in parts]

    def _objects(self, content: Any) -> np.ndarray:
        shape, values = content
        decoded = self.value(values)
        array = np.empty(len(decoded), dtype=object)
        for i, item in enumerate(decoded):  # one by one: lists in it stay lists
            array[i] = item
        if not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"an array has the shape {str(shape)[:50]}")
        return array.reshape(shape)

    def _csr(self, content: Any) -> Any:
        data, indices, indptr = (self._array(name) for name in content[:3])
        matrix = sparse.csr_array((data, indices, indptr), shape=tuple(content[3]))
        matrix.check_format(full_check=True)
        if np.any(np.diff(indptr) < 0) or not matrix.has_canonical_format:
            raise ValueError("a sparse matrix has rows out of order")
        return matrix

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        result = {self.value(key): self.value(item) for key, item in pairs}
        if len(result) < len(pairs):
            raise ValueError("a dictionary has a key twice")
        return result

    def _dtype(self, name: Any) -> np.dtype:
        if not isinstance(name, str) or len(name) > 10 or np.dtype(name).kind not in "biufUO":
            raise ValueError(f"it has the unknown dtype {str(name)[:50]!r}")
        return np.dtype(name)

    _DECODERS: ClassVar[dict[str, Callable[..., Any]]] = {
        "estimator": _estimator,
        "object": _object,
        "records": _records,
        "array": _array,
        "scalar": _scalar,
        "floats": lambda self, name: self._vector(name, np.float64).tolist(),
        "ints": lambda self, name: self._vector(name, np.int64).tolist(),
        "strings": _strings,
        "ragged": _ragged,
        "objects": _objects,
        "csr": _csr,
        "dict": _dict,
        "dtype": _dtype,
        "tuple": lambda self, items: tuple(self.value(items)),
        "slice": lambda self, ends: slice(*map(_slice_end, ends)),
        "float": lambda self, name: _FLOATS[name],
        "type": lambda self, name: NUMBER_TYPES[name],
        "status": lambda self, name: _STATUSES[name],
    }


def _slice_end(value: Any) -> Any:
    if value is not None and type(value) is not int:
        raise ValueError(f"a slice has the end {str(value)[:50]!r}")
    return value


def _ends(lengths: np.ndarray, total: int) -> list[int]:
    """Where parts of these lengths end, which have to fill the total."""
    ends = np.cumsum(lengths, dtype=object).tolist() if len(lengths) else []
    if (len(lengths) and min(lengths) < 0) or (ends[-1] if ends else 0) != total:
        raise ValueError("the lengths of parts do not add up to the whole")
    return ends
