"""Data in, models out: readers of data files, model files and exports.

`read_table` turns a file into a table, `split_target` and `encoder_for` turn that into numbers. `save_model`
and `load_model` keep a model with everything it needs to predict, bit for bit, in a file that holds no code:

>>> import os, tempfile
>>> from adatron import AutoSVC, io
>>> from adatron.datasets import load_ionosphere
>>> X, y = load_ionosphere(return_X_y=True)
>>> model = AutoSVC().fit(X[::2], y[::2])
>>> with tempfile.TemporaryDirectory() as directory:
...     io.save_model(model, os.path.join(directory, "ionosphere.adatron"))
...     again = io.load_model(os.path.join(directory, "ionosphere.adatron"))
>>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
True

Other programs read `to_libsvm`'s and `to_onnx`'s files; ``skops.io.load(path, trusted=SKOPS_TRUSTED)`` loads
what skops has saved. ``docs/model_files.md`` has the layout of a model file, byte by byte.

Names are loaded on first use, so that a message can be printed without NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adatron.io.libsvm_text import to_libsvm
    from adatron.io.model_files import describe_file, load_model, save_model
    from adatron.io.onnx_file import to_onnx
    from adatron.io.readers import (
        DenseTable,
        Limits,
        SparseTable,
        align,
        encoder_for,
        read_table,
        split_target,
    )
    from adatron.io.skops_types import SKOPS_TRUSTED

__all__ = [
    "SKOPS_TRUSTED",
    "DenseTable",
    "Limits",
    "SparseTable",
    "align",
    "describe_file",
    "encoder_for",
    "load_model",
    "read_table",
    "save_model",
    "split_target",
    "to_libsvm",
    "to_onnx",
]

_ELSEWHERE = {
    "SKOPS_TRUSTED": "skops_types",
    "describe_file": "model_files",
    "load_model": "model_files",
    "save_model": "model_files",
    "to_libsvm": "libsvm_text",
    "to_onnx": "onnx_file",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"adatron.io.{_ELSEWHERE.get(name, 'readers')}"), name)
    raise AttributeError(f"module 'adatron.io' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
