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

`to_libsvm` and `to_onnx` write files for other programs; ``skops.io.load(path, trusted=SKOPS_TRUSTED)`` also
reads model files. ``docs/model_files.md`` says what is in them.

Names are imported on first use, so that the command line can print a message without loading NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adatron.files.libsvm import to_libsvm
    from adatron.files.models import describe_file, load_model, save_model
    from adatron.files.onnx import to_onnx
    from adatron.files.values import SKOPS_TRUSTED
    from adatron.io.table import read_table

_HOMES = {
    "SKOPS_TRUSTED": "files.values", "describe_file": "files.models", "load_model": "files.models",
    "read_table": "io.table", "save_model": "files.models", "to_libsvm": "files.libsvm",
    "to_onnx": "files.onnx",
}  # fmt: skip
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'adatron.io' has no attribute {name!r}")
    return getattr(import_module(f"adatron.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
