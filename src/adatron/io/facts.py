"""Questions about the attributes of a model; a wrong answer is an error that names the attribute."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Facts"]

_WORDS = {"f": "floating point", "i": "whole", "b": "truth"}


class Facts:
    """What the fitted attributes of one estimator must be.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from adatron.io.facts import Facts
    >>> Facts(SimpleNamespace(mean_=np.zeros(3))).array("mean_", (2,))
    Traceback (most recent call last):
    ValueError: inconsistent model: SimpleNamespace.mean_ has shape (3,), expected (2,)
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.attributes = vars(model)

    def fail(self, name: str, what: str) -> ValueError:
        return ValueError(f"inconsistent model: {type(self.model).__name__}.{name} {what}")

    def require(self, holds: Any, name: str, what: str) -> None:
        if not holds:
            raise self.fail(name, what)

    def get(self, name: str) -> Any:
        """An attribute that must be there."""
        self.require(name in self.attributes, name, "is missing")
        return self.attributes[name]

    def a(self, name: str, kind: type | tuple[type, ...]) -> Any:
        """An attribute of a certain type."""
        value = self.get(name)
        self.require(isinstance(value, kind), name, f"has the type {type(value).__name__}")
        return value

    def integer(self, name: str, at_least: int) -> int:
        value = self.get(name)
        self.require(type(value) is int and value >= at_least, name, f"is no integer >= {at_least}")
        return value

    def number(self, name: str, *, above: float = -np.inf) -> float:
        value = self.get(name)
        is_number = type(value) is float or isinstance(value, np.floating)
        self.require(is_number and np.isfinite(value) and value > above, name, f"is no number > {above:g}")
        return float(value)

    def array(self, name: str, shape: tuple[int | None, ...], kind: str = "f") -> np.ndarray:
        """A finite array of a certain kind and shape, in which None is any length."""
        value = self.a(name, np.ndarray)
        self.shaped(name, value, shape)
        self.require(value.dtype.kind == kind, name, f"has dtype {value.dtype}, not {_WORDS[kind]} numbers")
        self.require(kind != "f" or np.isfinite(value).all(), name, "has NaN or infinity")
        return value

    def shaped(self, name: str, value: Any, shape: tuple[int | None, ...]) -> None:
        fits = len(value.shape) == len(shape)
        fits = fits and all(want in (None, got) for got, want in zip(value.shape, shape, strict=True))
        expected = str(shape).replace("None", "any")
        self.require(fits, name, f"has shape {value.shape}, expected {expected}")

    def rows(self, name: str, shape: tuple[int | None, ...]) -> Any:
        """Rows of features, dense or sparse, finite and float64."""
        value = self.get(name)
        if not sparse.issparse(value):
            self.array(name, shape)
        else:
            self.shaped(name, value, shape)
            self.require(np.isfinite(value.data).all(), name, "has NaN or infinity")
        self.require(value.dtype == np.float64, name, f"has dtype {value.dtype}, expected float64")
        return value
