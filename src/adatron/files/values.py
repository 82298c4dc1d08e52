"""Turn values into archives and back: plain values, arrays, transformers, and classes in `REGISTERED`.

skops turns a value into arrays and a ``schema.json``, and builds it again. In between, members are named
after the attributes they hold instead of addresses in memory, and sparse matrices are decompressed.
"""

import json
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib import import_module
from io import BytesIO
from itertools import chain
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from adatron.files.archive import headers_of, read_archive, read_json, refusing, sealed
from adatron.kernels import KERNELS
from adatron.solvers import SOLVERS

REGISTERED = {  # classes that a file may hold, under the module that it names: add new ones here
    "adatron": "AutoSVC AutoSVR EnsembleSVC KernelPerceptron LinearSVC LinearSVR NuSVC NuSVR OneClassSVM "
    "ParzenClassifier SVC SVR SupportVectorClustering",
    "adatron.kernels": "Constant Power Product Sum",  # besides those in KERNELS
    "adatron.auto.intervals": "Residuals SetScores",
    "adatron.auto.scaling": "Scaler",
    "adatron.auto.targets": "LogTarget",
    "adatron.tables": "TableEncoder",
    "adatron.tables.columns": "Reading",
    "adatron.tables.encodings": "Dates Levels Numbers Texts",
    "adatron.tables.summary": "ColumnSummary ColumnTable",
    "adatron.estimators.classifier": "Layout",
    "adatron.estimators.expansion": "Expansion",
    "adatron.estimators.probabilities": "ClassProbabilities PairProbabilities",
    "adatron.paths": "KernelPath",
    "adatron.clustering": "ClusterPath",
}
OWN_TYPES: dict[str, Any] = {
    f"{module}.{name}": getattr(import_module(module), name)
    for module, names in REGISTERED.items()
    for name in names.split()
}
OWN_TYPES |= {f"adatron.kernels.{kind.__name__}": kind for kind in KERNELS.values()}
OWN_TYPES |= {f"adatron.solvers.{kind.__name__}": kind for kind in SOLVERS.values()}
_STORED_AS = {f"{kind.__module__}.{kind.__name__}": name for name, kind in OWN_TYPES.items()}
_CSR = "scipy.sparse._csr.csr_array"
SKOPS_TRUSTED: list[str] = sorted({*OWN_TYPES, *_STORED_AS, "numpy.dtype", _CSR})
"""For ``skops.io.load(path, trusted=adatron.io.SKOPS_TRUSTED)``: adatron's estimators, kernels and parts."""

_SKLEARN_MODULES = ("pipeline", "compose", "preprocessing", "impute", "decomposition", "feature_selection")
_SKLEARN = tuple(f"sklearn.{name}." for name in _SKLEARN_MODULES)
_NUMBERS = {f"numpy.{np.dtype(code).type.__name__}" for code in "?bhilqBHILQefdU"}
_TYPES = {  # that each kind of node may have, besides objects
    "JsonNode": {"builtins.str"}, "ListNode": {"builtins.list"}, "TupleNode": {"builtins.tuple"},
    "DictNode": {"builtins.dict"}, "SliceNode": {"builtins.slice"}, "DTypeNode": {"numpy.dtype"},
    "NdArrayNode": {"numpy.ndarray", *_NUMBERS}, "SparseMatrixNode": {_CSR},
    "TypeNode": {"builtins.bool", "builtins.int", "builtins.float", "builtins.str", *_NUMBERS},
}  # fmt: skip
_ENDINGS = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}
_NESTED = re.compile(r'(?!")(\{|.+[\[{])', re.DOTALL)  # JSON other than text, numbers and flat lists
_ADVICE = "set it to its default, or pickle the model"
_ADVICE_BY_KIND = {
    "FunctionNode": "it is a function, and a file holds no code; name a kernel of adatron.kernels (sums, "
    "products and powers of them, too), kernel='precomputed' or a scoring, or pickle the model"
}
_LONG_LIST = 16  # numbers or texts, from which a list becomes one node
_RUN_ATTRIBUTES = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_metadata_request")


def read_value(path: str | os.PathLike[str], kind: str) -> Any:
    """The value in a file of this kind; a ValueError says what is wrong with the file."""
    loads = skops_io().loads
    data, _ = read_archive(path, kind)
    with refusing(path):
        return built(data, loads)


def built(data: bytes, loads: Callable[..., Any]) -> Any:
    """The value of an archive, built by ``skops.io.loads`` after everything it names was checked."""
    headers_of(data)
    read_json(data, "schema.json", _check_node)
    return loads(data, trusted=SKOPS_TRUSTED)


def _check_node(node: dict[str, Any]) -> dict[str, Any]:
    """Refuse an object of a schema that may not be built."""
    if "__loader__" not in node:
        return node
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    is_object, ending = loader == "ObjectNode", _ENDINGS.get(loader)
    known = name in OWN_TYPES or name.startswith(_SKLEARN) if is_object else name in _TYPES.get(loader, ())
    if not known:
        raise ValueError(f"a {node['__class__']} cannot be part of a model file ({loader} {name})"[:200])
    if loader == "JsonNode" and _NESTED.match(node["content"]):
        raise ValueError("JSON within JSON is too deep")
    if "file" in node and (ending is None or "content" in node or not node["file"].endswith(ending)):
        raise ValueError(f"{node['file'][:50]!r} is not such an array")
    if "__id__" in node and "file" not in node:  # only arrays are shared; else a few nodes could become many
        raise ValueError("one part refers to another")
    return node


def dumped(value: Any, kind: str, about: Any = None) -> list[Any]:
    """An archive with a value, in chunks of bytes; a ValueError names a part that cannot be stored."""
    lists: dict[str, str] = {}  # JSON of long lists, by what stands for them
    name = type(value).__name__ if isinstance(value, BaseEstimator) else kind
    try:
        archive = ZipFile(BytesIO(skops_io().dumps(_portable(value, lists))))
    except (RecursionError, TypeError) as error:  # skops raises it for types it does not know
        raise ValueError(f"a {name} cannot be stored: it is nested without end, or {error}") from error
    names: dict[str, str] = {}  # of members, by those of skops, which are addresses in memory

    def stored(node: Any, where: str) -> Any:
        """The node with our names of classes and members; `where` is its place in the value."""
        if isinstance(node, list):
            return [stored(item, f"{where}_{i}") for i, item in enumerate(node)]
        if not isinstance(node, dict):
            return node
        if "__loader__" not in node:
            return {key: stored(item, f"{where}_{key}") for key, item in node.items()}
        node = {key: stored(item, where) for key, item in node.items() if key != "__id__"}
        public_name = _STORED_AS.get(f"{node['__module__']}.{node['__class__']}", "")
        node["__module__"] = public_name.rpartition(".")[0] or node["__module__"]
        loader, file = node["__loader__"], node.get("file")
        try:
            _check_node(node)
        except ValueError as error:
            raise ValueError(f"{where}: {error}; {_ADVICE_BY_KIND.get(loader, _ADVICE)}") from error
        if loader == "JsonNode":
            node["content"] = lists.get(node["content"], node["content"])
        if file is None:
            return node
        if file not in names:
            stem = re.sub(r"\W+", "_", where, flags=re.ASCII)[-60:]
            number = str(len(names)) if stem + _ENDINGS[loader] in names.values() else ""
            names[file] = f"{stem}{number}{_ENDINGS[loader]}"
        return node | {"file": names[file], "__id__": names[file]}

    schema = stored(json.loads(archive.read("schema.json")), name)
    texts = [("schema.json", json.dumps(schema, separators=(",", ":")).encode())]
    texts += [] if about is None else [("about.json", json.dumps(about, sort_keys=True).encode())]
    arrays = ((own, _decompressed(archive.read(file), own)) for file, own in names.items())  # one at a time
    return sealed(kind, chain(arrays, texts))


def _portable(value: Any, lists: dict[str, str]) -> Any:
    """A copy without what belongs to a run; long lists of numbers or of text go to `lists`."""
    kind = type(value)
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if kind.__module__.startswith("pandas."):
        return _portable(value.tolist(), lists)  # an index
    if kind is list and len(value) >= _LONG_LIST:
        types, text = {type(item) for item in value}, ""
        if types == {str}:  # brackets within text are escaped, so that the list is seen to be flat
            text = "[" + json.dumps(value)[1:].replace("[", "\\u005b").replace("{", "\\u007b")
        elif types <= {int, float, bool}:
            text = json.dumps(value)
        if text:
            token = secrets.token_hex(16)
            lists[json.dumps(token)] = text
            return token
    if kind in (list, tuple):
        return kind(_portable(item, lists) for item in value)
    if kind is dict:  # skops takes a key that is False for True; 0 and 1 are as good
        pairs = ((int(key) if isinstance(key, bool) else key, item) for key, item in value.items())
        return {key: _portable(item, lists) for key, item in pairs}
    if isinstance(value, BaseEstimator) or (is_dataclass(value) and kind is not type):
        kept = {name: item for name, item in vars(value).items() if name not in _RUN_ATTRIBUTES}
        kept |= {"memory": None} if isinstance(value, Pipeline) else {}  # it may be a path
        value = object.__new__(kind)
        vars(value).update({name: _portable(item, lists) for name, item in kept.items()})
    return value


def _decompressed(content: bytes, name: str) -> bytes:
    if not name.endswith(".npz"):
        return content
    buffer = BytesIO()
    sparse.save_npz(buffer, sparse.load_npz(BytesIO(content)), compressed=False)
    return buffer.getvalue()


def skops_io() -> Any:
    try:
        import skops.io
    except ImportError as error:
        message = "model files and checkpoints need skops: pip install skops"
        raise ImportError(message) from error
    return skops.io
