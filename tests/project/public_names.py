"""The public names, as docs/api.rst lists them, and what their docstrings and signatures say."""

import ast
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter

PAGE = Path(__file__).parents[2] / "docs" / "api.rst"
_PACKAGE = "adatron"
_ENTRY = re.compile(
    r"^(?P<heading>\S.*)\n-+$|^\.\. currentmodule:: (?P<module>\S+)$|^   (?P<name>\w+)$", re.M
)
_CONSTANTS = {"inf": math.inf, "e": math.e}
_DEFAULT = re.compile(r"\bdefault=(?P<value>.+)$", re.S)


@dataclass(frozen=True)
class PublicName:
    """A name on the page: where it stands there, and how it is imported."""

    section: str
    module: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def thing(self) -> Any:
        return getattr(import_module(self.module), self.name)


@dataclass(frozen=True)
class Documented:
    """A function, class or method, and under which name a failing test reports it."""

    path: str
    thing: Any

    @property
    def doc(self) -> NumpyDocString:
        return parsed(self.thing)

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.thing)

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Those of the signature under the names that numpydoc gives them: with stars, without self."""
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        found = self.signature.parameters.values()
        return {stars.get(p.kind, "") + p.name: p for p in found if p.name not in ("self", "cls")}


@cache
def public_names() -> list[PublicName]:
    """Every name in the lists of docs/api.rst."""
    section = module = ""
    found = []
    for match in _ENTRY.finditer(PAGE.read_text(encoding="utf-8")):
        section, module = match["heading"] or section, match["module"] or module
        if match["name"]:
            found.append(PublicName(section, module, match["name"]))
    return found


@cache
def parsed(thing: Any) -> NumpyDocString:
    """The docstring in its sections; a section that numpydoc does not know is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return NumpyDocString(inspect.getdoc(thing) or "")


def public_classes() -> list[PublicName]:
    return [public for public in public_names() if inspect.isclass(public.thing)]


def public_methods() -> Iterator[Documented]:
    """Methods of public classes that are ours: what scikit-learn and Python give them is left out."""
    seen = set()
    for public in public_classes():
        for owner, name, member in _own_members(public.thing):
            if _is_method(member) and (owner, name) not in seen:
                seen.add((owner, name))
                bound = getattr(owner, name)
                yield Documented(f"{owner.__module__}.{owner.__qualname__}.{name}", bound)


def public_properties() -> Iterator[tuple[type, str, Any]]:
    """Each with the public class that has it."""
    for public in public_classes():
        for _, name, member in _own_members(public.thing):
            if isinstance(member, property | cached_property):
                yield public.thing, name, member


def _own_members(kind: type) -> Iterator[tuple[type, str, Any]]:
    """Public members with the class of ours that they come from; of several, the one that is used."""
    hidden: set[str] = set()
    for owner in kind.__mro__:
        names = [name for name in vars(owner) if name == "__call__" or not name.startswith("_")]
        if owner.__module__.startswith(_PACKAGE):
            yield from ((owner, name, vars(owner)[name]) for name in names if name not in hidden)
        hidden.update(names)


def _is_method(member: Any) -> bool:
    is_wrapped = hasattr(member, "fn") and hasattr(member, "check")  # by scikit-learn's available_if
    return is_wrapped or isinstance(member, staticmethod | classmethod) or inspect.isfunction(member)


def documented_parameters(doc: NumpyDocString) -> dict[str, Parameter]:
    """By name; ``X, y : array-like`` stands for two."""
    entries = [*doc["Parameters"], *doc["Other Parameters"]]
    return {name: entry for entry in entries for name in entry.name.split(", ")}


def documented_default(name: str, entry: Parameter) -> Any:
    """The value after ``default=``, `Ellipsis` where none is named; ``default=1, 2`` goes with two names."""
    match = _DEFAULT.search(entry.type)
    if match is None:
        return ...
    text = match["value"].strip()
    value = _CONSTANTS[text] if text in _CONSTANTS else ast.literal_eval(text)
    names = entry.name.split(", ")
    is_for_each = len(names) > 1 and isinstance(value, tuple) and len(value) == len(names)
    return value[names.index(name)] if is_for_each else value


def is_simple(value: Any) -> bool:
    """Whether a docstring can name the value as it is written in Python."""
    parts = value if isinstance(value, tuple) else (value,)
    return all(part is None or isinstance(part, bool | int | float | str) for part in parts)


def returns_something(function: Callable[..., Any]) -> bool:
    """By its annotation, which every public function has."""
    return inspect.signature(function).return_annotation not in (None, "None")
