"""Data in, models out: readers of data files, model files and exports.

`read_table` reads a DataFrame from a file. `save_model` and `load_model` keep a model with all it needs to
predict, bit for bit, in a file that holds no code:

>>> import os, tempfile
>>> from adatron import AutoSVC, io
>>> from adatron.datasets import load_ionosphere
>>> X, y = load_ionosphere(return_X_y=True)
>>> model = AutoSVC().fit(X[::2], y[::2])
>>> with tempfile.TemporaryDirectory() as directory:
...     io.save_model(model, os.path.join(directory, "ionosphere.skops"))
...     again = io.load_model(os.path.join(directory, "ionosphere.skops"))
>>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
True

Other programs read `to_libsvm`'s and `to_onnx`'s files; ``skops.io.load(path, trusted=SKOPS_TRUSTED)`` reads
model files, too. ``docs/model_files.md`` says what is in them.

Names are loaded on first use, so that a message can be printed without NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adatron.files.libsvm import to_libsvm
    from adatron.files.models import describe_file, load_model, save_model
    from adatron.files.onnx import to_onnx
    from adatron.files.values import SKOPS_TRUSTED
    from adatron.io.table import read_table

__all__ = [
    "SKOPS_TRUSTED",
    "describe_file",
    "load_model",
    "read_table",
    "save_model",
    "to_libsvm",
    "to_onnx",
]

_FILES = {
    "SKOPS_TRUSTED": "values",
    "describe_file": "models",
    "load_model": "models",
    "save_model": "models",
    "to_libsvm": "libsvm",
    "to_onnx": "onnx",
}


def __getattr__(name: str) -> Any:
    if name in _FILES:
        import_module("adatron.tables")  # so that a file may hold a TableEncoder
    if name in __all__:
        module = f"adatron.files.{_FILES[name]}" if name in _FILES else "adatron.io.table"
        return getattr(import_module(module), name)
    raise AttributeError(f"module 'adatron.io' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
