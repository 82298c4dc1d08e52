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

_ESTIMATORS = {
    "SVC": "estimators",
    "SVR": "estimators",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "NuSVC": "estimators",
    "NuSVR": "estimators",
    "OneClassSVM": "estimators",
    "EnsembleSVC": "estimators",
    "KernelPerceptron": "estimators",
    "ParzenClassifier": "estimators",
    "SupportVectorClustering": "clustering",
    "AutoSVC": "auto",
    "AutoSVR": "auto",
}
_FUNCTIONS = {  # and what they return
    "certify": "certification",
    "DualityGap": "certification",
    "explain": "explanation",
    "Explanation": "explanation",
}
_MODULES = (
    *("bounds", "callbacks", "datasets", "display", "exceptions"),
    *("io", "kernels", "selection", "tables"),
)

__all__ = ["__version__", *_ESTIMATORS, *_FUNCTIONS, *_MODULES]


def __getattr__(name: str) -> Any:
    if module := (_ESTIMATORS | _FUNCTIONS).get(name):
        return getattr(import_module(f"adatron.{module}"), name)
    if name in _MODULES:
        return import_module(f"adatron.{name}")
    raise AttributeError(f"module 'adatron' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
