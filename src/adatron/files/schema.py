"""What a model file may hold, and how an estimator as skops stores it becomes that of a file.

skops makes arrays and a ``schema.json`` of an estimator. Both are rewritten, and `skops.io.load` reads them
still: members are named after the attributes they hold and are not compressed, classes after the outermost
package that offers them (which outlives the modules within), a long list of numbers is one node, and neither
dates nor addresses in memory remain.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

import adatron.auto
import adatron.clustering  # noqa: F401 - now every class that a model may have is loaded
from adatron.files.archive import bounded
from adatron.kernels import CallableKernel

_FOLDERS = ("kernels", "solvers", "estimators", "tables", "paths", "auto", "clustering")
_SKLEARN = tuple(
    f"sklearn.{name}."
    for name in ("pipeline", "compose", "preprocessing", "impute", "decomposition", "feature_selection")
)
_NUMBERS = {f"numpy.{np.dtype(code).type.__name__}" for code in "?bhilqBHILQefdU"}
_CSR = "scipy.sparse._csr.csr_array"
_TYPES = {  # that each kind of node may have, besides objects
    "JsonNode": {"builtins.str"}, "ListNode": {"builtins.list"}, "TupleNode": {"builtins.tuple"},
    "DictNode": {"builtins.dict"}, "SliceNode": {"builtins.slice"}, "DTypeNode": {"numpy.dtype"},
    "NdArrayNode": {"numpy.ndarray", *_NUMBERS}, "SparseMatrixNode": {_CSR},
    "TypeNode": {"builtins.bool", "builtins.int", "builtins.float", "builtins.str", *_NUMBERS},
}  # fmt: skip
_ENDINGS = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}
_NESTED = re.compile(r'(?!")(\{|.+[\[{])', re.DOTALL)  # JSON other than text, a number or a list of numbers
_LONG = 16  # numbers, from which a list becomes one node
_OF_A_RUN = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_metadata_request")


def _own_types() -> Iterator[tuple[str, type]]:
    """adatron's estimators and data classes with their names in a file, without the one that holds code."""
    for name, module in sorted(sys.modules.items()):
        packages = name.split(".")
        if packages[0] == "adatron" and len(packages) > 1 and packages[1] in _FOLDERS:
            homes = [".".join(packages[:n]) for n in range(1, len(packages) + 1)]
            for kind in vars(module).values():
                is_own = isinstance(kind, type) and kind.__module__ == name and kind is not CallableKernel
                if is_own and (is_dataclass(kind) or issubclass(kind, BaseEstimator)):
                    offering = (h for h in homes if getattr(sys.modules[h], kind.__name__, None) is kind)
                    yield f"{next(offering)}.{kind.__name__}", kind


OWN_TYPES: dict[str, type] = dict(_own_types())
_NAMES = {f"{kind.__module__}.{kind.__name__}": name for name, kind in OWN_TYPES.items()}
SKOPS_TRUSTED: list[str] = sorted({*OWN_TYPES, *_NAMES, "numpy.dtype", _CSR})
"""For ``skops.io.load(path, trusted=adatron.io.SKOPS_TRUSTED)``: adatron's estimators, kernels and parts."""


def check_node(node: dict[str, Any]) -> dict[str, Any]:
    """Refuse an object of a schema that may not be built; a hook of `read_json`."""
    if "__loader__" not in node:
        return node
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    known = OWN_TYPES if loader == "ObjectNode" else _TYPES.get(loader, ())
    is_theirs = loader == "ObjectNode" and name.startswith(_SKLEARN)
    if name not in known and not is_theirs:
        raise ValueError(f"{name[:80]!r} cannot be part of a model file ({str(loader)[:30]})")
    if loader == "JsonNode" and _NESTED.match(node["content"]):
        raise ValueError("JSON within JSON is too deep")
    ending = _ENDINGS.get(loader)
    if "file" in node and (ending is None or "content" in node or not node["file"].endswith(ending)):
        raise ValueError(f"{node['file'][:50]!r} is not such an array")
    if "__id__" in node and "file" not in node:  # only arrays are shared; else a few nodes could become many
        raise ValueError("a part refers to another one")
    return node


@dataclass
class Dump:
    """An estimator on its way to a file."""

    places: dict[str, str] = field(default_factory=dict)  # where an array stands, by its identity
    lists: dict[str, str] = field(default_factory=dict)  # JSON of a long list, by what stands for it

    def portable(self, value: Any, where: str) -> Any:
        """A copy without what belongs to a run; a ValueError names what is no part of a file."""
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None
        if type(value).__module__.startswith("pandas."):
            value = value.tolist()  # an index
        kind = type(value)
        if isinstance(value, np.ndarray | np.generic) or sparse.issparse(value):
            if value.dtype.kind not in "biufUO":
                raise _unstorable(value, where)
            self.places[str(id(value))] = where
        elif kind is list and len(value) >= _LONG and {type(item) for item in value} <= {int, float, bool}:
            text = json.dumps(value)
            value = secrets.token_hex(16)
            self.lists[json.dumps(value)] = text
        elif kind in (list, tuple):
            value = kind(self.portable(item, f"{where}[{i}]") for i, item in enumerate(value))
        elif kind is dict:  # skops takes a key that is False for True; 0 and 1 are as good
            pairs = ((int(key) if isinstance(key, bool) else key, item) for key, item in value.items())
            value = {key: self.portable(item, f"{where}.{str(key)[:20]}") for key, item in pairs}
        elif hasattr(value, "__dict__") and not isinstance(value, type | str):
            if kind not in OWN_TYPES.values() and not f"{kind.__module__}.".startswith(_SKLEARN):
                raise _unstorable(value, where)
            kept = {name: item for name, item in vars(value).items() if name not in _OF_A_RUN}
            kept |= {"memory": None} if isinstance(value, Pipeline) else {}  # it may be a path
            value = object.__new__(kind)
            vars(value).update({name: self.portable(item, f"{where}.{name}") for name, item in kept.items()})
        return value

    def members(self, dumped: BytesIO) -> dict[str, bytes]:
        """The members of a file, from what skops has dumped."""
        files: dict[str, str] = {}  # names of members by those of skops, which are addresses in memory
        names: dict[bytes, str] = {}  # by contents: equal arrays are stored once
        archive = ZipFile(dumped)
        for file in archive.namelist()[:-1]:  # the last one is the schema
            stem, _, ending = file.partition(".")
            content = archive.read(file)
            if ending == "npz":
                buffer = BytesIO()
                sparse.save_npz(buffer, sparse.load_npz(BytesIO(content)), compressed=False)
                content = buffer.getvalue()
            place = re.sub(r"\W+", "_", self.places.get(stem, "dtype"), flags=re.ASCII)[-60:]
            is_new = f"{place}.{ending}" not in names.values()
            files[file] = names.setdefault(content, f"{place}{'' if is_new else len(names)}.{ending}")
        numbers = {file: i for i, file in enumerate(files, 1)}

        def rewritten(node: dict[str, Any]) -> dict[str, Any]:
            if "__loader__" in node:
                del node["__id__"]
                name = _NAMES.get(f"{node['__module__']}.{node['__class__']}", "")
                node["__module__"] = name.rpartition(".")[0] or node["__module__"]
                if node["__loader__"] == "JsonNode":
                    node["content"] = self.lists.get(node["content"], node["content"])
                if "file" in node:
                    node["__id__"], node["file"] = numbers[node["file"]], files[node["file"]]
            return check_node(node)

        schema = json.loads(archive.read("schema.json"), object_hook=rewritten)
        text = bounded(json.dumps(schema, separators=(",", ":")).encode())
        return {name: content for content, name in names.items()} | {"schema.json": text}


def _unstorable(value: Any, where: str) -> ValueError:
    if isinstance(value, CallableKernel) or callable(value):
        return ValueError(
            f"{where} is a function, and a model file holds no code; use a kernel of adatron.kernels (their "
            "sums, products and powers, too) or kernel='precomputed', or pickle the model"
        )
    name, text = type(value).__name__, str(value)[:80]
    what = f"{where}={text}: a {name} cannot be part of a model file; set it to its default, or pickle it"
    return ValueError(what)
