"""Kernel machines for tables, and support vector machines trained by simple iterative algorithms.

The folders are the data flow, and each imports only from those before it::

    numerics → kernels → gram → problems → solvers → training → tables → estimators → paths → auto →
    clustering → explanation → selection → files → certification → io → callbacks → display → play → cli

``datasets``, ``bounds`` and ``exceptions`` stand at the bottom.
Names are loaded on first use, so ``import adatron`` costs next to nothing.

Examples
--------
>>> from adatron import SVC
>>> from adatron.datasets import load_sonar
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> model = SVC(C=10.0).fit(X_train, y_train)
>>> model.converged_, model.duality_gap_ <= model.tol
(True, True)
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_FOLDERS = {  # and the public names that come from each
    "estimators": (
        "SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM",
        "EnsembleSVC", "KernelPerceptron", "ParzenClassifier",
    ),
    "clustering": ("SupportVectorClustering",),
    "auto": ("AutoSVC", "AutoSVR"),
    "certification": ("certify", "DualityGap"),
    "explanation": ("explain", "Explanation"),
}  # fmt: skip
_FOLDER_OF = {name: folder for folder, names in _FOLDERS.items() for name in names}
_MODULES = (
    "bounds", "callbacks", "datasets", "display", "exceptions", "io", "kernels", "selection", "tables",
)  # fmt: skip

__all__ = ["__version__", *_FOLDER_OF, *_MODULES]


def __getattr__(name: str) -> Any:
    if folder := _FOLDER_OF.get(name):
        return getattr(import_module(f"adatron.{folder}"), name)
    if name in _MODULES:
        return import_module(f"adatron.{name}")
    raise AttributeError(f"module 'adatron' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
